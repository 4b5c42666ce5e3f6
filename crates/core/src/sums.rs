//! Sums of a whole run: of each metric, and of the submetrics that somebody asks for.
//!
//! A submetric is a metric's samples with some tags. As in k6 it is summed from the start where a threshold or the
//! summary names it, so that memory follows what is asked and not how many series there are or how long they last.

use std::collections::BTreeMap;

use crate::record::{Delta, Metric, Tags, Values};

/// What a submetric's tags must be.
pub type Wanted = Vec<(String, String)>;

#[derive(Clone, Debug, Default)]
pub struct Sums {
    metrics: BTreeMap<String, (Metric, Values)>,
    submetrics: Vec<Submetric>,
}

#[derive(Clone, Debug)]
struct Submetric {
    metric: String,
    wanted: Wanted,
    values: Option<Values>,
}

impl Submetric {
    fn is(&self, metric: &str, wanted: &[(String, String)]) -> bool {
        self.metric == metric && self.wanted == wanted
    }

    fn takes(&self, metric: &str, tags: &Tags) -> bool {
        self.metric == metric && self.wanted.iter().all(|(key, value)| tags.get(key) == Some(value))
    }
}

impl Sums {
    /// Of every metric, and of these submetrics; one without tags is its metric.
    pub fn watching<'a>(submetrics: impl IntoIterator<Item = (&'a str, &'a Wanted)>) -> Self {
        let mut sums = Self::default();
        for (metric, wanted) in submetrics {
            if !wanted.is_empty() && !sums.submetrics.iter().any(|known| known.is(metric, wanted)) {
                sums.submetrics.push(Submetric {
                    metric: metric.to_owned(),
                    wanted: wanted.clone(),
                    values: None,
                });
            }
        }
        sums
    }

    pub fn add(&mut self, delta: &Delta) {
        match self.metrics.get_mut(&delta.metric.name) {
            Some((_, values)) => values.merge(&delta.values),
            None => {
                self.metrics.insert(
                    delta.metric.name.clone(),
                    (delta.metric.clone(), delta.values.clone()),
                );
            }
        }
        for submetric in self
            .submetrics
            .iter_mut()
            .filter(|submetric| submetric.takes(&delta.metric.name, &delta.tags))
        {
            match &mut submetric.values {
                Some(values) => values.merge(&delta.values),
                empty => *empty = Some(delta.values.clone()),
            }
        }
    }

    /// Every metric that was seen, in the order of names.
    pub fn metrics(&self) -> impl Iterator<Item = (&Metric, &Values)> {
        self.metrics.values().map(|(metric, values)| (metric, values))
    }

    /// A metric's sum, or that of one of its submetrics; `None` without a sample, and of what nobody asked for.
    pub fn get(&self, metric: &str, wanted: &[(String, String)]) -> Option<&Values> {
        if wanted.is_empty() {
            return self.metrics.get(metric).map(|(_, values)| values);
        }
        let found = self.submetrics.iter().find(|submetric| submetric.is(metric, wanted));
        debug_assert!(found.is_some(), "{metric} with {wanted:?} is not watched");
        found?.values.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Kind;

    fn delta(name: &str, tags: &[(&str, &str)], passes: u64) -> Delta {
        let metric = Metric { name: name.to_owned(), kind: Kind::Rate, is_time: false };
        Delta {
            epoch: 0,
            metric,
            tags: Tags(wanted(tags)),
            values: Values::Rate { passes, total: 10 },
        }
    }

    fn wanted(tags: &[(&str, &str)]) -> Wanted {
        tags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_submetric_sums_what_has_its_tags_and_its_metric_sums_all() {
        let (of_a, never, none) =
            (wanted(&[("name", "a")]), wanted(&[("name", "never")]), wanted(&[]));
        let mut sums = Sums::watching([
            ("checks", &of_a),
            ("checks", &of_a),
            ("checks", &never),
            ("checks", &none),
        ]);
        for (tags, passes) in [
            ([("name", "a"), ("status", "200")], 1),
            ([("name", "b"), ("status", "200")], 2),
            ([("name", "a"), ("status", "500")], 4),
        ] {
            sums.add(&delta("checks", &tags, passes));
        }
        sums.add(&delta("others", &[("name", "a")], 8));
        assert_eq!(sums.get("checks", &[]), Some(&Values::Rate { passes: 7, total: 30 }));
        assert_eq!(sums.get("checks", &of_a), Some(&Values::Rate { passes: 5, total: 20 }));
        assert_eq!(sums.get("checks", &never), None);
        assert_eq!(sums.get("never", &[]), None);
        assert_eq!(
            sums.metrics().map(|(metric, _)| metric.name.as_str()).collect::<Vec<_>>(),
            ["checks", "others"]
        );
        assert_eq!(sums.submetrics.len(), 2);
    }
}
