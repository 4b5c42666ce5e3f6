//! Which modules exist, and where a script's imports come from.

pub(crate) mod builtin;
pub mod bundle;
pub(crate) mod commonjs;
pub(crate) mod import_map;
pub(crate) mod packages;
pub(crate) mod places;
pub(crate) mod resolve;
pub(crate) mod typescript;
pub(crate) mod unit;

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use rquickjs::function::Func;
use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::{Declared, WriteOptions};
use rquickjs::{Ctx, Error, Exception, Module, Object, Result};
use url::Url;

use crate::modules::bundle::Bundle;
use crate::modules::packages::Asked;
use crate::modules::unit::{Kind, Unit};
use crate::runtime::host::Natives;
use crate::runtime::intrinsics::Needs;
use crate::state::VuState;

/// Finds modules for the VU that runs.
pub struct ScriptModules;

/// A module by name, compiled once per run: the other VUs load its bytecode.
pub fn compiled<'js>(
    ctx: &Ctx<'js>,
    bundle: &Bundle,
    name: &str,
    source: impl FnOnce() -> Result<String>,
) -> Result<Module<'js, Declared>> {
    if let Some((bytecode, needs)) = bundle.bytecode(name) {
        needs.meet(ctx)?;
        // SAFETY: the bytes were written by this very process, from this version of the engine.
        return unsafe { Module::load(ctx.clone(), &bytecode) };
    }
    let source = source()?;
    let needs = Needs::of(&source);
    needs.meet(ctx)?;
    let module = Module::declare(ctx.clone(), name, source)?;
    let kept = WriteOptions { strip_source: true, ..WriteOptions::default() };
    bundle.keep_bytecode(name, module.write(kept)?, needs);
    Ok(module)
}

/// What a module of ours exports. Such a module has nothing to wait for, so that it is complete once it was evaluated.
pub fn exports<'js>(ctx: &Ctx<'js>, state: &Rc<VuState>, name: &str) -> Result<Object<'js>> {
    let (module, _) = builtin(ctx, state, name)?.eval()?;
    module.namespace()
}

/// A file as it is compiled, or its mistake thrown with its place.
pub fn unit(ctx: &Ctx<'_>, bundle: &Bundle, path: &str) -> Result<Arc<Unit>> {
    bundle.unit(path).map_err(|mistake| {
        throw_at(ctx, &mistake.message, mistake.file.as_deref().unwrap_or(path), mistake.line)
    })
}

/// The module of a file; JSON becomes its default export.
pub fn file<'js>(
    ctx: &Ctx<'js>,
    bundle: &Arc<Bundle>,
    path: &str,
) -> Result<Module<'js, Declared>> {
    let unit = unit(ctx, bundle, path)?;
    let module = compiled(ctx, bundle, path, || {
        Ok(if unit.kind == Kind::Json {
            format!("export default {};", unit.code.trim())
        } else {
            unit.code.clone()
        })
    })?;
    if unit.names_meta {
        let meta = module.meta()?;
        let url =
            |path: &str| Url::from_file_path(path).map_or_else(|()| path.to_owned(), String::from);
        meta.set("url", bundle.url_of(path).unwrap_or_else(|| url(path)))?;
        let (bundle, base) = (bundle.clone(), path.to_owned());
        let resolve = move |name: String| match Url::parse(
            &bundle.url_of(&base).unwrap_or_else(|| url(&base)),
        )
        .map(|url| url.join(&name))
        {
            Ok(Ok(joined)) if name.starts_with(['.', '/']) => joined.into(),
            _ => name,
        };
        meta.set("resolve", Func::from(resolve))?;
    }
    Ok(module)
}

/// A module of ours with its functions of the host.
pub fn builtin<'js>(
    ctx: &Ctx<'js>,
    state: &Rc<VuState>,
    name: &str,
) -> Result<Module<'js, Declared>> {
    let Some(builtin) = builtin::any(name) else {
        return Err(Exception::throw_message(
            ctx,
            &format!("cannot import '{name}': {}", builtin::why_not(name)),
        ));
    };
    let module = compiled(ctx, &state.bundle, name, || Ok(builtin.source.to_owned()))?;
    let natives = Natives::new(ctx, state, builtin.name)?;
    (builtin.install)(&natives)?;
    module.meta()?.set("native", natives.object)?;
    Ok(module)
}

/// The name under which QuickJS keeps what `name` means for the file `base`; throws what is wrong with it.
pub fn resolve(
    ctx: &Ctx<'_>,
    state: &VuState,
    base: &str,
    name: &str,
    asked: Asked,
) -> Result<String> {
    let bundle = &state.bundle;
    let base = base.strip_prefix(commonjs::PREFIX).unwrap_or(base);
    // A file is told by its path; what only our own modules may import is no name for it.
    let known = if base.starts_with('/') { builtin::for_scripts(name) } else { builtin::any(name) };
    if known.is_some() {
        bundle.note_import(base, name, name);
        return Ok(name.to_owned());
    }
    let refuse = |what: String| {
        throw_at(
            ctx,
            &format!("cannot import '{name}': {what}"),
            base,
            bundle.line_naming(base, name),
        )
    };
    if name.starts_with("k6/") || name.starts_with("plimsoll:") {
        return Err(refuse(builtin::why_not(name)));
    }
    let path =
        resolve::file(bundle, base, name, asked).map_err(refuse)?.to_string_lossy().into_owned();
    let is_common = unit(ctx, bundle, &path)?.kind == Kind::CommonJs;
    bundle.note_import(base, name, &path);
    if !(is_common && asked == Asked::Require) {
        commonjs::refuse_cycle(&state.requiring.borrow(), bundle, base, &path).map_err(refuse)?;
    }
    Ok(if is_common { format!("{}{path}", commonjs::PREFIX) } else { path })
}

/// Throws a message as if from a line of a file.
fn throw_at(ctx: &Ctx<'_>, message: &str, file: &str, line: Option<usize>) -> Error {
    let thrown = Exception::from_message(ctx.clone(), message).and_then(|exception| {
        exception.as_object().set("stack", format!("    at {file}:{}:1\n", line.unwrap_or(1)))?;
        Ok(exception)
    });
    match thrown {
        Ok(exception) => exception.throw(),
        Err(error) => error,
    }
}

impl Resolver for ScriptModules {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<String> {
        let vu = VuState::running(ctx)?;
        resolve(ctx, &vu, base, name, Asked::Import)
    }
}

impl Loader for ScriptModules {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<Module<'js, Declared>> {
        let vu = VuState::running(ctx)?;
        if let Some(path) = name.strip_prefix(commonjs::PREFIX) {
            return commonjs::facade(ctx, &vu, name, path);
        }
        match builtin::any(name) {
            Some(_) => builtin(ctx, &vu, name),
            None => file(ctx, &vu.bundle, name),
        }
    }
}

/// Native functions that may follow each other on a stack; after more frames without a name it has ended.
const NATIVE_FRAMES: u32 = 4;

/// The script's own files that are running, innermost first.
fn running_files<'a, 'js>(ctx: &'a Ctx<'js>) -> impl Iterator<Item = String> + use<'a, 'js> {
    let mut unnamed = 0;
    let names = (0..).map_while(move |level| {
        match ctx.script_or_module_name(level).and_then(|name| name.to_string().ok()) {
            Some(name) => {
                unnamed = 0;
                Some(name)
            }
            None if unnamed == NATIVE_FRAMES => None,
            None => {
                unnamed += 1;
                Some(String::new())
            }
        }
    });
    names.filter(|name| name.starts_with('/'))
}

/// The file whose code calls a native function now.
pub fn calling_file(ctx: &Ctx<'_>) -> String {
    running_files(ctx).next().unwrap_or_default()
}

/// The path that a script means by a name. As in k6, it is relative to the file whose top level is running, wherever the
/// function that opens it is written.
pub fn path_for_open(state: &VuState, ctx: &Ctx<'_>, name: &str) -> PathBuf {
    let base = running_files(ctx).last().unwrap_or_default();
    resolve::folder_of(&state.bundle, &base).join(name.strip_prefix("file://").unwrap_or(name))
}

/// Reads a file for `open()`.
pub fn open<'js>(state: &VuState, ctx: &Ctx<'js>, name: &str) -> Result<bytes::Bytes> {
    if !state.in_init.get() {
        return Err(Exception::throw_message(
            ctx,
            "open() works only in the init context; call it at the top of the script",
        ));
    }
    if name.is_empty() {
        return Err(Exception::throw_message(
            ctx,
            "open() wants the path of a file: open('./data.csv')",
        ));
    }
    let path = path_for_open(state, ctx, name);
    let mistake = |error| {
        let what = "a path is relative to the file whose top level runs, here";
        let base = running_files(ctx).last().unwrap_or_default();
        Exception::throw_message(
            ctx,
            &format!("open('{name}'): {}: {error}; {what} {base}", path.display()),
        )
    };
    state.bundle.read(&path).map_err(mistake)
}
