//! k6's Response. The object that a script gets holds what came over the wire; each field becomes a JavaScript
//! value when the script reads it, because most fields of most responses are never read.

use std::rc::Rc;

use bytes::Bytes;
use cookie_store::RawCookie;
use rquickjs::class::{JsClass, Readable, Trace, Tracer};
use rquickjs::function::{Constructor, Opt, This};
use rquickjs::{
    ArrayBuffer, Class, Coerced, Ctx, Error, Exception, FromJs, IntoJs, JsLifetime, Object, Result,
    Value,
};

use crate::api::selector;
use crate::effect::{HttpRequest, HttpResponse, Timings};
use crate::runtime::host::{settle, Natives};
use crate::runtime::intrinsics;
use crate::runtime::json;
use crate::runtime::memory::Charge;
use crate::runtime::raw::Held;
use crate::state::VuState;

/// What is known of a certificate's revocation: a stapled answer is not read.
pub const OCSP_STATUS: &str = "unknown";

/// The requests of a call.
pub struct Hops {
    pub last: Rc<HttpRequest>,
    /// The first one, where there were several.
    pub first: Option<Rc<HttpRequest>>,
}

pub struct Response {
    /// Of the last hop.
    request: Rc<HttpRequest>,
    /// Of the first hop, where there were several.
    first: Option<Rc<HttpRequest>>,
    got: Box<HttpResponse>,
    as_binary: bool,
    /// The body, as a part of its VU's memory.
    _charge: Charge,
}

/// What k6 shows as `expires` of a cookie that has none: its zero time, in ms.
const NO_EXPIRES_MS: f64 = -6_795_364_578_871.0;

impl Response {
    /// The Response as the VU's script sees it. Its body counts as memory of the VU from now on; where that is too much
    /// the script is stopped.
    pub fn object<'js>(
        ctx: &Ctx<'js>,
        vu: &VuState,
        hops: Hops,
        mut got: Box<HttpResponse>,
        as_binary: bool,
    ) -> Result<Class<'js, Self>> {
        got.claim.hand_over();
        let bytes = got.body.len();
        if !vu.runtime.memory.has_room(bytes) {
            vu.runtime.collect_garbage();
        }
        let charge = vu
            .runtime
            .memory
            .charge(bytes)
            .ok_or_else(|| Exception::throw_message(ctx, "out of memory"))?;
        let prototype =
            vu.prototypes.borrow().as_ref().ok_or(Error::Unknown)?.response.object(ctx)?;
        Class::instance_proto(
            Self { request: hops.last, first: hops.first, got, as_binary, _charge: charge },
            prototype,
        )
    }

    /// What the script asked for.
    fn asked(&self) -> &HttpRequest {
        self.first.as_ref().unwrap_or(&self.request)
    }

    /// Whether `body` is null: nothing came, or was kept.
    fn has_no_body(&self) -> bool {
        self.request.discard_body || is_bodiless(self.got.status)
    }

    fn error(&self) -> &str {
        self.got.failure.as_ref().map_or("", |failure| &failure.message)
    }

    /// The body to read as JSON; throws where there is none.
    pub fn json_text(&self, ctx: &Ctx<'_>) -> Result<&Bytes> {
        if self.has_no_body() {
            let failure = self.got.failure.as_ref().map(|failure| failure.message.clone());
            let why =
                failure.unwrap_or_else(|| without_body(self.got.status, self.request.discard_body));
            return Err(Exception::throw_message(
                ctx,
                &format!("the body is null so it cannot be read as JSON: {why}"),
            ));
        }
        Ok(&self.got.body)
    }
}

/// Whether an answer of that status never has a body.
fn is_bodiless(status: u16) -> bool {
    matches!(status, 0 | 100..=199 | 204 | 304)
}

/// Why an answer that came has no body.
fn without_body(status: u16, is_discarded: bool) -> String {
    match is_bodiless(status) || !is_discarded {
        true => format!("an answer with status {status} has none; read it only where it has one"),
        false => "it was discarded, as discardResponseBodies or responseType says".to_owned(),
    }
}

/// What a script reads as `response.timings`.
pub struct Phases(Timings);

/// Makes a type that holds nothing of JavaScript a class without a constructor.
macro_rules! plain_class {
    ($type:ty, $name:literal) => {
        impl<'js> Trace<'js> for $type {
            fn trace<'a>(&self, _tracer: Tracer<'a, 'js>) {}
        }

        // SAFETY: the type holds nothing with the lifetime of a JavaScript context.
        unsafe impl JsLifetime<'_> for $type {
            type Changed<'to> = $type;
        }

        impl<'js> JsClass<'js> for $type {
            const NAME: &'static str = $name;
            type Mutable = Readable;

            fn constructor(_ctx: &Ctx<'js>) -> Result<Option<Constructor<'js>>> {
                Ok(None)
            }
        }
    };
}

pub(crate) use plain_class;

plain_class!(Response, "Response");
plain_class!(Phases, "Timings");

/// The prototypes of a VU's context. Those that rquickjs keeps are the runtime's: they would be of the VU that came first.
pub struct Prototypes {
    response: Held,
    phases: Held,
}

/// Reads a field of a Response.
type Read = for<'js> fn(&Ctx<'js>, &Response) -> Result<Value<'js>>;

/// A field, and whether its value is made once and kept: a script may write into an object.
static FIELDS: [(&str, bool, Read); 16] = [
    ("status", false, |ctx, of| of.got.status.into_js(ctx)),
    ("status_text", false, |ctx, of| match of.got.status {
        0 => "".into_js(ctx),
        status => format!("{status} {}", of.got.head.reason()).into_js(ctx),
    }),
    ("url", false, |ctx, of| of.request.address.as_str().into_js(ctx)),
    ("proto", false, |ctx, of| of.got.proto.into_js(ctx)),
    ("remote_ip", false, |ctx, of| {
        of.got.remote.map(|remote| remote.ip().to_string()).unwrap_or_default().into_js(ctx)
    }),
    ("remote_port", false, |ctx, of| of.got.remote.map_or(0, |remote| remote.port()).into_js(ctx)),
    ("tls_version", false, |ctx, of| of.got.tls.map_or("", |tls| tls.version).into_js(ctx)),
    ("tls_cipher_suite", false, |ctx, of| {
        of.got.tls.map_or("", |tls| tls.cipher_suite).into_js(ctx)
    }),
    ("ocsp", true, ocsp),
    ("error", false, |ctx, of| of.error().into_js(ctx)),
    ("error_code", false, |ctx, of| of.got.error_code().unwrap_or(0).into_js(ctx)),
    ("headers", true, headers),
    ("cookies", true, cookies),
    ("request", true, request),
    ("body", true, body),
    // An object of its own: one that held the response would make a cycle, which only the garbage collector could free.
    ("timings", true, |ctx, of| {
        let vu = VuState::running(ctx)?;
        let prototype =
            vu.prototypes.borrow().as_ref().ok_or(Error::Unknown)?.phases.object(ctx)?;
        Class::instance_proto(Phases(of.got.timings), prototype).map(Class::into_value)
    }),
];

static NOT_YET: [(&str, &str); 3] = [
    ("html", "Response.html() is not supported yet; use json() or match the body as text"),
    ("submitForm", "Response.submitForm() is not supported yet; send the form with http.post()"),
    ("clickLink", "Response.clickLink() is not supported yet; send the request with http.get()"),
];

/// Makes the prototypes of the VU's context.
pub fn install<'js>(natives: &Natives<'js>) -> Result<()> {
    let response = Natives::new(&natives.ctx, &natives.vu, "Response")?;
    for (name, kept, read) in FIELDS {
        let get = move |ctx: Ctx<'js>, this: This<Class<'js, Response>>| -> Result<Value<'js>> {
            let value = read(&ctx, &this.borrow())?;
            if kept {
                settle(&this, name, value.clone())?;
            }
            Ok(value)
        };
        response.add_until_set(name, get)?;
    }
    response.add_hidden("json", json)?;
    response.add_hidden("toJSON", |this: This<Object<'js>>| {
        listed_fields(&this, FIELDS.map(|(name, ..)| name))
    })?;
    for (name, what) in NOT_YET {
        response.add_hidden(name, move |ctx: Ctx<'js>| -> Result<()> {
            Err(Exception::throw_message(&ctx, what))
        })?;
    }
    let phases = Natives::new(&natives.ctx, &natives.vu, "Timings")?;
    for (name, read) in PHASES {
        phases.add_getter(name, move |this: This<Class<'js, Phases>>| read(&this.borrow().0))?;
    }
    phases.add_hidden("toJSON", |this: This<Object<'js>>| {
        listed_fields(&this, PHASES.map(|(name, _)| name))
    })?;
    let prototypes =
        Prototypes { response: Held::of(&response.object), phases: Held::of(&phases.object) };
    natives.vu.prototypes.replace(Some(prototypes));
    Ok(())
}

/// The fields of an object as properties of a plain one.
fn listed_fields<'js, const N: usize>(of: &Object<'js>, names: [&str; N]) -> Result<Object<'js>> {
    let plain = Object::new(of.ctx().clone())?;
    for name in names {
        plain.set(name, of.get::<_, Value>(name)?)?;
    }
    Ok(plain)
}

/// The body as JSON, or what a path of gjson finds in it.
fn json<'js>(
    ctx: Ctx<'js>,
    this: This<Class<'js, Response>>,
    selector: Opt<Value<'js>>,
) -> Result<Value<'js>> {
    let response = this.borrow();
    let body = response.json_text(&ctx)?;
    match selector.0.filter(|selector| !selector.is_undefined()) {
        None => json::parse(&ctx, body),
        Some(selector) => {
            selector::select(&ctx, body, &Coerced::<String>::from_js(&ctx, selector)?.0)
        }
    }
}

fn body<'js>(ctx: &Ctx<'js>, response: &Response) -> Result<Value<'js>> {
    match &response.got.body {
        _ if response.has_no_body() => Ok(Value::new_null(ctx.clone())),
        body if response.as_binary => intrinsics::buffer(ctx, body).map(ArrayBuffer::into_value),
        body => String::from_utf8_lossy(body).as_ref().into_js(ctx),
    }
}

/// Stapled answers are not looked at: over TLS the status is unknown, as k6 says where none came.
fn ocsp<'js>(ctx: &Ctx<'js>, response: &Response) -> Result<Value<'js>> {
    let ocsp = Object::new(ctx.clone())?;
    for name in ["produced_at", "this_update", "next_update", "revoked_at"] {
        ocsp.set(name, 0)?;
    }
    ocsp.set("revocation_reason", "")?;
    ocsp.set("status", if response.got.tls.is_some() { OCSP_STATUS } else { "" })?;
    Ok(ocsp.into_value())
}

/// A header's name as Go writes it: Content-Type.
pub fn canonical(name: &str) -> String {
    let mut begins = true;
    let letter = |letter: char| {
        let changed =
            if begins { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() };
        begins = letter == '-';
        changed
    };
    name.chars().map(letter).collect()
}

/// Names to values; values of the same name are joined.
fn headers<'js>(ctx: &Ctx<'js>, response: &Response) -> Result<Value<'js>> {
    let mut joined: Vec<(String, String)> = Vec::new();
    for (name, value) in response.got.head.headers() {
        let name = canonical(&name);
        match joined.iter_mut().find(|(known, _)| *known == name) {
            Some((_, values)) => values.extend([", ", &value]),
            None => joined.push((name, value.into_owned())),
        }
    }
    let headers = Object::new(ctx.clone())?;
    for (name, value) in joined {
        headers.set(name, value)?;
    }
    Ok(headers.into_value())
}

/// Names to lists, in the order they came.
fn listed<'js>(
    ctx: &Ctx<'js>,
    pairs: impl Iterator<Item = (String, Value<'js>)>,
) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    for (name, value) in pairs {
        let mut list: Vec<Value> =
            object.get::<_, Option<Vec<Value>>>(name.as_str())?.unwrap_or_default();
        list.push(value);
        object.set(name, list)?;
    }
    Ok(object)
}

/// The cookies that the response sets, by name.
fn cookies<'js>(ctx: &Ctx<'js>, response: &Response) -> Result<Value<'js>> {
    let mut pairs = Vec::new();
    for text in response.got.head.all("set-cookie") {
        // What is no cookie is not one in k6 either.
        let Some(cookie) = RawCookie::parse(text)
            .ok()
            .filter(|cookie| !cookie.name().contains([' ', '\t', '"', ',']))
        else {
            continue;
        };
        let made = Object::new(ctx.clone())?;
        made.set("name", cookie.name())?;
        made.set("value", cookie.value_trimmed())?;
        made.set("domain", cookie.domain().unwrap_or_default())?;
        made.set("path", cookie.path().unwrap_or_default())?;
        made.set("http_only", cookie.http_only().unwrap_or(false))?;
        made.set("secure", cookie.secure().unwrap_or(false))?;
        let max_age_s = cookie.max_age().map(|age| age.whole_seconds());
        made.set(
            "max_age",
            max_age_s.map_or(0, |seconds| if seconds <= 0 { -1 } else { seconds }),
        )?;
        made.set(
            "expires",
            cookie
                .expires_datetime()
                .map_or(NO_EXPIRES_MS, |date| date.unix_timestamp() as f64 * 1000.0),
        )?;
        pairs.push((cookie.name().to_owned(), made.into_value()));
    }
    listed(ctx, pairs.into_iter()).map(Object::into_value)
}

/// What the script asked for: method, url, headers, body, cookies.
fn request<'js>(ctx: &Ctx<'js>, response: &Response) -> Result<Value<'js>> {
    let asked = response.asked();
    let mut headers = Vec::new();
    let user_agent = asked.user_agent.iter().map(|agent| ("User-Agent", agent.as_ref()));
    for (name, value) in
        asked.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).chain(user_agent)
    {
        headers.push((canonical(name), value.into_js(ctx)?));
    }
    let mut cookies = Vec::new();
    let sent = asked.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("cookie"));
    for (name, value) in
        sent.flat_map(|(_, header)| header.split("; ")).filter_map(|pair| pair.split_once('='))
    {
        let cookie = Object::new(ctx.clone())?;
        cookie.set("name", name)?;
        cookie.set("value", value)?;
        cookie.set("replace", false)?;
        cookies.push((name.to_owned(), cookie.into_value()));
    }
    let request = Object::new(ctx.clone())?;
    request.set("method", asked.method.as_str())?;
    request.set("url", asked.address.as_str())?;
    request.set("headers", listed(ctx, headers.into_iter())?)?;
    request.set(
        "body",
        String::from_utf8_lossy(asked.uncompressed.as_deref().unwrap_or(&asked.body)).as_ref(),
    )?;
    request.set("cookies", listed(ctx, cookies.into_iter())?)?;
    Ok(request.into_value())
}

type ReadPhase = fn(&Timings) -> f64;

/// The phases in ms, named as in k6.
static PHASES: [(&str, ReadPhase); 8] = [
    ("duration", |timings| timings.duration()),
    ("blocked", |timings| timings.blocked),
    ("looking_up", |timings| timings.looking_up),
    ("connecting", |timings| timings.connecting),
    ("tls_handshaking", |timings| timings.tls_handshaking),
    ("sending", |timings| timings.sending),
    ("waiting", |timings| timings.waiting),
    ("receiving", |timings| timings.receiving),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_without_a_body_is_not_called_discarded() {
        assert!(
            without_body(204, false).contains("status 204 has none")
                && without_body(304, true).contains("status 304")
        );
        assert!(without_body(200, true).contains("was discarded"));
    }
}
