//! The standard objects of a VU's context. Dates, maps, sets, buffers and typed arrays are a good third of an empty context's
//! memory, and most scripts use few of them: they are added when code that names one is loaded, or when the host makes one.

use std::ffi::c_int;
use std::ptr::NonNull;

use rquickjs::{qjs, ArrayBuffer, Context, Ctx, Error, Result, Runtime};

/// Objects that are added together.
struct Late {
    /// The global names; the first tells whether they are there.
    names: &'static [&'static str],
    add: unsafe extern "C" fn(*mut qjs::JSContext) -> c_int,
}

static LATE: [Late; 7] = [
    Late { names: &["Map", "Set", "WeakMap", "WeakSet"], add: qjs::JS_AddIntrinsicMapSet },
    Late {
        names: &[
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
        ],
        add: qjs::JS_AddIntrinsicTypedArrays,
    },
    Late { names: &["Date"], add: qjs::JS_AddIntrinsicDate },
    Late { names: &["Proxy"], add: qjs::JS_AddIntrinsicProxy },
    Late { names: &["WeakRef", "FinalizationRegistry"], add: qjs::JS_AddIntrinsicWeakRef },
    Late { names: &["atob", "btoa"], add: qjs::JS_AddIntrinsicAToB },
    Late { names: &["performance"], add: qjs::JS_AddPerformance },
];
/// With these a script may reach global names that it does not spell.
const ANYTHING: [&str; 5] = ["globalThis", "global", "self", "eval", "Function"];

/// What a piece of code may use of the objects that are added late: a bit for each row of `LATE`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Needs(u8);

impl Needs {
    const ALL: Self = Self((1 << LATE.len()) - 1);

    /// By the words of the code: a word in a text or comment counts as well, and costs memory only.
    pub fn of(code: &str) -> Self {
        let words = code
            .split(|letter: char| !letter.is_ascii_alphanumeric())
            .filter(|word| word.len() > 2);
        words.map(Self::of_word).fold(Self::default(), |needs, more| Self(needs.0 | more.0))
    }

    fn of_word(word: &str) -> Self {
        if ANYTHING.contains(&word) {
            return Self::ALL;
        }
        LATE.iter()
            .position(|late| late.names.contains(&word))
            .map_or_else(Self::default, |at| Self(1 << at))
    }

    /// Adds what is needed and not there.
    pub fn meet(self, ctx: &Ctx<'_>) -> Result<()> {
        for (_, late) in LATE.iter().enumerate().filter(|(at, _)| self.0 & (1 << at) != 0) {
            if ctx.globals().contains_key(late.names[0])? {
                continue;
            }
            // SAFETY: the context lives; each adds global names and what stands behind them.
            if unsafe { (late.add)(ctx.as_raw().as_ptr()) } != 0 {
                return Err(Error::Exception);
            }
        }
        Ok(())
    }
}

/// An ArrayBuffer with these bytes.
pub fn buffer<'js>(ctx: &Ctx<'js>, bytes: &[u8]) -> Result<ArrayBuffer<'js>> {
    Needs::of_word("ArrayBuffer").meet(ctx)?;
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
            || qjs::JS_AddIntrinsicEval(ctx) != 0
            || qjs::JS_AddIntrinsicRegExp(ctx) != 0
            || qjs::JS_AddIntrinsicJSON(ctx) != 0
            || qjs::JS_AddIntrinsicPromise(ctx) != 0;
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
        assert_eq!(
            Needs::of("const mapped = [1].map(Mapper); headers['Set2'] = isArray"),
            Needs::default()
        );
        assert_eq!(Needs::of("const seen=new Map()"), Needs::of_word("Map"));
        assert_eq!(
            Needs::of("f(new Uint8Array(4)).at(Date.now())"),
            Needs(Needs::of_word("DataView").0 | Needs::of_word("Date").0)
        );
        assert_eq!(Needs::of("(0,eval)('this')"), Needs::ALL);
    }
}
