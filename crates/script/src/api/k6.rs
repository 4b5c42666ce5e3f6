//! `k6`: check, group and sleep.

use std::time::Duration;

use plimsoll_core::system_tags::SystemTag;
use rquickjs::function::Opt;
use rquickjs::{Coerced, Ctx, Exception, FromJs, Result, Value};

use crate::effect::Effect;
use crate::runtime::host::Natives;
use crate::runtime::raw::each_property;
use crate::state::VuState;
use crate::values::{borrowed, metric_tags_of, GivenText};

pub fn install<'js>(natives: &Natives<'js>) -> Result<()> {
    natives.add(
        "check",
        |ctx: Ctx<'js>, value: Opt<Value<'js>>, checks: Opt<Value<'js>>, tags: Opt<Value<'js>>| {
            check(&ctx, &*VuState::running(&ctx)?, value.0, checks.0, tags.0)
        },
    )?;
    natives.add("sleep", |ctx: Ctx<'js>, seconds: Opt<Coerced<f64>>| -> Result<()> {
        let vu = VuState::running(&ctx)?;
        // As in k6, what is no time at all takes no time. Nothing waits while a VU is made: that would hold up its thread.
        match seconds.0.and_then(|seconds| Duration::try_from_secs_f64(seconds.0).ok()) {
            Some(duration) if !vu.in_init.get() => {
                vu.perform(&ctx, Effect::Sleep(duration)).map(|_| ())
            }
            _ => Ok(()),
        }
    })?;
    natives.add("now", |ctx: Ctx<'js>| -> Result<f64> {
        Ok(VuState::running(&ctx)?.run_started.get().elapsed().as_secs_f64() * 1000.0)
    })?;
    natives.add("enterGroup", |ctx: Ctx<'js>, GivenText(name): GivenText| -> Result<String> {
        let vu = VuState::running(&ctx)?;
        refuse_init(&ctx, &vu, "group()")?;
        refuse_separator(&ctx, &name)?;
        let outer = vu.group.borrow().clone();
        *vu.group.borrow_mut() = format!("{outer}::{name}");
        Ok(outer)
    })?;
    natives.add(
        "leaveGroup",
        |ctx: Ctx<'js>, GivenText(outer): GivenText, duration_ms: f64| -> Result<()> {
            let vu = VuState::running(&ctx)?;
            let tags = vu.tag_set(&ctx, &[]);
            vu.recorder.borrow_mut().add(vu.builtin.group_duration, tags, duration_ms);
            *vu.group.borrow_mut() = outer;
            Ok(())
        },
    )
}

fn refuse_init(ctx: &Ctx<'_>, vu: &VuState, what: &str) -> Result<()> {
    if vu.in_init.get() {
        return Err(Exception::throw_message(ctx, &format!("{what} does not work in the init context; call it in the default function or setup()")));
    }
    Ok(())
}

/// '::' joins the names of nested groups.
fn refuse_separator(ctx: &Ctx<'_>, name: &str) -> Result<()> {
    if name.contains("::") {
        return Err(Exception::throw_message(
            ctx,
            &format!(
                "'{name}': names of groups and checks may not contain '::'; use another separator"
            ),
        ));
    }
    Ok(())
}

/// k6's check: every test is made and recorded; whether all passed. What a test throws counts as failed and goes on.
fn check<'js>(
    ctx: &Ctx<'js>,
    vu: &VuState,
    value: Option<Value<'js>>,
    checks: Option<Value<'js>>,
    tags: Option<Value<'js>>,
) -> Result<bool> {
    refuse_init(ctx, vu, "check()")?;
    let (Some(value), Some(checks)) = (value, checks.as_ref().and_then(Value::as_object)) else {
        return Err(Exception::throw_type(ctx, "check() wants an object of tests: check(response, { 'status is 200': (r) => r.status === 200 })"));
    };
    let given = tags
        .map(|tags| metric_tags_of(ctx, &tags, || "check()".into()))
        .transpose()?
        .unwrap_or_default();
    let mut all = true;
    each_property(checks, |name, test| {
        refuse_separator(ctx, name)?;
        let outcome = match test.as_function() {
            Some(test) => test.call::<_, Value>((value.clone(),)),
            None => Ok(test),
        };
        if outcome.as_ref().is_ok_and(Value::is_promise) {
            let what =
                "is asynchronous, which check() does not support; await its value before the check";
            return Err(Exception::throw_message(ctx, &format!("check '{name}' {what}")));
        }
        let passed = outcome.as_ref().is_ok_and(|outcome| {
            Coerced::<bool>::from_js(ctx, outcome.clone()).is_ok_and(|truth| truth.0)
        });
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
