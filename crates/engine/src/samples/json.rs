//! k6's NDJSON: a line of each metric's definition before its first sample, and a line of each sample.

use std::collections::HashSet;
use std::io::{self, Write};

use plimsoll_core::options::Options;
use plimsoll_core::record::Metric;
use plimsoll_core::threshold::Threshold;
use serde_json::{json, Value};

use super::{k6_tags, Decimal, Format, Metadata, PerSeries, Sample, Sink};
use crate::summary::contains;

pub struct Json {
    sink: Box<dyn Sink>,
    thresholds: Vec<Threshold>,
    carried: Vec<&'static str>,
    metadata: Metadata,
    defined: HashSet<String>,
    /// What stands before a sample's time and after its value.
    lines: PerSeries<(String, String)>,
    second: Second,
}

impl Json {
    pub fn new(sink: Box<dyn Sink>, options: &Options) -> Self {
        Self {
            sink,
            thresholds: options.thresholds.clone(),
            carried: options.system_tags.indexed_names(),
            metadata: Metadata::of(options),
            defined: HashSet::new(),
            lines: PerSeries::new(),
            second: Second::default(),
        }
    }
}

impl Format for Json {
    fn write(&mut self, sample: &Sample) -> io::Result<()> {
        if !self.defined.contains(&sample.metric.name) {
            self.defined.insert(sample.metric.name.clone());
            writeln!(self.sink, "{}", definition(sample.metric, &self.thresholds))?;
        }
        let carried = &self.carried;
        let (before, after) = self.lines.get_or_make(sample.series, || {
            let tags: serde_json::Map<String, Value> =
                k6_tags(sample.tags, carried).into_iter().map(|(key, value)| (key.to_owned(), json!(value))).collect();
            (
                format!("{{\"metric\":{},\"type\":\"Point\",\"data\":{{\"time\":\"", json!(sample.metric.name)),
                format!(",\"tags\":{}", Value::Object(tags)),
            )
        });
        self.sink.write_all(before.as_bytes())?;
        self.second.write(&mut self.sink, sample.time_ns)?;
        self.sink.write_all(b"\",\"value\":")?;
        // Times are known to the nanosecond, and most other samples are whole numbers.
        match Decimal::of(sample.value).filter(|_| sample.metric.is_time || sample.value.fract() == 0.0) {
            Some(decimal) => self.sink.write_all(decimal.trimmed())?,
            None => write!(self.sink, "{}", Number(sample.value))?,
        }
        self.sink.write_all(after.as_bytes())?;
        let mut separator = ",\"metadata\":{";
        let mut has_metadata = false;
        for (name, number) in self.metadata.pairs(sample.origin) {
            write!(self.sink, "{separator}\"{name}\":\"{number}\"")?;
            (separator, has_metadata) = (",", true);
        }
        self.sink.write_all(if has_metadata { b"}}}\n" } else { b"}}\n" })
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.sink.finish()
    }
}

/// A metric with its thresholds: those of tags are submetrics.
fn definition(metric: &Metric, thresholds: &[Threshold]) -> Value {
    let own: Vec<&Threshold> = thresholds.iter().filter(|threshold| threshold.metric == metric.name).collect();
    let plain: Vec<&str> = own.iter().filter(|threshold| threshold.tags.is_empty()).map(|threshold| threshold.source.as_str()).collect();
    let mut keys: Vec<&str> = own.iter().filter(|threshold| !threshold.tags.is_empty()).map(|threshold| threshold.key.as_str()).collect();
    if metric.name == "http_req_duration" {
        keys.insert(0, "http_req_duration{expected_response:true}");
    }
    keys.dedup();
    let submetrics: Vec<Value> = keys
        .iter()
        .map(|key| {
            let suffix = key.split_once('{').map_or("", |(_, rest)| rest.trim_end_matches('}'));
            let tags = plimsoll_core::threshold::parse_key(key).map(|(_, tags)| tags).unwrap_or_default();
            let tags: serde_json::Map<String, Value> = tags.into_iter().map(|(key, value)| (key, json!(value))).collect();
            json!({"name": key, "suffix": suffix, "tags": tags})
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
            value if value != 0.0 && (value.abs() < 1e-6 || value.abs() >= 1e21) => write!(formatter, "{value:e}"),
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
    fn write(&mut self, sink: &mut Box<dyn Sink>, time_ns: i64) -> io::Result<()> {
        let (epoch_s, rest_ns) = (time_ns.div_euclid(1_000_000_000), time_ns.rem_euclid(1_000_000_000));
        if self.epoch_s != Some(epoch_s) {
            self.epoch_s = Some(epoch_s);
            (self.text, self.zone) = local(epoch_s);
        }
        if rest_ns == 0 {
            return write!(sink, "{}{}", self.text, self.zone);
        }
        let mut digits = *b"000000000";
        let mut rest = rest_ns as u64;
        for digit in digits.iter_mut().rev() {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        let length = digits.iter().rposition(|digit| *digit != b'0').map_or(0, |at| at + 1);
        sink.write_all(self.text.as_bytes())?;
        sink.write_all(b".")?;
        sink.write_all(&digits[..length])?;
        sink.write_all(self.zone.as_bytes())
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
    let zone = if minutes == 0 { "Z".to_owned() } else { format!("{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60) };
    (text, zone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_json() {
        for (value, text) in [(1.0, "1"), (0.1, "0.1"), (-0.5, "-0.5"), (1e-9, "1e-9"), (1e300, "1e300"), (f64::NAN, "null"), (0.0, "0")] {
            assert_eq!(Number(value).to_string(), text);
            assert!(serde_json::from_str::<Value>(text).is_ok());
        }
    }

    #[test]
    fn a_time_has_its_digits_without_trailing_zeros() {
        for (time_ns, ending) in [(1_795_300_548_465_255_648, ".465255648"), (1_795_300_548_500_000_000, ".5"), (1_795_300_548_000_000_000, "")] {
            let (shared, mut second) = (Shared::default(), Second::default());
            let mut sink: Box<dyn Sink> = Box::new(shared.clone());
            second.write(&mut sink, time_ns).unwrap();
            let (text, zone) = local(1_795_300_548);
            assert_eq!(String::from_utf8(shared.0.lock().unwrap().clone()).unwrap(), format!("{text}{ending}{zone}"));
        }
    }

    #[derive(Clone, Default)]
    struct Shared(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Sink for Shared {
        fn finish(self: Box<Self>) -> io::Result<()> {
            Ok(())
        }
    }
}
