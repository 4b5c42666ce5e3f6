//! Loads that no machine makes are refused before they take memory or time: numbers of VUs, iterations, arrivals and
//! threads, each with its bound and what it comes from.

use plimsoll_core::options::{Executor, Options, Scenario};
use serde_json::Value;

use crate::limits;
use crate::worker::vus_at_start;

/// Arrivals per second of a whole load: a thread plans about five million, and sends a twentieth of that.
pub const MOST_PER_S: f64 = 10_000_000.0;
/// 2^53 − 1: further on JavaScript cannot tell an iteration's number from the next.
const MOST_ITERATIONS: u64 = (1 << 53) - 1;
/// More only take turns: no machine has as many cores.
pub const MOST_THREADS: usize = 1024;
/// Stack and context of a VU, as little as a script leaves them (81 KiB were measured, docs/bench.md).
const LEAST_VU_BYTES: u64 = 64 << 10;
/// A VU without a script: its client and its task.
const LEAST_PLAIN_BYTES: u64 = 2 << 10;
/// Maps of memory that a VU with a script takes: its stack and the guard page below it.
const MAPS_OF_VU: u64 = 2;

/// What the machine has left for VUs; `None` where it does not say.
#[derive(Clone, Copy, Debug, Default)]
pub struct Machine {
    pub free_bytes: Option<u64>,
    pub memory_maps: Option<u64>,
}

impl Machine {
    pub fn here() -> Self {
        Self { free_bytes: limits::free_memory_bytes(), memory_maps: limits::most_memory_maps() }
    }

    /// The most VUs that it holds, and why no more; `None` where nothing is known.
    pub fn most_vus(&self, has_script: bool) -> Option<(u64, String)> {
        let bytes = if has_script { LEAST_VU_BYTES } else { LEAST_PLAIN_BYTES };
        let by_memory = self.free_bytes.map(|free| {
            (
                free / bytes,
                format!(
                    "{} MiB of memory are free, and a VU takes {} KiB or more",
                    free >> 20,
                    bytes >> 10
                ),
            )
        });
        let maps = self.memory_maps.filter(|_| has_script);
        let by_maps = maps.map(|maps| {
            (
                maps / MAPS_OF_VU,
                format!("vm.max_map_count is {}, and a VU takes two maps", grouped(maps)),
            )
        });
        by_memory.into_iter().chain(by_maps).min_by_key(|(vus, _)| *vus)
    }
}

/// What is too much of the load at that level, each mistake with its place.
pub fn mistakes(
    options: &Options,
    options_json: &Value,
    level: f64,
    has_script: bool,
    machine: &Machine,
) -> Vec<String> {
    let mut found = Vec::new();
    for scenario in &options.scenarios {
        match &scenario.executor {
            Executor::SharedIterations { iterations, .. }
            | Executor::PerVuIterations { iterations, .. }
                if *iterations > MOST_ITERATIONS =>
            {
                let (place, given, most) = (
                    place(options_json, scenario, "iterations", "iterations"),
                    grouped(*iterations),
                    grouped(MOST_ITERATIONS),
                );
                found.push(format!("{place}: {given} is more than {most}, up to which JavaScript counts exactly; give fewer, or a duration"));
            }
            Executor::Open { rate_per_s, .. } if rate_per_s.peak() * level > MOST_PER_S => {
                let key =
                    if scenario.executor_name.starts_with("ramping") { "stages" } else { "rate" };
                let place = place(options_json, scenario, key, key);
                found.push(format!(
                    "{place}: {}; use a lower rate",
                    too_fast(rate_per_s.peak() * level)
                ));
            }
            _ => {}
        }
    }
    found.extend(too_many_vus(options, options_json, level, has_script, machine));
    found
}

/// That arrivals come faster than any generator sends them.
fn too_fast(per_s: f64) -> String {
    let shown = if per_s < 1e15 { grouped(per_s as u64) } else { format!("{per_s:.3e}") };
    format!(
        "{shown} arrivals per second are more than {}, and no generator sends as many",
        grouped(MOST_PER_S as u64)
    )
}

fn too_many_vus(
    options: &Options,
    options_json: &Value,
    level: f64,
    has_script: bool,
    machine: &Machine,
) -> Option<String> {
    let (most, why) = machine.most_vus(has_script)?;
    let needed = |scenario: &Scenario| options.segment.share(vus_at_start(scenario, level));
    let all = options.scenarios.iter().map(needed).fold(0, u64::saturating_add);
    if all <= most {
        return None;
    }
    let largest = options.scenarios.iter().max_by_key(|scenario| needed(scenario))?;
    let (shortcut, key) = match &largest.executor {
        Executor::Closed { .. } if largest.executor_name.starts_with("ramping") => {
            ("stages", "stages")
        }
        Executor::Open { .. } => ("vus", "preAllocatedVUs"),
        _ => ("vus", "vus"),
    };
    let (place, all, most) =
        (place(options_json, largest, shortcut, key), grouped(all), grouped(most));
    Some(format!(
        "{place}: {all} VUs are more than this machine holds, {most}: {why}; use fewer VUs, or share them among machines (executionSegment)"
    ))
}

/// Where the options state it: in a scenario, or by one of k6's shortcuts.
fn place(options_json: &Value, scenario: &Scenario, shortcut: &str, key: &str) -> String {
    match options_json.get("scenarios") {
        Some(scenarios) if !scenarios.is_null() => {
            format!("options.scenarios.{}.{key}", scenario.name)
        }
        _ => format!("options.{shortcut}"),
    }
}

/// Which level is too high for arrivals that come by plan.
pub fn most_level(options: &Options) -> f64 {
    let peak = |scenario: &Scenario| match &scenario.executor {
        Executor::Open { rate_per_s, .. } => rate_per_s.peak(),
        Executor::Closed { vus, .. } => vus.peak(),
        _ => 0.0,
    };
    let highest = options.scenarios.iter().map(peak).fold(0.0, f64::max);
    if highest > 0.0 {
        MOST_PER_S / highest
    } else {
        MOST_PER_S
    }
}

/// Refuses a level that is none, or higher than that.
pub fn check_level(level: f64, most: f64) -> Result<(), String> {
    match (0.0..=most).contains(&level) {
        true => Ok(()),
        false => {
            Err(format!("level {level:?}: it must be from 0 to {most}, where the load is {} arrivals per second or VUs", grouped(MOST_PER_S as u64)))
        }
    }
}

/// A whole number with commas.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const SMALL: Machine = Machine { free_bytes: Some(1 << 30), memory_maps: Some(65_530) };

    fn found(options: Value, level: f64, has_script: bool) -> Vec<String> {
        mistakes(&Options::from_json(&options).unwrap(), &options, level, has_script, &SMALL)
    }

    #[test]
    fn what_no_machine_makes_is_refused_with_its_bound_and_why() {
        let open = |rate: f64| json!({"scenarios": {"a": {"executor": "constant-arrival-rate", "rate": rate, "duration": "1s", "preAllocatedVUs": 1}}});
        for (options, words) in [
            (
                json!({"vus": 99_999_999_999u64, "duration": "1s"}),
                "options.vus: 99,999,999,999 VUs are more than this machine holds, 16,384: 1024 MiB",
            ),
            (json!({"stages": [{"duration": "1s", "target": 999_999_999_999u64}]}), "options.stages: 999,999,999,999 VUs"),
            (json!({"iterations": 18_014_398_509_481_984u64}), "options.iterations: 18,014,398,509,481,984 is more than 9,007,199,254,740,991"),
            (open(1e18), "options.scenarios.a.rate: 1.000e18 arrivals per second are more than 10,000,000"),
            (open(2e7), "20,000,000 arrivals per second"),
            (json!({"scenarios": {"a": {"executor": "per-vu-iterations", "vus": 20_000, "iterations": 1}}}), "options.scenarios.a.vus: 20,000 VUs"),
        ] {
            let mistakes = found(options, 1.0, true);
            assert!(mistakes.len() == 1 && mistakes[0].contains(words), "{mistakes:?}");
        }
    }

    #[test]
    fn a_level_counts_and_vus_without_a_script_are_small() {
        let many = json!({"vus": 10_000, "duration": "1s"});
        assert!(
            found(many.clone(), 1.0, true).is_empty() && found(many.clone(), 2.0, false).is_empty()
        );
        assert!(found(many, 2.0, true)[0].starts_with("options.vus: 20,000 VUs"));
    }

    #[test]
    fn the_strictest_bound_of_the_machine_counts_and_without_one_nothing_is_refused() {
        let (most, why) = Machine { free_bytes: Some(1 << 40), ..SMALL }.most_vus(true).unwrap();
        assert!(most == 32_765 && why.contains("vm.max_map_count is 65,530"), "{most} {why}");
        assert!(Machine { free_bytes: None, memory_maps: Some(1) }.most_vus(false).is_none());
    }

    #[test]
    fn a_level_may_not_multiply_arrivals_beyond_the_bound() {
        let options = Options::from_json(
            &json!({"scenarios": {"a": {"executor": "constant-arrival-rate", "rate": 100, "duration": "1s", "preAllocatedVUs": 1}}}),
        );
        let most = most_level(&options.unwrap());
        assert_eq!(most, 100_000.0);
        assert!(check_level(0.0, most).is_ok() && check_level(most, most).is_ok());
        for level in [1e300, f64::NAN, f64::INFINITY, -1.0, 100_001.0] {
            assert!(
                check_level(level, most)
                    .is_err_and(|why| why.contains("10,000,000 arrivals per second")),
                "{level}"
            );
        }
    }
}
