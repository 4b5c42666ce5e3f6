//! Random numbers of the operating system: the global `crypto` as far as it needs nothing else.

use rquickjs::{Ctx, Exception, Object, Result, TypedArray, Value};

use crate::runtime::host::Natives;

/// What one call of getRandomValues may fill, in bytes (Web Cryptography API, 10.1.1).
const MOST_BYTES: usize = 65_536;

pub fn install<'js>(natives: &Natives<'js>) -> Result<()> {
    natives.add("fill", |ctx: Ctx<'js>, array: Value<'js>| fill(&ctx, &array))?;
    natives.add("uuid", |ctx: Ctx<'js>| -> Result<String> { Ok(uuid(&bytes(&ctx, 16)?)) })
}

/// So many random bytes.
pub fn bytes(ctx: &Ctx<'_>, size: usize) -> Result<Vec<u8>> {
    let mut bytes = vec![0; size];
    match getrandom::fill(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(error) => Err(Exception::throw_message(
            ctx,
            &format!("the operating system gives no random numbers: {error}"),
        )),
    }
}

/// Fills an array of integers.
fn fill<'js>(ctx: &Ctx<'js>, array: &Value<'js>) -> Result<()> {
    let object = array.as_object().filter(|object| {
        object.is_typed_array::<u8>()
            || object.is_typed_array::<i8>()
            || object.is_typed_array::<u16>()
            || object.is_typed_array::<i16>()
            || object.is_typed_array::<u32>()
            || object.is_typed_array::<i32>()
            || object.is_typed_array::<u64>()
            || object.is_typed_array::<i64>()
            || crate::values::class_of(object).as_deref() == Some("Uint8ClampedArray")
    });
    let Some(object) = object else {
        return Err(Exception::throw_type(
            ctx,
            "getRandomValues() wants a typed array of integers, as in new Uint8Array(16)",
        ));
    };
    let (buffer, offset, length): (Object, usize, usize) =
        (object.get("buffer")?, object.get("byteOffset")?, object.get("byteLength")?);
    if length > MOST_BYTES {
        let what = format!("getRandomValues() fills at most {MOST_BYTES} bytes, not {length}; fill larger arrays in parts");
        return Err(crate::values::throw_named(ctx, "QuotaExceededError", &what));
    }
    let bytes = bytes(ctx, length)?;
    let view = TypedArray::<u8>::from_arraybuffer(
        rquickjs::ArrayBuffer::from_object(buffer).ok_or(rquickjs::Error::Unknown)?,
    )?;
    let Some(target) = view.as_raw() else {
        return Ok(());
    };
    // A script may have given the array an offset and a length of its own.
    if offset.checked_add(length).is_none_or(|end| end > target.len()) {
        return Err(Exception::throw_type(ctx, "getRandomValues(): the array reaches beyond its buffer; byteOffset and byteLength must be its own"));
    }
    // SAFETY: the buffer holds that many bytes from there on, and no JavaScript runs while they are written.
    unsafe {
        std::ptr::copy_nonoverlapping(
            bytes.as_ptr(),
            target.cast::<u8>().as_ptr().add(offset),
            length,
        )
    };
    Ok(())
}

/// A UUID of version 4 (RFC 9562) from 16 random bytes.
fn uuid(random: &[u8]) -> String {
    let mut text = String::with_capacity(36);
    for (at, byte) in random.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        let byte = match at {
            6 => byte & 0x0f | 0x40,
            8 => byte & 0x3f | 0x80,
            _ => *byte,
        };
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_uuid_says_its_version_and_variant() {
        assert_eq!(super::uuid(&[0xff; 16]), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert_eq!(super::uuid(&[0; 16]), "00000000-0000-4000-8000-000000000000");
    }
}
