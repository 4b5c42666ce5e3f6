//! k6's Response. The object that a script gets holds what came over the wire; each field becomes a JavaScript
//! value when the script reads it, because most fields of most responses are never read.

use std::rc::Rc;

use rquickjs::class::{JsClass, Readable, Trace, Tracer};
use rquickjs::function::{Args, Constructor, Func};
use rquickjs::{ArrayBuffer, Class, Ctx, Function, IntoJs, JsLifetime, Object, Result, Value};

use crate::effect::{HttpRequest, HttpResponse};

pub struct Response {
    pub request: Rc<HttpRequest>,
    pub got: HttpResponse,
    pub as_binary: bool,
}

impl<'js> Trace<'js> for Response {
    fn trace<'a>(&self, _tracer: Tracer<'a, 'js>) {}
}

// SAFETY: the type holds nothing with the lifetime of a JavaScript context.
unsafe impl JsLifetime<'_> for Response {
    type Changed<'to> = Response;
}

impl<'js> JsClass<'js> for Response {
    const NAME: &'static str = "Response";
    type Mutable = Readable;

    fn constructor(_ctx: &Ctx<'js>) -> Result<Option<Constructor<'js>>> {
        Ok(None)
    }
}

/// Gives the prelude what its getters need.
pub fn install<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    native.set("responsePrototype", Class::<Response>::prototype(ctx)?)?;
    native.set("field", Func::from(field))?;
    native.set("bodyAsJson", Func::from(body_as_json))?;
    native.set("rawHeaders", Func::from(raw_headers))?;
    native.set("phases", Func::from(phases))
}

/// The fields by number, in the order of the prelude's list.
fn field<'js>(ctx: Ctx<'js>, response: Class<'js, Response>, number: u8) -> Result<Value<'js>> {
    let response = response.borrow();
    let got = &response.got;
    match number {
        0 => got.status.into_js(&ctx),
        1 if got.status == 0 => "".into_js(&ctx),
        1 => format!("{} {}", got.status, got.head.reason()).into_js(&ctx),
        2 => response.request.address.as_str().into_js(&ctx),
        3 => got.proto.into_js(&ctx),
        4 => got.remote.map(|remote| remote.ip().to_string()).unwrap_or_default().into_js(&ctx),
        5 => got.remote.map_or(0, |remote| remote.port()).into_js(&ctx),
        6 => got.tls_version.into_js(&ctx),
        7 => got.failure.as_ref().map_or("", |failure| failure.message.as_str()).into_js(&ctx),
        8 => got.error_code().unwrap_or(0).into_js(&ctx),
        9 if response.request.discard_body => Ok(Value::new_null(ctx.clone())),
        9 if response.as_binary => ArrayBuffer::new_copy(ctx.clone(), &got.body).map(ArrayBuffer::into_value),
        9 => String::from_utf8_lossy(&got.body).as_ref().into_js(&ctx),
        10 => response.request.method.as_str().into_js(&ctx),
        11 => String::from_utf8_lossy(&response.request.body).as_ref().into_js(&ctx),
        _ => Ok(Value::new_undefined(ctx.clone())),
    }
}

fn body_as_json<'js>(ctx: Ctx<'js>, response: Class<'js, Response>) -> Result<Value<'js>> {
    ctx.json_parse(response.borrow().got.body.as_ref())
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

/// Calls `make` with duration, blocked, looking_up, connecting, tls_handshaking, sending, waiting, receiving in ms.
fn phases<'js>(ctx: Ctx<'js>, response: Class<'js, Response>, make: Function<'js>) -> Result<Value<'js>> {
    let timings = response.borrow().got.timings;
    let mut args = Args::new(ctx, 8);
    let phases = [timings.duration(), timings.blocked, timings.looking_up, timings.connecting, timings.tls_handshaking];
    for value in phases.into_iter().chain([timings.sending, timings.waiting, timings.receiving]) {
        args.push_arg(value)?;
    }
    args.apply(&make)
}
