//! `k6/experimental/csv`: a file as a shared array of records, or read record by record.

use std::cell::RefCell;
use std::path::Path;

use bytes::Bytes;
use rquickjs::{Array, Ctx, Exception, Function, Object, Result, Value};

use crate::api::csv_records::Records;
use crate::api::data;
use crate::runtime::host::Natives;
use crate::runtime::json;
use crate::state::VuState;
use crate::values::text_of_string;

/// What a script asks for; lines are counted from 0.
struct Wanted {
    delimiter: u8,
    skip_first_line: bool,
    from_line: usize,
    to_line: Option<usize>,
    as_objects: bool,
}

pub fn install<'js>(natives: &Natives<'js>) -> Result<()> {
    natives.add("inInit", |ctx: Ctx<'js>| -> Result<bool> {
        Ok(VuState::running(&ctx)?.in_init.get())
    })?;
    natives.add(
        "parse",
        |ctx: Ctx<'js>, path: String, options: Object<'js>| -> Result<Array<'js>> {
            let vu = VuState::running(&ctx)?;
            let wanted = Wanted::read(&ctx, &options)?;
            // One array per file and way to read it, for all VUs of the run.
            let key = format!("csv:{}:{path}", wanted.key());
            let elements = match vu.bundle.shared_array(&key) {
                Some(elements) => elements,
                None => vu
                    .bundle
                    .keep_shared_array(&key, Reading::open(&ctx, &vu, &path, wanted)?.all(&ctx)?),
            };
            data::handle(&ctx, elements)
        },
    )?;
    natives.add(
        "reader",
        |ctx: Ctx<'js>, path: String, options: Object<'js>| -> Result<Function<'js>> {
            let vu = VuState::running(&ctx)?;
            let wanted = Wanted::read(&ctx, &options)?;
            let reading = RefCell::new(Reading::open(&ctx, &vu, &path, wanted)?);
            Function::new(ctx, move |ctx: Ctx<'js>| -> Result<Value<'js>> {
                match reading.borrow_mut().next(&ctx)? {
                    Some(record) => json::parse(&ctx, record.to_string().as_bytes()),
                    None => Ok(Value::new_null(ctx)),
                }
            })
        },
    )
}

impl Wanted {
    fn read<'js>(ctx: &Ctx<'js>, options: &Object<'js>) -> Result<Self> {
        let mistake =
            |what: String| Err(Exception::throw_message(ctx, &format!("options of csv: {what}")));
        let delimiter = match options.get::<_, Value>("delimiter")?.as_string() {
            Some(text) => text_of_string(text),
            None => ",".to_owned(),
        };
        let [delimiter] = *delimiter.as_bytes() else {
            return mistake(format!("the delimiter '{delimiter}' is not one ASCII character; write for example {{delimiter: ';'}}"));
        };
        let truth = |name: &str| -> Result<bool> {
            Ok(options
                .get::<_, Option<rquickjs::Coerced<bool>>>(name)?
                .is_some_and(|truth| truth.0))
        };
        let (skip_first_line, as_objects) = (truth("skipFirstLine")?, truth("asObjects")?);
        let line =
            |name: &str| -> Result<Option<f64>> { Ok(options.get::<_, Value>(name)?.as_number()) };
        let (from, to) = (line("fromLine")?.unwrap_or(0.0), line("toLine")?);
        if from < 0.0 || to.is_some_and(|to| to < 0.0) {
            return mistake(
                "fromLine and toLine count lines from 0; give numbers of at least 0".into(),
            );
        }
        if to.is_some_and(|to| to > 0.0 && to < from) {
            return mistake("fromLine is after toLine; swap them".into());
        }
        if as_objects && (skip_first_line || from > 0.0) {
            return mistake("asObjects takes the names from the first line, so that neither skipFirstLine nor fromLine goes with it".into());
        }
        // As in k6, toLine: 0 means to the end.
        let to_line = to.filter(|to| *to > 0.0).map(|to| to as usize);
        Ok(Self { delimiter, skip_first_line, from_line: from as usize, to_line, as_objects })
    }

    fn key(&self) -> String {
        format!(
            "{}:{}:{}:{:?}:{}",
            self.delimiter, self.skip_first_line, self.from_line, self.to_line, self.as_objects
        )
    }
}

/// A file that is being read as a script wants it.
struct Reading {
    path: String,
    records: Records<Bytes>,
    names: Option<Vec<String>>,
    /// The number of the next record's line, from 0.
    line: usize,
    to_line: Option<usize>,
}

impl Reading {
    fn open(ctx: &Ctx<'_>, vu: &VuState, path: &str, wanted: Wanted) -> Result<Self> {
        let bytes = vu
            .bundle
            .read(Path::new(path))
            .map_err(|error| Exception::throw_message(ctx, &format!("{path}: {error}")))?;
        let records = Records::new(bytes, wanted.delimiter);
        let mut reading =
            Self { path: path.to_owned(), records, names: None, line: 0, to_line: wanted.to_line };
        if wanted.as_objects {
            reading.names = reading.record(ctx)?;
        }
        let first = wanted.from_line.max(usize::from(wanted.skip_first_line));
        while reading.line < first {
            if reading.record(ctx)?.is_none() {
                let what = format!(
                    "fromLine {first}: the file has {} lines; give a smaller one",
                    reading.line
                );
                return Err(Exception::throw_message(ctx, &format!("{path}: {what}")));
            }
        }
        Ok(reading)
    }

    fn record(&mut self, ctx: &Ctx<'_>) -> Result<Option<Vec<String>>> {
        let record = self.records.next().map_err(|what| {
            Exception::throw_message(ctx, &format!("{}: {what}; correct the file", self.path))
        })?;
        self.line += usize::from(record.is_some());
        Ok(record)
    }

    fn next(&mut self, ctx: &Ctx<'_>) -> Result<Option<serde_json::Value>> {
        if self.to_line.is_some_and(|last| self.line > last) {
            return Ok(None);
        }
        let record = self.record(ctx)?;
        Ok(record.map(|fields| match &self.names {
            Some(names) => serde_json::Value::Object(
                names.iter().cloned().zip(fields.into_iter().map(Into::into)).collect(),
            ),
            None => fields.into(),
        }))
    }

    fn all(mut self, ctx: &Ctx<'_>) -> Result<Vec<String>> {
        let mut elements = Vec::new();
        while let Some(record) = self.next(ctx)? {
            elements.push(record.to_string());
        }
        Ok(elements)
    }
}
