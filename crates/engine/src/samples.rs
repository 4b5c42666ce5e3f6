//! Raw samples: every value with its moment and tags, written by a thread of its own (`--out`).
//!
//! A load thread hands over batches of rows through a channel of bounded length and never waits for the disk: a batch
//! that finds the channel full is counted as lost, and the run says so. Without an output nothing here exists.

mod csv;
mod json;
mod parquet;

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{sync_channel, Receiver, SyncSender, TrySendError};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};

use plimsoll_core::options::Options;
use plimsoll_core::record::{Metric, MetricId, TagSetId, Tags, Tap};
use serde::Deserialize;
use serde_json::{json, Value};

use crate::limits;

/// Rows of a batch, and batches on their way: 32 MiB of rows at most.
const BATCH_ROWS: usize = 4096;
const BATCHES: usize = 256;
const FILE_BUFFER_BYTES: usize = 1 << 20;

/// One file to write: `kind` is `json`, `csv` or `parquet`; a path that ends in `.gz` is compressed, `-` is stdout.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputFile {
    pub kind: String,
    pub path: PathBuf,
}

/// Which VU a thread works for, and its iteration: metadata of raw samples.
pub type Origin = Rc<Cell<Option<(u32, u32)>>>;

#[derive(Clone, Copy)]
struct Row {
    /// Nanoseconds since the epoch.
    time_ns: i64,
    value: f64,
    metric: MetricId,
    tags: TagSetId,
    origin: Option<(u32, u32)>,
}

/// Rows of one recorder with what is needed to read them.
struct Batch {
    source: usize,
    metrics: Vec<Metric>,
    tag_sets: Vec<Tags>,
    rows: Vec<Row>,
}

/// A sample as a format sees it. `series` tells the pair of metric and tags apart, for what a format keeps of it.
struct Sample<'a> {
    metric: &'a Metric,
    tags: &'a Tags,
    series: (usize, MetricId, TagSetId),
    time_ns: i64,
    value: f64,
    origin: Option<(u32, u32)>,
}

trait Format: Send {
    fn write(&mut self, sample: &Sample) -> io::Result<()>;
    /// Ends the file.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// The thread that writes, as the run holds it.
pub struct Samples {
    sender: SyncSender<Batch>,
    lost: Arc<AtomicU64>,
    sources: AtomicU64,
    thread: JoinHandle<Option<String>>,
}

impl Samples {
    /// Opens the files and starts the thread; `None` without files. A file that cannot be opened is an error.
    pub fn start(files: &[OutputFile], options: &Options) -> Result<Option<Self>, String> {
        if files.is_empty() {
            return Ok(None);
        }
        let mut formats: Vec<(PathBuf, Box<dyn Format>)> = Vec::new();
        for file in files {
            let failed = |error: io::Error| format!("--out {}={}: {error}; give a file that can be written", file.kind, file.path.display());
            formats.push((file.path.clone(), open(file, options).map_err(failed)?));
        }
        let (sender, batches) = sync_channel(BATCHES);
        let thread = std::thread::Builder::new().name("plimsoll-samples".into()).spawn(move || write_all(&batches, formats));
        let thread = thread.map_err(|error| format!("--out: no thread to write with: {error}"))?;
        Ok(Some(Self { sender, lost: Arc::default(), sources: AtomicU64::new(0), thread }))
    }

    /// What a recorder tells its samples to.
    pub fn tap(&self, origin: Origin) -> Box<dyn Tap> {
        Box::new(BatchTap {
            batch: Batch {
                source: self.sources.fetch_add(1, Ordering::Relaxed) as usize,
                metrics: Vec::new(),
                tag_sets: Vec::new(),
                rows: Vec::new(),
            },
            sender: self.sender.clone(),
            lost: self.lost.clone(),
            origin,
        })
    }

    /// Waits until all is written, once every tap has gone: samples lost because the disk did not keep up, and what
    /// stopped the writing.
    pub fn finish(self) -> Value {
        drop(self.sender);
        let failure = self.thread.join().unwrap_or_else(|_| Some("the thread that writes raw samples stopped unexpectedly".into()));
        json!({"lost": self.lost.load(Ordering::Relaxed), "failure": failure})
    }
}

struct BatchTap {
    batch: Batch,
    sender: SyncSender<Batch>,
    lost: Arc<AtomicU64>,
    origin: Origin,
}

impl BatchTap {
    fn send(&mut self) {
        let (metrics, tag_sets) = (std::mem::take(&mut self.batch.metrics), std::mem::take(&mut self.batch.tag_sets));
        let rows = std::mem::replace(&mut self.batch.rows, Vec::with_capacity(BATCH_ROWS));
        match self.sender.try_send(Batch { source: self.batch.source, metrics, tag_sets, rows }) {
            Ok(()) => {}
            Err(TrySendError::Full(back) | TrySendError::Disconnected(back)) => {
                self.lost.fetch_add(back.rows.len() as u64, Ordering::Relaxed);
                // What rows refer to must arrive with the next batch; the rows are lost.
                (self.batch.metrics, self.batch.tag_sets, self.batch.rows) = (back.metrics, back.tag_sets, back.rows);
                self.batch.rows.clear();
            }
        }
    }
}

impl Tap for BatchTap {
    fn metric(&mut self, _id: MetricId, metric: &Metric) {
        self.batch.metrics.push(metric.clone());
    }

    fn tag_set(&mut self, _id: TagSetId, tags: &Tags) {
        self.batch.tag_sets.push(tags.clone());
    }

    fn samples(&mut self, tags: TagSetId, samples: &[(MetricId, f64)]) {
        let time_ns = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i64);
        let origin = self.origin.get();
        self.batch.rows.extend(samples.iter().map(|(metric, value)| Row { time_ns, value: *value, metric: *metric, tags, origin }));
        if self.batch.rows.len() >= BATCH_ROWS {
            self.send();
        }
    }

    fn flush(&mut self) {
        if !self.batch.rows.is_empty() {
            self.send();
        }
    }
}

impl Drop for BatchTap {
    fn drop(&mut self) {
        self.flush();
    }
}

fn open(file: &OutputFile, options: &Options) -> io::Result<Box<dyn Format>> {
    Ok(match file.kind.as_str() {
        "json" => Box::new(json::Json::new(sink(&file.path)?, options)),
        "csv" => Box::new(csv::Csv::new(sink(&file.path)?, options)?),
        "parquet" => Box::new(parquet::Parquet::new(File::create(&file.path)?, options)?),
        other => return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("'{other}' is none of json, csv and parquet"))),
    })
}

/// Where a text format writes, ended by `finish` so that the last bytes' failure is seen.
trait Sink: Write + Send {
    fn finish(self: Box<Self>) -> io::Result<()>;
}

impl Sink for BufWriter<File> {
    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.flush()
    }
}

impl Sink for BufWriter<io::Stdout> {
    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.flush()
    }
}

impl Sink for flate2::write::GzEncoder<BufWriter<File>> {
    fn finish(self: Box<Self>) -> io::Result<()> {
        flate2::write::GzEncoder::finish(*self)?.flush()
    }
}

fn sink(path: &Path) -> io::Result<Box<dyn Sink>> {
    if path == Path::new("-") {
        return Ok(Box::new(BufWriter::with_capacity(FILE_BUFFER_BYTES, io::stdout())));
    }
    let file = BufWriter::with_capacity(FILE_BUFFER_BYTES, File::create(path)?);
    if path.extension().is_some_and(|extension| extension == "gz") {
        return Ok(Box::new(flate2::write::GzEncoder::new(file, flate2::Compression::fast())));
    }
    Ok(Box::new(file))
}

/// What a recorder has told of itself so far.
#[derive(Default)]
struct Source {
    metrics: Vec<Metric>,
    tag_sets: Vec<Tags>,
}

/// A number with six decimals: a time in milliseconds to the nanosecond. To write it digit by digit takes a third of what
/// the general way takes; numbers too large for it are left to that.
struct Decimal {
    digits: [u8; 24],
    from: usize,
}

impl Decimal {
    /// A millionth of what a float holds exactly.
    const LARGEST: f64 = 9e9;

    fn of(value: f64) -> Option<Self> {
        if value.is_nan() || value.abs() >= Self::LARGEST {
            return None;
        }
        let scaled = (value * 1e6).round();
        let mut rest = scaled.abs() as u64;
        let mut decimal = Self { digits: [b'0'; 24], from: 24 };
        let mut written = 0;
        while written < 7 || rest > 0 {
            if written == 6 {
                decimal.put(b'.');
            }
            decimal.put(b'0' + (rest % 10) as u8);
            rest /= 10;
            written += 1;
        }
        if scaled < 0.0 {
            decimal.put(b'-');
        }
        Some(decimal)
    }

    fn put(&mut self, digit: u8) {
        self.from -= 1;
        self.digits[self.from] = digit;
    }

    /// With all six decimals.
    fn whole(&self) -> &[u8] {
        &self.digits[self.from..]
    }

    /// Without the zeros at its end.
    fn trimmed(&self) -> &[u8] {
        let all = self.whole();
        let length = all.iter().rposition(|digit| *digit != b'0').map_or(0, |at| at + 1);
        all[..length].strip_suffix(b".").unwrap_or(&all[..length])
    }
}

/// Writes until every tap has gone; a file that fails is left, the others go on. Returns what failed.
fn write_all(batches: &Receiver<Batch>, mut formats: Vec<(PathBuf, Box<dyn Format>)>) -> Option<String> {
    limits::step_back();
    let mut sources: Vec<Source> = Vec::new();
    let mut failures = Vec::new();
    let failed = |path: &Path, error: &io::Error| format!("{}: {error}", path.display());
    for batch in batches {
        if sources.len() <= batch.source {
            sources.resize_with(batch.source + 1, Source::default);
        }
        let source = &mut sources[batch.source];
        source.metrics.extend(batch.metrics);
        source.tag_sets.extend(batch.tag_sets);
        formats.retain_mut(|(path, format)| {
            let written = batch.rows.iter().try_for_each(|row| {
                format.write(&Sample {
                    metric: &source.metrics[row.metric as usize],
                    tags: &source.tag_sets[row.tags as usize],
                    series: (batch.source, row.metric, row.tags),
                    time_ns: row.time_ns,
                    value: row.value,
                    origin: row.origin,
                })
            });
            if let Err(error) = &written {
                eprintln!("ERROR raw samples are no longer written: {}", failed(path, error));
                failures.push(failed(path, error));
            }
            written.is_ok()
        });
    }
    for (path, format) in formats {
        if let Err(error) = format.finish() {
            failures.push(failed(&path, &error));
        }
    }
    (!failures.is_empty()).then(|| failures.join("; "))
}

/// The tags of a sample as k6 has them: `url` beside `name`, and a `group` at the root too.
fn k6_tags<'a>(tags: &'a Tags, carried: &[&str]) -> Vec<(&'a str, &'a str)> {
    let mut found: Vec<(&str, &str)> = tags.0.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    if let Some((_, name)) = found.iter().find(|(key, _)| *key == "name").copied() {
        if carried.contains(&"url") {
            found.push(("url", name));
        }
        if !carried.contains(&"name") {
            found.retain(|(key, _)| *key != "name");
        }
    }
    let in_iteration = found.iter().any(|(key, _)| *key == "scenario");
    if in_iteration && carried.contains(&"group") && !found.iter().any(|(key, _)| *key == "group") {
        found.push(("group", ""));
    }
    found.retain(|(key, value)| !value.is_empty() || *key == "group");
    found.sort_unstable();
    found
}

/// What k6 keeps of a series for as long as a run goes on: by metric and tags of each recorder.
struct PerSeries<T>(Vec<Vec<Vec<Option<T>>>>);

impl<T> PerSeries<T> {
    fn new() -> Self {
        Self(Vec::new())
    }

    fn get_or_make(&mut self, (source, metric, tags): (usize, MetricId, TagSetId), make: impl FnOnce() -> T) -> &T {
        fn at<U: Default>(rows: &mut Vec<U>, at: usize) -> &mut U {
            if rows.len() <= at {
                rows.resize_with(at + 1, U::default);
            }
            &mut rows[at]
        }
        let place = at(at(at(&mut self.0, source), metric as usize), tags as usize);
        place.get_or_insert_with(make)
    }
}

/// The bits of metadata that samples carry: system tags that would make a series each.
#[derive(Clone, Copy)]
struct Metadata {
    vu: bool,
    iter: bool,
}

impl Metadata {
    fn of(options: &Options) -> Self {
        use plimsoll_core::system_tags::SystemTag;
        Self { vu: options.system_tags.has(SystemTag::Vu), iter: options.system_tags.has(SystemTag::Iter) }
    }

    fn pairs(self, origin: Option<(u32, u32)>) -> impl Iterator<Item = (&'static str, u32)> {
        let vu = origin.filter(|_| self.vu).map(|(vu, _)| ("vu", vu));
        let iter = origin.filter(|_| self.iter).map(|(_, iter)| ("iter", iter));
        vu.into_iter().chain(iter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_core::record::{Kind, Recorder};

    fn tap(length: usize) -> (BatchTap, Receiver<Batch>, Arc<AtomicU64>) {
        let (sender, batches) = sync_channel(length);
        let lost = Arc::new(AtomicU64::new(0));
        let batch = Batch { source: 0, metrics: Vec::new(), tag_sets: Vec::new(), rows: Vec::new() };
        (BatchTap { batch, sender, lost: lost.clone(), origin: Rc::default() }, batches, lost)
    }

    #[test]
    fn rows_that_nobody_takes_are_counted_and_what_later_rows_refer_to_is_kept() {
        let (tap, batches, lost) = tap(1);
        let mut recorder = Recorder::new();
        recorder.attach(Box::new(tap));
        let mut record = |metric: &str, name: &str, times: usize| {
            let metric = recorder.metric(metric, Kind::Counter, false).unwrap();
            let tags = recorder.tag_set(&[("name", name)]);
            (0..times).for_each(|_| recorder.add(metric, tags, 1.0));
            recorder.take();
        };
        record("a", "x", 3);
        record("b", "y", 5);
        let first = batches.recv().unwrap();
        record("b", "y", 2);
        let last = batches.recv().unwrap();
        assert_eq!((first.rows.len(), last.rows.len(), lost.load(Ordering::Relaxed)), (3, 2, 5));
        let names: Vec<&str> = first.metrics.iter().chain(&last.metrics).map(|metric| metric.name.as_str()).collect();
        assert_eq!((names, last.tag_sets[0].get("name")), (vec!["a", "b"], Some("y")));
    }

    #[test]
    fn decimals_are_those_of_the_general_way() {
        for value in [0.0, 1.0, -1.5, 0.1, 0.157_981, 123_456_789.25, 0.000_001, 4.2e-7, -0.000_000_4, 8_999_999_999.0, 10.0, 100.5] {
            let decimal = Decimal::of(value).unwrap();
            let wanted = format!("{:.6}", (value * 1e6).round() / 1e6).replace("-0.000000", "0.000000");
            assert_eq!(std::str::from_utf8(decimal.whole()).unwrap(), wanted);
            let trimmed: f64 = std::str::from_utf8(decimal.trimmed()).unwrap().parse().unwrap();
            assert_eq!(trimmed, wanted.parse::<f64>().unwrap());
        }
        assert_eq!(Decimal::of(100.0).unwrap().trimmed(), b"100");
        assert!(Decimal::of(f64::NAN).is_none() && Decimal::of(f64::INFINITY).is_none() && Decimal::of(9e9).is_none());
    }

    #[test]
    fn tags_are_those_of_k6() {
        let tags = |pairs: &[(&str, &str)]| Tags(pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect());
        let request = tags(&[("name", "X"), ("proto", ""), ("scenario", "s")]);
        assert_eq!(k6_tags(&request, &["group", "name", "scenario", "url"]), [("group", ""), ("name", "X"), ("scenario", "s"), ("url", "X")]);
        assert_eq!(k6_tags(&request, &["url"]), [("scenario", "s"), ("url", "X")]);
        assert_eq!(k6_tags(&tags(&[("group", "::setup")]), &["group"]), [("group", "::setup")]);
    }
}
