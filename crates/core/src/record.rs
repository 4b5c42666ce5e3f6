//! What a thread measures: series of a metric and a set of tags, and their values since the last snapshot.
//!
//! Tag sets are interned. More than `MAX_TAG_SETS` of them means that a script puts an id into a URL; the
//! rest merge into one named "other", so that memory does not grow with the number of requests.
//!
//! Each change of level begins an epoch. A value belongs to the epoch of its arrival, however long after that it is
//! recorded; values of different epochs are kept apart until they are taken.

use hashbrown::{Equivalent, HashMap};
use std::hash::{Hash, Hasher};

use crate::histogram::{finite, Histogram};

pub const MAX_TAG_SETS: usize = 1000;
const OTHER: &str = "other";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Counter,
    Gauge,
    Rate,
    Trend,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Rate => "rate",
            Kind::Trend => "trend",
        }
    }
}

/// What k6 says that the values of a metric are.
pub fn contains(name: &str, is_time: bool) -> &'static str {
    match name {
        _ if is_time => "time",
        "data_sent" | "data_received" => "data",
        _ => "default",
    }
}

/// The values of a series in an interval.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    Counter { sum: f64, count: u64 },
    Gauge { last: f64, min: f64, max: f64 },
    Rate { passes: u64, total: u64 },
    Trend(Histogram),
}

impl Values {
    pub fn empty(kind: Kind) -> Self {
        match kind {
            Kind::Counter => Values::Counter { sum: 0.0, count: 0 },
            Kind::Gauge => {
                Values::Gauge { last: f64::NAN, min: f64::INFINITY, max: f64::NEG_INFINITY }
            }
            Kind::Rate => Values::Rate { passes: 0, total: 0 },
            Kind::Trend => Values::Trend(Histogram::new()),
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Values::Counter { .. } => Kind::Counter,
            Values::Gauge { .. } => Kind::Gauge,
            Values::Rate { .. } => Kind::Rate,
            Values::Trend(_) => Kind::Trend,
        }
    }

    pub fn add(&mut self, value: f64) {
        match self {
            Values::Counter { sum, count } => {
                *sum = finite(*sum + value);
                *count += 1;
            }
            Values::Gauge { last, min, max } => {
                *last = value;
                *min = min.min(value);
                *max = max.max(value);
            }
            Values::Rate { passes, total } => {
                *passes += u64::from(value != 0.0);
                *total += 1;
            }
            Values::Trend(histogram) => histogram.record(value),
        }
    }

    /// Merges values of the same kind; a later gauge replaces an earlier one.
    pub fn merge(&mut self, other: &Values) {
        match (self, other) {
            (Values::Counter { sum, count }, Values::Counter { sum: more, count: times }) => {
                *sum = finite(*sum + more);
                *count += times;
            }
            (
                Values::Gauge { last, min, max },
                Values::Gauge { last: newer, min: low, max: high },
            ) => {
                if !newer.is_nan() {
                    *last = *newer;
                }
                *min = min.min(*low);
                *max = max.max(*high);
            }
            (Values::Rate { passes, total }, Values::Rate { passes: more, total: times }) => {
                *passes += more;
                *total += times;
            }
            (Values::Trend(histogram), Values::Trend(more)) => histogram.merge(more),
            _ => debug_assert!(false, "a metric has one kind"),
        }
    }
}

/// Tags sorted by key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Tags(pub Vec<(String, String)>);

impl Tags {
    pub fn get(&self, key: &str) -> Option<&str> {
        // `url` has the value of `name`: k6 sets it so for named requests, and without a name they are equal.
        let key = if key == "url" { "name" } else { key };
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }
}

/// A borrowed tag set, sorted by key, to look up without allocating.
struct Borrowed<'a>(&'a [(&'a str, &'a str)]);

impl Hash for Borrowed<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // The same stream of writes as the derived `Hash` of Vec<(String, String)>.
        state.write_usize(self.0.len());
        for (key, value) in self.0 {
            key.hash(state);
            value.hash(state);
        }
    }
}

impl Equivalent<Tags> for Borrowed<'_> {
    fn equivalent(&self, tags: &Tags) -> bool {
        self.0.len() == tags.0.len()
            && self.0.iter().zip(&tags.0).all(|(a, b)| a.0 == b.0 && a.1 == b.1)
    }
}

pub type TagSetId = u32;
pub type MetricId = u32;

/// A metric's definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metric {
    pub name: String,
    pub kind: Kind,
    /// Whether its values are times in milliseconds.
    pub is_time: bool,
}

/// What one series gathered in an interval, of the arrivals of one epoch.
#[derive(Clone, Debug, PartialEq)]
pub struct Delta {
    pub epoch: u32,
    pub metric: Metric,
    pub tags: Tags,
    pub values: Values,
}

/// The limit of tag sets was passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Overflow {
    Unplaced,
    At(Option<String>),
}

/// Who is told of every sample as it is recorded, such as a raw output.
pub trait Tap {
    fn metric(&mut self, id: MetricId, metric: &Metric);
    fn tag_set(&mut self, id: TagSetId, tags: &Tags);
    /// Samples of one moment with one set of tags.
    fn samples(&mut self, tags: TagSetId, samples: &[(MetricId, f64)]);
    /// A second has ended: what was held back should go on.
    fn flush(&mut self);
}

type Rows = Vec<Vec<Option<Values>>>;

/// A thread's series since the last `take`.
#[derive(Default)]
pub struct Recorder {
    metrics: Vec<Metric>,
    /// Places in `metrics` by name: a script may make very many of them.
    metric_index: HashMap<String, usize>,
    tag_sets: Vec<Tags>,
    tag_index: HashMap<Tags, TagSetId>,
    /// Values of the newest epoch, indexed by tag set, then by metric: what is recorded together lies together.
    values: Rows,
    newest: u32,
    /// The epoch of the arrival that is being recorded.
    epoch: u32,
    /// Values of earlier epochs that came since the last `take`.
    earlier: Vec<(u32, Rows)>,
    overflow: Option<Overflow>,
    tap: Option<Box<dyn Tap>>,
}

impl Recorder {
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers a metric, or finds it; an error if the name is taken by another kind, or by times against plain numbers.
    pub fn metric(&mut self, name: &str, kind: Kind, is_time: bool) -> Result<MetricId, String> {
        if let Some(at) = self.metric_index.get(name).copied() {
            let known = &self.metrics[at];
            if known.kind != kind {
                return Err(format!(
                    "metric '{name}' already exists as a {}; give this {} another name",
                    known.kind.name(),
                    kind.name()
                ));
            }
            if known.is_time != is_time {
                let unit = |is_time| if is_time { "times" } else { "plain numbers" };
                let (is, wanted) = (unit(known.is_time), unit(is_time));
                return Err(format!("metric '{name}' already exists with {is} as its values; give the one with {wanted} another name"));
            }
            return Ok(at as MetricId);
        }
        let (id, metric) =
            (self.metrics.len() as MetricId, Metric { name: name.to_owned(), kind, is_time });
        if let Some(tap) = &mut self.tap {
            tap.metric(id, &metric);
        }
        self.metric_index.insert(name.to_owned(), self.metrics.len());
        self.metrics.push(metric);
        Ok(id)
    }

    /// Every registered metric, in the order of registration.
    pub fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    /// The kind of a registered metric.
    pub fn kind_of(&self, name: &str) -> Option<Kind> {
        self.metric_index.get(name).map(|at| self.metrics[*at].kind)
    }

    /// Interns a tag set given sorted by key. Past the limit `name` becomes "other".
    pub fn tag_set(&mut self, sorted: &[(&str, &str)]) -> TagSetId {
        if let Some(id) = self.tag_index.get(&Borrowed(sorted)) {
            return *id;
        }
        if self.tag_sets.len() >= MAX_TAG_SETS {
            self.overflow.get_or_insert(Overflow::Unplaced);
            let mut merged: Vec<(&str, &str)> = sorted
                .iter()
                .filter(|(key, _)| {
                    matches!(*key, "scenario" | "method" | "expected_response" | "status")
                })
                .copied()
                .chain(std::iter::once(("name", OTHER)))
                .collect();
            merged.sort_unstable();
            return match self.tag_index.get(&Borrowed(&merged)) {
                Some(id) => *id,
                None => self.add_tag_set(&merged),
            };
        }
        self.add_tag_set(sorted)
    }

    fn add_tag_set(&mut self, sorted: &[(&str, &str)]) -> TagSetId {
        let tags = Tags(
            sorted.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
        );
        let id = self.tag_sets.len() as TagSetId;
        if let Some(tap) = &mut self.tap {
            tap.tag_set(id, &tags);
        }
        self.tag_sets.push(tags.clone());
        self.values.push(Vec::new());
        self.tag_index.insert(tags, id);
        id
    }

    /// Whether tag sets had to be merged into "other", and where the script made the first of them.
    pub fn overflow(&self) -> Option<&Overflow> {
        self.overflow.as_ref()
    }

    /// Notes where the first merged tag set came from: `file:line` and the line, or nothing where it has no line.
    pub fn place_overflow(&mut self, place: Option<String>) {
        self.overflow = Some(Overflow::At(place));
    }

    /// Tells `tap` of every sample from now on, and of what is known already.
    pub fn attach(&mut self, mut tap: Box<dyn Tap>) {
        self.metrics.iter().enumerate().for_each(|(id, metric)| tap.metric(id as MetricId, metric));
        self.tag_sets.iter().enumerate().for_each(|(id, tags)| tap.tag_set(id as TagSetId, tags));
        self.tap = Some(tap);
    }

    pub fn add(&mut self, metric: MetricId, tags: TagSetId, value: f64) {
        self.add_all(tags, &[(metric, value)]);
    }

    /// What is added from now on belongs to an arrival of that epoch.
    pub fn set_epoch(&mut self, epoch: u32) {
        self.epoch = epoch;
        if epoch > self.newest {
            let before = std::mem::replace(&mut self.values, vec![Vec::new(); self.tag_sets.len()]);
            if before.iter().flatten().any(Option::is_some) {
                self.earlier.push((self.newest, before));
            }
            self.newest = epoch;
        }
    }

    /// Adds samples of one moment with one set of tags.
    pub fn add_all(&mut self, tags: TagSetId, samples: &[(MetricId, f64)]) {
        let rows = if self.epoch == self.newest {
            &mut self.values
        } else {
            earlier_rows(&mut self.earlier, self.epoch, self.tag_sets.len())
        };
        let row = &mut rows[tags as usize];
        if row.len() < self.metrics.len() {
            row.resize(self.metrics.len(), None);
        }
        for (metric, value) in samples {
            match &mut row[*metric as usize] {
                Some(values) => values.add(*value),
                empty => {
                    empty.insert(Values::empty(self.metrics[*metric as usize].kind)).add(*value)
                }
            }
        }
        if let Some(tap) = &mut self.tap {
            tap.samples(tags, samples);
        }
    }

    /// Takes everything recorded since the last call, the newest epoch first.
    pub fn take(&mut self) -> Vec<Delta> {
        if let Some(tap) = &mut self.tap {
            tap.flush();
        }
        let mut deltas = Vec::new();
        let mut earlier = std::mem::take(&mut self.earlier);
        let epochs = std::iter::once((self.newest, &mut self.values))
            .chain(earlier.iter_mut().map(|(epoch, rows)| (*epoch, rows)));
        for (epoch, rows) in epochs {
            for (at, metric) in self.metrics.iter().enumerate() {
                for (tags, row) in self.tag_sets.iter().zip(&mut *rows) {
                    if let Some(values) = row.get_mut(at).and_then(Option::take) {
                        deltas.push(Delta {
                            epoch,
                            metric: metric.clone(),
                            tags: tags.clone(),
                            values,
                        });
                    }
                }
            }
        }
        deltas
    }
}

/// The rows of an earlier epoch, one for each set of tags.
fn earlier_rows(earlier: &mut Vec<(u32, Rows)>, epoch: u32, tag_sets: usize) -> &mut Rows {
    let at = earlier.iter().position(|(known, _)| *known == epoch).unwrap_or_else(|| {
        earlier.push((epoch, Vec::new()));
        earlier.len() - 1
    });
    let rows = &mut earlier[at].1;
    if rows.len() < tag_sets {
        rows.resize(tag_sets, Vec::new());
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_tags_are_one_series_and_a_snapshot_empties_it() {
        let mut recorder = Recorder::new();
        let metric = recorder.metric("http_reqs", Kind::Counter, false).unwrap();
        for _ in 0..3 {
            let tags = recorder.tag_set(&[("name", "a"), ("status", "200")]);
            recorder.add(metric, tags, 1.0);
        }
        let deltas = recorder.take();
        assert_eq!(deltas.len(), 1);
        assert_eq!(deltas[0].values, Values::Counter { sum: 3.0, count: 3 });
        assert!(recorder.take().is_empty());
    }

    #[test]
    fn more_names_than_the_limit_merge_into_other_and_lose_no_sample() {
        let mut recorder = Recorder::new();
        let metric = recorder.metric("http_reqs", Kind::Counter, false).unwrap();
        for id in 0..5000 {
            let tags = recorder.tag_set(&[("method", "GET"), ("name", &format!("/issue/{id}"))]);
            recorder.add(metric, tags, 1.0);
        }
        let deltas = recorder.take();
        let total: f64 = deltas
            .iter()
            .map(|delta| match delta.values {
                Values::Counter { sum, .. } => sum,
                _ => 0.0,
            })
            .sum();
        assert_eq!((deltas.len(), total), (MAX_TAG_SETS + 1, 5000.0));
        assert_eq!(recorder.overflow(), Some(&Overflow::Unplaced));
    }

    #[test]
    fn values_belong_to_the_epoch_of_their_arrival_however_late_they_come() {
        let mut recorder = Recorder::new();
        let metric = recorder.metric("http_reqs", Kind::Counter, false).unwrap();
        let tags = recorder.tag_set(&[("name", "a")]);
        for epoch in [1, 1, 2, 1, 2, 3, 2] {
            recorder.set_epoch(epoch);
            recorder.add(metric, tags, 1.0);
        }
        let other = recorder.tag_set(&[("name", "b")]);
        recorder.set_epoch(1);
        recorder.add(metric, other, 1.0);
        let mut seen: Vec<(u32, &str, u64)> = Vec::new();
        let deltas = recorder.take();
        for delta in &deltas {
            let Values::Counter { count, .. } = delta.values else {
                continue;
            };
            seen.push((delta.epoch, delta.tags.get("name").unwrap_or_default(), count));
        }
        seen.sort_unstable();
        assert_eq!(seen, [(1, "a", 3), (1, "b", 1), (2, "a", 3), (3, "a", 1)]);
        assert!(recorder.take().is_empty());
        recorder.set_epoch(2);
        recorder.add(metric, tags, 1.0);
        assert_eq!(recorder.take()[0].epoch, 2);
    }

    #[derive(Default)]
    struct Told(std::rc::Rc<std::cell::RefCell<Vec<String>>>);

    impl Tap for Told {
        fn metric(&mut self, id: MetricId, metric: &Metric) {
            self.0.borrow_mut().push(format!("metric {id} {}", metric.name));
        }
        fn tag_set(&mut self, id: TagSetId, tags: &Tags) {
            self.0.borrow_mut().push(format!("tags {id} {:?}", tags.get("name")));
        }
        fn samples(&mut self, tags: TagSetId, samples: &[(MetricId, f64)]) {
            self.0.borrow_mut().push(format!("samples {tags} {samples:?}"));
        }
        fn flush(&mut self) {
            self.0.borrow_mut().push("flush".into());
        }
    }

    #[test]
    fn a_tap_is_told_what_is_known_and_every_sample_after_it() {
        let mut recorder = Recorder::new();
        let first = recorder.metric("a", Kind::Trend, true).unwrap();
        let told = Told::default();
        let seen = told.0.clone();
        recorder.attach(Box::new(told));
        let second = recorder.metric("b", Kind::Counter, false).unwrap();
        let tags = recorder.tag_set(&[("name", "x")]);
        recorder.add_all(tags, &[(first, 1.5), (second, 1.0)]);
        recorder.take();
        let wanted = [
            "metric 0 a",
            "metric 1 b",
            "tags 0 Some(\"x\")",
            "samples 0 [(0, 1.5), (1, 1.0)]",
            "flush",
        ];
        assert_eq!(*seen.borrow(), wanted);
    }

    #[test]
    fn a_metric_cannot_change_its_kind() {
        let mut recorder = Recorder::new();
        recorder.metric("m", Kind::Counter, false).unwrap();
        assert!(recorder.metric("m", Kind::Trend, false).unwrap_err().contains("another name"));
        assert!(recorder.metric("m", Kind::Counter, true).unwrap_err().contains("another name"));
        assert_eq!(recorder.metric("m", Kind::Counter, false), Ok(0));
    }

    #[test]
    fn a_metric_is_found_by_its_name_among_very_many() {
        let mut recorder = Recorder::new();
        for number in 0..100_000u32 {
            assert_eq!(
                recorder.metric(&format!("metric_{number}"), Kind::Counter, false),
                Ok(number as MetricId)
            );
        }
        assert_eq!(recorder.metric("metric_99999", Kind::Counter, false), Ok(99_999 as MetricId));
        assert_eq!(recorder.kind_of("metric_77777"), Some(Kind::Counter));
        assert_eq!(recorder.kind_of("metric_100000"), None);
    }
}
