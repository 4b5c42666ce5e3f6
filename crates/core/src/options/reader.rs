//! Reads options field by field and gathers all mistakes.

use std::time::Duration;

use serde_json::{Map, Value};

use super::layers::NAMES;
use super::MOST_EXACT;
use crate::duration;

/// Reads a JSON object field by field and gathers mistakes.
pub(super) struct Reader<'a, 'm> {
    pub(super) place: String,
    pub(super) fields: &'a Map<String, Value>,
    pub(super) mistakes: &'m mut Vec<String>,
    pub(super) used: Vec<&'static str>,
}

impl<'a, 'm> Reader<'a, 'm> {
    pub(super) fn new(
        place: &str,
        fields: &'a Map<String, Value>,
        mistakes: &'m mut Vec<String>,
    ) -> Self {
        Self { place: place.to_owned(), fields, mistakes, used: Vec::new() }
    }

    pub(super) fn get(&mut self, key: &'static str) -> Option<&'a Value> {
        debug_assert!(self.place != "options" || NAMES.contains(&key), "{key} is missing in NAMES");
        self.used.push(key);
        self.fields.get(key).filter(|value| !value.is_null())
    }

    pub(super) fn mistake(&mut self, key: &str, what: &str) {
        self.mistakes.push(format!("{}.{key}: {what}", self.place));
    }

    pub(super) fn duration(&mut self, key: &'static str) -> Option<Duration> {
        let value = self.get(key)?;
        duration::from_json(value).map_err(|what| self.mistake(key, &what)).ok()
    }

    /// As `get`, of a number: a text without anything in it is none.
    pub(super) fn get_number(&mut self, key: &'static str) -> Option<&'a Value> {
        self.get(key).filter(|value| value.as_str() != Some(""))
    }

    pub(super) fn whole(&mut self, key: &'static str) -> Option<u64> {
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

    pub(super) fn positive(&mut self, key: &'static str) -> Option<u64> {
        let number = self.whole(key)?;
        if number == 0 {
            self.mistake(key, "must be at least 1");
            return None;
        }
        Some(number)
    }

    pub(super) fn number(&mut self, key: &'static str) -> Option<f64> {
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

    pub(super) fn flag(&mut self, key: &'static str) -> Option<bool> {
        let value = self.get(key)?;
        if value.as_bool().is_none() {
            self.mistake(key, &format!("{value} is not true or false"));
        }
        value.as_bool()
    }

    pub(super) fn text(&mut self, key: &'static str) -> Option<String> {
        let value = self.get(key)?;
        if value.as_str().is_none() {
            self.mistake(key, &format!("{value} is not a text"));
        }
        value.as_str().map(str::to_owned)
    }

    pub(super) fn pairs(&mut self, key: &'static str) -> Vec<(String, String)> {
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
    pub(super) fn stages(&mut self, key: &'static str) -> Option<Vec<(f64, f64)>> {
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

    pub(super) fn refuse_unknown(&mut self) {
        let unknown = self.unknown();
        self.mistakes.extend(unknown);
    }

    /// The fields that nobody asked for.
    pub(super) fn unknown(&self) -> Vec<String> {
        let known = self.used.join(", ");
        let unknown = self.fields.keys().filter(|key| !self.used.contains(&key.as_str()));
        unknown.map(|key| format!("{}.{key}: unknown; known are {known}", self.place)).collect()
    }
}

pub(super) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
