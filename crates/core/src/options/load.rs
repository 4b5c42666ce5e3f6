//! The load that options declare: scenarios with their executors, or k6's shortcuts for them.

use std::time::Duration;

use serde_json::Value;

use super::{Executor, Reader, Scenario};
use crate::duration;
use crate::schedule::Profile;
use crate::think::ThinkTime;

pub(super) const NO_THINK_TIME: ThinkTime = ThinkTime::Constant { mean_s: 0.0 };

/// Reads `scenarios`, or the shortcuts `vus`, `duration`, `iterations` and `stages`.
pub(super) fn read_load(reader: &mut Reader, declares_load: &mut bool) -> Vec<Scenario> {
    let scenarios = reader.get("scenarios");
    let (vus, duration, iterations, stages) = (
        reader.whole("vus"),
        reader.duration("duration"),
        reader.positive("iterations"),
        reader.stages("stages"),
    );
    *declares_load =
        scenarios.is_some() || duration.is_some() || iterations.is_some() || stages.is_some();
    if let Some(scenarios) = scenarios {
        let Some(fields) = scenarios.as_object().filter(|fields| !fields.is_empty()) else {
            reader.mistake("scenarios", "must be an object of at least one scenario");
            return Vec::new();
        };
        return fields
            .iter()
            .filter_map(|(name, value)| read_scenario(name, value, reader.mistakes))
            .collect();
    }
    refuse_contradictions(reader, vus, duration.is_some(), iterations, stages.is_some());
    refuse_no_time(reader, duration, stages.as_deref());
    let (executor_name, executor) = match (iterations, stages, duration) {
        (Some(iterations), _, limit) => (
            "shared-iterations",
            Executor::SharedIterations {
                vus: vus.unwrap_or(1),
                iterations,
                max_duration: limit.unwrap_or(Duration::from_secs(600)),
            },
        ),
        (None, Some(stages), _) => {
            let profile = Profile::stages(vus.unwrap_or(1) as f64, stages);
            (
                "ramping-vus",
                Executor::Closed {
                    vus: profile,
                    graceful_ramp_down: Duration::from_secs(30),
                    think_time: NO_THINK_TIME,
                },
            )
        }
        (None, None, Some(duration)) => {
            let profile = Profile::constant(vus.unwrap_or(1) as f64, duration.as_secs_f64());
            (
                "constant-vus",
                Executor::Closed {
                    vus: profile,
                    graceful_ramp_down: Duration::from_secs(30),
                    think_time: NO_THINK_TIME,
                },
            )
        }
        (None, None, None) => {
            let vus = vus.unwrap_or(1);
            (
                "shared-iterations",
                Executor::SharedIterations {
                    vus,
                    iterations: vus,
                    max_duration: Duration::from_secs(600),
                },
            )
        }
    };
    vec![Scenario {
        name: "default".into(),
        executor_name: executor_name.into(),
        executor,
        exec: "default".into(),
        start_time: Duration::ZERO,
        graceful_stop: Duration::from_secs(30),
        env: Vec::new(),
        tags: Vec::new(),
    }]
}

fn refuse_contradictions(
    reader: &mut Reader,
    vus: Option<u64>,
    has_duration: bool,
    iterations: Option<u64>,
    has_stages: bool,
) {
    if vus == Some(0) && !has_stages {
        reader.mistake("vus", "must be at least 1");
    }
    for (key, is_given) in [("duration", has_duration), ("iterations", iterations.is_some())] {
        if has_stages && is_given {
            reader.mistake("stages", &format!("cannot stand beside {key}; give one of them"));
        }
    }
    if let (Some(iterations), Some(vus)) = (iterations, vus) {
        if iterations < vus {
            reader.mistake("iterations", &fewer_than_vus(iterations, vus));
        }
    }
}

/// A load without time sends nothing.
fn refuse_no_time(reader: &mut Reader, duration: Option<Duration>, stages: Option<&[(f64, f64)]>) {
    if duration.is_some_and(|duration| duration.is_zero()) {
        reader.mistake("duration", "it is no time at all; give a duration above zero, as in 30s");
    }
    if stages.is_some_and(|stages| {
        !stages.is_empty() && stages.iter().all(|(duration_s, _)| *duration_s == 0.0)
    }) {
        reader.mistake("stages", "the stages last 0 s together; give one of them a duration");
    }
}

fn fewer_than_vus(iterations: u64, vus: u64) -> String {
    format!(
        "{iterations} is fewer than the {vus} VUs that share them; raise iterations or lower vus"
    )
}

fn read_scenario(name: &str, value: &Value, mistakes: &mut Vec<String>) -> Option<Scenario> {
    let place = format!("options.scenarios.{name}");
    let Some(fields) = value.as_object() else {
        mistakes.push(format!("{place}: must be an object with an executor"));
        return None;
    };
    let mut reader = Reader::new(&place, fields, mistakes);
    let executor_name = reader.text("executor").unwrap_or_default();
    let common = (
        reader.text("exec").unwrap_or_else(|| "default".into()),
        reader.duration("startTime").unwrap_or_default(),
        reader.duration("gracefulStop").unwrap_or(Duration::from_secs(30)),
        reader.pairs("env"),
        reader.pairs("tags"),
    );
    reader.get("options");
    if reader.fields.contains_key("thinkTime") && !executor_name.ends_with("-vus") {
        reader.get("thinkTime");
        reader
            .mistake("thinkTime", "only the VUs of constant-vus and ramping-vus rest between iterations; leave it out, or use sleep() in the script");
    }
    let executor = read_executor(&executor_name, &mut reader);
    if executor.is_some() {
        reader.refuse_unknown();
    }
    let (exec, start_time, graceful_stop, env, tags) = common;
    Some(Scenario {
        name: name.to_owned(),
        executor_name,
        executor: executor?,
        exec,
        start_time,
        graceful_stop,
        env,
        tags,
    })
}

fn read_executor(name: &str, reader: &mut Reader) -> Option<Executor> {
    let minute = Duration::from_secs(60);
    match name {
        "shared-iterations" | "per-vu-iterations" => {
            let vus = reader.positive("vus").unwrap_or(1);
            let iterations = reader.positive("iterations").unwrap_or(1);
            let max_duration = reader.duration("maxDuration").unwrap_or(10 * minute);
            if name == "per-vu-iterations" {
                return Some(Executor::PerVuIterations { vus, iterations, max_duration });
            }
            if iterations < vus {
                reader.mistake("iterations", &fewer_than_vus(iterations, vus));
            }
            Some(Executor::SharedIterations { vus, iterations, max_duration })
        }
        "constant-vus" => {
            let vus = reader.number("vus").unwrap_or(1.0);
            let duration = needed(reader, "duration");
            let think_time = read_think_time(reader);
            Some(Executor::Closed {
                vus: Profile::constant(vus, duration?.as_secs_f64()),
                graceful_ramp_down: minute / 2,
                think_time,
            })
        }
        "ramping-vus" => {
            let start = reader.whole("startVUs").unwrap_or(1) as f64;
            let graceful_ramp_down = reader.duration("gracefulRampDown").unwrap_or(minute / 2);
            let think_time = read_think_time(reader);
            let stages = needed_stages(reader)?;
            Some(Executor::Closed {
                vus: Profile::stages(start, stages),
                graceful_ramp_down,
                think_time,
            })
        }
        "constant-arrival-rate" => {
            let unit_s = time_unit_s(reader);
            let rate = reader.number("rate");
            let (pre_allocated_vus, max_vus) = read_vus(reader);
            let duration = needed(reader, "duration");
            let Some(rate) = rate.filter(|rate| *rate > 0.0) else {
                reader.mistake("rate", "is needed and must be above 0");
                return None;
            };
            let rate_per_s = Profile::constant(rate / unit_s, duration?.as_secs_f64());
            Some(Executor::Open { rate_per_s, pre_allocated_vus, max_vus })
        }
        "ramping-arrival-rate" => {
            let unit_s = time_unit_s(reader);
            let start = reader.number("startRate").unwrap_or(0.0) / unit_s;
            let (pre_allocated_vus, max_vus) = read_vus(reader);
            let stages = needed_stages(reader)?
                .into_iter()
                .map(|(duration_s, rate)| (duration_s, rate / unit_s))
                .collect();
            Some(Executor::Open {
                rate_per_s: Profile::stages(start, stages),
                pre_allocated_vus,
                max_vus,
            })
        }
        other => {
            reader.mistake(
                "executor",
                &format!(
                    "'{other}' is not an executor; use shared-iterations, per-vu-iterations, constant-vus, ramping-vus, \
                     constant-arrival-rate or ramping-arrival-rate"
                ),
            );
            None
        }
    }
}

/// Reads `thinkTime`, which is ours: a duration, or an object with a distribution.
fn read_think_time(reader: &mut Reader) -> ThinkTime {
    let fields = match reader.get("thinkTime") {
        None => return NO_THINK_TIME,
        Some(Value::Object(fields)) => fields,
        Some(value) => {
            let mean =
                duration::from_json(value).map_err(|what| reader.mistake("thinkTime", &what));
            return ThinkTime::Constant { mean_s: mean.unwrap_or_default().as_secs_f64() };
        }
    };
    let place = format!("{}.thinkTime", reader.place);
    let mut reader = Reader::new(&place, fields, reader.mistakes);
    let name = reader.text("distribution").unwrap_or_default();
    let think_time = match name.as_str() {
        "constant" => ThinkTime::Constant {
            mean_s: needed(&mut reader, "mean").unwrap_or_default().as_secs_f64(),
        },
        "exponential" => ThinkTime::Exponential {
            mean_s: needed(&mut reader, "mean").unwrap_or_default().as_secs_f64(),
        },
        "uniform" => {
            let min_s = reader.duration("min").unwrap_or_default().as_secs_f64();
            let max_s = needed(&mut reader, "max").unwrap_or_default().as_secs_f64();
            if max_s < min_s {
                reader.mistake("max", &format!("{max_s} s is below min, {min_s} s"));
            }
            ThinkTime::Uniform { min_s, max_s }
        }
        other => {
            reader.mistake("distribution", &format!("'{other}' is not a distribution of think times; use constant, exponential or uniform"));
            return NO_THINK_TIME;
        }
    };
    reader.refuse_unknown();
    think_time
}

fn needed(reader: &mut Reader, key: &'static str) -> Option<Duration> {
    let duration = reader.duration(key);
    if duration.is_none_or(|duration| duration.is_zero()) {
        reader.mistake(key, "is needed and must be above 0, for example '30s'");
        return None;
    }
    duration
}

fn needed_stages(reader: &mut Reader) -> Option<Vec<(f64, f64)>> {
    let stages = reader.stages("stages");
    if stages.is_none() {
        reader.mistake("stages", "is needed, for example [{duration: '30s', target: 10}]");
    }
    refuse_no_time(reader, None, stages.as_deref());
    stages
}

fn time_unit_s(reader: &mut Reader) -> f64 {
    let unit = reader.duration("timeUnit").unwrap_or(Duration::from_secs(1));
    if unit.is_zero() {
        reader.mistake("timeUnit", "must be above 0");
        return 1.0;
    }
    unit.as_secs_f64()
}

fn read_vus(reader: &mut Reader) -> (u64, Option<u64>) {
    let pre_allocated = reader.whole("preAllocatedVUs");
    let max_vus = reader.positive("maxVUs");
    if let (Some(pre_allocated), Some(max_vus)) = (pre_allocated, max_vus) {
        if max_vus < pre_allocated {
            reader
                .mistake("maxVUs", &format!("{max_vus} is below preAllocatedVUs {pre_allocated}"));
        }
    }
    (pre_allocated.unwrap_or(1), max_vus)
}
