//! CommonJS beside ES modules: `require`, and what an import of a CommonJS file gets.
//!
//! A module's exports must be known when what imports it is linked, and those of CommonJS are known when it has run.
//! So a CommonJS file runs when the first import meets it, before the files that import it.

use std::collections::HashSet;
use std::rc::Rc;

use rquickjs::module::Declared;
use rquickjs::object::Property;
use rquickjs::{Ctx, Exception, Function, Module, Object, Result, Value};

use crate::modules::bundle::Bundle;
use crate::modules::packages::Asked;
use crate::modules::{self, compiled};
use crate::runtime::host::Natives;
use crate::state::VuState;

/// Marks the name of the module that stands for a CommonJS file.
pub const PREFIX: &str = "commonjs:";

const SOURCE: &str = include_str!("../js/commonjs.js");
/// Where a context keeps the functions of `js/commonjs.js`.
const KEPT: &str = "__commonjs";

/// The global `require`, which loads all else when it is first called.
pub fn require<'js>(ctx: Ctx<'js>, name: Value<'js>) -> Result<Value<'js>> {
    let vu = VuState::running(&ctx)?;
    refuse_after_init(&ctx, &vu)?;
    functions(&ctx, &vu)?.get::<_, Function>("require")?.call((name,))
}

fn refuse_after_init(ctx: &Ctx<'_>, state: &VuState) -> Result<()> {
    if state.in_init.get() {
        return Ok(());
    }
    Err(Exception::throw_message(
        ctx,
        "require() works only in the init context; call it at the top of the script",
    ))
}

/// `{run, require}` of this context.
fn functions<'js>(ctx: &Ctx<'js>, state: &Rc<VuState>) -> Result<Object<'js>> {
    if let Some(known) = ctx.globals().get::<_, Option<Object>>(KEPT)? {
        return Ok(known);
    }
    let natives = Natives::new(ctx, state, "plimsoll:commonjs")?;
    natives.add("wrapper", |ctx: Ctx<'js>, path: String| {
        wrapper(&ctx, &*VuState::running(&ctx)?, &path)
    })?;
    natives.add("locate", |ctx: Ctx<'js>, name: String| -> Result<String> {
        let vu = VuState::running(&ctx)?;
        refuse_after_init(&ctx, &vu)?;
        modules::resolve(&ctx, &vu, &modules::calling_file(&ctx), &name, Asked::Require)
    })?;
    natives.add("namespace", |ctx: Ctx<'js>, found: String| {
        namespace(&ctx, &*VuState::running(&ctx)?, &found)
    })?;
    let (module, promise) =
        compiled(ctx, &state.bundle, "plimsoll:commonjs", || Ok(SOURCE.to_owned()))?.eval()?;
    promise.finish::<()>()?;
    let made: Object = module.get::<_, Function>("default")?.call((natives.object,))?;
    ctx.globals().prop(KEPT, Property::from(made.clone()))?;
    Ok(made)
}

/// What a CommonJS file exports; it runs now if it has not before.
pub fn run<'js>(ctx: &Ctx<'js>, state: &Rc<VuState>, path: &str) -> Result<Value<'js>> {
    functions(ctx, state)?.get::<_, Function>("run")?.call((path,))
}

/// The code of a file as a function of `exports`, `require` and `module`. Strict, as in k6.
fn wrapper<'js>(ctx: &Ctx<'js>, state: &VuState, path: &str) -> Result<Function<'js>> {
    let unit = modules::unit(ctx, &state.bundle, path)?;
    // On the code's own first line, so that all lines keep their numbers.
    let hashbang = if unit.code.starts_with("#!") { "//" } else { "" };
    let source = || {
        Ok(format!(
            "export default (function (exports, require, module) {{ {hashbang}{}\n}});",
            unit.code
        ))
    };
    let (module, promise) = compiled(ctx, &state.bundle, path, source)?.eval()?;
    promise.finish::<()>()?;
    module.get("default")
}

/// The namespace of an ES module or of one of k6; the value of a JSON file.
fn namespace<'js>(ctx: &Ctx<'js>, state: &VuState, found: &str) -> Result<Value<'js>> {
    let before = state.bundle.importers_of(&modules::calling_file(ctx));
    state.requiring.borrow_mut().push(before);
    let loaded = Module::import(ctx, found).and_then(|promise| promise.finish::<Object>());
    state.requiring.borrow_mut().pop();
    let namespace = loaded?;
    if found.ends_with(".json") {
        return namespace.get("default");
    }
    Ok(namespace.into_value())
}

/// The module that stands for a CommonJS file in imports: its exports by name, `module.exports` as the default.
pub fn facade<'js>(
    ctx: &Ctx<'js>,
    state: &Rc<VuState>,
    name: &str,
    path: &str,
) -> Result<Module<'js, Declared>> {
    let exports = run(ctx, state, path)?;
    compiled(ctx, &state.bundle, name, || {
        let path = serde_json::to_string(path).unwrap_or_default();
        let mut source = format!("const m = {KEPT}.run({path});\nexport default m && m.__esModule && 'default' in m ? m.default : m;\n");
        let names: Vec<String> =
            exports.as_object().map(|object| object.keys().flatten().collect()).unwrap_or_default();
        for (at, export) in names.iter().filter(|export| is_name(export)).enumerate() {
            source
                .push_str(&format!("const e{at} = m.{export};\nexport {{ e{at} as {export} }};\n"));
        }
        Ok(source)
    })
}

fn is_name(export: &str) -> bool {
    let plain = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
    export != "default"
        && export.chars().all(plain)
        && export.starts_with(|first: char| !first.is_numeric())
}

/// Refuses to load `path` for a require() while what waits for that require() is not done: neither could be first.
pub fn refuse_cycle(
    requiring: &[HashSet<String>],
    bundle: &Bundle,
    base: &str,
    path: &str,
) -> std::result::Result<(), String> {
    let stuck = requiring.iter().any(|waiting| bundle.leads_to(path, waiting));
    if !stuck {
        return Ok(());
    }
    Err(format!("{base} and {path} need each other, and one of them uses require(); use import in both, or move what both need into a third file"))
}
