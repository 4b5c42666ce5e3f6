//! A file of a script as the JavaScript engine takes it: what it is, its code, and where that code comes from.

use std::path::Path;

use crate::modules::bundle::{Bundle, ScriptError};
use crate::modules::typescript::{self, Lines};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It imports or exports.
    Module,
    /// It assigns to `exports`, or just runs.
    CommonJs,
    Json,
}

pub struct Unit {
    pub kind: Kind,
    pub code: String,
    /// Whether the code says `import.meta`.
    pub names_meta: bool,
    lines: Option<Lines>,
}

impl Unit {
    /// Reads a file; what cannot be read or is no TypeScript is a mistake with its place.
    pub fn read(bundle: &Bundle, path: &str) -> Result<Self, ScriptError> {
        let file = Path::new(path);
        let source = bundle.source(file).map_err(|error| {
            ScriptError::new(format!(
                "cannot read {path}: {error}; check that it is a readable file"
            ))
        })?;
        let extension =
            file.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let names_meta = source.contains("import.meta");
        let kind_of = |is_module: bool| {
            if is_module {
                Kind::Module
            } else {
                Kind::CommonJs
            }
        };
        let (kind, code, lines) = match extension {
            "json" => (Kind::Json, source, None),
            "ts" | "mts" | "cts" => {
                let made = typescript::to_javascript(file, &source).map_err(|mistake| {
                    let line = source.as_bytes()[..mistake.at.min(source.len())]
                        .iter()
                        .filter(|byte| **byte == b'\n')
                        .count()
                        + 1;
                    let message = format!("this is no TypeScript: {}", mistake.message);
                    ScriptError {
                        file: Some(path.to_owned()),
                        line: Some(line),
                        snippet: bundle.snippet(path, line),
                        ..ScriptError::new(message)
                    }
                })?;
                (kind_of(made.is_module), made.code, Some(made.lines))
            }
            "mjs" => (Kind::Module, source, None),
            "cjs" => (Kind::CommonJs, source, None),
            _ => (kind_of(typescript::is_module(&source)), source, None),
        };
        Ok(Self { kind, code, names_meta, lines })
    }

    /// The line of the file that a line and column of its code come from; all from 1.
    pub fn line(&self, line: usize, column: usize) -> usize {
        self.lines.as_ref().map_or(line, |lines| lines.of(line, column))
    }
}
