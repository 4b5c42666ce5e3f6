//! k6's CSV: a column for each system tag that samples carry, the other tags and the metadata as one column each.

use std::io::{self, Write};

use plimsoll_core::options::Options;

use super::{k6_tags, Decimal, Format, Metadata, PerSeries, Sample, Sink};

pub struct Csv {
    sink: Box<dyn Sink>,
    carried: Vec<&'static str>,
    metadata: Metadata,
    /// The columns of a series between its value and the metadata.
    columns: PerSeries<String>,
    /// The last second and its column.
    second: (i64, String),
}

impl Csv {
    pub fn new(mut sink: Box<dyn Sink>, options: &Options) -> io::Result<Self> {
        let carried = options.system_tags.indexed_names();
        let mut head = vec!["metric_name", "timestamp", "metric_value"];
        head.extend(&carried);
        head.extend(["extra_tags", "metadata"]);
        writeln!(sink, "{}", head.join(","))?;
        Ok(Self { sink, carried, metadata: Metadata::of(options), columns: PerSeries::new(), second: (i64::MIN, String::new()) })
    }
}

impl Format for Csv {
    fn write(&mut self, sample: &Sample) -> io::Result<()> {
        let carried = &self.carried;
        let columns = self.columns.get_or_make(sample.series, || {
            let (system, extra): (Vec<_>, Vec<_>) = k6_tags(sample.tags, carried).into_iter().partition(|(key, _)| carried.contains(key));
            let mut columns = String::new();
            for name in carried {
                let value = system.iter().find(|(key, _)| key == name).map_or("", |(_, value)| *value);
                columns.push(',');
                columns.push_str(&field(value));
            }
            let extra: Vec<String> = extra.iter().map(|(key, value)| format!("{key}={value}")).collect();
            format!("{columns},{},", field(&extra.join("&")))
        });
        let second = sample.time_ns.div_euclid(1_000_000_000);
        if self.second.0 != second {
            self.second = (second, format!(",{second},"));
        }
        self.sink.write_all(field(&sample.metric.name).as_bytes())?;
        self.sink.write_all(self.second.1.as_bytes())?;
        match Decimal::of(sample.value) {
            Some(decimal) => self.sink.write_all(decimal.whole())?,
            None => write!(self.sink, "{:.6}", sample.value)?,
        }
        self.sink.write_all(columns.as_bytes())?;
        for (at, (name, number)) in self.metadata.pairs(sample.origin).enumerate() {
            write!(self.sink, "{}{name}={number}", if at > 0 { "&" } else { "" })?;
        }
        self.sink.write_all(b"\n")
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.sink.finish()
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
        for (text, wanted) in [("a", "a"), ("a,b", "\"a,b\""), ("a \"b\"", "\"a \"\"b\"\"\""), ("a\nb", "\"a\nb\""), ("", "")] {
            assert_eq!(field(text), wanted);
        }
    }
}
