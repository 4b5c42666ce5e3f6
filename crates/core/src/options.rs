//! A script's options, from JSON, with every mistake reported at once.
//!
//! k6's six executors are four here: constant and ramping versions differ only in their `Profile`.

pub mod layers;
mod load;
pub mod network;
mod thresholds;

use std::time::Duration;

use serde_json::{Map, Value};

use self::layers::NAMES;
use self::thresholds::Declared;
pub use self::thresholds::Shown;
use crate::duration;
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

/// Reads a JSON object field by field and gathers mistakes.
struct Reader<'a, 'm> {
    place: String,
    fields: &'a Map<String, Value>,
    mistakes: &'m mut Vec<String>,
    used: Vec<&'static str>,
}

impl<'a, 'm> Reader<'a, 'm> {
    fn new(place: &str, fields: &'a Map<String, Value>, mistakes: &'m mut Vec<String>) -> Self {
        Self { place: place.to_owned(), fields, mistakes, used: Vec::new() }
    }

    fn get(&mut self, key: &'static str) -> Option<&'a Value> {
        debug_assert!(self.place != "options" || NAMES.contains(&key), "{key} is missing in NAMES");
        self.used.push(key);
        self.fields.get(key).filter(|value| !value.is_null())
    }

    fn mistake(&mut self, key: &str, what: &str) {
        self.mistakes.push(format!("{}.{key}: {what}", self.place));
    }

    fn duration(&mut self, key: &'static str) -> Option<Duration> {
        let value = self.get(key)?;
        duration::from_json(value).map_err(|what| self.mistake(key, &what)).ok()
    }

    /// As `get`, of a number: a text without anything in it is none.
    fn get_number(&mut self, key: &'static str) -> Option<&'a Value> {
        self.get(key).filter(|value| value.as_str() != Some(""))
    }

    fn whole(&mut self, key: &'static str) -> Option<u64> {
        let value = self.get_number(key)?;
        let number = match value {
            // `vus: __ENV.VUS` is a text, and k6 takes it.
            Value::String(text) => text.parse().ok(),
            _ => value.as_u64().or_else(|| {
                value
                    .as_f64()
                    .filter(|f| f.fract() == 0.0 && (0.0..=MOST_EXACT).contains(f))
                    .map(|f| f as u64)
            }),
        };
        if number.is_none() && value.as_f64().is_some_and(|number| number > MOST_EXACT) {
            self.mistake(key, &format!("{value} is more than 9,007,199,254,740,991, up to which JavaScript counts exactly; give a smaller number"));
        } else if number.is_none() {
            self.mistake(key, &format!("{value} is not a whole number of at least 0"));
        }
        number
    }

    fn positive(&mut self, key: &'static str) -> Option<u64> {
        let number = self.whole(key)?;
        if number == 0 {
            self.mistake(key, "must be at least 1");
            return None;
        }
        Some(number)
    }

    fn number(&mut self, key: &'static str) -> Option<f64> {
        let value = self.get_number(key)?;
        let number = match value {
            Value::String(text) => text.parse().ok(),
            _ => value.as_f64(),
        };
        let number = number.filter(|number: &f64| number.is_finite() && *number >= 0.0);
        if number.is_none() {
            self.mistake(key, &format!("{value} is not a number of at least 0"));
        }
        number
    }

    fn flag(&mut self, key: &'static str) -> Option<bool> {
        let value = self.get(key)?;
        if value.as_bool().is_none() {
            self.mistake(key, &format!("{value} is not true or false"));
        }
        value.as_bool()
    }

    fn text(&mut self, key: &'static str) -> Option<String> {
        let value = self.get(key)?;
        if value.as_str().is_none() {
            self.mistake(key, &format!("{value} is not a text"));
        }
        value.as_str().map(str::to_owned)
    }

    fn pairs(&mut self, key: &'static str) -> Vec<(String, String)> {
        match self.get(key) {
            Some(Value::Object(fields)) => {
                let mut pairs: Vec<_> =
                    fields.iter().map(|(name, value)| (name.clone(), plain(value))).collect();
                pairs.sort();
                pairs
            }
            Some(other) => {
                self.mistake(key, &format!("{other} is not an object of names and values"));
                Vec::new()
            }
            None => Vec::new(),
        }
    }

    /// Stages as (duration in seconds, target).
    fn stages(&mut self, key: &'static str) -> Option<Vec<(f64, f64)>> {
        let value = self.get(key)?;
        let Some(rows) = value.as_array().filter(|rows| !rows.is_empty()) else {
            self.mistake(key, "must be a list like [{duration: '30s', target: 10}]");
            return None;
        };
        let mut stages = Vec::new();
        for (index, row) in rows.iter().enumerate() {
            let place = format!("{}.{key}[{index}]", self.place);
            let Some(fields) = row.as_object() else {
                self.mistakes.push(format!("{place}: must be {{duration, target}}"));
                continue;
            };
            let mut stage = Reader::new(&place, fields, self.mistakes);
            match (stage.duration("duration"), stage.number("target")) {
                (Some(duration), Some(target)) => stages.push((duration.as_secs_f64(), target)),
                _ => stage.mistake("duration, target", "both are needed"),
            }
        }
        Some(stages)
    }

    fn refuse_unknown(&mut self) {
        let unknown = self.unknown();
        self.mistakes.extend(unknown);
    }

    /// The fields that nobody asked for.
    fn unknown(&self) -> Vec<String> {
        let known = self.used.join(", ");
        let unknown = self.fields.keys().filter(|key| !self.used.contains(&key.as_str()));
        unknown.map(|key| format!("{}.{key}: unknown; known are {known}", self.place)).collect()
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

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
mod tests {
    use super::load::NO_THINK_TIME;
    use super::*;

    #[test]
    fn closed_scenarios_share_a_level_without_a_remainder() {
        let group = |vus: u64| serde_json::json!({"executor": "constant-vus", "vus": vus, "duration": "1m"});
        let groups =
            serde_json::json!({"scenarios": {"a": group(6), "b": group(3), "c": group(1)}});
        let options = Options::from_json(&groups).unwrap();
        for level in [0.1, 0.15, 0.25, 0.5, 1.0, 2.7] {
            let vus: Vec<u64> = (0..3).map(|at| options.vus_at(at, 1.0, level)).collect();
            assert_eq!(
                vus.iter().sum::<u64>(),
                (10.0 * level).round() as u64,
                "{vus:?} at {level}"
            );
        }
        assert_eq!([0, 1, 2].map(|at| options.vus_at(at, 1.0, 1.0)), [6, 3, 1]);
    }
    use serde_json::json;

    #[test]
    fn all_six_executors_are_read() {
        let options = Options::from_json(&json!({"scenarios": {
            "a": {"executor": "shared-iterations", "vus": 2, "iterations": 10},
            "b": {"executor": "per-vu-iterations", "vus": 2, "iterations": 10, "maxDuration": "1m"},
            "c": {"executor": "constant-vus", "vus": 2, "duration": "10s"},
            "d": {"executor": "ramping-vus", "stages": [{"duration": "10s", "target": 5}], "gracefulRampDown": "0s"},
            "e": {"executor": "constant-arrival-rate", "rate": 120, "timeUnit": "1m", "duration": "10s", "preAllocatedVUs": 2},
            "f": {"executor": "ramping-arrival-rate", "startRate": 1, "stages": [{"duration": "10s", "target": 5}], "preAllocatedVUs": 2, "maxVUs": 9}
        }}))
        .unwrap();
        assert_eq!(options.scenarios.len(), 6);
        match &options.scenarios[4].executor {
            Executor::Open { rate_per_s, max_vus, .. } => {
                assert_eq!((rate_per_s.value_at(1.0), *max_vus), (2.0, None))
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn shortcuts_become_a_default_scenario() {
        for (value, executor) in [
            (json!({"vus": 3, "duration": "5s"}), "constant-vus"),
            (json!({"stages": [{"duration": "5s", "target": 2}]}), "ramping-vus"),
            (json!({"iterations": 7}), "shared-iterations"),
            (json!(null), "shared-iterations"),
        ] {
            assert_eq!(Options::from_json(&value).unwrap().scenarios[0].executor_name, executor);
        }
    }

    #[test]
    fn a_number_may_be_a_text_as_environment_variables_are() {
        let options =
            Options::from_json(&json!({"vus": "3", "iterations": "7", "maxRedirects": ""}))
                .unwrap();
        let Executor::SharedIterations { vus, iterations, .. } = options.scenarios[0].executor
        else {
            panic!("{options:?}")
        };
        assert_eq!((vus, iterations, options.max_redirects), (3, 7, 10));
        let arrivals = json!({"executor": "constant-arrival-rate", "rate": "2", "duration": "1s", "maxVUs": "5"});
        assert!(Options::from_json(&json!({"scenarios": {"a": arrivals}})).is_ok());
        for text in ["3 ", "x", "-1", "1e3", "3.5"] {
            let mistakes = Options::from_json(&json!({"vus": text})).unwrap_err();
            assert!(
                mistakes.len() == 1 && mistakes[0].starts_with("options.vus: "),
                "{mistakes:?}"
            );
        }
    }

    #[test]
    fn what_is_no_option_is_named_and_in_a_scenario_refused() {
        let options = Options::from_json(&json!({"vus": 2, "executor": "constant-vus"})).unwrap();
        let [unknown] = &options.warnings[..] else { panic!("{:?}", options.warnings) };
        assert!(
            unknown.starts_with("options.executor: unknown; known are ")
                && unknown.contains("maxRedirects")
        );
        let scenario = json!({"executor": "constant-vus", "duration": "1s", "vu": 3});
        let mistakes = Options::from_json(&json!({"scenarios": {"a": scenario}})).unwrap_err();
        assert!(
            mistakes.len() == 1 && mistakes[0].starts_with("options.scenarios.a.vu: unknown"),
            "{mistakes:?}"
        );
    }

    #[test]
    fn a_system_tag_that_is_none_is_named() {
        let options = Options::from_json(&json!({"systemTags": ["stauts", "url"]})).unwrap();
        let [unknown] = &options.warnings[..] else { panic!("{:?}", options.warnings) };
        assert!(
            unknown.starts_with("options.systemTags.stauts: unknown; known are check, "),
            "{unknown}"
        );
        assert!(unknown.contains(", status, "), "{unknown}");
    }

    #[test]
    fn options_without_an_effect_are_taken_and_named() {
        let given = json!({"cloud": {"projectID": 1}, "ext": {}, "features": [], "metricSamplesBufferSize": 5, "batch": 3});
        assert_eq!(
            Options::from_json(&given).unwrap().ignored,
            ["cloud", "ext", "features", "metricSamplesBufferSize"]
        );
    }

    #[test]
    fn loads_that_contradict_themselves_are_refused() {
        for (value, wanted) in [
            (json!({"vus": 5, "iterations": 1}), "options.iterations: 1 is fewer than the 5 VUs"),
            (json!({"vus": 0, "duration": "1s"}), "options.vus: must be at least 1"),
            (json!({"duration": "0s"}), "options.duration: it is no time at all"),
            (json!({"vus": 1e300}), "e+300 is more than 9,007,199,254,740,991"),
            (
                json!({"stages": [{"duration": 0, "target": 5}]}),
                "options.stages: the stages last 0 s together",
            ),
            (
                json!({"duration": "1s", "stages": [{"duration": "1s", "target": 1}]}),
                "options.stages: cannot stand beside duration",
            ),
            (
                json!({"iterations": 1, "stages": [{"duration": "1s", "target": 1}]}),
                "options.stages: cannot stand beside iterations",
            ),
            (json!({"paused": "yes"}), "options.paused"),
            (json!({"executionSegment": "2"}), "options.executionSegment: '2'"),
            (json!({"systemTags": "url"}), "options.systemTags"),
        ] {
            let mistakes = Options::from_json(&value).unwrap_err();
            assert!(mistakes.len() == 1 && mistakes[0].contains(wanted), "{mistakes:?}");
        }
        let ramp = json!({"vus": 0, "stages": [{"duration": "1s", "target": 1}]});
        assert!(Options::from_json(&ramp).is_ok());
    }

    fn think_time_of(value: &Value) -> Result<ThinkTime, String> {
        let scenario =
            json!({"executor": "constant-vus", "vus": 2, "duration": "10s", "thinkTime": value});
        let options = Options::from_json(&json!({"scenarios": {"a": scenario}}))
            .map_err(|mistakes| mistakes.join("\n"))?;
        match options.scenarios[0].executor {
            Executor::Closed { think_time, .. } => Ok(think_time),
            ref other => panic!("{other:?}"),
        }
    }

    #[test]
    fn think_times_are_a_duration_or_a_distribution() {
        for (value, wanted) in [
            (json!("1.5s"), ThinkTime::Constant { mean_s: 1.5 }),
            (json!(null), NO_THINK_TIME),
            (
                json!({"distribution": "constant", "mean": "2s"}),
                ThinkTime::Constant { mean_s: 2.0 },
            ),
            (
                json!({"distribution": "exponential", "mean": 2500}),
                ThinkTime::Exponential { mean_s: 2.5 },
            ),
            (
                json!({"distribution": "uniform", "min": "3s", "max": "7s"}),
                ThinkTime::Uniform { min_s: 3.0, max_s: 7.0 },
            ),
        ] {
            assert_eq!(think_time_of(&value), Ok(wanted), "{value}");
        }
    }

    #[test]
    fn mistakes_in_a_think_time_are_named() {
        for (value, wanted) in [
            (json!("soon"), "thinkTime: 'soon' is not a duration"),
            (
                json!({"distribution": "normal"}),
                "thinkTime.distribution: 'normal' is not a distribution",
            ),
            (json!({"mean": "2s"}), "thinkTime.distribution: '' is not a distribution"),
            (json!({"distribution": "exponential"}), "thinkTime.mean: is needed"),
            (
                json!({"distribution": "uniform", "min": "3s", "max": "2s"}),
                "thinkTime.max: 2 s is below min",
            ),
            (
                json!({"distribution": "uniform", "mean": "3s", "max": "2s"}),
                "thinkTime.mean: unknown",
            ),
        ] {
            let found = think_time_of(&value).unwrap_err();
            assert!(found.contains(wanted), "{found}");
        }
        let open = json!({"executor": "constant-arrival-rate", "rate": 1, "duration": "1s", "thinkTime": "1s"});
        let found = Options::from_json(&json!({"scenarios": {"a": open}})).unwrap_err();
        assert!(found.len() == 1 && found[0].contains("a.thinkTime: only the VUs"), "{found:?}");
    }

    #[test]
    fn every_mistake_is_reported_at_once_with_its_place() {
        let mistakes = Options::from_json(&json!({
            "vus": -1, "duration": "soon", "colour": "red", "summaryTrendStats": ["avg", "p90"], "summaryTimeUnit": "h",
            "scenarios": {"a": {"executor": "constant-vus"}, "b": {"executor": "warp"}, "c": {"executor": "constant-vus", "duration": "1s", "rate": 3}},
            "thresholds": {"checks": ["rate >"]}
        }))
        .unwrap_err()
        .join("\n");
        for wanted in [
            "options.vus",
            "options.duration",
            "options.colour",
            "options.summaryTrendStats: 'p90'",
            "options.summaryTimeUnit: 'h'",
            "scenarios.a.duration",
            "'warp'",
            "scenarios.c.rate",
            "'checks'",
        ] {
            assert!(mistakes.contains(wanted), "{wanted} is not in:\n{mistakes}");
        }
    }
}
