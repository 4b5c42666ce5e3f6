//! A script with everything it reads at start: sources, opened files, environment, shared arrays. One per
//! run, shared by all VUs, so that 5,000 VUs read each file once.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use plimsoll_core::system_tags::SystemTags;
use thiserror::Error;
use url::Url;

use crate::modules::import_map::ImportMap;
use crate::modules::unit::Unit;
use crate::runtime::intrinsics::Needs;
use crate::term::Orders;
use crate::whole_file::whole_file;

use crate::secrets::Secrets;

/// A mistake in a script, with its place and the line itself.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{}", self.render())]
pub struct ScriptError {
    pub message: String,
    pub file: Option<String>,
    pub line: Option<usize>,
    pub snippet: Option<String>,
    /// Whether this is no mistake, but `exec.test.abort()` while the script was loaded.
    pub aborts_test: bool,
}

impl ScriptError {
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), file: None, line: None, snippet: None, aborts_test: false }
    }

    /// There is no memory for another VU's JavaScript.
    pub(crate) fn no_runtime(error: &rquickjs::Error) -> Self {
        Self::new(format!("cannot start JavaScript: {error}; use fewer VUs"))
    }

    fn render(&self) -> String {
        let place = match (&self.file, self.line) {
            (Some(file), Some(line)) => format!("{file}:{line}: "),
            (Some(file), None) => format!("{file}: "),
            _ => String::new(),
        };
        let snippet = self.snippet.as_ref().map(|line| format!("\n    {line}")).unwrap_or_default();
        format!("{place}{}{snippet}", self.message)
    }
}

pub const DEFAULT_VU_MEMORY_BYTES: usize = 512 << 20;

/// What a script's requests do by default, from its options.
#[derive(Clone, Debug)]
pub struct RequestDefaults {
    pub max_redirects: u32,
    pub user_agent: Arc<str>,
    pub discard_response_bodies: bool,
    pub throw: bool,
    pub batch: usize,
    /// 0: no limit.
    pub batch_per_host: usize,
    pub no_cookies_reset: bool,
    pub system_tags: SystemTags,
}

pub struct Bundle {
    pub main: PathBuf,
    /// The folder that the main script's own paths start from.
    pub home: PathBuf,
    pub env: Vec<(String, String)>,
    /// Set once the options are known, before any VU runs.
    pub defaults: RequestDefaults,
    /// The consolidated options as JSON, for `exec.test.options`.
    pub options_json: String,
    pub secrets: Arc<Secrets>,
    /// What the JavaScript of one VU may allocate.
    pub vu_memory_bytes: usize,
    /// Which files stand for remote modules.
    pub imports: Arc<ImportMap>,
    /// Where the console's lines go in place of stderr.
    pub console: Option<Arc<Mutex<File>>>,
    /// When its scripts have to end.
    pub orders: Arc<Orders>,
    caches: Arc<Caches>,
    marks: Arc<Marks>,
}

/// What a thread has counted, for `exec.instance`; only that thread writes it.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct Tally {
    pub completed: AtomicU64,
    pub interrupted: AtomicU64,
    pub active: AtomicU64,
    pub initialized: AtomicU64,
}

/// What the VUs of a run note for all of them.
#[derive(Default)]
struct Marks {
    failed: AtomicBool,
    said: Mutex<HashSet<String>>,
    tallies: Mutex<Vec<Arc<Tally>>>,
}

/// A module's bytecode, and what its code may use.
pub type Compiled = (Arc<[u8]>, Needs);

#[derive(Default)]
struct Caches {
    units: Mutex<HashMap<String, Arc<Unit>>>,
    /// Every import so far: by which file, as what, and which file it is.
    met: Mutex<BTreeSet<(String, String, String)>>,
    /// The addresses of files that stand for remote modules.
    urls: Mutex<HashMap<String, String>>,
    /// The address of a remote module for which there is no file.
    missing: Mutex<Option<String>>,
    files: Mutex<HashMap<PathBuf, Bytes>>,
    arrays: Mutex<HashMap<String, Arc<Vec<String>>>>,
    bytecode: Mutex<HashMap<String, Compiled>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Bundle {
    /// `import_map` is the file asked for; without one it is looked for beside the script. `fetched` are the files of remote
    /// modules by their address; `home` is the folder that the script's own paths start from, if not that of its file.
    pub fn new(
        main: &Path,
        home: Option<&Path>,
        env: Vec<(String, String)>,
        import_map: Option<&Path>,
        fetched: HashMap<String, PathBuf>,
    ) -> Result<Self, ScriptError> {
        let whole = |path: &Path, what: &str| {
            path.canonicalize().map_err(|error| {
                ScriptError::new(format!(
                    "cannot read {what} {}: {error}; check the path",
                    path.display()
                ))
            })
        };
        let main = whole(main, "the script")?;
        let home = whole(home.or(main.parent()).unwrap_or(Path::new(".")), "the folder")?;
        let imports = ImportMap::load(import_map, &home)?;
        Ok(Self::of(main, home, env, imports.with_fetched(fetched)))
    }

    /// Nothing to run, for requests that need no script.
    pub fn without_script(env: Vec<(String, String)>) -> Self {
        Self::of(PathBuf::new(), PathBuf::from("."), env, ImportMap::default())
    }

    fn of(main: PathBuf, home: PathBuf, env: Vec<(String, String)>, imports: ImportMap) -> Self {
        let defaults = RequestDefaults {
            max_redirects: 10,
            user_agent: concat!("plimsoll/", env!("CARGO_PKG_VERSION")).into(),
            discard_response_bodies: false,
            throw: false,
            batch: 20,
            batch_per_host: 6,
            no_cookies_reset: false,
            system_tags: SystemTags::default(),
        };
        Self {
            main,
            home,
            env,
            defaults,
            options_json: "{}".into(),
            secrets: Arc::default(),
            vu_memory_bytes: DEFAULT_VU_MEMORY_BYTES,
            imports: imports.into(),
            console: None,
            orders: Arc::default(),
            caches: Arc::default(),
            marks: Arc::default(),
        }
    }

    pub fn with_secrets(self, secrets: Secrets) -> Self {
        Self { secrets: Arc::new(secrets), ..self }
    }

    /// The same files, arrays and secrets with the options known.
    pub fn with_options(&self, defaults: RequestDefaults, options_json: String) -> Self {
        Self {
            main: self.main.clone(),
            home: self.home.clone(),
            env: self.env.clone(),
            defaults,
            options_json,
            secrets: self.secrets.clone(),
            vu_memory_bytes: self.vu_memory_bytes,
            imports: self.imports.clone(),
            console: self.console.clone(),
            orders: self.orders.clone(),
            caches: self.caches.clone(),
            marks: self.marks.clone(),
        }
    }

    /// Writes a line of a VU to the console's file, else to stderr, without secrets.
    pub fn log(&self, level: &str, vu: u64, text: &str) {
        let line = format!("{level} [VU {vu}] {}", self.secrets.redact(text));
        let Some(console) = &self.console else {
            return crate::tell!("{line}");
        };
        if let Err(error) = lock(console).write_all((line + "\n").as_bytes()) {
            if self.first_time("console") {
                crate::tell!("ERROR the console's lines are lost: {error}");
            }
        }
    }

    /// Whether nothing was said under this key yet in the run.
    pub fn first_time(&self, key: &str) -> bool {
        lock(&self.marks.said).insert(key.to_owned())
    }

    /// The run goes on, but ends as failed (`exec.test.fail()`).
    pub fn mark_failed(&self) {
        self.marks.failed.store(true, Ordering::Relaxed);
    }

    pub fn is_marked_failed(&self) -> bool {
        self.marks.failed.load(Ordering::Relaxed)
    }

    /// A thread's own counts, which `counted` sums.
    pub fn new_tally(&self) -> Arc<Tally> {
        let tally = Arc::new(Tally::default());
        lock(&self.marks.tallies).push(tally.clone());
        tally
    }

    /// One of the counts over all threads.
    pub fn counted(&self, count: impl Fn(&Tally) -> &AtomicU64) -> u64 {
        lock(&self.marks.tallies).iter().map(|tally| count(tally).load(Ordering::Relaxed)).sum()
    }

    /// Reads a file once per run.
    pub fn read(&self, path: &Path) -> std::io::Result<Bytes> {
        let mut files = lock(&self.caches.files);
        if let Some(bytes) = files.get(path) {
            return Ok(bytes.clone());
        }
        let bytes = Bytes::from(whole_file(path)?);
        files.insert(path.to_owned(), bytes.clone());
        Ok(bytes)
    }

    pub fn source(&self, path: &Path) -> std::io::Result<String> {
        Ok(String::from_utf8_lossy(&self.read(path)?).into_owned())
    }

    /// A file as it is compiled, made once per run.
    pub fn unit(&self, path: &str) -> Result<Arc<Unit>, ScriptError> {
        if let Some(known) = lock(&self.caches.units).get(path) {
            return Ok(known.clone());
        }
        let unit = Arc::new(Unit::read(self, path)?);
        lock(&self.caches.units).insert(path.to_owned(), unit.clone());
        Ok(unit)
    }

    /// The line of a file that a place in its compiled code comes from.
    pub fn source_line(&self, file: &str, line: usize, column: usize) -> usize {
        lock(&self.caches.units).get(file).map_or(line, |unit| unit.line(line, column))
    }

    pub fn note_url(&self, path: &Path, url: Url) {
        lock(&self.caches.urls).insert(path.to_string_lossy().into_owned(), url.into());
    }

    pub fn note_missing(&self, url: &Url) {
        *lock(&self.caches.missing) = Some(url.to_string());
    }

    /// The address of the remote module for which there was no file, if that is why the script does not load.
    pub fn missing(&self) -> Option<String> {
        lock(&self.caches.missing).clone()
    }

    /// The address of a file that stands for a remote module.
    pub fn url_of(&self, path: &str) -> Option<String> {
        lock(&self.caches.urls).get(path).cloned()
    }

    pub fn note_import(&self, base: &str, name: &str, target: &str) {
        let met = (base.to_owned(), name.to_owned(), target.to_owned());
        lock(&self.caches.met).insert(met);
    }

    /// The imports of modules whose names begin so: by which file, as what, and which module.
    pub fn imports_of(&self, target: &str) -> Vec<(String, String, String)> {
        lock(&self.caches.met)
            .iter()
            .filter(|(.., known)| known.starts_with(target))
            .cloned()
            .collect()
    }

    /// The file and all whose imports lead to it.
    pub fn importers_of(&self, path: &str) -> HashSet<String> {
        self.closure(path, |(base, _, target)| (target, base))
    }

    /// Whether a file is among `wanted`, or its imports lead there.
    pub fn leads_to(&self, path: &str, wanted: &HashSet<String>) -> bool {
        !self.closure(path, |(base, _, target)| (base, target)).is_disjoint(wanted)
    }

    /// A file and all that one reaches from it by steps from here to there.
    fn closure(
        &self,
        path: &str,
        step: impl Fn(&(String, String, String)) -> (&String, &String),
    ) -> HashSet<String> {
        let met = lock(&self.caches.met);
        let mut found = HashSet::from([path.to_owned()]);
        let mut open = vec![path.to_owned()];
        while let Some(here) = open.pop() {
            for (_, there) in met.iter().map(&step).filter(|(from, _)| **from == here) {
                if found.insert(there.clone()) {
                    open.push(there.clone());
                }
            }
        }
        found
    }

    /// The line of a file that names an import.
    pub fn line_naming(&self, file: &str, import: &str) -> Option<usize> {
        let source = self.source(Path::new(file)).ok()?;
        let says =
            |line: &str| ["import", "from", "require"].iter().any(|word| line.contains(word));
        let names = |line: &str| {
            ['\'', '"'].iter().any(|quote| line.contains(&format!("{quote}{import}{quote}")))
        };
        source.lines().position(|line| names(line) && says(line)).map(|at| at + 1)
    }

    /// Line `line` (from 1) of a file that was read before.
    pub fn snippet(&self, file: &str, line: usize) -> Option<String> {
        let source = self.source(Path::new(file)).ok()?;
        source
            .lines()
            .nth(line.checked_sub(1)?)
            .map(|text| text.trim_end().chars().take(160).collect())
    }

    /// A module that another VU has compiled.
    pub fn bytecode(&self, module: &str) -> Option<Compiled> {
        lock(&self.caches.bytecode).get(module).cloned()
    }

    pub fn keep_bytecode(&self, module: &str, bytecode: Vec<u8>, needs: Needs) {
        lock(&self.caches.bytecode).insert(module.to_owned(), (bytecode.into(), needs));
    }

    pub fn shared_array(&self, name: &str) -> Option<Arc<Vec<String>>> {
        lock(&self.caches.arrays).get(name).cloned()
    }

    /// Keeps the elements (each as JSON) under a name; the first one wins, as in k6.
    pub fn keep_shared_array(&self, name: &str, elements: Vec<String>) -> Arc<Vec<String>> {
        lock(&self.caches.arrays)
            .entry(name.to_owned())
            .or_insert_with(|| Arc::new(elements))
            .clone()
    }
}
