//! k6's Response. The object that a script gets holds what came over the wire; each field becomes a JavaScript
//! value when the script reads it, because most fields of most responses are never read.

use std::rc::Rc;

use rquickjs::class::{JsClass, Readable, Trace, Tracer};
use rquickjs::function::{Constructor, Func};
use rquickjs::{ArrayBuffer, Class, Ctx, IntoJs, JsLifetime, Object, Result, Value};

use crate::effect::{HttpRequest, HttpResponse, Timings};

pub struct Response {
    pub request: Rc<HttpRequest>,
    pub got: HttpResponse,
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

/// Gives the prelude what its getters need.
pub fn install<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    native.set("responsePrototype", Class::<Response>::prototype(ctx)?)?;
    native.set("field", Func::from(field))?;
    native.set("bodyAsJson", Func::from(body_as_json))?;
    native.set("rawHeaders", Func::from(raw_headers))?;
    native.set("timingsPrototype", Class::<Phases>::prototype(ctx)?)?;
    native.set("timings", Func::from(timings))?;
    native.set("phase", Func::from(phase))
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

/// A response's phases as an object of their own: one that held the response would make a cycle, which only the
/// garbage collector could free.
fn timings<'js>(ctx: Ctx<'js>, response: Class<'js, Response>) -> Result<Class<'js, Phases>> {
    let phases = Phases(response.borrow().got.timings);
    Class::instance(ctx, phases)
}

/// A phase in ms by its number in the prelude's list.
fn phase(phases: Class<'_, Phases>, number: u8) -> f64 {
    let timings = phases.borrow().0;
    match number {
        0 => timings.duration(),
        1 => timings.blocked,
        2 => timings.looking_up,
        3 => timings.connecting,
        4 => timings.tls_handshaking,
        5 => timings.sending,
        6 => timings.waiting,
        _ => timings.receiving,
    }
}
