//! Raw samples as Parquet: `time`, `metric`, `value`, `vu`, `iter`, a column for each system tag that samples carry, and
//! the other tags as a JSON object. Texts are dictionaries, so that a sample takes a few bytes.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type};
use plimsoll_core::options::Options;
use plimsoll_core::record::{Metric, Tags};
use serde_json::{json, Value};

use super::{k6_tags, Format, PerSeries, Taken};

/// Rows held in memory before they are written as a group.
const GROUP_ROWS: usize = 1 << 18;

pub struct Parquet {
    writer: SerializedFileWriter<File>,
    carried: Vec<&'static str>,
    times: Vec<i64>,
    values: Vec<f64>,
    origins: Vec<Option<(u32, u32)>>,
    /// For each row its series' number.
    series: Vec<u32>,
    known: PerSeries<u32>,
    /// Per series: metric, then a value or none for each text column.
    texts: Vec<Vec<Option<ByteArray>>>,
}

impl Parquet {
    pub fn new(file: File, options: &Options) -> io::Result<Self> {
        let carried = options.system_tags.indexed_names();
        let schema = schema(&carried).map_err(failed)?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_statistics_enabled(EnabledStatistics::None);
        let properties = properties
            .set_column_statistics_enabled(ColumnPath::from("time"), EnabledStatistics::Chunk)
            .build();
        let writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties))
            .map_err(failed)?;
        let known = PerSeries::new();
        Ok(Self {
            writer,
            carried,
            times: Vec::new(),
            values: Vec::new(),
            origins: Vec::new(),
            series: Vec::new(),
            known,
            texts: Vec::new(),
        })
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        let mut column = 0;
        while let Some(mut writer) = group.next_column()? {
            match column {
                0 => writer.typed::<Int64Type>().write_batch(&self.times, None, None)?,
                2 => writer.typed::<DoubleType>().write_batch(&self.values, None, None)?,
                3 | 4 => {
                    let part = |origin: &(u32, u32)| {
                        i64::from(if column == 3 { origin.0 } else { origin.1 })
                    };
                    let levels: Vec<i16> =
                        self.origins.iter().map(|origin| i16::from(origin.is_some())).collect();
                    let values: Vec<i64> = self.origins.iter().flatten().map(part).collect();
                    writer.typed::<Int64Type>().write_batch(&values, Some(&levels), None)?
                }
                _ => {
                    let text = if column == 1 { 0 } else { column - 4 };
                    let of = |series: &u32| &self.texts[*series as usize][text];
                    let values: Vec<ByteArray> =
                        self.series.iter().filter_map(|series| of(series).clone()).collect();
                    let levels: Vec<i16> =
                        self.series.iter().map(|series| i16::from(of(series).is_some())).collect();
                    let levels = (column != 1).then_some(levels.as_slice());
                    writer.typed::<ByteArrayType>().write_batch(&values, levels, None)?
                }
            };
            writer.close()?;
            column += 1;
        }
        group.close()?;
        self.times.clear();
        self.values.clear();
        self.origins.clear();
        self.series.clear();
        Ok(())
    }
}

impl Format for Parquet {
    fn write(&mut self, taken: &Taken) -> io::Result<()> {
        let (texts, carried) = (&mut self.texts, &self.carried);
        let known = self.known.of(taken);
        for (metric, value) in taken.values {
            let series = *known[*metric as usize].get_or_insert_with(|| {
                texts.push(texts_of(
                    &taken.source.metrics[*metric as usize],
                    taken.tags(),
                    carried,
                ));
                texts.len() as u32 - 1
            });
            self.times.push(taken.at.time_ns);
            self.values.push(*value);
            self.origins.push(taken.at.origin);
            self.series.push(series);
        }
        if self.times.len() >= GROUP_ROWS {
            self.write_group().map_err(failed)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        if !self.times.is_empty() {
            self.write_group().map_err(failed)?;
        }
        self.writer.close().map(|_| ()).map_err(failed)
    }
}

/// The metric's name, the value of each carried tag, and the other tags.
fn texts_of(metric: &Metric, tags: &Tags, carried: &[&str]) -> Vec<Option<ByteArray>> {
    let mut tags: HashMap<&str, &str> = k6_tags(tags, carried).into_iter().collect();
    let mut texts = vec![Some(ByteArray::from(metric.name.as_str()))];
    texts.extend(carried.iter().map(|name| tags.remove(name).map(ByteArray::from)));
    let extra: std::collections::BTreeMap<&str, &str> = tags.into_iter().collect();
    let extra: serde_json::Map<String, Value> =
        extra.into_iter().map(|(key, value)| (key.to_owned(), json!(value))).collect();
    texts.push(
        (!extra.is_empty()).then(|| ByteArray::from(Value::Object(extra).to_string().as_str())),
    );
    texts
}

fn schema(carried: &[&str]) -> Result<Type, ParquetError> {
    let text = |name: &str, repetition| {
        let kind = Type::primitive_type_builder(name, Physical::BYTE_ARRAY)
            .with_logical_type(Some(LogicalType::String));
        kind.with_repetition(repetition).build()
    };
    let moment = LogicalType::timestamp(true, TimeUnit::NANOS);
    let count = |name: &str| {
        Type::primitive_type_builder(name, Physical::INT64)
            .with_repetition(Repetition::OPTIONAL)
            .build()
    };
    let mut fields = vec![
        Type::primitive_type_builder("time", Physical::INT64)
            .with_repetition(Repetition::REQUIRED)
            .with_logical_type(Some(moment))
            .build()?,
        text("metric", Repetition::REQUIRED)?,
        Type::primitive_type_builder("value", Physical::DOUBLE)
            .with_repetition(Repetition::REQUIRED)
            .build()?,
        count("vu")?,
        count("iter")?,
    ];
    for name in carried {
        fields.push(text(name, Repetition::OPTIONAL)?);
    }
    fields.push(text("extra_tags", Repetition::OPTIONAL)?);
    Type::group_type_builder("samples")
        .with_fields(fields.into_iter().map(Arc::new).collect())
        .build()
}

fn failed(error: ParquetError) -> io::Error {
    io::Error::other(error.to_string())
}
