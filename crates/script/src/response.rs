//! k6's Response. The object that a script gets holds what came over the wire; each field becomes a JavaScript
//! value when the script reads it, because most fields of most responses are never read.

use std::rc::Rc;

use rquickjs::class::{JsClass, Readable, Trace, Tracer};
use rquickjs::function::{Constructor, Func, This};
use rquickjs::object::{Accessor, Property};
use rquickjs::{Array, ArrayBuffer, Class, Ctx, Error, IntoJs, JsLifetime, Object, Result, Value};

use crate::effect::{HttpRequest, HttpResponse, Timings};
use crate::json;
use crate::state::VuState;

pub struct Response {
    pub request: Rc<HttpRequest>,
    pub got: Box<HttpResponse>,
    pub as_binary: bool,
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

plain_class!(Response, "Response");
plain_class!(Phases, "Timings");

/// Defines the fields, and gives `js/http.js` what it needs for those it makes itself.
pub fn install<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    let prototype = Class::<Response>::prototype(ctx)?.ok_or(Error::Unknown)?;
    field(&prototype, "status", false, |ctx, of| of.got.status.into_js(ctx))?;
    field(&prototype, "status_text", false, |ctx, of| match of.got.status {
        0 => "".into_js(ctx),
        status => format!("{status} {}", of.got.head.reason()).into_js(ctx),
    })?;
    field(&prototype, "url", false, |ctx, of| of.request.address.as_str().into_js(ctx))?;
    field(&prototype, "proto", false, |ctx, of| of.got.proto.into_js(ctx))?;
    field(&prototype, "remote_ip", false, |ctx, of| of.got.remote.map(|remote| remote.ip().to_string()).unwrap_or_default().into_js(ctx))?;
    field(&prototype, "remote_port", false, |ctx, of| of.got.remote.map_or(0, |remote| remote.port()).into_js(ctx))?;
    field(&prototype, "tls_version", false, |ctx, of| of.got.tls_version.into_js(ctx))?;
    field(&prototype, "error", false, |ctx, of| of.got.failure.as_ref().map_or("", |failure| failure.message.as_str()).into_js(ctx))?;
    field(&prototype, "error_code", false, |ctx, of| of.got.error_code().unwrap_or(0).into_js(ctx))?;
    field(&prototype, "body", true, body)?;
    // An object of its own: one that held the response would make a cycle, which only the garbage collector could free.
    field(&prototype, "timings", true, |ctx, of| Class::instance(ctx.clone(), Phases(of.got.timings)).map(Class::into_value))?;
    native.set("responsePrototype", prototype)?;
    native.set("bodyAsJson", Func::from(body_as_json))?;
    native.set("timingsPrototype", phases_prototype(ctx)?)
}

/// What `js/response.js` makes the rest from.
pub fn install_rest<'js>(_ctx: &Ctx<'js>, _state: &Rc<VuState>, native: &Object<'js>) -> Result<()> {
    native.set("rawHeaders", Func::from(raw_headers))?;
    native.set("sent", Func::from(sent))
}

/// A field that `read` makes a value of at each reading, or once if it is `kept`. What a script writes shadows it.
fn field<'js>(prototype: &Object<'js>, name: &'static str, kept: bool, read: fn(&Ctx<'js>, &Response) -> Result<Value<'js>>) -> Result<()> {
    let shadow = move |object: &Object<'js>, value: Value<'js>| object.prop(name, Property::from(value).writable().enumerable().configurable());
    let get = move |ctx: Ctx<'js>, this: This<Class<'js, Response>>| -> Result<Value<'js>> {
        let value = read(&ctx, &this.borrow())?;
        if kept {
            shadow(&this, value.clone())?;
        }
        Ok(value)
    };
    let set = move |this: This<Object<'js>>, value: Value<'js>| shadow(&this, value);
    prototype.prop(name, Accessor::new(get, set).enumerable().configurable())
}

fn body<'js>(ctx: &Ctx<'js>, response: &Response) -> Result<Value<'js>> {
    match () {
        () if response.request.discard_body => Ok(Value::new_null(ctx.clone())),
        () if response.as_binary => ArrayBuffer::new_copy(ctx.clone(), &response.got.body).map(ArrayBuffer::into_value),
        () => String::from_utf8_lossy(&response.got.body).as_ref().into_js(ctx),
    }
}

/// Method and body of the request that the response answers.
fn sent<'js>(ctx: Ctx<'js>, response: Class<'js, Response>) -> Result<Array<'js>> {
    let response = response.borrow();
    let sent = Array::new(ctx)?;
    sent.set(0, response.request.method.as_str())?;
    sent.set(1, String::from_utf8_lossy(&response.request.body).as_ref())?;
    Ok(sent)
}

fn body_as_json<'js>(ctx: Ctx<'js>, response: Class<'js, Response>) -> Result<Value<'js>> {
    json::parse(&ctx, &response.borrow().got.body)
}

/// The response's or the request's headers as `name: value` lines.
fn raw_headers(response: Class<'_, Response>, of_request: bool) -> String {
    let response = response.borrow();
    let mut lines = String::new();
    if of_request {
        for (name, value) in &response.request.headers {
            lines.extend([name.as_str(), ": ", value.as_str(), "\n"]);
        }
        if let Some(user_agent) = &response.request.user_agent {
            lines.extend(["User-Agent: ", user_agent, "\n"]);
        }
    } else {
        for (name, value) in response.got.head.headers() {
            lines.extend([name.as_ref(), ": ", value.as_ref(), "\n"]);
        }
    }
    lines
}

/// The phases in ms, named as in k6.
fn phases_prototype<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let prototype = Class::<Phases>::prototype(ctx)?.ok_or(Error::Unknown)?;
    type Read = fn(&Timings) -> f64;
    let phases: [(&str, Read); 8] = [
        ("duration", |timings| timings.duration()),
        ("blocked", |timings| timings.blocked),
        ("looking_up", |timings| timings.looking_up),
        ("connecting", |timings| timings.connecting),
        ("tls_handshaking", |timings| timings.tls_handshaking),
        ("sending", |timings| timings.sending),
        ("waiting", |timings| timings.waiting),
        ("receiving", |timings| timings.receiving),
    ];
    for (name, read) in phases {
        let get = move |this: This<Class<'js, Phases>>| read(&this.borrow().0);
        prototype.prop(name, Accessor::new_get(get).enumerable().configurable())?;
    }
    Ok(prototype)
}
