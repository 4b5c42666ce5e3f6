//! `k6/data`: arrays that all VUs of a run share. Their elements are kept as JSON, once, and made anew (and frozen) for
//! each reading.

use std::rc::Rc;
use std::sync::Arc;

use rquickjs::function::Func;
use rquickjs::{Array, Ctx, Function, Object, Result, Value};

use crate::json;
use crate::state::VuState;

pub fn install<'js>(_ctx: &Ctx<'js>, state: &Rc<VuState>, native: &Object<'js>) -> Result<()> {
    let vu = state.clone();
    native.set("inInit", Func::from(move || vu.in_init.get()))?;
    let vu = state.clone();
    let find = move |ctx: Ctx<'js>, name: String| -> Result<Value<'js>> {
        match vu.bundle.shared_array(&name) {
            Some(elements) => handle(&ctx, elements).map(Array::into_value),
            None => Ok(Value::new_null(ctx)),
        }
    };
    native.set("find", Func::from(find))?;
    let vu = state.clone();
    let keep = move |ctx: Ctx<'js>, name: String, elements: Vec<String>| handle(&ctx, vu.bundle.keep_shared_array(&name, elements));
    native.set("keep", Func::from(keep))
}

/// `[length, at]` of a shared array.
pub fn handle<'js>(ctx: &Ctx<'js>, elements: Arc<Vec<String>>) -> Result<Array<'js>> {
    let length = elements.len();
    let at = Function::new(ctx.clone(), move |ctx: Ctx<'js>, index: usize| -> Result<Value<'js>> {
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
