//! Bytes of a script's sockets: what the modules' JavaScript does not make itself, so that VUs that send texts have no
//! buffers and views.

use std::time::{SystemTime, UNIX_EPOCH};

use rquickjs::{ArrayBuffer, Ctx, Exception, Result, TypedArray, Value};

use crate::runtime::host::Natives;
use crate::runtime::intrinsics;
use crate::values::{bytes_of, class_of, text_bytes};

pub fn install<'js>(natives: &Natives<'js>) -> Result<()> {
    natives.add("length", |ctx: Ctx<'js>, text: Value<'js>| -> Result<usize> {
        Ok(text_bytes(&ctx, &text)?.len())
    })?;
    natives.add("join", join)?;
    natives.add("view", |ctx: Ctx<'js>, bytes: Value<'js>| -> Result<TypedArray<'js, u8>> {
        let bytes = bytes_of(&ctx, &bytes, "bytes()")?;
        TypedArray::from_arraybuffer(intrinsics::buffer(&ctx, &bytes)?)
    })?;
    natives.add("text", |ctx: Ctx<'js>, bytes: Value<'js>| -> Result<String> {
        Ok(String::from_utf8_lossy(&bytes_of(&ctx, &bytes, "text()")?).into_owned())
    })?;
    natives.add("checkBuffer", |ctx: Ctx<'js>, message: Value<'js>| -> Result<()> {
        if ArrayBuffer::from_value(message.clone()).is_some() {
            return Ok(());
        }
        let class = match &message {
            text if text.is_string() => Some("String".to_owned()),
            other => other.as_object().and_then(class_of),
        };
        let class = class.unwrap_or_else(|| message.type_name().to_owned());
        let what = format!("expected ArrayBuffer as argument, received: {class}");
        Err(Exception::throw_type(&ctx, &what))
    })
}

/// The bytes of texts, buffers and views, one after the other; of anything else those of its text.
fn join<'js>(ctx: Ctx<'js>, parts: Vec<Value<'js>>) -> Result<ArrayBuffer<'js>> {
    let mut whole = Vec::new();
    for part in parts {
        let holds_bytes = part.as_object().is_some_and(|part| {
            part.as_array_buffer().is_some() || part.contains_key("byteLength").unwrap_or(false)
        });
        whole.extend(match holds_bytes {
            true => bytes_of(&ctx, &part, "new Blob()")?,
            false => text_bytes(&ctx, &part)?,
        });
    }
    intrinsics::buffer(&ctx, &whole)
}

/// The time of day.
pub fn unix_ms() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64() * 1000.0)
}
