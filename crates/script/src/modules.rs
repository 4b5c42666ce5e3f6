//! Which modules exist, and where a script's imports come from.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Error, Exception, Module};

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
            "url",
            "cookieJar",
            "CookieJar",
            "expectedStatuses",
            "setResponseCallback",
        ],
    ),
    ("k6/metrics", &["Counter", "Gauge", "Rate", "Trend"]),
    ("k6/data", &["SharedArray"]),
    ("k6/execution", &["instance", "scenario", "test", "vu"]),
];

pub struct ScriptModules(pub Rc<VuState>);

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
    fn resolve<'js>(&mut self, ctx: &Ctx<'js>, base: &str, name: &str, _attributes: Option<ImportAttributes<'js>>) -> Result<String, Error> {
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
    fn load<'js>(&mut self, ctx: &Ctx<'js>, name: &str, _attributes: Option<ImportAttributes<'js>>) -> Result<Module<'js, Declared>, Error> {
        if let Some((_, exports)) = BUILTIN.iter().find(|(builtin, _)| *builtin == name) {
            let exports: String = exports.iter().map(|export| format!("export const {export} = m.{export};\n")).collect();
            return Module::declare(ctx.clone(), name, format!("const m = globalThis.__k6['{name}'];\nexport default m;\n{exports}"));
        }
        let source = self
            .0
            .bundle
            .source(Path::new(name))
            .map_err(|error| Exception::throw_message(ctx, &format!("cannot read {name}: {error}; check that it is a readable file")))?;
        if name.ends_with(".json") {
            return Module::declare(ctx.clone(), name, format!("export default {};", source.trim()));
        }
        Module::declare(ctx.clone(), name, source)
    }
}

/// Reads a file for `open()`, relative to the main script as the docs of k6 say.
pub fn open<'js>(state: &VuState, ctx: &Ctx<'js>, name: &str) -> Result<bytes::Bytes, Error> {
    if !state.in_init.get() {
        return Err(Exception::throw_message(ctx, "open() works only in the init context; call it at the top of the script"));
    }
    let path = resolve_file(&state.bundle, "", name);
    state
        .bundle
        .read(&path)
        .map_err(|error| Exception::throw_message(ctx, &format!("open('{name}'): {}: {error}; paths are relative to the script", path.display())))
}
