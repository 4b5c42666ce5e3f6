//! `k6/encoding`: Base64 in the four forms of RFC 4648 that k6 knows.

use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::{DecodeError, Engine};
use rquickjs::{ArrayBuffer, Ctx, Exception, IntoJs, Result, Value};

use crate::runtime::host::Natives;
use crate::runtime::intrinsics;
use crate::values::bytes_of;

/// As Go reads Base64: the unused bits at the end may be anything.
const PADDED: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::RequireCanonical)
    .with_decode_allow_trailing_bits(true);
const RAW: GeneralPurposeConfig =
    PADDED.with_encode_padding(false).with_decode_padding_mode(DecodePaddingMode::RequireNone);

static STD: GeneralPurpose = GeneralPurpose::new(&STANDARD, PADDED);
static RAW_STD: GeneralPurpose = GeneralPurpose::new(&STANDARD, RAW);
static URL: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, PADDED);
static RAW_URL: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, RAW);

pub fn install<'js>(natives: &Natives<'js>) -> Result<()> {
    let encode = |ctx: Ctx<'js>, input: Value<'js>, form: String| -> Result<String> {
        Ok(engine(&form).encode(bytes_of(&ctx, &input, "b64encode()")?))
    };
    natives.add("encode", encode)?;
    let decode =
        |ctx: Ctx<'js>, input: Value<'js>, form: String, as_text: bool| -> Result<Value<'js>> {
            let bytes = decode(&bytes_of(&ctx, &input, "b64decode()")?, &form)
                .map_err(|what| Exception::throw_message(&ctx, &what))?;
            if as_text {
                return String::from_utf8_lossy(&bytes).into_owned().into_js(&ctx);
            }
            intrinsics::buffer(&ctx, &bytes).map(ArrayBuffer::into_value)
        };
    natives.add("decode", decode)
}

/// The form by k6's name; any other name is `std`, as in k6.
pub fn engine(form: &str) -> &'static GeneralPurpose {
    match form {
        "rawstd" => &RAW_STD,
        "url" => &URL,
        "rawurl" => &RAW_URL,
        _ => &STD,
    }
}

/// Decodes; line breaks in the text do not count.
fn decode(text: &[u8], form: &str) -> std::result::Result<Vec<u8>, String> {
    let text: Vec<u8> =
        text.iter().copied().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
    engine(form).decode(&text).map_err(|error| {
        let what = match error {
            DecodeError::InvalidByte(at, _) | DecodeError::InvalidLastSymbol(at, _) => format!("illegal base64 data at input byte {at}"),
            DecodeError::InvalidLength(_) | DecodeError::InvalidPadding => format!("illegal base64 data: {error}"),
        };
        format!("b64decode(): {what}; check the text, or name its encoding: 'std', 'rawstd', 'url' or 'rawurl'")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vectors_of_rfc_4648_hold_in_all_forms() {
        for (bytes, padded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            for form in ["std", "url"] {
                assert_eq!(engine(form).encode(bytes), padded);
                assert_eq!(decode(padded.as_bytes(), form).unwrap(), bytes.as_bytes());
            }
            for form in ["rawstd", "rawurl"] {
                let raw = padded.trim_end_matches('=');
                assert_eq!(engine(form).encode(bytes), raw);
                assert_eq!(decode(raw.as_bytes(), form).unwrap(), bytes.as_bytes());
            }
        }
    }

    #[test]
    fn line_breaks_and_unused_bits_are_ignored_and_the_rest_is_refused_with_its_place() {
        assert_eq!(decode(b"aGVs\r\nbG8=", "std").unwrap(), b"hello");
        assert_eq!(decode(b"aGVsbG9=", "std").unwrap(), b"hello");
        assert!(decode(b"a*b", "std").unwrap_err().contains("byte 1"));
        for (text, form) in
            [("aGVsbG8", "std"), ("aGVsbG8=", "rawstd"), ("-_8=", "std"), ("+/8=", "url")]
        {
            assert!(decode(text.as_bytes(), form).is_err(), "{text} {form}");
        }
    }
}
