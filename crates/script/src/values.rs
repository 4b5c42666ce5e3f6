//! How values of JavaScript become ours.

use rquickjs::{
    qjs, ArrayBuffer, Ctx, Error, Exception, FromJs, Object, Result, TypedArray, Value,
};

use crate::runtime::raw::{each_property, well_formed, Text};

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

/// Tags of a sample, as `tags_of`; a value that is no text, boolean or number throws. `of` says whose tags they are.
pub fn metric_tags_of<'js>(
    ctx: &Ctx<'js>,
    value: &Value<'js>,
    of: impl Fn() -> String,
) -> Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    if let Some(object) = value.as_object() {
        each_property(object, |name, value| {
            let Some(value) = tag_value(&value) else {
                let what = format!("{}: the value of the tag '{name}' is no text, boolean or number; make it one, as with JSON.stringify()", of());
                return Err(Exception::throw_type(ctx, &what));
            };
            found.push((name.to_string(), value));
            Ok(())
        })?;
    }
    Ok(found)
}

/// A text, boolean or number as the value of a tag.
pub fn tag_value(value: &Value<'_>) -> Option<String> {
    (value.is_string() || value.is_bool() || value.is_number()).then(|| text_of(value))
}

/// A value as text, the way JavaScript's String() would say it for plain values.
pub fn text_of(value: &Value<'_>) -> String {
    if let Some(text) = value.as_string() {
        return text_of_string(text);
    }
    if let Some(number) = value.as_int() {
        return number.to_string();
    }
    if let Some(number) = value.as_float() {
        return number.to_string();
    }
    value.as_bool().map(|flag| flag.to_string()).unwrap_or_default()
}

/// A text as UTF-8. Half of a pair of surrogates, as is left where an emoji was cut, becomes U+FFFD, as in k6.
pub fn text_of_string(text: &rquickjs::String<'_>) -> String {
    text.to_string().unwrap_or_else(|_| {
        let Ok(bytes) = text.clone().to_cstring() else {
            return String::new();
        };
        // SAFETY: the pointer is to that many bytes, which live as long as the value that gives it.
        well_formed(unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len()) })
            .into_owned()
    })
}

/// A text that a script gives, as `text_of_string` reads it; a plain `String` throws where half an emoji was left.
pub struct GivenText(pub String);

impl<'js> FromJs<'js> for GivenText {
    fn from_js(_: &Ctx<'js>, value: Value<'js>) -> Result<Self> {
        let text =
            value.as_string().ok_or_else(|| Error::new_from_js(value.type_name(), "string"))?;
        Ok(Self(text_of_string(text)))
    }
}

pub fn borrowed(tags: &[(String, String)]) -> Vec<(&str, &str)> {
    tags.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect()
}

/// The UTF-8 bytes of a text; a lone surrogate becomes U+FFFD.
pub fn text_bytes<'js>(ctx: &Ctx<'js>, text: &Value<'js>) -> Result<Vec<u8>> {
    // SAFETY: the text belongs to this context, which outlives the borrow.
    let text = unsafe { Text::of_value(ctx.as_raw().as_ptr(), text.as_raw())? };
    Ok(well_formed(text.bytes()).into_owned().into_bytes())
}

/// The bytes of a text, an ArrayBuffer or a view of one; `of` says whose input it is.
pub fn bytes_of<'js>(ctx: &Ctx<'js>, value: &Value<'js>, of: &str) -> Result<Vec<u8>> {
    if value.is_string() {
        return text_bytes(ctx, value);
    }
    if let Some(buffer) = ArrayBuffer::from_value(value.clone()) {
        // SAFETY: the bytes are copied before any JavaScript can run again.
        return Ok(unsafe { buffer.as_bytes() }.map(<[u8]>::to_vec).unwrap_or_default());
    }
    if let Ok(view) = TypedArray::<u8>::from_value(value.clone()) {
        // SAFETY: as above.
        return Ok(unsafe { view.as_bytes() }.map(<[u8]>::to_vec).unwrap_or_default());
    }
    let view = value.as_object().map(|view| {
        (
            view.get::<_, Value>("buffer"),
            view.get::<_, usize>("byteOffset"),
            view.get::<_, usize>("byteLength"),
        )
    });
    if let Some((Ok(buffer), Ok(offset), Ok(length))) = view {
        if let Some(buffer) = ArrayBuffer::from_value(buffer) {
            // SAFETY: as above.
            let bytes =
                unsafe { buffer.as_bytes() }.and_then(|bytes| bytes.get(offset..offset + length));
            return Ok(bytes.map(<[u8]>::to_vec).unwrap_or_default());
        }
    }
    Err(Exception::throw_type(
        ctx,
        &format!("{of} wants a text or an ArrayBuffer, not {}; JSON.stringify() makes a text of other values", named(value)),
    ))
}

/// A value for a message: a text as it is, of others the type.
pub fn named(value: &Value<'_>) -> String {
    match value.as_string() {
        Some(text) => format!("'{}'", text_of_string(text)),
        None => value.type_name().to_owned(),
    }
}

/// The name of an object's class, as its constructor has it.
pub fn class_of(object: &Object<'_>) -> Option<String> {
    object.get::<_, Object>("constructor").and_then(|constructor| constructor.get("name")).ok()
}

/// Throws an Error with a name of its own.
pub fn throw_named(ctx: &Ctx<'_>, name: &str, message: &str) -> Error {
    let error = Exception::throw_message(ctx, message);
    // SAFETY: the context is live; the pending exception is an object just made, and goes back.
    unsafe {
        let raw = ctx.as_raw().as_ptr();
        let exception = Value::from_raw(ctx.clone(), qjs::JS_GetException(raw));
        if let Some(object) = exception.as_object() {
            // An object just made takes a property.
            let _ = object.set("name", name);
        }
        ctx.throw(exception);
    }
    error
}
