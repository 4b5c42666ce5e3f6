//! `k6/metrics`: metrics of the script's own.

use std::rc::Rc;

use plimsoll_core::histogram::finite;
use plimsoll_core::record::Kind;
use rquickjs::function::Opt;
use rquickjs::object::Property;
use rquickjs::{Coerced, Ctx, Exception, FromJs, Function, Object, Result, Value};

use crate::runtime::host::Natives;
use crate::state::VuState;
use crate::values::{borrowed, metric_tags_of, GivenText};

/// Characters of a metric's name, at least and at most.
const NAME_LENGTH: std::ops::RangeInclusive<usize> = 2..=129;

pub fn install<'js>(natives: &Natives<'js>) -> Result<()> {
    natives.add(
        "define",
        |ctx: Ctx<'js>,
         metric: Object<'js>,
         kind: String,
         GivenText(name): GivenText,
         is_time: bool| {
            define(&ctx, &VuState::running(&ctx)?, &metric, &kind, name, is_time)
        },
    )
}

fn is_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    NAME_LENGTH.contains(&name.len())
        && name.bytes().all(|byte| is_letter(byte) || byte.is_ascii_digit())
        && is_letter(name.as_bytes()[0])
}

/// Registers the metric and gives the object its `name` and `add`.
fn define<'js>(
    ctx: &Ctx<'js>,
    vu: &Rc<VuState>,
    metric: &Object<'js>,
    kind: &str,
    name: String,
    is_time: bool,
) -> Result<()> {
    let kind = match kind {
        "counter" => Kind::Counter,
        "gauge" => Kind::Gauge,
        "rate" => Kind::Rate,
        _ => Kind::Trend,
    };
    if !vu.in_init.get() {
        return Err(Exception::throw_message(
            ctx,
            &format!("metric '{name}' must be made in the init context, at the top of the script"),
        ));
    }
    if !is_name(&name) {
        let rule = "a name has 2 to 129 ASCII letters, digits or underscores and does not begin with a digit; rename the metric";
        return Err(Exception::throw_message(
            ctx,
            &format!("'{name}' is no name of a metric: {rule}"),
        ));
    }
    let id = vu
        .recorder
        .borrow_mut()
        .metric(&name, kind, is_time)
        .map_err(|message| Exception::throw_message(ctx, &message))?;
    metric.prop("name", Property::from(name.as_str()).enumerable())?;
    let vu = vu.clone();
    let add = move |ctx: Ctx<'js>, value: Opt<Value<'js>>, tags: Opt<Value<'js>>| -> Result<bool> {
        if vu.in_init.get() {
            let what = "add() does not work in the init context; call it in the default function or setup()";
            return Err(Exception::throw_message(&ctx, &format!("metric '{name}': {what}")));
        }
        let Some(number) = value.0.as_ref().and_then(|value| number_of(&ctx, value)) else {
            return refuse(&ctx, &vu, &name, value.0.as_ref());
        };
        let given = match &tags.0 {
            Some(tags) => metric_tags_of(&ctx, tags, || format!("metric '{name}'"))?,
            None => Vec::new(),
        };
        if number.is_infinite() && vu.bundle.first_time(&format!("infinity of {name}")) {
            let what = "Infinity counts as the largest number that there is, 1.8e308 (said once per metric)";
            vu.bundle.log("WARN", vu.vu, &format!("metric '{name}': {what}"));
        }
        let tags = vu.tag_set(&ctx, &borrowed(&given));
        vu.recorder.borrow_mut().add(id, tags, finite(number));
        Ok(true)
    };
    metric.prop(
        "add",
        Property::from(Function::new(ctx.clone(), add)?).enumerable().writable().configurable(),
    )
}

/// A value as JavaScript's Number() has it; none for null, undefined and what is not a number.
fn number_of<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Option<f64> {
    let number = match value.as_number() {
        Some(number) => number,
        None if value.is_null() || value.is_undefined() => return None,
        None => Coerced::<f64>::from_js(ctx, value.clone()).ok()?.0,
    };
    (!number.is_nan()).then_some(number)
}

/// As k6 treats what is no number: nothing is recorded, which is said; with the option `throw` it throws.
fn refuse<'js>(
    ctx: &Ctx<'js>,
    vu: &VuState,
    name: &str,
    value: Option<&Value<'js>>,
) -> Result<bool> {
    ctx.catch();
    let shown = match value {
        Some(value) => {
            let text = Coerced::<String>::from_js(ctx, value.clone()).map(|text| text.0);
            ctx.catch();
            format!("'{}' is no number", text.unwrap_or_else(|_| "a value without a text".into()))
        }
        None => "no value was given".to_owned(),
    };
    let message = format!(
        "metric '{name}': {shown}, so that nothing was recorded; give add() a number or a boolean"
    );
    if vu.bundle.defaults.throw {
        return Err(Exception::throw_type(ctx, &message));
    }
    if vu.bundle.first_time(&format!("value of {name}")) {
        vu.bundle.log("WARN", vu.vu, &format!("{message} (said once per metric)"));
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_rule_of_k6() {
        for name in ["ab", "_a", "a1", "A_b9", &"x".repeat(129)] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "a", "1a", "a b", "a.b", "a-b", "aä", &"x".repeat(130)] {
            assert!(!is_name(name), "{name}");
        }
    }
}
