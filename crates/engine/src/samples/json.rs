//! k6's NDJSON: a line of each metric's definition before its first sample, and a line of each sample.

use std::collections::HashSet;
use std::io::{self, Write};

use plimsoll_core::options::Options;
use plimsoll_core::record::{contains, Metric, Tags};
use plimsoll_core::threshold::Threshold;
use plimsoll_script::secrets::Cleaner;
use serde_json::{json, Value};

use super::{k6_tags, Decimal, Format, Metadata, PerSeries, Sink, Taken, Text};

pub struct Json {
    text: Text,
    thresholds: Vec<Threshold>,
    cleaner: Cleaner,
    carried: Vec<&'static str>,
    metadata: Metadata,
    defined: HashSet<String>,
    lines: PerSeries<Line>,
    second: Second,
    /// The time of a moment, and what ends its lines.
    time: Vec<u8>,
    ending: Vec<u8>,
}

/// What stands before a sample's time and after its value.
struct Line {
    before: String,
    after: String,
}

impl Json {
    pub fn new(sink: Box<dyn Sink>, options: &Options, cleaner: Cleaner) -> Self {
        Self {
            text: Text::new(sink),
            thresholds: options.thresholds.clone(),
            cleaner,
            carried: options.system_tags.indexed_names(),
            metadata: Metadata::of(options),
            defined: HashSet::new(),
            lines: PerSeries::new(),
            second: Second::default(),
            time: Vec::new(),
            ending: Vec::new(),
        }
    }

    fn end_lines(&mut self, origin: Option<(u32, u32)>) -> io::Result<()> {
        self.ending.clear();
        let mut separator = ",\"metadata\":{";
        for (name, number) in self.metadata.pairs(origin) {
            write!(self.ending, "{separator}\"{name}\":\"{number}\"")?;
            separator = ",";
        }
        let ending: &[u8] = if self.ending.is_empty() { b"}}\n" } else { b"}}}\n" };
        self.ending.extend_from_slice(ending);
        Ok(())
    }
}

impl Line {
    fn new(metric: &Metric, tags: &Tags, carried: &[&'static str]) -> Self {
        let tags: serde_json::Map<String, Value> = k6_tags(tags, carried)
            .into_iter()
            .map(|(key, value)| (key.to_owned(), json!(value)))
            .collect();
        Self {
            before: format!(
                "{{\"metric\":{},\"type\":\"Point\",\"data\":{{\"time\":\"",
                json!(metric.name)
            ),
            after: format!(",\"tags\":{}", Value::Object(tags)),
        }
    }
}

impl Format for Json {
    fn write(&mut self, taken: &Taken) -> io::Result<()> {
        self.time.clear();
        self.second.write(&mut self.time, taken.at.time_ns);
        self.time.extend_from_slice(b"\",\"value\":");
        self.end_lines(taken.at.origin)?;
        let known = self.lines.of(taken);
        for (metric, value) in taken.values {
            let (metric, known) =
                (&taken.source.metrics[*metric as usize], &mut known[*metric as usize]);
            if known.is_none() && !self.defined.contains(&metric.name) {
                self.defined.insert(metric.name.clone());
                writeln!(
                    self.text.bytes,
                    "{}",
                    definition(metric, &self.thresholds, &self.cleaner)
                )?;
            }
            let line = known.get_or_insert_with(|| Line::new(metric, taken.tags(), &self.carried));
            self.text.put(line.before.as_bytes());
            self.text.put(&self.time);
            // Times are known to the nanosecond, and most other samples are whole numbers.
            let is_short = metric.is_time || *value as i64 as f64 == *value;
            match Decimal::of(*value).filter(|_| is_short) {
                Some(decimal) => self.text.put(decimal.trimmed()),
                None => write!(self.text.bytes, "{}", Number(*value))?,
            }
            self.text.put(line.after.as_bytes());
            self.text.put(&self.ending);
        }
        self.text.pass_on()
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.text.finish()
    }
}

/// A metric with its thresholds: those of tags are submetrics.
fn definition(metric: &Metric, thresholds: &[Threshold], cleaner: &Cleaner) -> Value {
    let own: Vec<&Threshold> =
        thresholds.iter().filter(|threshold| threshold.metric == metric.name).collect();
    let plain: Vec<&str> = own
        .iter()
        .filter(|threshold| threshold.tags.is_empty())
        .map(|threshold| threshold.source.as_str())
        .collect();
    let mut keys: Vec<&str> = own
        .iter()
        .filter(|threshold| !threshold.tags.is_empty())
        .map(|threshold| threshold.key.as_str())
        .collect();
    if metric.name == "http_req_duration" {
        keys.insert(0, "http_req_duration{expected_response:true}");
    }
    keys.dedup();
    let submetrics: Vec<Value> = keys
        .iter()
        .map(|key| {
            let suffix = key.split_once('{').map_or("", |(_, rest)| rest.trim_end_matches('}'));
            let tags =
                plimsoll_core::threshold::parse_key(key).map(|(_, tags)| tags).unwrap_or_default();
            let tags =
                tags.iter().map(|(key, value)| (cleaner.text(key), json!(cleaner.tag(key, value))));
            let tags: serde_json::Map<String, Value> = tags.collect();
            json!({"name": cleaner.text(key), "suffix": cleaner.text(suffix), "tags": tags})
        })
        .collect();
    let submetrics = if submetrics.is_empty() { Value::Null } else { json!(submetrics) };
    let kind = metric.kind.name();
    json!({
        "type": "Metric",
        "data": {"name": metric.name, "type": kind, "contains": contains(&metric.name, metric.is_time), "thresholds": plain, "submetrics": submetrics},
        "metric": metric.name,
    })
}

/// A number as JSON has it; what is not finite cannot stand there.
struct Number(f64);

impl std::fmt::Display for Number {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            value if !value.is_finite() => formatter.write_str("null"),
            value if value != 0.0 && (value.abs() < 1e-6 || value.abs() >= 1e21) => {
                write!(formatter, "{value:e}")
            }
            value => write!(formatter, "{value}"),
        }
    }
}

/// The second of the last sample as RFC 3339 has it, in local time: to break a time down costs more than to write it.
#[derive(Default)]
struct Second {
    epoch_s: Option<i64>,
    text: String,
    zone: String,
}

impl Second {
    fn write(&mut self, text: &mut Vec<u8>, time_ns: i64) {
        let (epoch_s, rest_ns) =
            (time_ns.div_euclid(1_000_000_000), time_ns.rem_euclid(1_000_000_000));
        if self.epoch_s != Some(epoch_s) {
            self.epoch_s = Some(epoch_s);
            (self.text, self.zone) = local(epoch_s);
        }
        text.extend_from_slice(self.text.as_bytes());
        if rest_ns > 0 {
            let mut digits = *b".000000000";
            let mut rest = rest_ns as u64;
            for digit in digits[1..].iter_mut().rev() {
                *digit = b'0' + (rest % 10) as u8;
                rest /= 10;
            }
            let length = digits.iter().rposition(|digit| *digit != b'0').map_or(0, |at| at + 1);
            text.extend_from_slice(&digits[..length]);
        }
        text.extend_from_slice(self.zone.as_bytes());
    }
}

/// Date and time of a second on this machine, and its zone: `Z` or `+02:00`.
fn local(epoch_s: i64) -> (String, String) {
    let seconds = epoch_s as libc::time_t;
    // SAFETY: an all-zero tm is valid, and the call fills it from a valid time.
    let parts = unsafe {
        let mut parts: libc::tm = std::mem::zeroed();
        libc::localtime_r(&seconds, &mut parts);
        parts
    };
    let text = format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}",
        parts.tm_year + 1900,
        parts.tm_mon + 1,
        parts.tm_mday,
        parts.tm_hour,
        parts.tm_min,
        parts.tm_sec
    );
    let minutes = parts.tm_gmtoff / 60;
    let sign = if minutes < 0 { '-' } else { '+' };
    let zone = if minutes == 0 {
        "Z".to_owned()
    } else {
        format!("{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60)
    };
    (text, zone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_json() {
        for (value, text) in [
            (1.0, "1"),
            (0.1, "0.1"),
            (-0.5, "-0.5"),
            (1e-9, "1e-9"),
            (1e300, "1e300"),
            (f64::NAN, "null"),
            (0.0, "0"),
        ] {
            assert_eq!(Number(value).to_string(), text);
            assert!(serde_json::from_str::<Value>(text).is_ok());
        }
    }

    #[test]
    fn a_time_has_its_digits_without_trailing_zeros() {
        for (time_ns, ending) in [
            (1_795_300_548_465_255_648, ".465255648"),
            (1_795_300_548_500_000_000, ".5"),
            (1_795_300_548_000_000_000, ""),
        ] {
            let (mut written, mut second) = (Vec::new(), Second::default());
            second.write(&mut written, time_ns);
            let (text, zone) = local(1_795_300_548);
            assert_eq!(String::from_utf8(written).unwrap(), format!("{text}{ending}{zone}"));
        }
    }
}
