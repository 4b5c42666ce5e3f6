//! Options of several layers, as a configuration file, the script and flags state them: under their own names, one over the other.

use serde_json::{Map, Value};

use super::WITHOUT_EFFECT;

/// The names of options, and those of a scenario.
pub(super) const NAMES: &[&str] = &[
    "batch",
    "batchPerHost",
    "blacklistIPs",
    "blockHostnames",
    "discardResponseBodies",
    "dns",
    "duration",
    "executionSegment",
    "executionSegmentSequence",
    "handleSummaryTimeout",
    "hosts",
    "httpDebug",
    "insecureSkipTLSVerify",
    "iterations",
    "localIPs",
    "maxRedirects",
    "minIterationDuration",
    "noColor",
    "noConnectionReuse",
    "noCookiesReset",
    "noSetup",
    "noSummary",
    "noTeardown",
    "noVUConnectionReuse",
    "paused",
    "rps",
    "scenarios",
    "setupTimeout",
    "stages",
    "summaryTimeUnit",
    "summaryTrendStats",
    "systemTags",
    "tags",
    "teardownTimeout",
    "thresholds",
    "throw",
    "tlsAuth",
    "tlsCipherSuites",
    "tlsVersion",
    "userAgent",
    "vus",
];
const NAMES_OF_SCENARIO: &[&str] = &[
    "duration",
    "env",
    "exec",
    "executor",
    "gracefulRampDown",
    "gracefulStop",
    "iterations",
    "maxDuration",
    "maxVUs",
    "options",
    "preAllocatedVUs",
    "rate",
    "stages",
    "startRate",
    "startTime",
    "startVUs",
    "tags",
    "thinkTime",
    "timeUnit",
    "vus",
];

/// Options under their own names: as in k6, upper and lower case are the same in a name. One that is given in its own spelling
/// as well stays as it is.
pub fn with_own_names(options: Map<String, Value>) -> Map<String, Value> {
    let known = || NAMES.iter().chain(&WITHOUT_EFFECT).copied();
    let mut named = renamed(options, known);
    if let Some(Value::Object(scenarios)) = named.get_mut("scenarios") {
        for scenario in scenarios.values_mut() {
            if let Value::Object(fields) = scenario {
                *fields = renamed(std::mem::take(fields), || NAMES_OF_SCENARIO.iter().copied());
            }
        }
    }
    named
}

fn renamed<N: Iterator<Item = &'static str>>(
    fields: Map<String, Value>,
    known: impl Fn() -> N,
) -> Map<String, Value> {
    let own_name = |key: &String| {
        known()
            .find(|name| name.eq_ignore_ascii_case(key))
            .filter(|name| !fields.contains_key(*name))
    };
    let names: Vec<String> =
        fields.keys().map(|key| own_name(key).map_or_else(|| key.clone(), str::to_owned)).collect();
    names.into_iter().zip(fields).map(|(name, (_, value))| (name, value)).collect()
}

/// What a layer says to declare a load.
const LOAD: [&str; 4] = ["duration", "iterations", "stages", "scenarios"];

fn given(fields: &Map<String, Value>, key: &str) -> bool {
    fields.get(key).is_some_and(|value| !value.is_null())
}

/// Options of `upper` over those of `lower`. As in k6, a load in `upper` replaces all of the load below it but the VUs; tags are
/// added to those below.
pub fn overlaid(mut lower: Map<String, Value>, upper: &Map<String, Value>) -> Map<String, Value> {
    if LOAD.iter().any(|key| given(upper, key)) {
        lower.retain(|key, _| !LOAD.contains(&key.as_str()));
    }
    for (key, value) in upper.iter().filter(|(_, value)| !value.is_null()) {
        match (lower.get_mut(key), value) {
            (Some(Value::Object(below)), Value::Object(above)) if key == "tags" => {
                below.extend(above.clone())
            }
            _ => drop(lower.insert(key.clone(), value.clone())),
        }
    }
    lower
}

/// What the load of `upper` does to the scenarios of `lower`, where nobody may have meant it; k6 does the same.
pub fn lost_scenarios(lower: &Map<String, Value>, upper: &Map<String, Value>) -> Option<String> {
    if !given(lower, "scenarios") || given(upper, "scenarios") {
        return None;
    }
    let shortcuts: Vec<&str> = LOAD.into_iter().filter(|key| given(upper, key)).collect();
    if !shortcuts.is_empty() {
        return Some(format!(
            "options.scenarios: all are replaced, as {} was given. Leave it out to run them.",
            shortcuts.join(" and ")
        ));
    }
    given(upper, "vus").then(|| {
        "options.vus: it has no effect beside scenarios, which state their own VUs.".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_load_from_above_replaces_the_load_below_but_not_its_vus() {
        let lower = json!({"vus": 3, "scenarios": {"a": {}}, "userAgent": "x", "tags": {"a": "1"}});
        let upper = json!({"duration": "5s", "tags": {"b": "2"}, "batch": null});
        let merged = overlaid(lower.as_object().unwrap().clone(), upper.as_object().unwrap());
        assert_eq!(
            Value::Object(merged),
            json!({"vus": 3, "userAgent": "x", "tags": {"a": "1", "b": "2"}, "duration": "5s"})
        );
    }

    #[test]
    fn scenarios_that_are_replaced_and_vus_without_effect_are_told() {
        let told = |upper: Value| {
            lost_scenarios(
                json!({"scenarios": {"a": {}}}).as_object().unwrap(),
                upper.as_object().unwrap(),
            )
        };
        assert!(told(json!({"vus": 3, "duration": "5s"}))
            .unwrap()
            .starts_with("options.scenarios: all are replaced, as duration was given."));
        assert!(told(json!({"vus": 3})).unwrap().starts_with("options.vus: it has no effect"));
        assert_eq!(
            (told(json!({"scenarios": {"b": {}}})), told(json!({"userAgent": "x", "vus": null}))),
            (None, None)
        );
    }

    #[test]
    fn names_of_options_are_the_same_in_upper_and_lower_case() {
        let given = json!({
            "DiscardResponseBodies": true, "VUs": 5, "vus": 3, "tags": {"Team": "a"}, "thresholds": {"Errors": []},
            "Scenarios": {"Login": {"EXECUTOR": "constant-vus", "startvus": 1, "Env": {"Key": "v"}}},
        });
        let wanted = json!({
            "discardResponseBodies": true, "VUs": 5, "vus": 3, "tags": {"Team": "a"}, "thresholds": {"Errors": []},
            "scenarios": {"Login": {"executor": "constant-vus", "startVUs": 1, "env": {"Key": "v"}}},
        });
        assert_eq!(Value::Object(with_own_names(given.as_object().unwrap().clone())), wanted);
    }
}
