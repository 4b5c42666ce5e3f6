//! The native functions behind `js/prelude.js`, all but HTTP.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_core::record::Kind;
use plimsoll_core::system_tags::SystemTag;
use rquickjs::function::{Func, Opt};
use rquickjs::{Array, ArrayBuffer, Coerced, Ctx, Exception, FromJs, Function, IntoJs, Object, Result, Value};

use crate::effect::Effect;
use crate::http;
use crate::json;
use crate::modules;
use crate::raw::each_property;
use crate::state::VuState;

/// Makes the globals of a k6 script in a fresh context.
pub fn install<'js>(ctx: &Ctx<'js>, state: &Rc<VuState>) -> Result<()> {
    let native = Object::new(ctx.clone())?;
    install_core(ctx, state, &native)?;
    install_metrics(ctx, state, &native)?;
    install_data(ctx, state, &native)?;
    install_execution(ctx, state, &native)?;
    http::install(ctx, state, &native)?;
    json::install(ctx, &native)?;
    let (prelude, promise) = modules::prelude(ctx, &state.bundle)?.eval()?;
    promise.finish::<()>()?;
    prelude.get::<_, Function>("default")?.call((native,))
}

/// Tags of a JavaScript object as text; anything that is not an object has none.
pub fn tags_of(value: &Value<'_>) -> Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    if let Some(object) = value.as_object() {
        each_property(object, |name, value| {
            found.push((name.to_string(), text_of(&value)));
            Ok(())
        })?;
    }
    Ok(found)
}

/// A value as text, the way JavaScript's String() would say it for plain values.
pub fn text_of(value: &Value<'_>) -> String {
    if let Some(text) = value.as_string() {
        return text.to_string().unwrap_or_default();
    }
    if let Some(number) = value.as_int() {
        return number.to_string();
    }
    if let Some(number) = value.as_float() {
        return number.to_string();
    }
    value.as_bool().map(|flag| flag.to_string()).unwrap_or_default()
}

fn borrowed(tags: &[(String, String)]) -> Vec<(&str, &str)> {
    tags.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect()
}

fn install_core<'js>(ctx: &Ctx<'js>, state: &Rc<VuState>, native: &Object<'js>) -> Result<()> {
    let vu = state.clone();
    let sleep = move |ctx: Ctx<'js>, seconds: f64| -> Result<()> {
        let Ok(duration) = Duration::try_from_secs_f64(seconds) else {
            return Err(Exception::throw_message(&ctx, &format!("sleep({seconds}): give a number of seconds of at least 0")));
        };
        vu.perform(&ctx, Effect::Sleep(duration)).map(|_| ())
    };
    native.set("sleep", Func::from(sleep))?;
    let vu = state.clone();
    native.set("now", Func::from(move || vu.run_started.get().elapsed().as_secs_f64() * 1000.0))?;
    let vu = state.clone();
    let enter = move |name: String| {
        let outer = vu.group.borrow().clone();
        *vu.group.borrow_mut() = format!("{outer}::{name}");
        outer
    };
    native.set("enterGroup", Func::from(enter))?;
    let vu = state.clone();
    let leave = move |ctx: Ctx<'js>, outer: String, duration_ms: f64| {
        let tags = vu.tag_set(&ctx, &[]);
        vu.recorder.borrow_mut().add(vu.builtin.group_duration, tags, duration_ms);
        *vu.group.borrow_mut() = outer;
    };
    native.set("leaveGroup", Func::from(leave))?;
    let vu = state.clone();
    native.set("log", Func::from(move |level: String, text: String| eprintln!("{} [VU {}] {text}", level.to_uppercase(), vu.vu)))?;
    let env = Object::new(ctx.clone())?;
    for (key, value) in &state.bundle.env {
        env.set(key.as_str(), value.as_str())?;
    }
    native.set("env", env)
}

fn install_metrics<'js>(_ctx: &Ctx<'js>, state: &Rc<VuState>, native: &Object<'js>) -> Result<()> {
    let vu = state.clone();
    let check =
        move |ctx: Ctx<'js>, value: Value<'js>, checks: Opt<Value<'js>>, tags: Opt<Value<'js>>| check(&ctx, &vu, value, checks.0.as_ref(), tags.0);
    native.set("check", Func::from(check))?;
    let vu = state.clone();
    let metric = move |ctx: Ctx<'js>, kind: String, name: String, is_time: bool| -> Result<u32> {
        let kind = match kind.as_str() {
            "counter" => Kind::Counter,
            "gauge" => Kind::Gauge,
            "rate" => Kind::Rate,
            _ => Kind::Trend,
        };
        if !vu.in_init.get() {
            return Err(Exception::throw_message(&ctx, &format!("metric '{name}' must be made in the init context, at the top of the script")));
        }
        vu.recorder.borrow_mut().metric(&name, kind, is_time).map_err(|message| Exception::throw_message(&ctx, &message))
    };
    native.set("metric", Func::from(metric))?;
    let vu = state.clone();
    let add = move |ctx: Ctx<'js>, metric: u32, value: Coerced<f64>, tags: Opt<Value<'js>>| -> Result<()> {
        let given = tags.0.as_ref().map(tags_of).transpose()?.unwrap_or_default();
        let tags = vu.tag_set(&ctx, &borrowed(&given));
        vu.recorder.borrow_mut().add(metric, tags, value.0);
        Ok(())
    };
    native.set("addSample", Func::from(add))
}

/// k6's check: every test is made and recorded; whether all passed. What a test throws counts as failed and goes on.
fn check<'js>(ctx: &Ctx<'js>, vu: &VuState, value: Value<'js>, checks: Option<&Value<'js>>, tags: Option<Value<'js>>) -> Result<bool> {
    let Some(checks) = checks.and_then(Value::as_object) else {
        return Err(Exception::throw_type(ctx, "check() wants an object of tests: check(response, { 'status is 200': (r) => r.status === 200 })"));
    };
    let given = tags.as_ref().map(tags_of).transpose()?.unwrap_or_default();
    let mut all = true;
    each_property(checks, |name, test| {
        let outcome = match test.as_function() {
            Some(test) => test.call::<_, Value>((value.clone(),)),
            None => Ok(test),
        };
        if outcome.as_ref().is_ok_and(Value::is_promise) {
            return Err(Exception::throw_message(ctx, &format!("check '{name}' is asynchronous; await its value before the check")));
        }
        let passed = outcome.as_ref().is_ok_and(|outcome| Coerced::<bool>::from_js(ctx, outcome.clone()).is_ok_and(|truth| truth.0));
        let mut extra = borrowed(&given);
        if vu.bundle.defaults.system_tags.has(SystemTag::Check) {
            extra.push(("check", name));
        }
        let tags = vu.tag_set(ctx, &extra);
        vu.recorder.borrow_mut().add(vu.builtin.checks, tags, f64::from(u8::from(passed)));
        all &= passed;
        outcome.map(|_| ())
    })?;
    Ok(all)
}

/// `[length, at]` of a shared array.
fn shared_handle<'js>(ctx: &Ctx<'js>, elements: Arc<Vec<String>>) -> Result<Value<'js>> {
    let length = elements.len();
    let at = Function::new(ctx.clone(), move |ctx: Ctx<'js>, index: usize| -> Result<Value<'js>> {
        match elements.get(index) {
            Some(text) => json::parse(&ctx, text.as_bytes()),
            None => Ok(Value::new_undefined(ctx)),
        }
    })?;
    let handle = Array::new(ctx.clone())?;
    handle.set(0, length)?;
    handle.set(1, at)?;
    Ok(handle.into_value())
}

fn install_data<'js>(_ctx: &Ctx<'js>, state: &Rc<VuState>, native: &Object<'js>) -> Result<()> {
    let vu = state.clone();
    let find = move |ctx: Ctx<'js>, name: String| -> Result<Value<'js>> {
        match vu.bundle.shared_array(&name) {
            Some(elements) => shared_handle(&ctx, elements),
            None => Ok(Value::new_null(ctx)),
        }
    };
    native.set("sharedArray", Func::from(find))?;
    let vu = state.clone();
    let keep = move |ctx: Ctx<'js>, name: String, elements: Vec<String>| shared_handle(&ctx, vu.bundle.keep_shared_array(&name, elements));
    native.set("keepSharedArray", Func::from(keep))?;
    let vu = state.clone();
    let open = move |ctx: Ctx<'js>, name: String, mode: Opt<String>| -> Result<Value<'js>> {
        let bytes = modules::open(&vu, &ctx, &name)?;
        if mode.0.as_deref() == Some("b") {
            return ArrayBuffer::new_copy(ctx.clone(), &bytes).map(ArrayBuffer::into_value);
        }
        String::from_utf8_lossy(&bytes).into_owned().into_js(&ctx)
    };
    native.set("open", Func::from(open))
}

fn install_execution<'js>(_ctx: &Ctx<'js>, state: &Rc<VuState>, native: &Object<'js>) -> Result<()> {
    let vu = state.clone();
    let fact = move |ctx: Ctx<'js>, name: String| -> Result<Value<'js>> {
        let iteration = vu.iteration.borrow();
        match name.as_str() {
            "currentTestRunDuration" => (vu.run_started.get().elapsed().as_secs_f64() * 1000.0).into_js(&ctx),
            "name" => iteration.scenario.as_ref().into_js(&ctx),
            "executor" => iteration.executor.as_ref().into_js(&ctx),
            "iterationInTest" => iteration.number_in_scenario.into_js(&ctx),
            "iterationInInstance" | "iterationInScenario" => iteration.number_on_vu.into_js(&ctx),
            "idInInstance" | "idInTest" => vu.vu.into_js(&ctx),
            "options" => vu.bundle.options_json.as_str().into_js(&ctx),
            _ => Ok(Value::new_undefined(ctx)),
        }
    };
    native.set("fact", Func::from(fact))?;
    let vu = state.clone();
    let abort = move |ctx: Ctx<'js>, message: String| -> Result<()> {
        *vu.test_aborted.borrow_mut() = Some(message);
        Err(vu.throw_uncatchable(&ctx))
    };
    native.set("abortTest", Func::from(abort))
}
