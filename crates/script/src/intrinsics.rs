//! The standard objects of a VU's context. Maps, sets, buffers and typed arrays are a third of an empty context's memory, and
//! most scripts use none: they are added when code that names one is loaded, or when the host makes one.

use std::ptr::NonNull;

use rquickjs::{qjs, ArrayBuffer, Context, Ctx, Error, Object, Result, Runtime};

/// What a piece of code may use of the objects that are added late.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Needs {
    maps: bool,
    buffers: bool,
}

const MAPS: [&str; 4] = ["Map", "Set", "WeakMap", "WeakSet"];
const BUFFERS: [&str; 16] = [
    "ArrayBuffer",
    "SharedArrayBuffer",
    "DataView",
    "Atomics",
    "Uint8ClampedArray",
    "Int8Array",
    "Uint8Array",
    "Int16Array",
    "Uint16Array",
    "Int32Array",
    "Uint32Array",
    "BigInt64Array",
    "BigUint64Array",
    "Float16Array",
    "Float32Array",
    "Float64Array",
];
/// With these a script may reach global names that it does not spell.
const ANYTHING: [&str; 5] = ["globalThis", "global", "self", "eval", "Function"];

impl Needs {
    /// By the words of the code: a word in a text or comment counts as well, and costs memory only.
    pub fn of(code: &str) -> Self {
        let mut needs = Self::default();
        for word in code.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| word.len() > 2) {
            let anything = ANYTHING.contains(&word);
            needs.maps |= anything || MAPS.contains(&word);
            needs.buffers |= anything || BUFFERS.contains(&word);
        }
        needs
    }

    /// Adds what is needed and not there.
    pub fn meet(self, ctx: &Ctx<'_>) -> Result<()> {
        let globals = ctx.globals();
        // SAFETY: the context lives; each adds global constructors and their prototypes.
        unsafe {
            add(self.maps, &globals, MAPS[0], |ctx| qjs::JS_AddIntrinsicMapSet(ctx))?;
            add(self.buffers, &globals, BUFFERS[0], |ctx| qjs::JS_AddIntrinsicTypedArrays(ctx))
        }
    }
}

/// # Safety
/// `intrinsic` is one that QuickJS adds to a living context.
unsafe fn add(is_needed: bool, globals: &Object<'_>, name: &str, intrinsic: unsafe fn(*mut qjs::JSContext) -> std::ffi::c_int) -> Result<()> {
    if !is_needed || globals.contains_key(name)? {
        return Ok(());
    }
    match unsafe { intrinsic(globals.ctx().as_raw().as_ptr()) } {
        0 => Ok(()),
        _ => Err(Error::Exception),
    }
}

/// An ArrayBuffer with these bytes.
pub fn buffer<'js>(ctx: &Ctx<'js>, bytes: &[u8]) -> Result<ArrayBuffer<'js>> {
    Needs { buffers: true, maps: false }.meet(ctx)?;
    ArrayBuffer::new_copy(ctx.clone(), bytes)
}

/// A context with all that QuickJS has but what is added late.
///
/// # Safety
/// `raw` is the runtime behind `runtime`.
pub unsafe fn context(runtime: &Runtime, raw: NonNull<qjs::JSRuntime>) -> Result<Context> {
    // SAFETY: by the contract of this function; the context is given to its owner before anything can fail.
    unsafe {
        let ctx = NonNull::new(qjs::JS_NewContextRaw(raw.as_ptr())).ok_or(Error::Allocation)?;
        let context = Context::from_raw(ctx, runtime.clone());
        let ctx = ctx.as_ptr();
        let failed = qjs::JS_AddIntrinsicBaseObjects(ctx) != 0
            || qjs::JS_AddIntrinsicDate(ctx) != 0
            || qjs::JS_AddIntrinsicEval(ctx) != 0
            || qjs::JS_AddIntrinsicRegExp(ctx) != 0
            || qjs::JS_AddIntrinsicJSON(ctx) != 0
            || qjs::JS_AddIntrinsicProxy(ctx) != 0
            || qjs::JS_AddIntrinsicPromise(ctx) != 0
            || qjs::JS_AddIntrinsicWeakRef(ctx) != 0
            || qjs::JS_AddIntrinsicAToB(ctx) != 0
            || qjs::JS_AddPerformance(ctx) != 0;
        if failed {
            Err(Error::Allocation)
        } else {
            Ok(context)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needs_are_whole_words_of_the_code() {
        assert_eq!(Needs::of("const mapped = [1].map(Mapper); headers['Set2'] = isArray"), Needs::default());
        assert_eq!(Needs::of("const seen=new Map()"), Needs { maps: true, buffers: false });
        assert_eq!(Needs::of("f(new Uint8Array(4))"), Needs { maps: false, buffers: true });
        assert_eq!(Needs::of("(0,eval)('this')"), Needs { maps: true, buffers: true });
    }
}
