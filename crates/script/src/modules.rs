//! Which modules exist, and where a script's imports come from.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::{Declared, WriteOptions};
use rquickjs::{Ctx, Exception, Module, Result};

use crate::bundle::Bundle;
use crate::state::VuState;

/// A module of k6 and what it exports besides `default`.
const BUILTIN: [(&str, &[&str]); 5] = [
    ("k6", &["check", "fail", "group", "randomSeed", "sleep"]),
    (
        "k6/http",
        &[
            "get",
            "head",
            "post",
            "put",
            "patch",
            "del",
            "options",
            "request",
            "batch",
            "file",
            "url",
            "cookieJar",
            "CookieJar",
            "expectedStatuses",
            "setResponseCallback",
            "TLS_1_0",
            "TLS_1_1",
            "TLS_1_2",
            "TLS_1_3",
            "OCSP_STATUS_GOOD",
            "OCSP_STATUS_REVOKED",
            "OCSP_STATUS_SERVER_FAILED",
            "OCSP_STATUS_UNKNOWN",
            "OCSP_REASON_UNSPECIFIED",
            "OCSP_REASON_KEY_COMPROMISE",
            "OCSP_REASON_CA_COMPROMISE",
            "OCSP_REASON_AFFILIATION_CHANGED",
            "OCSP_REASON_SUPERSEDED",
            "OCSP_REASON_CESSATION_OF_OPERATION",
            "OCSP_REASON_CERTIFICATE_HOLD",
            "OCSP_REASON_REMOVE_FROM_CRL",
            "OCSP_REASON_PRIVILEGE_WITHDRAWN",
            "OCSP_REASON_AA_COMPROMISE",
        ],
    ),
    ("k6/metrics", &["Counter", "Gauge", "Rate", "Trend"]),
    ("k6/data", &["SharedArray"]),
    ("k6/execution", &["instance", "scenario", "test", "vu"]),
];

const PRELUDE: &str = include_str!("js/prelude.js");

pub struct ScriptModules(pub Rc<VuState>);

/// A module by name, compiled once per run: the other VUs load its bytecode.
fn compiled<'js>(ctx: &Ctx<'js>, bundle: &Bundle, name: &str, source: impl FnOnce() -> Result<String>) -> Result<Module<'js, Declared>> {
    if let Some(bytecode) = bundle.bytecode(name) {
        // SAFETY: the bytes were written by this very process, from this version of the engine.
        return unsafe { Module::load(ctx.clone(), &bytecode) };
    }
    let module = Module::declare(ctx.clone(), name, source()?)?;
    let kept = WriteOptions { strip_source: true, ..WriteOptions::default() };
    bundle.keep_bytecode(name, module.write(kept)?);
    Ok(module)
}

/// The module of the prelude, whose default export makes k6's modules and globals.
pub fn prelude<'js>(ctx: &Ctx<'js>, bundle: &Bundle) -> Result<Module<'js, Declared>> {
    compiled(ctx, bundle, "plimsoll:prelude", || Ok(PRELUDE.to_owned()))
}

/// The module of a file; JSON becomes its default export.
pub fn file<'js>(ctx: &Ctx<'js>, bundle: &Bundle, path: &str) -> Result<Module<'js, Declared>> {
    compiled(ctx, bundle, path, || {
        let source = bundle
            .source(Path::new(path))
            .map_err(|error| Exception::throw_message(ctx, &format!("cannot read {path}: {error}; check that it is a readable file")))?;
        Ok(if path.ends_with(".json") { format!("export default {};", source.trim()) } else { source })
    })
}

fn supported() -> String {
    let names: Vec<&str> = BUILTIN.iter().map(|(name, _)| *name).collect();
    format!("supported are {}, relative paths to .js and .json files", names.join(", "))
}

fn resolve_file(bundle: &Bundle, base: &str, name: &str) -> PathBuf {
    let name = name.strip_prefix("file://").unwrap_or(name);
    let folder = Path::new(base).parent().filter(|_| Path::new(base).is_absolute()).or_else(|| bundle.main.parent());
    folder.unwrap_or_else(|| Path::new(".")).join(name)
}

impl Resolver for ScriptModules {
    fn resolve<'js>(&mut self, ctx: &Ctx<'js>, base: &str, name: &str, _attributes: Option<ImportAttributes<'js>>) -> Result<String> {
        if BUILTIN.iter().any(|(builtin, _)| *builtin == name) {
            return Ok(name.to_owned());
        }
        let bundle = &self.0.bundle;
        let is_path = name.starts_with('.') || name.starts_with('/') || name.starts_with("file://");
        if !is_path {
            let what = if name.starts_with("http:") || name.starts_with("https:") {
                "remote imports are never downloaded; save the file beside the script and import it by a relative path".to_owned()
            } else {
                supported()
            };
            return Err(Exception::throw_message(ctx, &format!("cannot import '{name}' from {base}: {what}")));
        }
        let path = resolve_file(bundle, base, name);
        let path = path.canonicalize().map_err(|error| {
            Exception::throw_message(ctx, &format!("cannot import '{name}' from {base}: {} ({error}); check the path", path.display()))
        })?;
        Ok(path.to_string_lossy().into_owned())
    }
}

impl Loader for ScriptModules {
    fn load<'js>(&mut self, ctx: &Ctx<'js>, name: &str, _attributes: Option<ImportAttributes<'js>>) -> Result<Module<'js, Declared>> {
        let Some((_, exports)) = BUILTIN.iter().find(|(builtin, _)| *builtin == name) else { return file(ctx, &self.0.bundle, name) };
        compiled(ctx, &self.0.bundle, name, || {
            let exports: String = exports.iter().map(|export| format!("export const {export} = m.{export};\n")).collect();
            Ok(format!("const m = globalThis.__k6['{name}'];\nexport default m;\n{exports}"))
        })
    }
}

/// Native functions that may follow each other on a stack; after more frames without a name it has ended.
const NATIVE_FRAMES: u32 = 4;

/// The file whose top level is running: the outermost frame of the script's own.
fn evaluated_file(ctx: &Ctx<'_>) -> Option<String> {
    let (mut found, mut unnamed) = (None, 0);
    for level in 0.. {
        match ctx.script_or_module_name(level).and_then(|name| name.to_string().ok()) {
            Some(name) => {
                unnamed = 0;
                found = if name.starts_with('/') { Some(name) } else { found };
            }
            None if unnamed == NATIVE_FRAMES => break,
            None => unnamed += 1,
        }
    }
    found
}

/// Reads a file for `open()`. As in k6, a path is relative to the file whose top level is running, wherever the function
/// that calls `open` is written.
pub fn open<'js>(state: &VuState, ctx: &Ctx<'js>, name: &str) -> Result<bytes::Bytes> {
    if !state.in_init.get() {
        return Err(Exception::throw_message(ctx, "open() works only in the init context; call it at the top of the script"));
    }
    let base = evaluated_file(ctx).unwrap_or_default();
    let path = resolve_file(&state.bundle, &base, name);
    let mistake = |error| {
        let what = "a path is relative to the file whose top level runs, here";
        Exception::throw_message(ctx, &format!("open('{name}'): {}: {error}; {what} {base}", path.display()))
    };
    state.bundle.read(&path).map_err(mistake)
}
