//! Raw samples: every value with its moment and tags, written by a thread of its own (`--out`).
//!
//! A load thread hands over batches of samples through a channel of bounded length and never waits for the disk: a batch
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
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};

use plimsoll_core::options::Options;
use plimsoll_core::record::{Metric, MetricId, TagSetId, Tags, Tap};
use plimsoll_script::secrets::Cleaner;
use serde::Deserialize;
use serde_json::{json, Value};

use crate::limits;

/// Values of a batch, and batches on their way: 48 MiB at most.
const BATCH_VALUES: usize = 4096;
const BATCHES: usize = 256;

/// One file to write: `kind` is `json`, `csv` or `parquet`; a path that ends in `.gz` is compressed, `-` is stdout.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputFile {
    pub kind: String,
    pub path: PathBuf,
}

/// Which VU a thread works for, and its iteration: metadata of raw samples.
pub type Origin = Rc<Cell<Option<(u32, u32)>>>;

/// A moment at which values were recorded with one set of tags.
#[derive(Clone, Copy)]
struct Moment {
    /// Nanoseconds since the epoch.
    time_ns: i64,
    origin: Option<(u32, u32)>,
    tags: TagSetId,
    /// How many values.
    values: u32,
}

/// Samples of one recorder with what is needed to read them.
struct Batch {
    source: usize,
    metrics: Vec<Metric>,
    tag_sets: Vec<Tags>,
    moments: Vec<Moment>,
    /// Those of the first moment, then those of the next one.
    values: Vec<(MetricId, f64)>,
}

/// The samples of a moment as a format sees them.
struct Taken<'a> {
    source: &'a Source,
    at: &'a Moment,
    values: &'a [(MetricId, f64)],
}

impl Taken<'_> {
    fn tags(&self) -> &Tags {
        &self.source.tag_sets[self.at.tags as usize]
    }
}

trait Format: Send {
    fn write(&mut self, taken: &Taken) -> io::Result<()>;
    /// Ends the file.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// Nothing ends the files: a thread that was left behind may hold on to the channel for ever.
type Sender = SyncSender<Option<Batch>>;

/// The thread that writes, as the run holds it.
pub struct Samples {
    sender: Sender,
    lost: Arc<AtomicU64>,
    sources: AtomicU64,
    thread: Mutex<Option<JoinHandle<Option<String>>>>,
}

impl Samples {
    /// Opens the files and starts the thread; `None` without files. A file that cannot be opened is an error.
    /// Names and tags have no secrets by `cleaner`, which is asked once for each.
    pub fn start(
        files: &[OutputFile],
        options: &Options,
        cleaner: &Cleaner,
    ) -> Result<Option<Self>, String> {
        if files.is_empty() {
            return Ok(None);
        }
        let mut formats: Vec<(PathBuf, Box<dyn Format>)> = Vec::new();
        for file in files {
            let failed = |error: io::Error| {
                format!(
                    "--out {}={}: {error}; give a file that can be written",
                    file.kind,
                    file.path.display()
                )
            };
            formats.push((file.path.clone(), open(file, options, cleaner).map_err(failed)?));
        }
        let (sender, batches) = sync_channel(BATCHES);
        let thread = std::thread::Builder::new().name("plimsoll-samples".into()).spawn({
            let cleaner = cleaner.clone();
            move || write_all(&batches, formats, &cleaner)
        });
        let thread = thread.map_err(|error| format!("--out: no thread to write with: {error}"))?;
        Ok(Some(Self {
            sender,
            lost: Arc::default(),
            sources: AtomicU64::new(0),
            thread: Mutex::new(Some(thread)),
        }))
    }

    /// What a recorder tells its samples to.
    pub fn tap(&self, origin: Origin) -> Box<dyn Tap> {
        Box::new(BatchTap {
            batch: Batch {
                source: self.sources.fetch_add(1, Ordering::Relaxed) as usize,
                metrics: Vec::new(),
                tag_sets: Vec::new(),
                moments: Vec::new(),
                values: Vec::new(),
            },
            sender: self.sender.clone(),
            lost: self.lost.clone(),
            origin,
        })
    }

    /// Waits until all is written that was told: samples lost because the disk did not keep up, and what stopped the
    /// writing.
    pub fn finish(&self) -> Value {
        // Without a reader it has stopped by itself.
        let _ = self.sender.send(None);
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let ended = thread.map_or(Ok(None), JoinHandle::join);
        let failure = ended.unwrap_or_else(|_| {
            Some("the thread that writes raw samples stopped unexpectedly".into())
        });
        json!({"lost": self.lost.load(Ordering::Relaxed), "failure": failure})
    }
}

struct BatchTap {
    batch: Batch,
    sender: Sender,
    lost: Arc<AtomicU64>,
    origin: Origin,
}

impl BatchTap {
    fn send(&mut self) {
        let (metrics, tag_sets) =
            (std::mem::take(&mut self.batch.metrics), std::mem::take(&mut self.batch.tag_sets));
        let like = (
            Vec::with_capacity(self.batch.moments.len()),
            Vec::with_capacity(self.batch.values.len()),
        );
        let (moments, values) = (
            std::mem::replace(&mut self.batch.moments, like.0),
            std::mem::replace(&mut self.batch.values, like.1),
        );
        match self.sender.try_send(Some(Batch {
            source: self.batch.source,
            metrics,
            tag_sets,
            moments,
            values,
        })) {
            Ok(()) | Err(TrySendError::Full(None) | TrySendError::Disconnected(None)) => {}
            Err(TrySendError::Full(Some(back)) | TrySendError::Disconnected(Some(back))) => {
                self.lost.fetch_add(back.values.len() as u64, Ordering::Relaxed);
                // What samples refer to must arrive with the next batch; the samples are lost.
                (self.batch.metrics, self.batch.tag_sets) = (back.metrics, back.tag_sets);
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
        let time_ns =
            SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i64);
        self.batch.moments.push(Moment {
            time_ns,
            origin: self.origin.get(),
            tags,
            values: samples.len() as u32,
        });
        self.batch.values.extend_from_slice(samples);
        if self.batch.values.len() >= BATCH_VALUES {
            self.send();
        }
    }

    fn flush(&mut self) {
        if !self.batch.values.is_empty() {
            self.send();
        }
    }
}

impl Drop for BatchTap {
    fn drop(&mut self) {
        self.flush();
    }
}

fn open(file: &OutputFile, options: &Options, cleaner: &Cleaner) -> io::Result<Box<dyn Format>> {
    Ok(match file.kind.as_str() {
        "json" => Box::new(json::Json::new(sink(&file.path)?, options, cleaner.clone())),
        "csv" => Box::new(csv::Csv::new(sink(&file.path)?, options)),
        "parquet" => Box::new(parquet::Parquet::new(File::create(&file.path)?, options)?),
        other => {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("'{other}' is none of json, csv and parquet"),
            ))
        }
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
        return Ok(Box::new(BufWriter::new(io::stdout())));
    }
    let file = BufWriter::new(File::create(path)?);
    if path.extension().is_some_and(|extension| extension == "gz") {
        return Ok(Box::new(flate2::write::GzEncoder::new(file, flate2::Compression::fast())));
    }
    Ok(Box::new(file))
}

/// Text on its way to a sink, handed over in large pieces.
struct Text {
    bytes: Vec<u8>,
    sink: Box<dyn Sink>,
}

impl Text {
    const PIECE_BYTES: usize = 256 << 10;

    fn new(sink: Box<dyn Sink>) -> Self {
        Self { bytes: Vec::with_capacity(Self::PIECE_BYTES + Self::PIECE_BYTES / 8), sink }
    }

    fn put(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
    }

    /// Hands over what has gathered, if that is enough.
    fn pass_on(&mut self) -> io::Result<()> {
        if self.bytes.len() < Self::PIECE_BYTES {
            return Ok(());
        }
        self.sink.write_all(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        self.sink.write_all(&self.bytes)?;
        self.sink.finish()
    }
}

/// What a recorder has told of itself so far.
#[derive(Default)]
struct Source {
    number: usize,
    metrics: Vec<Metric>,
    tag_sets: Vec<Tags>,
}

/// A number with six decimals: a time in milliseconds to the nanosecond. The general way of writing a float takes several
/// times as long; numbers too large for this one are left to it.
struct Decimal {
    digits: [u8; 24],
    from: usize,
}

impl Decimal {
    /// A millionth of what a float holds exactly.
    const LARGEST: f64 = 9e9;
    const DECIMALS: usize = 6;

    fn of(value: f64) -> Option<Self> {
        if value.is_nan() || value.abs() >= Self::LARGEST {
            return None;
        }
        // The nearest whole number: what is added makes the cast, which cuts, round.
        let scaled = (value.abs() * 1e6 + 0.5) as u64;
        let (mut whole, mut fraction) = (scaled / 1_000_000, scaled % 1_000_000);
        let mut decimal = Self { digits: [b'0'; 24], from: 24 };
        for _ in 0..Self::DECIMALS / 2 {
            decimal.put_pair(fraction % 100);
            fraction /= 100;
        }
        decimal.put(b'.');
        while whole >= 100 {
            decimal.put_pair(whole % 100);
            whole /= 100;
        }
        if whole >= 10 {
            decimal.put_pair(whole);
        } else {
            decimal.put(b'0' + whole as u8);
        }
        if value < 0.0 && scaled > 0 {
            decimal.put(b'-');
        }
        Some(decimal)
    }

    fn put_pair(&mut self, pair: u64) {
        self.put(b'0' + (pair % 10) as u8);
        self.put(b'0' + (pair / 10) as u8);
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
        let mut length = all.len();
        // The point ends it: there are six decimals at most.
        while all[length - 1] == b'0' {
            length -= 1;
        }
        &all[..length - usize::from(all[length - 1] == b'.')]
    }
}

/// Writes until every tap has gone; a file that fails is left, the others go on. Returns what failed.
fn write_all(
    batches: &Receiver<Option<Batch>>,
    mut formats: Vec<(PathBuf, Box<dyn Format>)>,
    cleaner: &Cleaner,
) -> Option<String> {
    limits::step_back();
    let mut sources: Vec<Source> = Vec::new();
    let mut failures = Vec::new();
    let failed = |path: &Path, error: &io::Error| format!("{}: {error}", path.display());
    while let Ok(Some(batch)) = batches.recv() {
        if sources.len() <= batch.source {
            sources.resize_with(batch.source + 1, Source::default);
        }
        let source = &mut sources[batch.source];
        source.number = batch.source;
        source.metrics.extend(
            batch
                .metrics
                .into_iter()
                .map(|metric| Metric { name: cleaner.text(&metric.name), ..metric }),
        );
        source.tag_sets.extend(batch.tag_sets.iter().map(|tags| without_secrets(tags, cleaner)));
        formats.retain_mut(|(path, format)| {
            let mut rest = batch.values.as_slice();
            let written = batch.moments.iter().try_for_each(|at| {
                let (values, later) = rest.split_at(at.values as usize);
                rest = later;
                format.write(&Taken { source, at, values })
            });
            if let Err(error) = &written {
                plimsoll_script::tell!(
                    "ERROR raw samples are no longer written: {}",
                    failed(path, error)
                );
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

fn without_secrets(tags: &Tags, cleaner: &Cleaner) -> Tags {
    Tags(
        tags.0.iter().map(|(name, value)| (cleaner.text(name), cleaner.tag(name, value))).collect(),
    )
}

/// The tags of a sample as k6 has them: `url` beside `name`, and a `group` at the root too.
fn k6_tags<'a>(tags: &'a Tags, carried: &[&str]) -> Vec<(&'a str, &'a str)> {
    let mut found: Vec<(&str, &str)> =
        tags.0.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
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

/// What a format keeps of a series for as long as a run goes on: by source, tags and metric.
struct PerSeries<T>(Vec<Vec<Vec<Option<T>>>>);

impl<T> PerSeries<T> {
    fn new() -> Self {
        Self(Vec::new())
    }

    /// What is kept of the series with the tags of a moment, by metric.
    fn of(&mut self, taken: &Taken) -> &mut Vec<Option<T>> {
        fn at<U: Default>(rows: &mut Vec<U>, at: usize) -> &mut U {
            if rows.len() <= at {
                rows.resize_with(at + 1, U::default);
            }
            &mut rows[at]
        }
        let row = at(at(&mut self.0, taken.source.number), taken.at.tags as usize);
        if row.len() < taken.source.metrics.len() {
            row.resize_with(taken.source.metrics.len(), || None);
        }
        row
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
        Self {
            vu: options.system_tags.has(SystemTag::Vu),
            iter: options.system_tags.has(SystemTag::Iter),
        }
    }

    fn pairs(self, origin: Option<(u32, u32)>) -> impl Iterator<Item = (&'static str, u32)> {
        let vu = origin.filter(|_| self.vu).map(|(vu, _)| ("vu", vu));
        let iter = origin.filter(|_| self.iter).map(|(_, iter)| ("iter", iter));
        vu.into_iter().chain(iter)
    }
}

#[cfg(test)]
mod tests;
