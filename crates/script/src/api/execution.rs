//! `k6/execution`: what a script may ask of its run, and how it ends it.

use rquickjs::{Ctx, Exception, IntoJs, Object, Result, Value};

use crate::runtime::host::Natives;
use crate::state::{ScenarioFacts, VuState};
use crate::values::{tag_value, GivenText};

pub fn install<'js>(natives: &Natives<'js>) -> Result<()> {
    natives.add("fact", |ctx: Ctx<'js>, name: String| {
        fact(&ctx, &*VuState::running(&ctx)?, &name)?.into_js(&ctx)
    })?;
    natives.add("options", |ctx: Ctx<'js>| -> Result<Value<'js>> {
        let vu = VuState::running(&ctx)?;
        refuse_init(&ctx, &vu, "test.options")?;
        crate::runtime::json::parse_frozen(&ctx, vu.bundle.options_json.as_bytes())
    })?;
    natives.add("abort", |ctx: Ctx<'js>, message: String| -> Result<()> {
        let vu = VuState::running(&ctx)?;
        *vu.test_aborted.borrow_mut() = Some(message);
        Err(vu.throw_uncatchable(&ctx))
    })?;
    natives.add("fail", |ctx: Ctx<'js>, message: String| -> Result<()> {
        let vu = VuState::running(&ctx)?;
        vu.bundle.log("ERROR", vu.vu, &message);
        vu.bundle.mark_failed();
        Ok(())
    })?;
    natives.add("warn", |ctx: Ctx<'js>, message: String| -> Result<()> {
        let vu = VuState::running(&ctx)?;
        if vu.bundle.first_time(&message) {
            vu.bundle.log("WARN", vu.vu, &message);
        }
        Ok(())
    })?;
    install_tags(natives)
}

/// A number or a text.
enum Fact {
    Number(f64),
    Text(String),
}

impl<'js> IntoJs<'js> for Fact {
    fn into_js(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        match self {
            // A whole number stays one in JavaScript, where 3.0 and 3 are the same.
            Self::Number(number) => number.into_js(ctx),
            Self::Text(text) => text.into_js(ctx),
        }
    }
}

fn fact(ctx: &Ctx<'_>, vu: &VuState, name: &str) -> Result<Fact> {
    refuse_init(ctx, vu, name)?;
    let iteration = vu.iteration.borrow();
    let of_scenario = |read: fn(&ScenarioFacts) -> Fact| {
        match &iteration.scenario {
        Some(scenario) => Ok(read(scenario)),
        None => Err(Exception::throw_message(
            ctx,
            &format!("exec.{name} exists only in a scenario's iterations, not in setup, teardown or handleSummary"),
        )),
    }
    };
    let number = |number: u64| Ok(Fact::Number(number as f64));
    match name {
        "instance.currentTestRunDuration" => {
            Ok(Fact::Number(vu.run_started.get().elapsed().as_secs_f64() * 1000.0))
        }
        "instance.iterationsCompleted" => number(vu.bundle.counted(|tally| &tally.completed)),
        "instance.iterationsInterrupted" => number(vu.bundle.counted(|tally| &tally.interrupted)),
        "instance.vusActive" => number(vu.bundle.counted(|tally| &tally.active)),
        "instance.vusInitialized" => number(vu.bundle.counted(|tally| &tally.initialized)),
        "scenario.name" => of_scenario(|scenario| Fact::Text(scenario.name.clone())),
        "scenario.executor" => of_scenario(|scenario| Fact::Text(scenario.executor.clone())),
        "scenario.startTime" => of_scenario(|scenario| Fact::Number(scenario.start_unix_ms)),
        "scenario.progress" => match &iteration.scenario {
            Some(scenario) => Ok(Fact::Number(scenario.progress(iteration.number_in_scenario))),
            None => of_scenario(|_| Fact::Number(0.0)),
        },
        "scenario.iterationInInstance" | "scenario.iterationInTest" => {
            of_scenario(|_| Fact::Number(0.0))?;
            number(iteration.number_in_scenario)
        }
        "vu.iterationInInstance" | "vu.iterationInScenario" => number(iteration.number_on_vu),
        _ => number(vu.vu),
    }
}

fn refuse_init(ctx: &Ctx<'_>, vu: &VuState, what: &str) -> Result<()> {
    if vu.in_init.get() {
        return Err(Exception::throw_message(
            ctx,
            &format!("exec.{what} is not known in the init context; read it in the default function or setup()"),
        ));
    }
    Ok(())
}

/// The tags and the metadata of the VU's samples, one by one.
fn install_tags<'js>(natives: &Natives<'js>) -> Result<()> {
    natives.add("list", |ctx: Ctx<'js>, of_tags: bool| -> Result<Object<'js>> {
        let vu = VuState::running(&ctx)?;
        refuse_init(&ctx, &vu, if of_tags { "vu.metrics.tags" } else { "vu.metrics.metadata" })?;
        let found = Object::new(ctx)?;
        if of_tags {
            found.set("group", vu.group.borrow().as_str())?;
            for (key, value) in vu.iteration.borrow().tags.iter() {
                found.set(key.as_str(), value.as_str())?;
            }
        } else {
            for (key, value) in vu.metadata.borrow().iter() {
                found.set(key.as_str(), value.as_str())?;
            }
        }
        Ok(found)
    })?;
    natives.add("set", |ctx: Ctx<'js>, of_tags: bool, GivenText(key): GivenText, value: Value<'js>| -> Result<()> {
        let vu = VuState::running(&ctx)?;
        let what = if of_tags { "tag" } else { "metadata" };
        refuse_init(&ctx, &vu, "vu.metrics")?;
        let value = tag_value(&value).ok_or_else(|| {
            Exception::throw_type(
                &ctx,
                &format!("the value of the {what} '{key}' is no text, boolean or number; make it one, as with JSON.stringify()"),
            )
        })?;
        change(&vu, of_tags, &key, Some(value));
        Ok(())
    })?;
    natives.add("remove", |ctx: Ctx<'js>, of_tags: bool, GivenText(key): GivenText| -> Result<()> {
        change(&*VuState::running(&ctx)?, of_tags, &key, None);
        Ok(())
    })
}

/// Sets or removes a tag or metadata of the VU, from now on and in its later iterations.
fn change(vu: &VuState, of_tags: bool, key: &str, value: Option<String>) {
    if of_tags {
        let mut tags = vu.iteration.borrow().tags.to_vec();
        replace(&mut tags, key, value);
        vu.set_tags(tags);
    } else {
        replace(&mut vu.metadata.borrow_mut(), key, value);
    }
}

fn replace(pairs: &mut Vec<(String, String)>, key: &str, value: Option<String>) {
    pairs.retain(|(known, _)| known != key);
    pairs.extend(value.map(|value| (key.to_owned(), value)));
}
