use super::load::NO_THINK_TIME;
use super::*;

#[test]
fn closed_scenarios_share_a_level_without_a_remainder() {
    let group =
        |vus: u64| serde_json::json!({"executor": "constant-vus", "vus": vus, "duration": "1m"});
    let groups = serde_json::json!({"scenarios": {"a": group(6), "b": group(3), "c": group(1)}});
    let options = Options::from_json(&groups).unwrap();
    for level in [0.1, 0.15, 0.25, 0.5, 1.0, 2.7] {
        let vus: Vec<u64> = (0..3).map(|at| options.vus_at(at, 1.0, level)).collect();
        assert_eq!(vus.iter().sum::<u64>(), (10.0 * level).round() as u64, "{vus:?} at {level}");
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
        Options::from_json(&json!({"vus": "3", "iterations": "7", "maxRedirects": ""})).unwrap();
    let Executor::SharedIterations { vus, iterations, .. } = options.scenarios[0].executor else {
        panic!("{options:?}")
    };
    assert_eq!((vus, iterations, options.max_redirects), (3, 7, 10));
    let arrivals =
        json!({"executor": "constant-arrival-rate", "rate": "2", "duration": "1s", "maxVUs": "5"});
    assert!(Options::from_json(&json!({"scenarios": {"a": arrivals}})).is_ok());
    for text in ["3 ", "x", "-1", "1e3", "3.5"] {
        let mistakes = Options::from_json(&json!({"vus": text})).unwrap_err();
        assert!(mistakes.len() == 1 && mistakes[0].starts_with("options.vus: "), "{mistakes:?}");
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
        (json!({"distribution": "constant", "mean": "2s"}), ThinkTime::Constant { mean_s: 2.0 }),
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
        (json!({"distribution": "uniform", "mean": "3s", "max": "2s"}), "thinkTime.mean: unknown"),
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
