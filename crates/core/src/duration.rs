//! Durations as k6 writes them: `1h2m3.5s`, `300ms`, or a bare number of milliseconds.

use std::time::Duration;

use serde_json::Value;

const UNITS: [(&str, f64); 7] = [
    ("ms", 1e-3),
    ("us", 1e-6),
    ("µs", 1e-6),
    ("ns", 1e-9),
    ("h", 3600.0),
    ("m", 60.0),
    ("s", 1.0),
];

/// Parses a Go-style duration such as `1m30s`; a bare number counts milliseconds, as k6 has it.
pub fn parse(text: &str) -> Result<Duration, String> {
    let mistake =
        || format!("'{text}' is not a duration; write for example '30s', '1m30s' or '500ms'");
    let text_trimmed = text.trim();
    if text_trimmed.is_empty() {
        return Err(mistake());
    }
    if let Ok(ms) = text_trimmed.parse::<f64>() {
        return seconds(ms / 1000.0).ok_or_else(mistake);
    }
    let mut rest = text_trimmed;
    let mut total_s = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(mistake)?;
        let amount: f64 = rest[..digits].parse().map_err(|_| mistake())?;
        rest = &rest[digits..];
        let (unit, factor) =
            UNITS.iter().find(|(unit, _)| rest.starts_with(unit)).ok_or_else(mistake)?;
        total_s += amount * factor;
        rest = &rest[unit.len()..];
    }
    seconds(total_s).ok_or_else(mistake)
}

/// Parses a duration from JSON: a string, or a number of milliseconds.
pub fn from_json(value: &Value) -> Result<Duration, String> {
    match value {
        Value::String(text) => parse(text),
        Value::Number(number) => {
            number.as_f64().and_then(|ms| seconds(ms / 1000.0)).ok_or_else(|| {
                format!(
                    "{number} is not a duration in milliseconds; it must be from 0 to 292 years"
                )
            })
        }
        other => Err(format!("{other} is not a duration; write for example '30s'")),
    }
}

/// At most 292 years, as in k6 (2^63 ns): then sums of durations, and moments so far away, can be reckoned with.
fn seconds(value_s: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(value_s).ok().filter(|duration| duration.as_nanos() < 1 << 63)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_style_durations_are_read() {
        for (text, want_ms) in [
            ("30s", 30_000),
            ("1m30s", 90_000),
            ("500ms", 500),
            ("1h2m3.5s", 3_723_500),
            ("250", 250),
        ] {
            assert_eq!(parse(text).unwrap(), Duration::from_millis(want_ms), "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused_with_an_example() {
        for text in ["", "abc", "10x", "s", "1.2.3s", "-5s", "2562048h"] {
            assert!(parse(text).unwrap_err().contains("for example"), "{text}");
        }
    }
}
