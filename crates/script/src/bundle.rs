//! A script with everything it reads at start: sources, opened files, environment, shared arrays. One per
//! run, shared by all VUs, so that 5,000 VUs read each file once.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use plimsoll_core::system_tags::SystemTags;
use thiserror::Error;

/// A mistake in a script, with its place and the line itself.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{}", self.render())]
pub struct ScriptError {
    pub message: String,
    pub file: Option<String>,
    pub line: Option<usize>,
    pub snippet: Option<String>,
}

impl ScriptError {
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), file: None, line: None, snippet: None }
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
    pub env: Vec<(String, String)>,
    /// Set once the options are known, before any VU runs.
    pub defaults: RequestDefaults,
    /// The consolidated options as JSON, for `exec.test.options`.
    pub options_json: String,
    caches: Arc<Caches>,
}

#[derive(Default)]
struct Caches {
    files: Mutex<HashMap<PathBuf, Bytes>>,
    arrays: Mutex<HashMap<String, Arc<Vec<String>>>>,
    bytecode: Mutex<HashMap<String, Arc<[u8]>>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Bundle {
    pub fn new(main: &Path, env: Vec<(String, String)>) -> Result<Self, ScriptError> {
        let main =
            main.canonicalize().map_err(|error| ScriptError::new(format!("cannot read the script {}: {error}; check the path", main.display())))?;
        Ok(Self::of(main, env))
    }

    /// Nothing to run, for requests that need no script.
    pub fn without_script(env: Vec<(String, String)>) -> Self {
        Self::of(PathBuf::new(), env)
    }

    fn of(main: PathBuf, env: Vec<(String, String)>) -> Self {
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
        Self { main, env, defaults, options_json: "{}".into(), caches: Arc::default() }
    }

    /// The same files and arrays with the options known.
    pub fn with_options(&self, defaults: RequestDefaults, options_json: String) -> Self {
        Self { main: self.main.clone(), env: self.env.clone(), defaults, options_json, caches: self.caches.clone() }
    }

    /// Reads a file once per run.
    pub fn read(&self, path: &Path) -> std::io::Result<Bytes> {
        let mut files = lock(&self.caches.files);
        if let Some(bytes) = files.get(path) {
            return Ok(bytes.clone());
        }
        let bytes = Bytes::from(std::fs::read(path)?);
        files.insert(path.to_owned(), bytes.clone());
        Ok(bytes)
    }

    pub fn source(&self, path: &Path) -> std::io::Result<String> {
        Ok(String::from_utf8_lossy(&self.read(path)?).into_owned())
    }

    /// Line `line` (from 1) of a file that was read before.
    pub fn snippet(&self, file: &str, line: usize) -> Option<String> {
        let source = self.source(Path::new(file)).ok()?;
        source.lines().nth(line.checked_sub(1)?).map(|text| text.trim_end().chars().take(160).collect())
    }

    /// A module that another VU has compiled.
    pub fn bytecode(&self, module: &str) -> Option<Arc<[u8]>> {
        lock(&self.caches.bytecode).get(module).cloned()
    }

    pub fn keep_bytecode(&self, module: &str, bytecode: Vec<u8>) {
        lock(&self.caches.bytecode).insert(module.to_owned(), bytecode.into());
    }

    pub fn shared_array(&self, name: &str) -> Option<Arc<Vec<String>>> {
        lock(&self.caches.arrays).get(name).cloned()
    }

    /// Keeps the elements (each as JSON) under a name; the first one wins, as in k6.
    pub fn keep_shared_array(&self, name: &str, elements: Vec<String>) -> Arc<Vec<String>> {
        lock(&self.caches.arrays).entry(name.to_owned()).or_insert_with(|| Arc::new(elements)).clone()
    }
}
