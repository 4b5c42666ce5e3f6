//! A script's options, from JSON, with every mistake reported at once.
//!
//! k6's six executors are four here: constant and ramping versions differ only in their `Profile`.

pub mod layers;
mod load;
pub mod network;
mod reader;
mod thresholds;

use std::time::Duration;

use serde_json::{Map, Value};

use self::reader::Reader;
use self::thresholds::Declared;
pub use self::thresholds::Shown;
use crate::schedule::Profile;
use crate::segment::Segment;
use crate::system_tags::SystemTags;
use crate::think::ThinkTime;
use crate::threshold::{Aggregate, Threshold};

/// What a scenario does with its VUs.
#[derive(Clone, Debug, PartialEq)]
pub enum Executor {
    /// A pool of iterations that the VUs share.
    SharedIterations { vus: u64, iterations: u64, max_duration: Duration },
    /// Each VU does the same number of iterations.
    PerVuIterations { vus: u64, iterations: u64, max_duration: Duration },
    /// VUs that iterate without a plan; the profile is their number over time.
    Closed { vus: Profile, graceful_ramp_down: Duration, think_time: ThinkTime },
    /// Arrivals by plan; the profile is their rate per second over time.
    Open { rate_per_s: Profile, pre_allocated_vus: u64, max_vus: Option<u64> },
}

#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    pub name: String,
    /// k6's name of the executor, for the summary.
    pub executor_name: String,
    pub executor: Executor,
    pub exec: String,
    pub start_time: Duration,
    pub graceful_stop: Duration,
    pub env: Vec<(String, String)>,
    pub tags: Vec<(String, String)>,
}

impl Scenario {
    /// When the scenario has surely ended, counted from the start of the run.
    pub fn end(&self) -> Duration {
        self.start_time + self.duration()
    }

    /// How long the scenario starts iterations, at most.
    pub fn duration(&self) -> Duration {
        match &self.executor {
            Executor::SharedIterations { max_duration, .. }
            | Executor::PerVuIterations { max_duration, .. } => *max_duration,
            Executor::Closed { vus: profile, .. } | Executor::Open { rate_per_s: profile, .. } => {
                Duration::from_secs_f64(profile.duration_s())
            }
        }
    }

    pub fn is_open(&self) -> bool {
        matches!(self.executor, Executor::Open { .. })
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    pub scenarios: Vec<Scenario>,
    pub thresholds: Vec<Threshold>,
    /// Keys of thresholds without a condition, `'http_req_duration{name:x}': []`: the summary shows them and judges nothing.
    pub shown: Vec<Shown>,
    pub tags: Vec<(String, String)>,
    pub setup_timeout: Duration,
    pub teardown_timeout: Duration,
    pub handle_summary_timeout: Duration,
    /// The part of the load that is this process's.
    pub segment: Segment,
    pub system_tags: SystemTags,
    pub max_redirects: u32,
    pub user_agent: String,
    pub insecure_skip_tls_verify: bool,
    pub no_connection_reuse: bool,
    pub no_vu_connection_reuse: bool,
    pub no_cookies_reset: bool,
    pub discard_response_bodies: bool,
    pub min_iteration_duration: Duration,
    pub batch: usize,
    /// Requests of a batch to one host at once; 0: no limit.
    pub batch_per_host: usize,
    pub throw: bool,
    pub network: network::Network,
    /// Whether the load waits for a word to begin.
    pub paused: bool,
    pub no_setup: bool,
    pub no_teardown: bool,
    pub no_summary: bool,
    pub no_color: bool,
    /// What the summary says of each trend: the name as written, and what it means.
    pub summary_trend_stats: Vec<(String, Aggregate)>,
    /// `s`, `ms`, `us`, or nothing for the unit that reads best.
    pub summary_time_unit: String,
    /// Whether the script says anything about load; a script that does not is one VU, one iteration.
    pub declares_load: bool,
    /// Options known to k6 that have no effect here yet.
    pub ignored: Vec<String>,
    /// What is no option, each with its place and the names that are known; k6 warns and goes on as well.
    pub warnings: Vec<String>,
}

/// The greatest whole number up to which JavaScript counts exactly.
const MOST_EXACT: f64 = 9_007_199_254_740_991.0;
/// k6 options that are accepted without an effect, because they do not change the load.
const WITHOUT_EFFECT: [&str; 9] = [
    "cloud",
    "ext",
    "metricSamplesBufferSize",
    "features",
    "consoleOutput",
    "linger",
    "noUsageReport",
    "noThresholds",
    "verbose",
];

impl Options {
    /// Reads the `options` object of a script; all mistakes at once, each with its place.
    pub fn from_json(value: &Value) -> Result<Self, Vec<String>> {
        let empty = Map::new();
        let mut mistakes = Vec::new();
        let fields = match value {
            Value::Null => &empty,
            Value::Object(fields) => fields,
            other => {
                return Err(vec![format!(
                    "options: {other} is not an object; export const options = {{ … }}"
                )])
            }
        };
        let mut reader = Reader::new("options", fields, &mut mistakes);
        let (system_tags, unknown_tags) = read_system_tags(&mut reader);
        let mut options = Self {
            scenarios: Vec::new(),
            thresholds: Vec::new(),
            shown: Vec::new(),
            tags: reader.pairs("tags"),
            setup_timeout: reader.duration("setupTimeout").unwrap_or(Duration::from_secs(60)),
            teardown_timeout: reader.duration("teardownTimeout").unwrap_or(Duration::from_secs(60)),
            handle_summary_timeout: reader
                .duration("handleSummaryTimeout")
                .unwrap_or(Duration::from_secs(120)),
            segment: read_segment(&mut reader),
            system_tags,
            max_redirects: reader
                .whole("maxRedirects")
                .map_or(10, |most| u32::try_from(most).unwrap_or(u32::MAX)),
            user_agent: reader
                .text("userAgent")
                .unwrap_or_else(|| concat!("plimsoll/", env!("CARGO_PKG_VERSION")).to_owned()),
            insecure_skip_tls_verify: reader.flag("insecureSkipTLSVerify").unwrap_or(false),
            no_connection_reuse: reader.flag("noConnectionReuse").unwrap_or(false),
            no_vu_connection_reuse: reader.flag("noVUConnectionReuse").unwrap_or(false),
            no_cookies_reset: reader.flag("noCookiesReset").unwrap_or(false),
            discard_response_bodies: reader.flag("discardResponseBodies").unwrap_or(false),
            min_iteration_duration: reader.duration("minIterationDuration").unwrap_or_default(),
            batch: reader.positive("batch").unwrap_or(20) as usize,
            batch_per_host: reader.whole("batchPerHost").unwrap_or(6) as usize,
            throw: reader.flag("throw").unwrap_or(false),
            network: network::read(&mut reader),
            paused: reader.flag("paused").unwrap_or(false),
            no_setup: reader.flag("noSetup").unwrap_or(false),
            no_teardown: reader.flag("noTeardown").unwrap_or(false),
            no_summary: reader.flag("noSummary").unwrap_or(false),
            no_color: reader.flag("noColor").unwrap_or(false),
            summary_trend_stats: read_trend_stats(&mut reader),
            summary_time_unit: read_time_unit(&mut reader),
            declares_load: false,
            ignored: Vec::new(),
            warnings: Vec::new(),
        };
        options.scenarios = load::read_load(&mut reader, &mut options.declares_load);
        let thresholds = reader.get("thresholds");
        for key in fields.keys().filter(|key| WITHOUT_EFFECT.contains(&key.as_str())) {
            if !reader.used.contains(&key.as_str()) {
                options.ignored.push(key.clone());
            }
        }
        reader.used.extend(WITHOUT_EFFECT);
        options.warnings = reader.unknown();
        options.warnings.extend(unknown_tags);
        let declared = Declared::read(thresholds, &mut mistakes);
        (options.thresholds, options.shown) = (declared.thresholds, declared.shown);
        options.warnings.extend(declared.warnings);
        if mistakes.is_empty() {
            Ok(options)
        } else {
            mistakes.append(&mut options.warnings);
            Err(mistakes)
        }
    }

    /// VUs of the closed scenario `at` so long after its start, at a level that multiplies all of them. They are dealt out
    /// so that the VUs of all scenarios add up to the rounded whole, not each rounded for itself.
    pub fn vus_at(&self, at: usize, elapsed_s: f64, level: f64) -> u64 {
        let start_s = self.scenarios[at].start_time.as_secs_f64();
        let declared = |scenario: &Scenario| match &scenario.executor {
            Executor::Closed { vus, .. } => {
                let now_s = start_s + elapsed_s - scenario.start_time.as_secs_f64();
                if (0.0..vus.duration_s()).contains(&now_s) {
                    vus.value_at(now_s)
                } else {
                    0.0
                }
            }
            _ => 0.0,
        };
        let before: f64 = self.scenarios[..at].iter().map(declared).sum();
        let with_own = before + declared(&self.scenarios[at]);
        ((with_own * level).round() - (before * level).round()) as u64
    }

    /// Whether a threshold watches `dropped_iterations`, which makes dropping the default.
    pub fn watches_dropped_iterations(&self) -> bool {
        self.thresholds.iter().any(|threshold| threshold.metric == "dropped_iterations")
    }
}

fn read_segment(reader: &mut Reader) -> Segment {
    let (segment, sequence) =
        (reader.get("executionSegment"), reader.get("executionSegmentSequence"));
    Segment::read(segment, sequence).unwrap_or_else(|what| {
        reader.mistakes.push(format!("{}.{what}", reader.place));
        Segment::default()
    })
}

/// The tags that samples carry, and a warning for each name that is none.
fn read_system_tags(reader: &mut Reader) -> (SystemTags, Vec<String>) {
    let Some(given) = reader.get("systemTags") else {
        return (SystemTags::default(), Vec::new());
    };
    match SystemTags::from_json(given) {
        Ok((tags, unknown)) => {
            let known = SystemTags::names();
            let place = &reader.place;
            (
                tags,
                unknown
                    .iter()
                    .map(|name| format!("{place}.systemTags.{name}: unknown; known are {known}"))
                    .collect(),
            )
        }
        Err(what) => {
            reader.mistake("systemTags", &what);
            (SystemTags::default(), Vec::new())
        }
    }
}

const TREND_STATS: [&str; 6] = ["avg", "min", "med", "max", "p(90)", "p(95)"];

fn read_trend_stats(reader: &mut Reader) -> Vec<(String, Aggregate)> {
    let names: Vec<&str> = match reader.get("summaryTrendStats") {
        None => TREND_STATS.to_vec(),
        Some(Value::Array(names)) if names.iter().all(Value::is_string) => {
            names.iter().filter_map(Value::as_str).collect()
        }
        Some(other) => {
            reader.mistake(
                "summaryTrendStats",
                &format!("{other} is not a list of texts; write for example ['avg', 'p(95)']"),
            );
            return Vec::new();
        }
    };
    let mut stats = Vec::new();
    for name in names {
        match Aggregate::parse(name).filter(|aggregate| !matches!(aggregate, Aggregate::Rate | Aggregate::Value)) {
            Some(aggregate) => stats.push((name.to_owned(), aggregate)),
            None => reader.mistake(
                "summaryTrendStats",
                &format!("'{name}' is no statistic of a trend; use some of avg, min, med, max, count and p(N) with N from 0 to 100"),
            ),
        }
    }
    stats
}

fn read_time_unit(reader: &mut Reader) -> String {
    let unit = reader.text("summaryTimeUnit").unwrap_or_default();
    if !["", "s", "ms", "us"].contains(&unit.as_str()) {
        reader
            .mistake("summaryTimeUnit", &format!("'{unit}' is no unit of times; use s, ms or us"));
    }
    unit
}

#[cfg(test)]
mod properties;

#[cfg(test)]
mod tests;
