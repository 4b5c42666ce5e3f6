//! Request bodies as scripts give them: texts, bytes, forms, and forms with files (RFC 7578).

use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use rand::RngCore;
use rquickjs::class::{JsClass, Readable, Trace, Tracer};
use rquickjs::function::{Constructor, Opt};
use rquickjs::{ArrayBuffer, Class, Ctx, Exception, JsLifetime, Object, Result, Value};

use crate::http::response::plain_class;
use crate::runtime::raw::each_property;
use crate::values::{text_of, text_of_string};

/// Marks an object that `http.file()` made; what it holds are its properties.
pub struct FileData;

plain_class!(FileData, "FileData");

/// A body, and the content type it implies.
pub type Body = (Bytes, Option<String>);

/// `http.file(data, filename, contentType)`: `{data, filename, content_type}`.
pub fn file<'js>(
    ctx: Ctx<'js>,
    data: Value<'js>,
    filename: Opt<Value<'js>>,
    content_type: Opt<Value<'js>>,
) -> Result<Object<'js>> {
    let given = |value: Opt<Value<'js>>| {
        value
            .0
            .filter(|value| !value.is_undefined() && !value.is_null())
            .map(|value| text_of(&value))
    };
    let made = Class::instance_proto(FileData, Object::new(ctx)?)?.into_inner();
    made.set("data", data)?;
    let unique =
        || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos().to_string();
    made.set("filename", given(filename).unwrap_or_else(unique))?;
    made.set(
        "content_type",
        given(content_type).unwrap_or_else(|| "application/octet-stream".into()),
    )?;
    Ok(made)
}

/// The bytes of a text, an ArrayBuffer or a view of one; `None` for anything else.
fn bytes_of(value: &Value<'_>) -> Result<Option<Bytes>> {
    if let Some(text) = value.as_string() {
        return Ok(Some(Bytes::from(text_of_string(text))));
    }
    let Some(object) = value.as_object() else {
        return Ok(None);
    };
    let whole = |buffer: &ArrayBuffer| {
        // SAFETY: the bytes are copied before any JavaScript can run again.
        unsafe { buffer.as_bytes() }.map(Bytes::copy_from_slice).unwrap_or_default()
    };
    if let Some(buffer) = ArrayBuffer::from_value(value.clone()) {
        return Ok(Some(whole(&buffer)));
    }
    let buffer = match object.get::<_, Value>("buffer")?.as_object() {
        Some(buffer) => ArrayBuffer::from_object(buffer.clone()),
        None => None,
    };
    let Some(buffer) = buffer else {
        return Ok(None);
    };
    let (at, length): (usize, usize) = (object.get("byteOffset")?, object.get("byteLength")?);
    Ok(whole(&buffer).get(at..at.saturating_add(length)).map(Bytes::copy_from_slice))
}

/// Reads a body as k6 sends it. The parts of a form with files are apart by the boundary that the script's own content type
/// names.
pub fn read<'js>(ctx: &Ctx<'js>, body: &Value<'js>, own_type: Option<&str>) -> Result<Body> {
    if body.is_null() || body.is_undefined() {
        return Ok((Bytes::new(), None));
    }
    if let Some(bytes) = bytes_of(body)? {
        return Ok((bytes, None));
    }
    match body.as_object() {
        Some(fields) if !body.is_array() => form(ctx, fields, own_type),
        _ => {
            let what = "a request body must be a text, an ArrayBuffer, a typed array or an object of form fields; use JSON.stringify() for JSON";
            Err(Exception::throw_message(ctx, what))
        }
    }
}

fn form<'js>(ctx: &Ctx<'js>, fields: &Object<'js>, own_type: Option<&str>) -> Result<Body> {
    let mut pairs: Vec<(String, Value<'js>)> = Vec::new();
    each_property(fields, |name, value| {
        match value.as_array() {
            Some(values) => {
                for value in values.iter::<Value>() {
                    pairs.push((name.to_owned(), value?));
                }
            }
            None => pairs.push((name.to_owned(), value)),
        }
        Ok(())
    })?;
    if pairs.iter().any(|(_, value)| Class::<FileData>::from_value(value).is_ok()) {
        return multipart(
            ctx,
            &pairs,
            own_type.and_then(boundary_in).map_or_else(new_boundary, str::to_owned),
        );
    }
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in &pairs {
        form.append_pair(name, &field_text(ctx, value)?);
    }
    Ok((Bytes::from(form.finish()), Some("application/x-www-form-urlencoded".into())))
}

/// A field's text; k6 writes `<nil>` for nothing. An object is sent as its JSON.
fn field_text<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<String> {
    if value.is_null() || value.is_undefined() {
        return Ok("<nil>".into());
    }
    if value.is_object() {
        return Ok(ctx
            .json_stringify(value.clone())?
            .map_or_else(String::new, |text| text_of_string(&text)));
    }
    Ok(text_of(value))
}

fn new_boundary() -> String {
    let mut random = [0u8; 30];
    rand::rng().fill_bytes(&mut random);
    random.map(|byte| format!("{byte:02x}")).concat()
}

/// The boundary of a multipart content type (RFC 2046, section 5.1.1).
fn boundary_in(content_type: &str) -> Option<&str> {
    let (kind, parameters) = content_type.split_once(';')?;
    if !kind.trim().to_ascii_lowercase().starts_with("multipart/") {
        return None;
    }
    let named = parameters
        .split(';')
        .filter_map(|parameter| parameter.split_once('='))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("boundary"));
    named.map(|(_, value)| value.trim().trim_matches('"')).filter(|boundary| !boundary.is_empty())
}

/// Whether the script's own content type says multipart without the boundary that the form's has.
pub fn is_multipart_without_boundary(own_type: &str, form_type: &str) -> bool {
    let kind = |text: &str| text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind(form_type).starts_with("multipart/")
        && kind(own_type) == kind(form_type)
        && boundary_in(own_type).is_none()
}

fn multipart<'js>(
    ctx: &Ctx<'js>,
    pairs: &[(String, Value<'js>)],
    boundary: String,
) -> Result<Body> {
    let mut body = Vec::new();
    for (name, value) in pairs {
        body.extend_from_slice(
            format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"", quoted(name))
                .as_bytes(),
        );
        match Class::<FileData>::from_value(value) {
            Ok(file) => {
                let file = file.into_inner();
                let (filename, content_type): (Value, Value) =
                    (file.get("filename")?, file.get("content_type")?);
                let head = format!(
                    "; filename=\"{}\"\r\nContent-Type: {}\r\n\r\n",
                    quoted(&text_of(&filename)),
                    text_of(&content_type)
                );
                body.extend_from_slice(head.as_bytes());
                let data: Value = file.get("data")?;
                let what = "http.file() wants a text, an ArrayBuffer or a typed array; open(path, 'b') gives one";
                body.extend_from_slice(
                    &bytes_of(&data)?.ok_or_else(|| Exception::throw_message(ctx, what))?,
                );
            }
            Err(_) => {
                body.extend_from_slice(b"\r\n\r\n");
                body.extend_from_slice(field_text(ctx, value)?.as_bytes());
            }
        }
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    Ok((Bytes::from(body), Some(format!("multipart/form-data; boundary={boundary}"))))
}

/// A parameter of Content-Disposition; line breaks as browsers write them (WHATWG HTML, multipart/form-data).
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\r', "%0D").replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_boundary_is_read_from_a_multipart_type_only() {
        for (content_type, boundary) in [
            ("multipart/form-data; boundary=XX", Some("XX")),
            ("Multipart/Form-Data; charset=utf-8; Boundary=\"a b\"", Some("a b")),
            ("multipart/form-data; boundary=", None),
            ("multipart/form-data", None),
            ("text/plain; boundary=XX", None),
        ] {
            assert_eq!(boundary_in(content_type), boundary, "{content_type}");
        }
        assert!(is_multipart_without_boundary(
            "multipart/form-data",
            "multipart/form-data; boundary=1"
        ));
        for own in ["multipart/form-data; boundary=XX", "text/plain", "multipart/mixed"] {
            assert!(
                !is_multipart_without_boundary(own, "multipart/form-data; boundary=1"),
                "{own}"
            );
        }
    }
}
