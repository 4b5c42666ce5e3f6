//! Merges the threads' seconds into snapshots, keeps the totals, and judges thresholds while the run goes on.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{SystemTime, UNIX_EPOCH};

use plimsoll_core::histogram::Histogram;
use plimsoll_core::options::Options;
use plimsoll_core::record::{
    Delta, Kind, Metric, Overflow, Recorder, TagSetId, Tags, Values, MAX_TAG_SETS,
};
use plimsoll_core::snapshot::{Counts, SeriesMap};
use plimsoll_core::sums::{Sums, Wanted};
use plimsoll_core::threshold::{Threshold, Verdict};
use serde_json::{json, Value};

use crate::deaf::{Deaf, LOOK};
use crate::epochs::{Arrivals, Level};
use crate::limits;
use crate::samples::Samples;
use crate::self_watch::Health;

/// What one thread measured in one second.
pub struct ThreadSecond {
    pub second: u32,
    /// How long the thread has run, to end the last second where it ended.
    pub elapsed_s: f64,
    pub counts: Counts,
    /// That of the level at its end.
    pub epoch: u32,
    pub arrivals: Vec<(u32, Arrivals)>,
    pub deltas: Vec<Delta>,
    pub lag: Histogram,
    pub health: Health,
    pub overflow: Option<Overflow>,
}

pub enum Part {
    Second(Box<ThreadSecond>),
    /// The thread of that index.
    Ended(usize),
}

/// Before the end of the load, in which VUs leave one after the other.
const LEAVING_S: f64 = 0.1;

/// Everything measured so far.
#[derive(Default)]
pub struct Totals {
    pub sums: Sums,
    pub places: Places,
    pub seconds: f64,
    /// VUs active at the end of the last second, and when that was: one of `vus` if the load goes on for LEAVING_S.
    vus: Option<(u64, f64)>,
    pub overflowed: bool,
    /// Requests of iterations, and those of them that got an answer.
    pub requests: u64,
    pub answered: u64,
    /// Whether a threshold aborted the run.
    pub aborted: bool,
}

impl Totals {
    /// Nothing measured yet. As in k6 there are counters that say 0 where nothing was counted: the bytes, and dropped
    /// iterations where a threshold asks for them.
    pub fn beginning(options: &Options) -> Self {
        let dropped = options.watches_dropped_iterations().then_some("dropped_iterations");
        let expected = expected_response();
        let named =
            options.thresholds.iter().map(|threshold| (threshold.metric.as_str(), &threshold.tags));
        let shown = options.shown.iter().map(|shown| (shown.metric.as_str(), &shown.tags));
        let sums = Sums::watching(named.chain(shown).chain([("http_req_duration", &expected)]));
        let mut totals = Self { sums, ..Self::default() };
        for name in ["data_sent", "data_received"].into_iter().chain(dropped) {
            let metric = Metric { name: name.to_owned(), kind: Kind::Counter, is_time: false };
            totals.sums.add(&Delta {
                epoch: 0,
                metric,
                tags: Tags::default(),
                values: Values::empty(Kind::Counter),
            });
        }
        totals
    }

    /// Whether requests were made and none was answered, so that nothing was measured.
    pub fn nothing_answered(&self) -> bool {
        self.requests > 0 && self.answered == 0
    }

    /// VUs as k6 samples them, once a second while the load lasts.
    fn count_vus(&mut self, vus: u64, vus_max: u64, at_s: f64, elapsed_s: f64) {
        if let Some((before, ended_s)) = self.vus.replace((vus, at_s)) {
            if elapsed_s >= ended_s + LEAVING_S {
                self.add_gauge("vus", before);
            }
        }
        self.add_gauge("vus_max", vus_max);
    }

    fn add_gauge(&mut self, name: &str, value: u64) {
        let value = value as f64;
        self.sums.add(&Delta {
            epoch: 0,
            metric: Metric { name: name.to_owned(), kind: Kind::Gauge, is_time: false },
            tags: Tags::default(),
            values: Values::Gauge { last: value, min: value, max: value },
        });
    }

    fn count_answers(&mut self, deltas: &[Delta]) {
        for delta in deltas.iter().filter(|delta| delta.metric.name == "http_req_failed") {
            let Values::Rate { total, .. } = delta.values else {
                continue;
            };
            self.requests += total;
            self.answered += if delta.tags.get("status") == Some("0") { 0 } else { total };
        }
    }
}

pub struct Collector<'a> {
    pub threads: usize,
    pub thresholds: &'a [Threshold],
    pub level: tokio::sync::watch::Receiver<Level>,
    pub output: Sender<String>,
    /// Asks the run to stop, because a threshold with `abortOnFail` failed.
    pub abort: &'a dyn Fn(String),
    /// Asks it to stop, because a thread is deaf.
    pub abort_deaf: &'a dyn Fn(),
    /// Whether all scripts have to have ended.
    pub is_over: &'a dyn Fn() -> bool,
    pub t0_unix_s: f64,
    /// What the script's own metrics are, which the first second tells.
    pub script_metrics: &'a [Value],
    /// Where raw samples are wanted: the numbers of VUs, which no thread knows alone.
    pub vus: Option<VusSamples>,
}

/// Raw samples of `vus` and `vus_max`, one each second as in k6.
pub struct VusSamples {
    recorder: RefCell<Recorder>,
    tags: TagSetId,
}

impl VusSamples {
    pub fn new(samples: &Samples) -> Self {
        let mut recorder = Recorder::new();
        recorder.attach(samples.tap(Rc::default()));
        let tags = recorder.tag_set(&[]);
        Self { recorder: RefCell::new(recorder), tags }
    }

    fn add(&self, vus: u64, vus_max: u64) {
        let mut recorder = self.recorder.borrow_mut();
        for (name, value) in [("vus", vus), ("vus_max", vus_max)] {
            // Nobody else names metrics here, so that their kinds cannot clash.
            if let Ok(metric) = recorder.metric(name, Kind::Gauge, false) {
                recorder.add(metric, self.tags, value as f64);
            }
        }
        recorder.take();
    }
}

#[derive(Default)]
struct Second {
    parts: usize,
    counts: Counts,
    epoch: u32,
    arrivals: BTreeMap<u32, Arrivals>,
    series: BTreeMap<u32, SeriesMap>,
    lag: Histogram,
    health: Health,
    elapsed_s: f64,
}

impl Second {
    /// Its series; those of arrivals of earlier levels come last and say their epoch.
    fn series(&self) -> Vec<Value> {
        let epoch_of = |epoch: u32| (epoch < self.epoch).then_some(epoch);
        self.series
            .iter()
            .rev()
            .flat_map(|(epoch, series)| series.to_json(epoch_of(*epoch)))
            .collect()
    }

    /// Arrivals of earlier levels that ended in it, or had not ended at its end.
    fn earlier(&self) -> Vec<Value> {
        self.arrivals
            .range(..self.epoch)
            .filter_map(|(epoch, arrivals)| arrivals.to_json(*epoch))
            .collect()
    }
}

impl Collector<'_> {
    /// Gathers until every thread has ended or is deaf; a snapshot is due when all others told their second.
    pub fn gather(&self, parts: &Receiver<Part>, totals: &mut Totals, deaf: &mut Deaf) {
        let mut open: BTreeMap<u32, Second> = BTreeMap::new();
        let (mut running, mut telling, mut cpu_s) =
            (self.threads, self.threads, limits::process_cpu_s());
        while running > 0 {
            let found = deaf.look((self.is_over)());
            if found > 0 {
                (running, telling) = (running.saturating_sub(found), telling - found);
                (self.abort_deaf)();
            }
            let part = match parts.recv_timeout(LOOK) {
                Ok(part) => part,
                Err(RecvTimeoutError::Timeout) => continue,
                // Without senders no thread is left, however it ended.
                Err(RecvTimeoutError::Disconnected) => break,
            };
            match part {
                Part::Ended(index) => running -= usize::from(!deaf.is_deaf(index)),
                Part::Second(part) => {
                    if let Some(overflow) = part.overflow.as_ref().filter(|_| !totals.overflowed) {
                        totals.overflowed = true;
                        warn_of_overflow(overflow);
                    }
                    let second = open.entry(part.second).or_default();
                    second.parts += 1;
                    second.elapsed_s = second.elapsed_s.max(part.elapsed_s);
                    second.counts.add(&part.counts);
                    second.lag.merge(&part.lag);
                    second.health.merge(&part.health);
                    second.epoch = second.epoch.max(part.epoch);
                    for delta in &part.deltas {
                        second.series.entry(delta.epoch).or_default().merge(delta);
                    }
                    add_deltas(totals, &part.deltas);
                    totals.count_answers(&part.deltas);
                    for (epoch, arrivals) in part.arrivals {
                        second.arrivals.entry(epoch).or_default().merge(arrivals);
                    }
                }
            }
            while open.first_entry().is_some_and(|entry| entry.get().parts >= telling) {
                if let Some((number, second)) = open.pop_first() {
                    self.publish(number, &second, totals, &mut cpu_s);
                }
            }
        }
        for (number, second) in std::mem::take(&mut open) {
            self.publish(number, &second, totals, &mut cpu_s);
        }
    }

    fn publish(&self, number: u32, second: &Second, totals: &mut Totals, cpu_s: &mut f64) {
        totals.seconds = second.elapsed_s.min(f64::from(number + 1));
        let vus = second.counts.vus;
        totals.count_vus(vus, second.counts.vus_max, f64::from(number + 1), second.elapsed_s);
        if let Some(samples) = &self.vus {
            samples.add(vus, second.counts.vus_max);
        }
        let now_cpu_s = limits::process_cpu_s();
        let snapshot = self.snapshot(number, second, now_cpu_s - *cpu_s);
        *cpu_s = now_cpu_s;
        // Nobody listening means that the caller has gone; the run itself is told so by its own drop.
        let _ = self.output.send(snapshot.to_string());
        self.judge(totals);
    }

    fn snapshot(&self, number: u32, second: &Second, cpu_s: f64) -> Value {
        let counts = &second.counts;
        let lag = |quantile: f64| second.lag.quantile(quantile).unwrap_or(0.0);
        let mut snapshot = json!({
            "second": number, "t_unix": self.t0_unix_s + f64::from(number), "level": self.level.borrow().value, "epoch": second.epoch,
            "vus": counts.vus, "vus_max": counts.vus_max,
            "planned": counts.planned, "started": counts.started, "done": counts.done,
            "late": counts.late, "dropped": counts.dropped, "interrupted": counts.interrupted, "backlog": counts.backlog, "in_flight": counts.in_flight,
            "threw": counts.threw, "broke": counts.broke,
            "oldest_wait_s": counts.oldest_wait_s,
            "series": second.series(),
            "generator": {
                "cpu_s": cpu_s, "lag_p50_ms": lag(0.5), "lag_p99_ms": lag(0.99), "lag_max_ms": lag(1.0),
                "threads": self.threads, "rss_bytes": limits::resident_bytes(), "open_files": limits::open_files(),
            },
        });
        if let Some(generator) = snapshot["generator"].as_object_mut() {
            generator.extend(second.health.to_json());
        }
        let earlier = second.earlier();
        if !earlier.is_empty() {
            snapshot["earlier"] = json!(earlier);
        }
        if number == 0 && !self.script_metrics.is_empty() {
            snapshot["script_metrics"] = json!(self.script_metrics);
        }
        snapshot
    }

    fn judge(&self, totals: &mut Totals) {
        if totals.aborted {
            return;
        }
        let failed = self.thresholds.iter().find(|threshold| {
            threshold.abort_on_fail
                && totals.seconds >= threshold.delay_abort_s
                && threshold.judge(&totals.sums, totals.seconds).0 == Verdict::Failed
        });
        if let Some(threshold) = failed {
            let what = format!("{}: {}", threshold.key, threshold.source);
            totals.aborted = true;
            (self.abort)(format!("threshold {what} failed"));
        }
    }
}

fn warn_of_overflow(overflow: &Overflow) {
    let place = match overflow {
        Overflow::At(Some(place)) => format!(". The first of them came from\n  {place}\n"),
        Overflow::At(None) | Overflow::Unplaced => ". ".to_owned(),
    };
    plimsoll_script::tell!(
        "WARN over {MAX_TAG_SETS} distinct series: the rest merge into \"other\"{place}\
         A URL with an id in it makes one each; group them with a tag: http.get(url, {{tags: {{name: 'GET /issues/:id'}}}})"
    );
}

/// Seconds since the epoch.
pub fn unix_now_s() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

/// Adds what a thread, setup or teardown measured to the totals.
pub fn add_deltas(totals: &mut Totals, deltas: &[Delta]) {
    for delta in deltas {
        totals.sums.add(delta);
        totals.places.add(delta);
    }
}

/// The tags of requests that were answered as expected, of which k6's summary has a row.
pub fn expected_response() -> Wanted {
    vec![("expected_response".to_owned(), "true".to_owned())]
}

/// Groups and checks as the script came to them: the passes and fails of each, by the group's path and the check's name.
#[derive(Default)]
pub struct Places {
    order: Vec<(String, Option<String>)>,
    counts: HashMap<(String, Option<String>), (u64, u64)>,
}

impl Places {
    fn add(&mut self, delta: &Delta) {
        let is_check = delta.metric.name == "checks";
        if !is_check && delta.metric.name != "group_duration" {
            return;
        }
        let check = delta.tags.get("check").filter(|_| is_check);
        let place =
            (delta.tags.get("group").unwrap_or_default().to_owned(), check.map(str::to_owned));
        let (passes, fails) = passes_and_fails(&delta.values).unwrap_or_default();
        let counts = self.counts.entry(place.clone()).or_insert_with(|| {
            self.order.push(place);
            (0, 0)
        });
        counts.0 += passes;
        counts.1 += fails;
    }

    /// (path of the group, name of the check or `None` for the group itself, passes, fails), as they were first seen.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Option<&str>, u64, u64)> {
        self.order.iter().map(|place| {
            let (passes, fails) = self.counts.get(place).copied().unwrap_or_default();
            (place.0.as_str(), place.1.as_deref(), passes, fails)
        })
    }
}

/// The passes and fails of a rate.
pub fn passes_and_fails(values: &Values) -> Option<(u64, u64)> {
    match values {
        Values::Rate { passes, total } => Some((*passes, total - passes)),
        _ => None,
    }
}
