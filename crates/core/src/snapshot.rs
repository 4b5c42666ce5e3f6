//! What the engine says each second, and its JSON form (docs/run-directory.md).

use hashbrown::HashMap;
use serde_json::{json, Value};

use crate::record::{Delta, Metric, Tags, Values};

/// Counts of arrivals of a second, summed over the threads.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    pub planned: u64,
    pub started: u64,
    pub done: u64,
    pub late: u64,
    pub dropped: u64,
    /// Iterations that were cut off.
    pub interrupted: u64,
    /// Of those done: how many ended with an exception.
    pub threw: u64,
    /// Of those: in how many no request had failed.
    pub broke: u64,
    pub backlog: u64,
    pub in_flight: u64,
    pub vus: u64,
    pub vus_max: u64,
    pub oldest_wait_s: f64,
}

impl Counts {
    pub fn add(&mut self, other: &Counts) {
        self.planned += other.planned;
        self.started += other.started;
        self.done += other.done;
        self.late += other.late;
        self.dropped += other.dropped;
        self.interrupted += other.interrupted;
        self.threw += other.threw;
        self.broke += other.broke;
        self.backlog += other.backlog;
        self.in_flight += other.in_flight;
        self.vus += other.vus;
        self.vus_max += other.vus_max;
        self.oldest_wait_s = self.oldest_wait_s.max(other.oldest_wait_s);
    }
}

/// The series of a second, merged over threads.
#[derive(Clone, Debug, Default)]
pub struct SeriesMap(HashMap<(String, Tags), (Metric, Values)>);

impl SeriesMap {
    pub fn merge(&mut self, delta: &Delta) {
        self.0
            .entry((delta.metric.name.clone(), delta.tags.clone()))
            .and_modify(|(_, values)| values.merge(&delta.values))
            .or_insert_with(|| (delta.metric.clone(), delta.values.clone()));
    }

    /// The series in the order of their names and tags; `epoch` is said of those of an earlier one.
    pub fn to_json(&self, epoch: Option<u32>) -> Vec<Value> {
        let mut rows: Vec<_> =
            self.0.iter().map(|((_, tags), (metric, values))| (metric, tags, values)).collect();
        rows.sort_by(|a, b| (&a.0.name, a.1).cmp(&(&b.0.name, b.1)));
        rows.into_iter()
            .map(|(metric, tags, values)| series_json(epoch, metric, tags, values))
            .collect()
    }
}

fn series_json(epoch: Option<u32>, metric: &Metric, tags: &Tags, values: &Values) -> Value {
    let tags: serde_json::Map<String, Value> =
        tags.0.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
    let mut row = json!({"metric": metric.name, "kind": metric.kind.name(), "tags": tags});
    if let Some(epoch) = epoch {
        row["epoch"] = json!(epoch);
    }
    let fields = match values {
        Values::Counter { sum, .. } => json!({"value": sum}),
        Values::Gauge { last, min, max } => json!({"value": last, "min": min, "max": max}),
        Values::Rate { passes, total } => json!({"passes": passes, "total": total}),
        Values::Trend(histogram) => json!({
            "count": histogram.count(), "sum": histogram.sum(), "min": histogram.min(), "max": histogram.max(),
            "buckets": histogram.buckets().collect::<Vec<_>>(),
        }),
    };
    if let (Some(row), Value::Object(fields)) = (row.as_object_mut(), fields) {
        row.extend(fields);
    }
    row
}
