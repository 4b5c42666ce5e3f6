//! `k6/data`: arrays that all VUs of a run share. Their elements are kept as JSON, once, and made anew (and frozen) for
//! each reading.

use std::sync::Arc;

use rquickjs::{Array, Ctx, Function, Result, Value};

use crate::runtime::host::Natives;
use crate::runtime::json;
use crate::state::VuState;
use crate::values::GivenText;

pub fn install<'js>(natives: &Natives<'js>) -> Result<()> {
    natives.add("inInit", |ctx: Ctx<'js>| -> Result<bool> {
        Ok(VuState::running(&ctx)?.in_init.get())
    })?;
    natives.add("find", |ctx: Ctx<'js>, GivenText(name): GivenText| -> Result<Value<'js>> {
        match VuState::running(&ctx)?.bundle.shared_array(&name) {
            Some(elements) => handle(&ctx, elements).map(Array::into_value),
            None => Ok(Value::new_null(ctx)),
        }
    })?;
    natives.add("keep", |ctx: Ctx<'js>, GivenText(name): GivenText, elements: Vec<String>| {
        handle(&ctx, VuState::running(&ctx)?.bundle.keep_shared_array(&name, elements))
    })
}

/// `[length, at]` of a shared array.
pub fn handle<'js>(ctx: &Ctx<'js>, elements: Arc<Vec<String>>) -> Result<Array<'js>> {
    let length = elements.len();
    let at =
        Function::new(ctx.clone(), move |ctx: Ctx<'js>, index: usize| -> Result<Value<'js>> {
            match elements.get(index) {
                Some(text) => json::parse_frozen(&ctx, text.as_bytes()),
                None => Ok(Value::new_undefined(ctx)),
            }
        })?;
    let handle = Array::new(ctx.clone())?;
    handle.set(0, length)?;
    handle.set(1, at)?;
    Ok(handle)
}
