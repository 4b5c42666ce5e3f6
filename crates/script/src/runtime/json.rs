//! `JSON.stringify(value)` and `JSON.parse(text)` as scripts use them most, at a third of QuickJS' cost.
//!
//! Replacers, indentation, exotic objects, deep nesting and mistakes are left to QuickJS' own functions.

use std::fmt;
use std::io::Write;
use std::rc::Rc;

use rquickjs::function::Opt;
use rquickjs::{qjs, Ctx, Error, Exception, Object, Result, Value};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use crate::runtime::host::Natives;
use crate::runtime::memory::Ledger;
use crate::runtime::raw::{Held, Names, Text};
use crate::state::VuState;

/// Deeper values are left to QuickJS, which watches its stack.
const DEEPEST: usize = 64;

/// Puts the two functions in the place of QuickJS' own.
pub fn install<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> Result<()> {
    let json = Natives::on(ctx.globals().get("JSON")?, vu, "JSON")?;
    vu.plain_parse.replace(Some(Held::of(&json.object.get("parse")?)));
    json.add("parse", |ctx: Ctx<'js>, text: Opt<Value<'js>>, reviver: Opt<Value<'js>>| {
        match (text.0, reviver.0.filter(|given| !given.is_undefined())) {
            (Some(text), None) if text.is_string() => parse_text(&ctx, &text),
            (text, reviver) => {
                let vu = VuState::running(&ctx)?;
                let parse =
                    vu.plain_parse.borrow().as_ref().ok_or(Error::Unknown)?.function(&ctx)?;
                parse.call((text, reviver))
            }
        }
    })?;
    let classes = PlainClasses::of(ctx)?;
    json.add(
        "stringify",
        move |ctx: Ctx<'js>,
              value: Opt<Value<'js>>,
              replacer: Opt<Value<'js>>,
              space: Opt<Value<'js>>| {
            let undefined = || Value::new_undefined(ctx.clone());
            let value = value.0.unwrap_or_else(undefined);
            match (replacer.0.filter(is_given), space.0.filter(is_given)) {
                (None, None) => {
                    stringify(&ctx, &value, classes, &VuState::running(&ctx)?.runtime.memory)
                }
                (replacer, space) => {
                    let stringified = ctx.json_stringify_replacer_space(
                        value,
                        replacer.unwrap_or_else(undefined),
                        space.unwrap_or_else(undefined),
                    )?;
                    Ok(stringified.map_or_else(undefined, rquickjs::String::into_value))
                }
            }
        },
    )
}

fn is_given(value: &Value<'_>) -> bool {
    !value.is_undefined() && !value.is_null()
}

fn parse_text<'js>(ctx: &Ctx<'js>, text: &Value<'js>) -> Result<Value<'js>> {
    // SAFETY: the text belongs to this context.
    let text = unsafe { Text::of_value(ctx.as_raw().as_ptr(), text.as_raw())? };
    parse(ctx, text.bytes())
}

// --- from a text ----------------------------------------------------------------------------------------------------

/// The value that a JSON text stands for. Errors are QuickJS' SyntaxError, which tells the place.
pub fn parse<'js>(ctx: &Ctx<'js>, text: &[u8]) -> Result<Value<'js>> {
    make(ctx, text, false)
}

/// As `parse`, with every object and array frozen.
pub fn parse_frozen<'js>(ctx: &Ctx<'js>, text: &[u8]) -> Result<Value<'js>> {
    make(ctx, text, true)
}

fn make<'js>(ctx: &Ctx<'js>, text: &[u8], frozen: bool) -> Result<Value<'js>> {
    let raw = ctx.as_raw().as_ptr();
    let mut source = serde_json::Deserializer::from_slice(text);
    let made = Make { ctx: raw, frozen }
        .deserialize(&mut source)
        .and_then(|made| source.end().map(|()| made));
    match made {
        // SAFETY: the reference is ours to give, the value belongs to this context.
        Ok(made) => Ok(unsafe { Value::from_raw(ctx.clone(), made.into_raw()) }),
        Err(_) => {
            ctx.catch();
            ctx.json_parse(text)
        }
    }
}

/// Makes JavaScript values of what serde reads, in a context that outlives it: `make` holds that.
#[derive(Clone, Copy)]
struct Make {
    ctx: *mut qjs::JSContext,
    frozen: bool,
}

impl Make {
    fn held<E: serde::de::Error>(self, value: qjs::JSValue) -> std::result::Result<Held, E> {
        // SAFETY: the context lives (see `Make`); `value` was just made, and its one reference is given to us.
        unsafe { Held::new(self.ctx, value) }.map_err(|_| E::custom("out of memory"))
    }

    fn complete<E: serde::de::Error>(self, object: Held) -> std::result::Result<Held, E> {
        // SAFETY: the context lives (see `Make`), and `object` holds a reference.
        if self.frozen && unsafe { qjs::JS_FreezeObject(self.ctx, object.value) } < 0 {
            return Err(E::custom("out of memory"));
        }
        Ok(object)
    }
}

impl<'de> DeserializeSeed<'de> for Make {
    type Value = Held;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> std::result::Result<Held, D::Error> {
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Make {
    type Value = Held;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> std::result::Result<Held, E> {
        self.held(qjs::JS_MKVAL(qjs::JS_TAG_BOOL, i32::from(value)))
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> std::result::Result<Held, E> {
        match i32::try_from(value) {
            Ok(small) => self.held(qjs::JS_MKVAL(qjs::JS_TAG_INT, small)),
            Err(_) => self.visit_f64(value as f64),
        }
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> std::result::Result<Held, E> {
        match i32::try_from(value) {
            Ok(small) => self.held(qjs::JS_MKVAL(qjs::JS_TAG_INT, small)),
            Err(_) => self.visit_f64(value as f64),
        }
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> std::result::Result<Held, E> {
        self.held(qjs::JS_NewFloat64(value))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> std::result::Result<Held, E> {
        // SAFETY: the context lives (see `Make`); QuickJS copies that many bytes of `text`.
        self.held(unsafe { qjs::JS_NewStringLen(self.ctx, text.as_ptr().cast(), text.len() as _) })
    }

    fn visit_unit<E: serde::de::Error>(self) -> std::result::Result<Held, E> {
        self.held(qjs::JS_NULL)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut source: A) -> std::result::Result<Held, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = source.next_element_seed(self)? {
            elements.push(element);
        }
        let count =
            i32::try_from(elements.len()).map_err(|_| A::Error::custom("too many elements"))?;
        let elements: Vec<qjs::JSValue> = elements.into_iter().map(Held::into_raw).collect();
        // SAFETY: the context lives (see `Make`); QuickJS takes over the reference to each of the `count` elements.
        let array =
            self.held(unsafe { qjs::JS_NewArrayFrom(self.ctx, count, elements.as_ptr()) })?;
        self.complete(array)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut source: A) -> std::result::Result<Held, A::Error> {
        // SAFETY: the context lives (see `Make`).
        let object = self.held::<A::Error>(unsafe { qjs::JS_NewObject(self.ctx) })?;
        while let Some(name) = source.next_key_seed(Name(self.ctx))? {
            let value = source.next_value_seed(self)?;
            let flags = qjs::JS_PROP_C_W_E as std::ffi::c_int;
            // SAFETY: as above; `object` and `name` hold references, and QuickJS takes over the one to the value.
            if unsafe {
                qjs::JS_DefinePropertyValue(
                    self.ctx,
                    object.value,
                    name.atom,
                    value.into_raw(),
                    flags,
                )
            } < 0
            {
                return Err(A::Error::custom("out of memory"));
            }
        }
        self.complete(object)
    }
}

/// The name of a member as QuickJS' atom.
struct Name(*mut qjs::JSContext);

struct NameAtom {
    ctx: *mut qjs::JSContext,
    atom: qjs::JSAtom,
}

impl Drop for NameAtom {
    fn drop(&mut self) {
        // SAFETY: the context lives (see `Make`); the atom's reference is ours and is given back once.
        unsafe { qjs::JS_FreeAtom(self.ctx, self.atom) }
    }
}

impl<'de> DeserializeSeed<'de> for Name {
    type Value = NameAtom;

    fn deserialize<D: Deserializer<'de>>(
        self,
        source: D,
    ) -> std::result::Result<NameAtom, D::Error> {
        source.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name {
    type Value = NameAtom;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a name")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> std::result::Result<NameAtom, E> {
        // SAFETY: the context lives (see `Make`); QuickJS copies that many bytes of `text`.
        let atom = unsafe { qjs::JS_NewAtomLen(self.0, text.as_ptr().cast(), text.len() as _) };
        if atom == 0 {
            return Err(E::custom("out of memory"));
        }
        Ok(NameAtom { ctx: self.0, atom })
    }
}

// --- to a text ------------------------------------------------------------------------------------------------------

/// The classes of `{}` and `[]`; objects of other classes (Date, Map, Proxy, …) are left to QuickJS.
#[derive(Clone, Copy)]
struct PlainClasses {
    object: qjs::JSClassID,
    array: qjs::JSClassID,
}

impl PlainClasses {
    fn of(ctx: &Ctx<'_>) -> Result<Self> {
        let (object, array) = (Object::new(ctx.clone())?, rquickjs::Array::new(ctx.clone())?);
        // SAFETY: both are values of a living context.
        unsafe {
            Ok(Self {
                object: qjs::JS_GetClassID(object.as_raw()),
                array: qjs::JS_GetClassID(array.as_raw()),
            })
        }
    }
}

fn stringify<'js>(
    ctx: &Ctx<'js>,
    value: &Value<'js>,
    classes: PlainClasses,
    memory: &Ledger,
) -> Result<Value<'js>> {
    let raw = ctx.as_raw().as_ptr();
    // SAFETY: the value belongs to this context, which `ctx` keeps alive; the string is a new reference for us.
    unsafe {
        let to_json = qjs::JS_NewAtomLen(raw, c"toJSON".as_ptr(), 6);
        let mut writer = Writer {
            ctx,
            raw,
            classes,
            memory,
            to_json,
            text: Vec::with_capacity(256),
            open: Vec::new(),
        };
        let written = writer.value(value.as_raw(), Key::None);
        qjs::JS_FreeAtom(raw, to_json);
        if !written? {
            return Ok(Value::new_undefined(ctx.clone()));
        }
        let text = Held::new(
            raw,
            qjs::JS_NewStringLen(raw, writer.text.as_ptr().cast(), writer.text.len() as _),
        )?;
        Ok(Value::from_raw(ctx.clone(), text.into_raw()))
    }
}

/// Where a value stands in its holder, for `toJSON(key)`.
enum Key {
    None,
    Name(qjs::JSAtom),
    Index(i64),
}

/// SerializeJSONProperty of ECMA-262, 25.5.2. Each function says whether it wrote anything: undefined, functions and
/// symbols have no JSON.
struct Writer<'a, 'js> {
    ctx: &'a Ctx<'js>,
    raw: *mut qjs::JSContext,
    classes: PlainClasses,
    memory: &'a Ledger,
    to_json: qjs::JSAtom,
    text: Vec<u8>,
    /// The objects that are being written, outermost first.
    open: Vec<*mut std::ffi::c_void>,
}

// The values belong to the context, which outlives the writer, and are held by their holders or by a `Held` while they are
// written: "held" below.
impl Writer<'_, '_> {
    fn value(&mut self, value: qjs::JSValue, key: Key) -> Result<bool> {
        // SAFETY: `value` is held; each new reference goes into a `Held`, and texts are copied by QuickJS.
        unsafe {
            if !qjs::JS_IsObject(value) {
                return self.primitive(value);
            }
            let to_json = Held::new(self.raw, qjs::JS_GetProperty(self.raw, value, self.to_json))?;
            if !qjs::JS_IsFunction(self.raw, to_json.value) {
                return self.structure(value);
            }
            let key = match key {
                Key::None => qjs::JS_NewStringLen(self.raw, c"".as_ptr(), 0),
                Key::Name(atom) => qjs::JS_AtomToString(self.raw, atom),
                Key::Index(index) => {
                    let digits = index.to_string();
                    qjs::JS_NewStringLen(self.raw, digits.as_ptr().cast(), digits.len() as _)
                }
            };
            let mut key = Held::new(self.raw, key)?;
            let made = Held::new(
                self.raw,
                qjs::JS_Call(self.raw, to_json.value, value, 1, &mut key.value),
            )?;
            match qjs::JS_IsObject(made.value) {
                true => self.structure(made.value),
                false => self.primitive(made.value),
            }
        }
    }

    fn primitive(&mut self, value: qjs::JSValue) -> Result<bool> {
        // SAFETY: `value` is held; what it is is read after its tag says so.
        unsafe {
            match qjs::JS_VALUE_GET_NORM_TAG(value) {
                qjs::JS_TAG_STRING | qjs::JS_TAG_STRING_ROPE => {
                    self.quoted(&Text::of_value(self.raw, value)?)?
                }
                // Writing to a Vec cannot fail.
                qjs::JS_TAG_INT => drop(write!(self.text, "{}", qjs::JS_VALUE_GET_INT(value))),
                qjs::JS_TAG_FLOAT64 if !qjs::JS_VALUE_GET_FLOAT64(value).is_finite() => {
                    self.text.extend(b"null")
                }
                qjs::JS_TAG_FLOAT64 => self.text.extend(Text::of_value(self.raw, value)?.bytes()),
                qjs::JS_TAG_BOOL => self.text.extend(if qjs::JS_VALUE_GET_BOOL(value) {
                    &b"true"[..]
                } else {
                    b"false"
                }),
                qjs::JS_TAG_NULL => self.text.extend(b"null"),
                qjs::JS_TAG_UNDEFINED | qjs::JS_TAG_SYMBOL => return Ok(false),
                _ => return self.by_quickjs(value),
            }
            Ok(true)
        }
    }

    fn structure(&mut self, object: qjs::JSValue) -> Result<bool> {
        // SAFETY: `object` is held, and an object: both callers have asked. Its place is compared, never read.
        unsafe {
            let class = qjs::JS_GetClassID(object);
            if (class != self.classes.object && class != self.classes.array)
                || self.open.len() >= DEEPEST
            {
                return self.by_quickjs(object);
            }
            let place = qjs::JS_VALUE_GET_PTR(object);
            if self.open.contains(&place) {
                return Err(Exception::throw_type(self.ctx, "circular reference"));
            }
            self.open.push(place);
            match class == self.classes.array {
                true => self.elements(object)?,
                false => self.members(object)?,
            }
            self.open.pop();
            Ok(true)
        }
    }

    fn elements(&mut self, array: qjs::JSValue) -> Result<()> {
        // SAFETY: `array` is held, and so is each element while it is written: a `toJSON` may take it out of the array.
        unsafe {
            let mut length = 0;
            if qjs::JS_GetLength(self.raw, array, &mut length) < 0 {
                return Err(Error::Exception);
            }
            self.text.push(b'[');
            for index in 0..length {
                if index > 0 {
                    self.text.push(b',');
                }
                let element =
                    Held::new(self.raw, qjs::JS_GetPropertyInt64(self.raw, array, index))?;
                if !self.value(element.value, Key::Index(index))? {
                    self.text.extend(b"null");
                }
            }
            self.text.push(b']');
            Ok(())
        }
    }

    fn members(&mut self, object: qjs::JSValue) -> Result<()> {
        // SAFETY: `object` is held; the names are until the loop ends, and each member while it is written.
        unsafe {
            self.text.push(b'{');
            let first = self.text.len();
            for name in Names::of(self.raw, object)?.atoms() {
                let member = Held::new(self.raw, qjs::JS_GetProperty(self.raw, object, name))?;
                let before = self.text.len();
                if before > first {
                    self.text.push(b',');
                }
                self.quoted(&Text::of_atom(self.raw, name)?)?;
                self.text.push(b':');
                if !self.value(member.value, Key::Name(name))? {
                    self.text.truncate(before);
                }
            }
            self.text.push(b'}');
            Ok(())
        }
    }

    /// QuoteJSONString: escapes quotes, backslashes, control characters and lone surrogates.
    fn quoted(&mut self, text: &Text) -> Result<()> {
        let bytes = text.bytes();
        self.text.push(b'"');
        let mut plain_from = 0;
        let mut at = 0;
        while at < bytes.len() {
            let byte = bytes[at];
            // In UTF-8, 0xED and a byte from 0xA0 begin what only a surrogate has.
            let is_surrogate = byte == 0xED && bytes.get(at + 1).is_some_and(|&next| next >= 0xA0);
            if byte >= 0x20 && byte != b'"' && byte != b'\\' && !is_surrogate {
                at += 1;
                continue;
            }
            self.text.extend_from_slice(&bytes[plain_from..at]);
            let short = match byte {
                b'"' | b'\\' => Some(byte),
                0x08 => Some(b'b'),
                0x0C => Some(b'f'),
                b'\n' => Some(b'n'),
                b'\r' => Some(b'r'),
                b'\t' => Some(b't'),
                _ => None,
            };
            let code = match is_surrogate {
                true => {
                    0xD000 | u32::from(bytes[at + 1] & 0x3F) << 6 | u32::from(bytes[at + 2] & 0x3F)
                }
                false => u32::from(byte),
            };
            match short {
                Some(letter) => self.text.extend([b'\\', letter]),
                None => drop(write!(self.text, "\\u{code:04x}")),
            }
            at += if is_surrogate { 3 } else { 1 };
            plain_from = at;
        }
        self.text.extend_from_slice(&bytes[plain_from..]);
        self.text.push(b'"');
        if self.text.len() > self.memory.limit_bytes.get() {
            self.memory.exhaust();
            return Err(Exception::throw_message(self.ctx, "out of memory"));
        }
        Ok(())
    }

    fn by_quickjs(&mut self, value: qjs::JSValue) -> Result<bool> {
        // SAFETY: `value` is held; the new text goes into a `Held`.
        unsafe {
            let json = Held::new(
                self.raw,
                qjs::JS_JSONStringify(self.raw, value, qjs::JS_UNDEFINED, qjs::JS_UNDEFINED),
            )?;
            if qjs::JS_IsUndefined(json.value) {
                return Ok(false);
            }
            self.text.extend(Text::of_value(self.raw, json.value)?.bytes());
            Ok(true)
        }
    }
}
