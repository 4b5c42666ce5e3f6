//! An import map: which local files stand for remote modules, each with the hash it was recorded with.
//!
//! ```json
//! {"imports": {"https://jslib.k6.io/k6-utils/1.4.0/index.js": {"path": "lib/k6-utils.js", "sha256": "9f86d0…"}}}
//! ```

use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::modules::bundle::ScriptError;
use crate::whole_file::small_file;

/// Looked for beside the script where no other file is named.
pub const FILE_NAME: &str = "plimsoll.importmap.json";

#[derive(Debug, Default)]
pub struct ImportMap {
    file: PathBuf,
    imports: HashMap<String, Entry>,
    /// The files of modules that were fetched, by address: the caller's, who has compared them with their recorded hashes.
    fetched: HashMap<String, PathBuf>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    path: PathBuf,
    sha256: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    imports: HashMap<String, Entry>,
}

impl ImportMap {
    /// Reads the map that was asked for, or the one beside the script; none is an empty one.
    pub fn load(asked_for: Option<&Path>, folder: &Path) -> Result<Self, ScriptError> {
        let file = asked_for.map_or_else(|| folder.join(FILE_NAME), Path::to_owned);
        if asked_for.is_none() && !file.exists() {
            return Ok(Self::default());
        }
        let mistake = |what: String, line: Option<usize>| ScriptError {
            line,
            file: Some(file.display().to_string()),
            ..ScriptError::new(what)
        };
        let text = small_file(&file).map_err(|error| {
            mistake(format!("cannot read the import map: {error}; check the path"), None)
        })?;
        let form = r#"{"imports": {"https://…": {"path": "…", "sha256": "…"}}}"#;
        let content: Content = serde_json::from_slice(&text).map_err(|error| {
            mistake(
                format!("the import map is not as it should be: {error}; write {form}"),
                Some(error.line()),
            )
        })?;
        Ok(Self { file, imports: content.imports, fetched: HashMap::new() })
    }

    /// The same with the files of modules that were fetched, by address.
    pub fn with_fetched(self, fetched: HashMap<String, PathBuf>) -> Self {
        Self { fetched, ..self }
    }

    /// The file of a module that was fetched.
    pub fn fetched(&self, url: &str) -> Option<&PathBuf> {
        self.fetched.get(url)
    }

    /// The file that stands for a URL, relative to the map's folder.
    pub fn path_of(&self, url: &str) -> Option<PathBuf> {
        let folder = self.file.parent().unwrap_or_else(|| Path::new("."));
        self.imports.get(url).map(|entry| folder.join(&entry.path))
    }

    /// Compares what the file holds with the hash that was recorded for the URL.
    pub fn check(&self, url: &str, path: &Path, content: &[u8]) -> Result<(), String> {
        let Some(entry) = self.imports.get(url) else {
            return Ok(());
        };
        let found = hex(&Sha256::digest(content));
        let map = self.file.display();
        match entry.sha256.as_deref() {
            Some(recorded) if recorded.eq_ignore_ascii_case(&found) => Ok(()),
            Some(recorded) => Err(format!(
                "{} is not the file that {map} recorded for '{url}': its SHA-256 is {found}, recorded is {recorded}; restore the file or record its new hash",
                path.display()
            )),
            None => Err(format!("{map} records no hash for '{url}'; write \"sha256\": \"{found}\" into its entry")),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a text cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
