//! The end-of-test data in k6's shape: what `handleSummary(data)` gets and the text summary is made from.

use std::collections::BTreeMap;
use std::io::IsTerminal;

use md5::{Digest, Md5};
use plimsoll_core::histogram::Histogram;
use plimsoll_core::options::{Options, Shown};
use plimsoll_core::record::{contains, Kind, Values};
use plimsoll_core::threshold::{observe, Aggregate, Threshold, Verdict};
use serde_json::{json, Map, Value};

use crate::collector::{expected_response, passes_and_fails, Totals};

type TrendStats = [(String, Aggregate)];

/// Builds `{metrics, root_group, options, state, setup_data}`; `kinds`: of the metrics that the run knows, with or without
/// a sample.
pub fn data(
    totals: &Totals,
    options: &Options,
    kinds: &BTreeMap<String, (Kind, bool)>,
    setup_data: Value,
) -> Value {
    let stats = options.summary_trend_stats.as_slice();
    let mut metrics = Map::new();
    let mut names: BTreeMap<String, (Kind, bool)> = BTreeMap::new();
    for (metric, values) in totals.sums.metrics() {
        names.insert(metric.name.clone(), (metric.kind, metric.is_time));
        metrics.insert(
            metric.name.clone(),
            metric_json(&metric.name, metric.kind, metric.is_time, values, totals.seconds, stats),
        );
    }
    if let Some(values) = totals.sums.get("http_req_duration", &expected_response()) {
        metrics.insert(
            "http_req_duration{expected_response:true}".into(),
            metric_json("http_req_duration", Kind::Trend, true, values, totals.seconds, stats),
        );
    }
    add_shown(&mut metrics, &names, totals, &options.shown, stats);
    add_thresholds(&mut metrics, kinds, totals, &options.thresholds, stats);
    let names: Vec<&str> = stats.iter().map(|(name, _)| name.as_str()).collect();
    let (stdout, stderr) = (std::io::stdout().is_terminal(), std::io::stderr().is_terminal());
    json!({
        "metrics": metrics,
        "root_group": root_group(totals),
        "options": {"summaryTrendStats": names, "summaryTimeUnit": options.summary_time_unit, "noColor": options.no_color},
        "state": {"isStdOutTTY": stdout, "isStdErrTTY": stderr, "testRunDurationMs": totals.seconds * 1000.0},
        "setup_data": setup_data,
    })
}

/// Submetrics that the script wants to see, as k6 shows them: also without a sample.
fn add_shown(
    metrics: &mut Map<String, Value>,
    names: &BTreeMap<String, (Kind, bool)>,
    totals: &Totals,
    shown: &[Shown],
    stats: &TrendStats,
) {
    for one in shown {
        let Some((kind, is_time)) = names.get(&one.metric).copied() else {
            continue;
        };
        metrics.insert(
            one.key.clone(),
            sum_json(totals, &one.metric, &one.tags, kind, is_time, stats),
        );
    }
}

fn add_thresholds(
    metrics: &mut Map<String, Value>,
    kinds: &BTreeMap<String, (Kind, bool)>,
    totals: &Totals,
    thresholds: &[Threshold],
    stats: &TrendStats,
) {
    for threshold in thresholds {
        let (kind, is_time) = kinds.get(&threshold.metric).copied().unwrap_or((Kind::Trend, false));
        let (verdict, observed) = threshold.judge_at_end(&totals.sums, kind, totals.seconds);
        // What failed took no time and proves nothing: as the run's outcome has it, no threshold is met.
        let verdict = if verdict == Verdict::Passed && totals.nothing_answered() {
            Verdict::Undecided
        } else {
            verdict
        };
        let entry = metrics.entry(threshold.key.clone()).or_insert_with(|| {
            sum_json(totals, &threshold.metric, &threshold.tags, kind, is_time, stats)
        });
        let verdict_name = match verdict {
            Verdict::Passed => "passed",
            Verdict::Failed => "failed",
            Verdict::Undecided => "undecided",
        };
        if let Some(entry) = entry.as_object_mut() {
            let rows = entry.entry("thresholds").or_insert_with(|| json!({}));
            rows[&threshold.source] = json!({"ok": verdict == Verdict::Passed, "verdict": verdict_name, "observed": observed});
        }
    }
}

/// Of a metric or submetric, also without a sample.
fn sum_json(
    totals: &Totals,
    metric: &str,
    tags: &[(String, String)],
    kind: Kind,
    is_time: bool,
    stats: &TrendStats,
) -> Value {
    let empty = Values::empty(kind);
    metric_json(
        metric,
        kind,
        is_time,
        totals.sums.get(metric, tags).unwrap_or(&empty),
        totals.seconds,
        stats,
    )
}

fn metric_json(
    name: &str,
    kind: Kind,
    is_time: bool,
    values: &Values,
    elapsed_s: f64,
    stats: &TrendStats,
) -> Value {
    let get = |aggregate| observe(values, aggregate, elapsed_s).unwrap_or(0.0);
    let numbers = match (kind, values) {
        (Kind::Counter, _) => json!({"count": get(Aggregate::Count), "rate": get(Aggregate::Rate)}),
        // Without a value it is 0, as in k6.
        (Kind::Gauge, Values::Gauge { last, .. }) if last.is_nan() => {
            json!({"value": 0, "min": 0, "max": 0})
        }
        (Kind::Gauge, Values::Gauge { last, min, max }) => {
            json!({"value": last, "min": min, "max": max})
        }
        (Kind::Rate, _) => {
            let (passes, fails) = passes_and_fails(values).unwrap_or((0, 0));
            json!({"rate": get(Aggregate::Rate), "passes": passes, "fails": fails})
        }
        (_, Values::Trend(histogram)) => stats
            .iter()
            .map(|(name, aggregate)| (name.clone(), trend_json(histogram, values, *aggregate)))
            .collect(),
        _ => json!({}),
    };
    json!({"type": kind.name(), "contains": contains(name, is_time), "values": numbers})
}

/// A statistic of a trend; 0 without samples, as in k6.
fn trend_json(histogram: &Histogram, values: &Values, aggregate: Aggregate) -> Value {
    match aggregate {
        Aggregate::Count => json!(histogram.count()),
        _ => json!(observe(values, aggregate, 0.0).unwrap_or(0.0)),
    }
}

/// The tree of groups with their checks, in the order in which the script came to them: `order` is that of checks of all
/// groups, which k6 does not tell.
fn root_group(totals: &Totals) -> Value {
    let mut root = group_json("", "");
    for (order, (path, name, passes, fails)) in totals.places.iter().enumerate() {
        let mut group = &mut root;
        let mut walked = String::new();
        for part in path.split("::").filter(|part| !part.is_empty()) {
            walked = format!("{walked}::{part}");
            group = child(group, part, &walked);
        }
        if let (Some(name), Some(rows)) = (name, group["checks"].as_array_mut()) {
            let path = format!("{path}::{name}");
            rows.push(json!({"name": name, "path": path, "id": identity(&path), "passes": passes, "fails": fails, "order": order}));
        }
    }
    root
}

fn group_json(name: &str, path: &str) -> Value {
    json!({"name": name, "path": path, "id": identity(path), "groups": [], "checks": []})
}

/// The id that k6 gives a group or check: the MD5 of its path.
fn identity(path: &str) -> String {
    Md5::digest(path.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn child<'a>(group: &'a mut Value, name: &str, path: &str) -> &'a mut Value {
    let at = group["groups"]
        .as_array()
        .and_then(|groups| groups.iter().position(|known| known["name"] == name));
    let at = at.unwrap_or_else(|| {
        let groups = group["groups"].as_array_mut();
        groups.map_or(0, |groups| {
            groups.push(group_json(name, path));
            groups.len() - 1
        })
    });
    &mut group["groups"][at]
}
