//! Options over generated JSON (`make fuzz`): a script may hold anything, and what is accepted must be safe to work with.

use std::time::Duration;

use plimsoll_fuzz::holds;
use plimsoll_fuzz::proptest::{self, prelude::*};
use serde_json::{json, Map, Value};

use super::{Executor, Options};

const NAMES: &[&str] = &[
    "vus",
    "duration",
    "iterations",
    "stages",
    "scenarios",
    "thresholds",
    "tags",
    "setupTimeout",
    "executionSegment",
    "executionSegmentSequence",
    "systemTags",
    "maxRedirects",
    "batch",
    "batchPerHost",
    "rps",
    "dns",
    "hosts",
    "blockHostnames",
    "blacklistIPs",
    "tlsVersion",
    "tlsAuth",
    "tlsCipherSuites",
    "localIPs",
    "httpDebug",
    "summaryTrendStats",
    "summaryTimeUnit",
    "minIterationDuration",
    "paused",
    "executor",
    "target",
    "rate",
    "timeUnit",
    "preAllocatedVUs",
    "maxVUs",
    "startVUs",
    "startRate",
    "startTime",
    "gracefulStop",
    "gracefulRampDown",
    "maxDuration",
    "thinkTime",
    "distribution",
    "mean",
    "min",
    "max",
    "env",
    "exec",
    "ttl",
    "select",
    "policy",
    "threshold",
    "abortOnFail",
    "delayAbortEval",
    "a",
    "http_reqs{name:x}",
];
const TEXTS: &[&str] = &[
    "",
    "1s",
    "1m30s",
    "500ms",
    "5h",
    "-1s",
    "1e300h",
    "99999999999999999999h",
    "584542046090h",
    "constant-vus",
    "ramping-vus",
    "shared-iterations",
    "per-vu-iterations",
    "constant-arrival-rate",
    "ramping-arrival-rate",
    "exponential",
    "uniform",
    "0:1/3",
    "10%:30%",
    "0,1/3,1",
    "1/0",
    "p(95)<500",
    "rate>=",
    "avg",
    "p(99.9)",
    "10.0.0.0/8",
    "::1/129",
    "127.0.0.1-127.0.0.9",
    "*.example.com:80",
    "first",
    "onlyIPv4",
    "tls1.2",
    "inf",
    "é",
];

fn values() -> impl Strategy<Value = Value> {
    let number = prop_oneof![
        proptest::sample::select(
            &[0.0, 1.0, 2.5, -1.0, 1e9, 1e18, 1e300, 4294967296.0, 18446744073709551616.0][..]
        )
        .prop_map(|number| json!(number)),
        any::<u64>().prop_map(|number| json!(number)),
        (0_u64..20).prop_map(|number| json!(number)),
    ];
    let text = prop_oneof![4 => proptest::sample::select(TEXTS).prop_map(|text| json!(text)), 1 => ".{0,12}".prop_map(|text| json!(text))];
    let leaf = prop_oneof![1 => Just(Value::Null), 1 => any::<bool>().prop_map(Value::from), 3 => number, 4 => text];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            1 => proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            3 => objects(inner).prop_map(Value::Object),
        ]
    })
}

fn objects(values: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    let named = (proptest::sample::select(NAMES).prop_map(str::to_owned), values);
    proptest::collection::vec(named, 0..6).prop_map(|fields| fields.into_iter().collect())
}

/// A scenario of each executor, right in all but extremes.
fn scenarios() -> impl Strategy<Value = Value> {
    let duration =
        proptest::sample::select(&["1s", "90m", "2562047h", "5124095576030430h", "1ns"][..]);
    let number = prop_oneof![0_u64..100, Just(u64::MAX), Just(1 << 53)];
    (0..6_usize, duration, number.clone(), number, any::<bool>()).prop_map(|(kind, duration, one, other, starts_later)| {
        let stages = json!([{"duration": duration, "target": one}, {"duration": duration, "target": other}]);
        let mut scenario = match kind {
            0 => json!({"executor": "shared-iterations", "vus": one, "iterations": other, "maxDuration": duration}),
            1 => json!({"executor": "per-vu-iterations", "vus": one, "iterations": other, "maxDuration": duration}),
            2 => json!({"executor": "constant-vus", "vus": one, "duration": duration}),
            3 => json!({"executor": "ramping-vus", "startVUs": one, "stages": stages}),
            4 => json!({"executor": "constant-arrival-rate", "rate": one, "timeUnit": duration, "duration": duration, "preAllocatedVUs": other}),
            _ => json!({"executor": "ramping-arrival-rate", "startRate": one, "stages": stages, "preAllocatedVUs": 1, "maxVUs": other}),
        };
        if starts_later {
            scenario["startTime"] = json!(duration);
        }
        scenario
    })
}

/// What a run asks of its options before it begins.
fn use_them(options: &Options) {
    for (at, scenario) in options.scenarios.iter().enumerate() {
        assert!(scenario.end() >= scenario.start_time);
        if let Executor::Open { rate_per_s, .. } | Executor::Closed { vus: rate_per_s, .. } =
            &scenario.executor
        {
            let area = rate_per_s.integral(scenario.duration().as_secs_f64());
            assert!(area >= 0.0, "{area}");
            assert!(rate_per_s.inverse_integral(1.0).is_none_or(|at_s| at_s >= 0.0));
        }
        for elapsed_s in [0.0, 0.5, 1e9] {
            options.vus_at(at, elapsed_s, 1.0);
        }
    }
}

#[test]
fn options_of_any_kind_are_read_or_every_mistake_has_its_place() {
    let roots = prop_oneof![8 => objects(values()).prop_map(Value::Object), 1 => values()];
    holds("options parser", &roots, |value| {
        match Options::from_json(&value) {
            Ok(options) => use_them(&options),
            Err(mistakes) => {
                prop_assert!(!mistakes.is_empty());
                prop_assert!(
                    mistakes.iter().all(|mistake| mistake.contains("options")),
                    "{mistakes:?}"
                );
            }
        }
        Ok(())
    });
}

#[test]
fn scenarios_of_any_size_are_safe_to_work_with() {
    holds("scenarios", &proptest::collection::vec(scenarios(), 1..4), |scenarios| {
        let named: Map<String, Value> = scenarios
            .into_iter()
            .enumerate()
            .map(|(at, scenario)| (format!("s{at}"), scenario))
            .collect();
        if let Ok(options) = Options::from_json(&json!({"scenarios": named})) {
            prop_assert_eq!(options.scenarios.len(), named.len());
            use_them(&options);
        }
        Ok(())
    });
}

#[test]
fn a_load_that_is_written_is_the_load_that_is_read() {
    let stages = proptest::collection::vec((1_u64..100_000, 0_u64..10_000), 1..6);
    holds(
        "options round trip",
        &(stages, 0_u64..500, 1_u64..5_000_000),
        |(stages, start, iterations)| {
            let rows: Vec<Value> = stages
                .iter()
                .map(|(ms, target)| json!({"duration": format!("{ms}ms"), "target": target}))
                .collect();
            let written = json!({"scenarios": {
                "ramp": {"executor": "ramping-vus", "startVUs": start, "stages": rows},
                "count": {"executor": "per-vu-iterations", "vus": start + 1, "iterations": iterations, "startTime": iterations},
            }});
            let read = Options::from_json(&written)
                .map_err(|mistakes| TestCaseError::fail(mistakes.join("; ")))?;
            let Executor::Closed { vus, .. } = &read.scenarios[0].executor else {
                return Err(TestCaseError::fail("not ramping-vus"));
            };
            let total_s = stages.iter().map(|(ms, _)| *ms as f64 / 1e3).sum::<f64>();
            prop_assert!((vus.duration_s() - total_s).abs() <= 1e-9 * total_s);
            prop_assert_eq!(vus.value_at(0.0), start as f64);
            prop_assert_eq!(
                vus.peak(),
                stages.iter().map(|(_, target)| *target).max().unwrap_or(0).max(start) as f64
            );
            let max_duration = Duration::from_secs(600);
            prop_assert_eq!(
                &read.scenarios[1].executor,
                &Executor::PerVuIterations { vus: start + 1, iterations, max_duration }
            );
            prop_assert_eq!(read.scenarios[1].start_time, Duration::from_millis(iterations));
            Ok(())
        },
    );
}
