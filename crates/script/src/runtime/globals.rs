//! The globals of a script. What many scripts never read is made when it is first read.

use std::rc::Rc;

use rquickjs::function::{Opt, Rest};
use rquickjs::{ArrayBuffer, Ctx, Function, IntoJs, Object, Result, Value};

use crate::modules;
use crate::modules::commonjs;
use crate::runtime::host::{settle, Natives};
use crate::runtime::intrinsics;
use crate::runtime::json;
use crate::state::VuState;
use crate::values::{text_of_string, GivenText};

/// Makes a global of the VU's context.
type Make = for<'js> fn(&Ctx<'js>, &Rc<VuState>) -> Result<Value<'js>>;

static LATER: [(&str, Make); 9] = [
    ("console", console),
    ("TextEncoder", |ctx, vu| modules::exports(ctx, vu, "plimsoll:text")?.get("TextEncoder")),
    ("TextDecoder", |ctx, vu| modules::exports(ctx, vu, "plimsoll:text")?.get("TextDecoder")),
    ("crypto", |ctx, vu| modules::exports(ctx, vu, "plimsoll:web-crypto")?.get("crypto")),
    ("setTimeout", |ctx, vu| modules::exports(ctx, vu, "k6/timers")?.get("setTimeout")),
    ("clearTimeout", |ctx, vu| modules::exports(ctx, vu, "k6/timers")?.get("clearTimeout")),
    ("setInterval", |ctx, vu| modules::exports(ctx, vu, "k6/timers")?.get("setInterval")),
    ("clearInterval", |ctx, vu| modules::exports(ctx, vu, "k6/timers")?.get("clearInterval")),
    ("__ENV", env),
];

/// Makes the globals of a k6 script in a fresh context.
pub fn install<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> Result<()> {
    let globals = Natives::on(ctx.globals(), vu, "global")?;
    json::install(ctx, vu)?;
    globals.add("open", open)?;
    globals.add("require", commonjs::require)?;
    for (name, make) in LATER {
        let first_read = move |ctx: Ctx<'js>| -> Result<Value<'js>> {
            let value = make(&ctx, &VuState::running(&ctx)?)?;
            settle(&ctx.globals(), name, value.clone())?;
            Ok(value)
        };
        globals.add_until_set(name, first_read)?;
    }
    globals.object.set("__VU", vu.vu)?;
    globals.object.set("__ITER", 0)
}

fn open<'js>(ctx: Ctx<'js>, name: Opt<GivenText>, mode: Opt<GivenText>) -> Result<Value<'js>> {
    let bytes = modules::open(
        &*VuState::running(&ctx)?,
        &ctx,
        &name.0.map(|name| name.0).unwrap_or_default(),
    )?;
    if mode.0.is_some_and(|mode| mode.0 == "b") {
        return intrinsics::buffer(&ctx, &bytes).map(ArrayBuffer::into_value);
    }
    String::from_utf8_lossy(&bytes).into_owned().into_js(&ctx)
}

fn console<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> Result<Value<'js>> {
    let console = Natives::new(ctx, vu, "console")?;
    for (name, level) in
        [("log", "LOG"), ("debug", "DEBUG"), ("info", "INFO"), ("warn", "WARN"), ("error", "ERROR")]
    {
        let log = move |ctx: Ctx<'js>, values: Rest<Value<'js>>| -> Result<()> {
            let shown: Result<Vec<String>> =
                values.0.iter().map(|value| show(&ctx, value)).collect();
            let vu = VuState::running(&ctx)?;
            vu.bundle.log(level, vu.vu, &shown?.join(" "));
            Ok(())
        };
        console.add(name, log)?;
    }
    Ok(console.object.into_value())
}

/// A text as it is, an Error as String() has it, other values as the script's JSON.stringify() has them, or else String():
/// what JSON cannot say (a circular object, a BigInt) fails no iteration because it was logged.
fn show<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<String> {
    if !value.is_string() && !value.is_error() {
        let stringify: Function = ctx.globals().get::<_, Object>("JSON")?.get("stringify")?;
        match stringify.call::<_, Option<rquickjs::String>>((value.clone(),)) {
            Ok(Some(text)) => return Ok(text_of_string(&text)),
            Ok(None) => {}
            Err(rquickjs::Error::Exception) => drop(ctx.catch()),
            Err(other) => return Err(other),
        }
    }
    // Unlike the language's own coercion it takes symbols as well.
    let text: rquickjs::String =
        ctx.globals().get::<_, Function>("String")?.call((value.clone(),))?;
    Ok(text_of_string(&text))
}

fn env<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> Result<Value<'js>> {
    let env = Object::new(ctx.clone())?;
    for (key, value) in &vu.bundle.env {
        env.set(key.as_str(), value.as_str())?;
    }
    Ok(env.into_value())
}
