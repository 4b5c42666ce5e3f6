//! k6's CSV: a column for each system tag that samples carry, the other tags and the metadata as one column each.

use std::io::{self, Write};

use plimsoll_core::options::Options;
use plimsoll_core::record::{Metric, Tags};

use super::{k6_tags, Decimal, Format, Metadata, PerSeries, Sink, Taken, Text};

pub struct Csv {
    text: Text,
    carried: Vec<&'static str>,
    metadata: Metadata,
    columns: PerSeries<Columns>,
    /// The last second and its column.
    second: (i64, String),
    /// What ends the lines of a moment.
    ending: Vec<u8>,
}

/// The columns of a series before its time, and those between its value and the metadata.
struct Columns {
    before: String,
    after: String,
}

impl Columns {
    fn new(metric: &Metric, tags: &Tags, carried: &[&'static str]) -> Self {
        let (system, extra): (Vec<_>, Vec<_>) =
            k6_tags(tags, carried).into_iter().partition(|(key, _)| carried.contains(key));
        let mut after = String::new();
        for name in carried {
            let value = system.iter().find(|(key, _)| key == name).map_or("", |(_, value)| *value);
            after.push(',');
            after.push_str(&field(value));
        }
        let extra: Vec<String> =
            extra.iter().map(|(key, value)| format!("{key}={value}")).collect();
        Self {
            before: field(&metric.name).into_owned(),
            after: format!("{after},{},", field(&extra.join("&"))),
        }
    }
}

impl Csv {
    pub fn new(sink: Box<dyn Sink>, options: &Options) -> Self {
        let carried = options.system_tags.indexed_names();
        let mut head = vec!["metric_name", "timestamp", "metric_value"];
        head.extend(&carried);
        head.extend(["extra_tags", "metadata"]);
        let mut text = Text::new(sink);
        text.put(head.join(",").as_bytes());
        text.put(b"\n");
        let (metadata, second) = (Metadata::of(options), (i64::MIN, String::new()));
        Self { text, carried, metadata, columns: PerSeries::new(), second, ending: Vec::new() }
    }
}

impl Format for Csv {
    fn write(&mut self, taken: &Taken) -> io::Result<()> {
        let second = taken.at.time_ns.div_euclid(1_000_000_000);
        if self.second.0 != second {
            self.second = (second, format!(",{second},"));
        }
        self.ending.clear();
        for (at, (name, number)) in self.metadata.pairs(taken.at.origin).enumerate() {
            write!(self.ending, "{}{name}={number}", if at > 0 { "&" } else { "" })?;
        }
        self.ending.push(b'\n');
        let known = self.columns.of(taken);
        for (metric, value) in taken.values {
            let make = || {
                Columns::new(&taken.source.metrics[*metric as usize], taken.tags(), &self.carried)
            };
            let columns = known[*metric as usize].get_or_insert_with(make);
            self.text.put(columns.before.as_bytes());
            self.text.put(self.second.1.as_bytes());
            match Decimal::of(*value) {
                Some(decimal) => self.text.put(decimal.whole()),
                None => write!(self.text.bytes, "{value:.6}")?,
            }
            self.text.put(columns.after.as_bytes());
            self.text.put(&self.ending);
        }
        self.text.pass_on()
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.text.finish()
    }
}

/// A field, in quotes where RFC 4180 wants them.
fn field(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains(['"', ',', '\n', '\r']) || text.starts_with(' ') {
        return format!("\"{}\"", text.replace('"', "\"\"")).into();
    }
    text.into()
}

#[cfg(test)]
mod tests {
    use super::field;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        for (text, wanted) in [
            ("a", "a"),
            ("a,b", "\"a,b\""),
            ("a \"b\"", "\"a \"\"b\"\"\""),
            ("a\nb", "\"a\nb\""),
            ("", ""),
        ] {
            assert_eq!(field(text), wanted);
        }
    }
}
