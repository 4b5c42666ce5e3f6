//! TextEncoder and TextDecoder (WHATWG Encoding) for UTF-8 and UTF-16.

use rquickjs::{Array, Ctx, Exception, IntoJs, Result, TypedArray, Value};

use crate::runtime::host::Natives;
use crate::values::{bytes_of, text_bytes};

/// A character in the place of what cannot be decoded.
const REPLACEMENT: char = '\u{fffd}';

pub fn install<'js>(natives: &Natives<'js>) -> Result<()> {
    let encode = |ctx: Ctx<'js>, text: rquickjs::String<'js>| {
        TypedArray::<u8>::new(ctx.clone(), text_bytes(&ctx, text.as_value())?)
    };
    natives.add("encode", encode)?;
    let name = |label: String| name_of(&label);
    natives.add("name", name)?;
    // [text, bytes left over for the next part] from the bytes that were left over, and the next part.
    let decode = |ctx: Ctx<'js>,
                  name: String,
                  fatal: bool,
                  left: Value<'js>,
                  input: Value<'js>,
                  stream: bool|
     -> Result<Array<'js>> {
        let mut bytes = bytes_of(&ctx, &left, "decode()")?;
        if !input.is_undefined() {
            bytes.extend(bytes_of(&ctx, &input, "decode()")?);
        }
        let (text, read) = match name.as_str() {
            "utf-8" => utf_8(&bytes, fatal, stream),
            _ => utf_16(&bytes, name == "utf-16be", fatal, stream),
        }
        .ok_or_else(|| Exception::throw_type(&ctx, &format!("the bytes are no text in {name}; correct them, or decode without {{fatal: true}}")))?;
        let decoded = Array::new(ctx.clone())?;
        decoded.set(0, text.into_js(&ctx)?)?;
        decoded.set(1, TypedArray::<u8>::new(ctx, &bytes[read..])?)?;
        Ok(decoded)
    };
    natives.add("decode", decode)
}

/// The encoding that a label stands for, of those that k6 knows.
fn name_of(label: &str) -> Option<&'static str> {
    match label.trim().to_ascii_lowercase().as_str() {
        "utf-8" | "utf8" | "unicode-1-1-utf-8" | "unicode11utf8" | "unicode20utf8"
        | "x-unicode20utf8" => Some("utf-8"),
        "utf-16" | "utf-16le" | "ucs-2" | "unicode" | "unicodefeff" | "csunicode"
        | "iso-10646-ucs-2" => Some("utf-16le"),
        "utf-16be" | "unicodefffe" => Some("utf-16be"),
        _ => None,
    }
}

/// The text and how many bytes it took; none for a mistake in them that is fatal. With `stream`, a character that is
/// not complete at the end is left for later.
fn utf_8(bytes: &[u8], fatal: bool, stream: bool) -> Option<(String, usize)> {
    let (mut text, mut read) = (String::with_capacity(bytes.len()), 0);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        read += chunk.valid().len();
        let invalid = chunk.invalid();
        if invalid.is_empty() {
            continue;
        }
        let at_end = read + invalid.len() == bytes.len();
        if stream
            && at_end
            && std::str::from_utf8(&bytes[read..]).is_err_and(|error| error.error_len().is_none())
        {
            return Some((text, read));
        }
        if fatal {
            return None;
        }
        text.push(REPLACEMENT);
        read += invalid.len();
    }
    Some((text, read))
}

fn utf_16(bytes: &[u8], big_endian: bool, fatal: bool, stream: bool) -> Option<(String, usize)> {
    let unit = |pair: &[u8]| {
        if big_endian {
            u16::from_be_bytes([pair[0], pair[1]])
        } else {
            u16::from_le_bytes([pair[0], pair[1]])
        }
    };
    let mut units: Vec<u16> = bytes.chunks_exact(2).map(unit).collect();
    let is_half = units.last().is_some_and(|last| (0xd800..0xdc00).contains(last));
    if stream && is_half {
        units.pop();
    }
    let odd = bytes.len() % 2 == 1;
    let mut text = String::with_capacity(units.len());
    for decoded in char::decode_utf16(units.iter().copied()) {
        match decoded {
            Ok(character) => text.push(character),
            Err(_) if fatal => return None,
            Err(_) => text.push(REPLACEMENT),
        }
    }
    if stream || !odd {
        return Some((text, units.len() * 2));
    }
    if fatal {
        return None;
    }
    text.push(REPLACEMENT);
    Some((text, bytes.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf_8_is_decoded_in_parts_and_mistakes_are_replaced_or_fatal() {
        let euro = "€".as_bytes();
        assert_eq!(utf_8(&euro[..2], false, true), Some((String::new(), 0)));
        assert_eq!(utf_8(&euro[..2], false, false), Some((REPLACEMENT.to_string(), 2)));
        assert_eq!(utf_8(&euro[..2], true, false), None);
        assert_eq!(utf_8(b"a\xffb", false, true), Some((format!("a{REPLACEMENT}b"), 3)));
        assert_eq!(utf_8("größe".as_bytes(), true, false), Some(("größe".into(), 7)));
    }

    #[test]
    fn utf_16_is_decoded_in_both_orders() {
        assert_eq!(
            utf_16(&[0x61, 0, 0x3d, 0xd8, 0, 0xde], false, true, false),
            Some(("a😀".into(), 6))
        );
        assert_eq!(utf_16(&[0, 0x61], true, true, false), Some(("a".into(), 2)));
        assert_eq!(utf_16(&[0x61, 0, 0x3d, 0xd8], false, false, true), Some(("a".into(), 2)));
        assert_eq!(utf_16(&[0x61, 0, 0x62], false, true, false), None);
    }
}
