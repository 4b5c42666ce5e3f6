//! The few raw calls of QuickJS that rquickjs' safe ones make dear on the hot path: each of those clones the context
//! and copies texts. Everything here keeps the reference counts itself.

use std::borrow::Cow;

use rquickjs::{qjs, Ctx, Error, Function, Object, Result, Value};

/// UTF-8 of what QuickJS has of a text, which writes lone surrogates as three bytes each (WTF-8).
pub fn well_formed(mut bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return text.into();
    }
    let mut text = String::new();
    while let Err(error) = std::str::from_utf8(bytes) {
        let (good, rest) = bytes.split_at(error.valid_up_to());
        text.push_str(&String::from_utf8_lossy(good));
        text.push(char::REPLACEMENT_CHARACTER);
        let is_surrogate = matches!(rest, [0xed, 0xa0..=0xbf, 0x80..=0xbf, ..]);
        bytes = &rest[if is_surrogate { 3 } else { error.error_len().unwrap_or(rest.len()) }..];
    }
    text.push_str(&String::from_utf8_lossy(bytes));
    text.into()
}

/// A value that this holds a reference to; freed with it.
pub struct Held {
    ctx: *mut qjs::JSContext,
    pub value: qjs::JSValue,
}

impl Held {
    /// Takes over one reference to `value`; an exception becomes an error, and stays pending in the context.
    ///
    /// # Safety
    /// `ctx` is a living context and `value` one of its values, a reference to which nobody else gives back.
    pub unsafe fn new(ctx: *mut qjs::JSContext, value: qjs::JSValue) -> Result<Self> {
        // SAFETY: looks at the tag of a value only.
        if unsafe { qjs::JS_IsException(value) } {
            return Err(Error::Exception);
        }
        Ok(Self { ctx, value })
    }

    /// A reference of its own to an object.
    pub fn of(object: &Object<'_>) -> Self {
        let ctx = object.ctx().as_raw().as_ptr();
        // SAFETY: the object is alive; the new reference is ours.
        Self { ctx, value: unsafe { qjs::JS_DupValue(ctx, object.as_raw()) } }
    }

    /// The object that `of` was given, for a context of the same runtime.
    pub fn object<'js>(&self, ctx: &Ctx<'js>) -> Result<Object<'js>> {
        self.in_context(ctx).into_object().ok_or(Error::Unknown)
    }

    /// As `object`, where it is a function.
    pub fn function<'js>(&self, ctx: &Ctx<'js>) -> Result<Function<'js>> {
        self.in_context(ctx).into_function().ok_or(Error::Unknown)
    }

    fn in_context<'js>(&self, ctx: &Ctx<'js>) -> Value<'js> {
        // SAFETY: the value is alive; the new reference goes to the result.
        unsafe { Value::from_raw(ctx.clone(), qjs::JS_DupValue(self.ctx, self.value)) }
    }

    /// Gives the reference away.
    pub fn into_raw(self) -> qjs::JSValue {
        let value = self.value;
        std::mem::forget(self);
        value
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: by the contract of `new` the reference is ours and the context lives.
        unsafe { qjs::JS_FreeValue(self.ctx, self.value) }
    }
}

/// The UTF-8 bytes of a JavaScript text (lone surrogates as three bytes each); without a copy where it is ASCII.
pub struct Text {
    ctx: *mut qjs::JSContext,
    start: *const std::ffi::c_char,
    length: usize,
}

impl Text {
    /// # Safety
    /// `ctx` is a living context that outlives this, and `value` one of its values.
    pub unsafe fn of_value(ctx: *mut qjs::JSContext, value: qjs::JSValue) -> Result<Self> {
        let mut length = 0;
        // SAFETY: by the contract of this function; QuickJS only writes to `length`.
        let start = unsafe { qjs::JS_ToCStringLen2(ctx, &mut length, value, false) };
        Self::checked(ctx, start, length)
    }

    /// # Safety
    /// As `of_value`, for a name of a property.
    pub unsafe fn of_atom(ctx: *mut qjs::JSContext, atom: qjs::JSAtom) -> Result<Self> {
        let mut length = 0;
        // SAFETY: by the contract of this function; QuickJS only writes to `length`.
        let start = unsafe { qjs::JS_AtomToCStringLen(ctx, &mut length, atom) };
        Self::checked(ctx, start, length)
    }

    fn checked(
        ctx: *mut qjs::JSContext,
        start: *const std::ffi::c_char,
        length: qjs::size_t,
    ) -> Result<Self> {
        if start.is_null() {
            return Err(Error::Exception);
        }
        Ok(Self { ctx, start, length: length as usize })
    }

    pub fn bytes(&self) -> &[u8] {
        // SAFETY: QuickJS gave a pointer to that many bytes, which stay until JS_FreeCString.
        unsafe { std::slice::from_raw_parts(self.start.cast(), self.length) }
    }
}

impl Drop for Text {
    fn drop(&mut self) {
        // SAFETY: made by QuickJS for us, freed once.
        unsafe { qjs::JS_FreeCString(self.ctx, self.start) }
    }
}

/// The enumerable names of an object's own properties, in JavaScript's order.
pub struct Names {
    ctx: *mut qjs::JSContext,
    first: *mut qjs::JSPropertyEnum,
    count: u32,
}

impl Names {
    /// # Safety
    /// `ctx` is a living context that outlives this, and `object` one of its objects.
    pub unsafe fn of(ctx: *mut qjs::JSContext, object: qjs::JSValue) -> Result<Self> {
        let (mut first, mut count) = (std::ptr::null_mut(), 0);
        let flags = (qjs::JS_GPN_STRING_MASK | qjs::JS_GPN_ENUM_ONLY) as std::ffi::c_int;
        // SAFETY: by the contract of this function; QuickJS only writes to `first` and `count`.
        if unsafe { qjs::JS_GetOwnPropertyNames(ctx, &mut first, &mut count, object, flags) } < 0 {
            return Err(Error::Exception);
        }
        Ok(Self { ctx, first, count })
    }

    pub fn atoms(&self) -> impl Iterator<Item = qjs::JSAtom> + '_ {
        // SAFETY: QuickJS filled `count` entries, which stay until JS_FreePropertyEnum; it allocates also for none of them.
        unsafe { std::slice::from_raw_parts(self.first, self.count as usize) }
            .iter()
            .map(|entry| entry.atom)
    }
}

impl Drop for Names {
    fn drop(&mut self) {
        // SAFETY: made by QuickJS for us, freed once.
        unsafe { qjs::JS_FreePropertyEnum(self.ctx, self.first, self.count) }
    }
}

/// Visits an object's own enumerable properties; a lone surrogate of a name becomes U+FFFD.
pub fn each_property<'js>(
    object: &Object<'js>,
    mut visit: impl FnMut(&str, Value<'js>) -> Result<()>,
) -> Result<()> {
    let ctx: &Ctx<'js> = object.ctx();
    let raw = ctx.as_raw().as_ptr();
    // SAFETY: the object belongs to this context, which its clone keeps alive; JS_GetProperty gives a reference to us.
    unsafe {
        for atom in Names::of(raw, object.as_raw())?.atoms() {
            let value = Held::new(raw, qjs::JS_GetProperty(raw, object.as_raw(), atom))?;
            let value = Value::from_raw(ctx.clone(), value.into_raw());
            visit(&well_formed(Text::of_atom(raw, atom)?.bytes()), value)?;
        }
    }
    Ok(())
}
