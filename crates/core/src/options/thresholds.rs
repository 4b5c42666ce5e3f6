//! The `thresholds` of a script: conditions, and submetrics that the summary shows.

use serde_json::{Map, Value};

use super::Reader;
use crate::threshold::{parse_key, Threshold};

/// A submetric that the summary shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// As written, for the summary.
    pub key: String,
    pub metric: String,
    pub tags: Vec<(String, String)>,
}

/// What `thresholds` declares. `warnings`: fields that are none, each with its place.
#[derive(Default)]
pub(super) struct Declared {
    pub thresholds: Vec<Threshold>,
    pub shown: Vec<Shown>,
    pub warnings: Vec<String>,
}

impl Declared {
    pub fn read(value: Option<&Value>, mistakes: &mut Vec<String>) -> Self {
        let mut declared = Self::default();
        let Some(value) = value else { return declared };
        let Some(fields) = value.as_object() else {
            mistakes.push(
                "options.thresholds: must be an object like {http_req_duration: ['p(95) < 500']}"
                    .into(),
            );
            return declared;
        };
        for (key, rows) in fields {
            if let Err(mistake) = declared.add(key, rows, mistakes) {
                mistakes.push(format!("options.thresholds: {mistake}"));
            }
        }
        declared
    }

    fn add(&mut self, key: &str, rows: &Value, mistakes: &mut Vec<String>) -> Result<(), String> {
        let single = std::slice::from_ref(rows);
        let rows = rows.as_array().map_or(single, Vec::as_slice);
        if rows.is_empty() {
            let (metric, tags) = parse_key(key)?;
            self.shown.push(Shown { key: key.to_owned(), metric, tags });
        }
        for row in rows {
            match row {
                Value::String(source) => self.thresholds.push(Threshold::parse(key, source)?),
                Value::Object(fields) => self.add_with_fields(key, fields, mistakes)?,
                other => {
                    return Err(format!(
                        "'{key}': {other} is neither a text nor an object with 'threshold'"
                    ))
                }
            }
        }
        Ok(())
    }

    fn add_with_fields(
        &mut self,
        key: &str,
        fields: &Map<String, Value>,
        mistakes: &mut Vec<String>,
    ) -> Result<(), String> {
        let mut reader = Reader::new(&format!("options.thresholds['{key}']"), fields, mistakes);
        let abort_on_fail = reader.flag("abortOnFail").unwrap_or(false);
        let delay_abort_s = reader.duration("delayAbortEval").unwrap_or_default().as_secs_f64();
        let source = reader.text("threshold");
        self.warnings.extend(reader.unknown());
        match source {
            Some(source) => self.thresholds.push(Threshold {
                abort_on_fail,
                delay_abort_s,
                ..Threshold::parse(key, &source)?
            }),
            None if fields.get("threshold").is_some_and(|value| !value.is_null()) => {} // said by the reader
            None => return Err(format!("'{key}': the field 'threshold' is missing")),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Options;
    use super::*;
    use serde_json::json;

    #[test]
    fn one_without_a_condition_is_shown_and_judges_nothing() {
        let options =
            Options::from_json(&json!({"thresholds": {"a{sub:one}": [], "b": ["count>0"]}}))
                .unwrap();
        let tags = vec![("sub".to_owned(), "one".to_owned())];
        assert_eq!(options.shown, [Shown { key: "a{sub:one}".into(), metric: "a".into(), tags }]);
        assert_eq!(options.thresholds.len(), 1);
        assert!(Options::from_json(&json!({"thresholds": {"a{sub": []}})).is_err());
    }

    #[test]
    fn a_field_of_the_wrong_kind_is_a_mistake_and_an_unknown_one_is_told() {
        let with = |extra: Value| {
            let mut row = json!({"threshold": "rate>0"});
            row.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            Options::from_json(&json!({"thresholds": {"checks": [row]}}))
        };
        let mistakes = with(json!({"abortOnFail": "yes"})).unwrap_err();
        assert_eq!(
            mistakes,
            ["options.thresholds['checks'].abortOnFail: \"yes\" is not true or false"]
        );
        let options = with(json!({"abortonfail": true, "delayAbortEval": "5s"})).unwrap();
        assert!(options.thresholds[0].delay_abort_s == 5.0 && !options.thresholds[0].abort_on_fail);
        let known = "unknown; known are abortOnFail, delayAbortEval, threshold";
        assert_eq!(
            options.warnings,
            [format!("options.thresholds['checks'].abortonfail: {known}")]
        );
        for row in [json!({}), json!({"threshold": null, "abortOnFail": true})] {
            assert!(Options::from_json(&json!({"thresholds": {"checks": [row]}})).unwrap_err()[0]
                .contains("'threshold' is missing"));
        }
    }
}
