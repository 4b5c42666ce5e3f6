//! `k6/http`: from a script's call to requests on the wire (redirects, cookies, tags) and back to a Response.

use std::rc::Rc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use plimsoll_core::duration;
use plimsoll_core::system_tags::SystemTag;
use rquickjs::function::{Func, Opt};
use rquickjs::{Array, ArrayBuffer, Class, Ctx, Error, Exception, Function, Object, Promise, Result, Value};

use crate::address::Address;
use crate::cookies;
use crate::effect::{Effect, HttpRequest, HttpResponse, Reply};
use crate::events::Events;
use crate::modules;
use crate::native::{tags_of, text_of};
use crate::raw::each_property;
use crate::response::{self, Response};
use crate::state::{Moment, VuState};

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// A call of the script, with what is needed to follow redirects and to tag its metrics.
struct Call {
    request: Rc<HttpRequest>,
    /// The `name` tag, if the script gave one.
    name: Option<String>,
    tags: Vec<(String, String)>,
    redirects_left: u32,
    as_binary: bool,
    expected: Expected,
    throw: bool,
    called: Instant,
    lag_ms: f64,
}

/// Which statuses count as success; `None` counts nothing as failed and tags nothing.
#[derive(Clone)]
struct Expected(Option<Vec<(u16, u16)>>);

impl Expected {
    fn holds(&self, status: u16) -> Option<bool> {
        self.0.as_ref().map(|ranges| ranges.iter().any(|(low, high)| (*low..=*high).contains(&status)))
    }
}

pub fn install<'js>(ctx: &Ctx<'js>, state: &Rc<VuState>, native: &Object<'js>) -> Result<()> {
    let expected = Rc::new(std::cell::RefCell::new(Expected(Some(vec![(200, 399)]))));
    let (vu, default) = (state.clone(), expected.clone());
    let send = Rc::new(move |ctx: &Ctx<'js>, method: &str, url: &Value<'js>, body: Option<Value<'js>>, params: Option<Value<'js>>| {
        let call = Call::read(ctx, &vu, method, url, body.as_ref(), params.as_ref(), &default.borrow())?;
        let response = call.send(ctx, &vu)?;
        call.finish(ctx, &vu, response)
    });
    for (name, method) in [("get", "GET"), ("head", "HEAD")] {
        let send = send.clone();
        let bare = move |ctx: Ctx<'js>, url: Value<'js>, params: Opt<Value<'js>>| send(&ctx, method, &url, None, params.0);
        native.set(name, Func::from(bare))?;
    }
    for (name, method) in [("post", "POST"), ("put", "PUT"), ("patch", "PATCH"), ("del", "DELETE"), ("options", "OPTIONS")] {
        let send = send.clone();
        let with_body =
            move |ctx: Ctx<'js>, url: Value<'js>, body: Opt<Value<'js>>, params: Opt<Value<'js>>| send(&ctx, method, &url, body.0, params.0);
        native.set(name, Func::from(with_body))?;
    }
    let request = move |ctx: Ctx<'js>, method: Value<'js>, url: Value<'js>, body: Opt<Value<'js>>, params: Opt<Value<'js>>| {
        send(&ctx, &text_of(&method).to_uppercase(), &url, body.0, params.0)
    };
    native.set("request", Func::from(request))?;
    let (beside, default) = (Beside { vu: state.clone(), events: state.events(ctx)? }, expected.clone());
    let request = move |ctx: Ctx<'js>, method: Value<'js>, url: Value<'js>, body: Opt<Value<'js>>, params: Opt<Value<'js>>| {
        let method = text_of(&method).to_uppercase();
        let call = Call::read(&ctx, &beside.vu, &method, &url, body.0.as_ref(), params.0.as_ref(), &default.borrow());
        beside.promise(&ctx, call)
    };
    native.set("asyncRequest", Func::from(request))?;
    let (vu, default) = (state.clone(), expected.clone());
    let batch = move |ctx: Ctx<'js>, rows: Vec<Array<'js>>| -> Result<Vec<Class<'js, Response>>> {
        let mut calls = Vec::with_capacity(rows.len());
        for row in rows {
            let method = text_of(&row.get::<Value>(0)?).to_uppercase();
            let (body, params) = (row.get(2)?, row.get(3)?);
            calls.push(Call::read(&ctx, &vu, &method, &row.get(1)?, Some(&body), Some(&params), &default.borrow())?);
        }
        let requests = calls.iter().map(|call| call.request.clone()).collect();
        let responses = match vu.perform(&ctx, Effect::Batch(requests))? {
            Reply::Batch(responses) => responses,
            _ => return Err(vu.throw_uncatchable(&ctx)),
        };
        calls.into_iter().zip(responses).map(|(call, response)| call.finish(&ctx, &vu, response)).collect()
    };
    native.set("batch", Func::from(batch))?;
    let set_expected = move |ranges: Value<'js>| *expected.borrow_mut() = read_expected(&ranges);
    native.set("setExpected", Func::from(set_expected))?;
    response::install(ctx, native)?;
    native.set("exports", modules::exports(ctx, state)?)?;
    cookies::install(state, native)
}

/// Parses a URL of a script, or throws.
pub fn parse_address(ctx: &Ctx<'_>, text: &str) -> Result<Address> {
    Address::parse(text).ok_or_else(|| {
        Exception::throw_message(ctx, &format!("'{text}' is not a URL; write the whole address, for example http://localhost:8080/path"))
    })
}

fn read_expected(ranges: &Value<'_>) -> Expected {
    let Some(rows) = ranges.as_array() else { return Expected(None) };
    let pairs = rows.iter::<Vec<u16>>().flatten().filter(|pair| pair.len() == 2).map(|pair| (pair[0], pair[1])).collect();
    Expected(Some(pairs))
}

/// A body as k6 sends it, and the content type it implies.
fn read_body<'js>(ctx: &Ctx<'js>, body: &Value<'js>) -> Result<(Bytes, Option<&'static str>)> {
    if body.is_null() || body.is_undefined() {
        return Ok((Bytes::new(), None));
    }
    if let Some(text) = body.as_string() {
        return Ok((Bytes::from(text.to_string()?), None));
    }
    if let Some(buffer) = ArrayBuffer::from_value(body.clone()) {
        // SAFETY: the bytes are copied before any JavaScript can run again.
        let bytes = unsafe { buffer.as_bytes() }.map(Bytes::copy_from_slice).unwrap_or_default();
        return Ok((bytes, None));
    }
    if body.is_object() {
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        for (key, value) in tags_of(body)? {
            form.append_pair(&key, &value);
        }
        return Ok((Bytes::from(form.finish()), Some("application/x-www-form-urlencoded")));
    }
    Err(Exception::throw_message(ctx, "a request body must be a text, an ArrayBuffer or an object of form fields; use JSON.stringify() for JSON"))
}

impl Call {
    fn read<'js>(
        ctx: &Ctx<'js>,
        vu: &VuState,
        method: &str,
        url: &Value<'js>,
        body: Option<&Value<'js>>,
        params: Option<&Value<'js>>,
        expected: &Expected,
    ) -> Result<Self> {
        let called = Instant::now();
        let (address, mut name) = match url.as_object() {
            Some(template) if !url.is_string() => (template.get("url")?, template.get::<_, Option<String>>("name")?),
            _ => (text_of(url), None),
        };
        let (body, content_type) = body.map_or(Ok((Bytes::new(), None)), |body| read_body(ctx, body))?;
        let defaults = &vu.bundle.defaults;
        let request = HttpRequest {
            method: method.to_owned(),
            address: parse_address(ctx, &address)?,
            headers: Vec::new(),
            user_agent: None,
            body,
            timeout: DEFAULT_TIMEOUT,
            discard_body: defaults.discard_response_bodies,
        };
        let mut call = Self {
            request: Rc::new(request),
            name: None,
            tags: Vec::new(),
            redirects_left: defaults.max_redirects,
            as_binary: false,
            expected: expected.clone(),
            throw: defaults.throw,
            called,
            lag_ms: vu.lag_to_charge_ms.replace(0.0),
        };
        let mut given_cookies = Vec::new();
        if let Some(params) = params.and_then(Value::as_object) {
            call.read_params(ctx, params, &mut given_cookies)?;
        }
        if let Some(at) = call.tags.iter().position(|(key, _)| key == "name") {
            name = Some(call.tags.swap_remove(at).1);
        }
        call.name = name;
        if let Some(content_type) = content_type.filter(|_| !call.has_header("Content-Type")) {
            call.request_mut().headers.push(("Content-Type".into(), content_type.into()));
        }
        if !call.has_header("User-Agent") {
            call.request_mut().user_agent = Some(defaults.user_agent.clone());
        }
        call.add_cookies(vu, &given_cookies);
        Ok(call)
    }

    fn read_params<'js>(&mut self, ctx: &Ctx<'js>, params: &Object<'js>, cookies: &mut Vec<(String, String)>) -> Result<()> {
        each_property(params, |key, value| {
            match key {
                "headers" => self.request_mut().headers = tags_of(&value)?,
                "tags" => self.tags = tags_of(&value)?,
                "cookies" => {
                    let Some(given) = value.as_object() else { return Ok(()) };
                    each_property(given, |name, cookie| {
                        let text = match cookie.as_object() {
                            Some(object) => text_of(&object.get("value")?),
                            None => text_of(&cookie),
                        };
                        cookies.push((name.to_string(), text));
                        Ok(())
                    })?;
                }
                "timeout" => {
                    self.request_mut().timeout =
                        duration::parse(&text_of(&value)).map_err(|what| Exception::throw_message(ctx, &format!("timeout: {what}")))?;
                }
                "redirects" => self.redirects_left = value.as_int().unwrap_or(0).max(0) as u32,
                "responseType" => {
                    let kind = text_of(&value);
                    self.as_binary = kind == "binary";
                    self.request_mut().discard_body = kind == "none";
                }
                "responseCallback" => {
                    self.expected = match value.as_object() {
                        Some(object) => read_expected(&object.get("expected")?),
                        None => Expected(None),
                    };
                }
                "throw" => self.throw = value.as_bool().unwrap_or(false),
                "auth" | "compression" => {
                    return Err(Exception::throw_message(
                        ctx,
                        &format!("the request parameter '{key}' is not supported yet; set the header yourself"),
                    ));
                }
                _ => {}
            }
            Ok(())
        })
    }

    /// The request, to change it before it is sent (again); nobody else holds it then.
    fn request_mut(&mut self) -> &mut HttpRequest {
        Rc::make_mut(&mut self.request)
    }

    fn has_header(&self, name: &str) -> bool {
        self.request.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
    }

    fn add_cookies(&mut self, vu: &VuState, given: &[(String, String)]) {
        let jar = vu.jar.borrow();
        let mut pairs: Vec<String> = given.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let is_empty = jar.iter_any().next().is_none();
        if let Some(url) = (!is_empty).then(|| self.request.address.url()).flatten() {
            let stored = jar.get_request_values(&url).filter(|(name, _)| !given.iter().any(|(other, _)| other == name));
            pairs.splice(0..0, stored.map(|(name, value)| format!("{name}={value}")));
        }
        if !pairs.is_empty() {
            let headers = &mut self.request_mut().headers;
            headers.retain(|(name, _)| !name.eq_ignore_ascii_case("cookie"));
            headers.push(("Cookie".into(), pairs.join("; ")));
        }
    }

    /// Suspends the VU until the request has been carried out.
    fn send(&self, ctx: &Ctx<'_>, vu: &VuState) -> Result<Box<HttpResponse>> {
        match vu.perform(ctx, Effect::Http(self.request.clone()))? {
            Reply::Http(response) => Ok(response),
            _ => Err(vu.throw_uncatchable(ctx)),
        }
    }

    /// Records the hop, follows redirects, and makes the Response.
    fn finish<'js>(mut self, ctx: &Ctx<'js>, vu: &VuState, mut response: Box<HttpResponse>) -> Result<Class<'js, Response>> {
        while self.follow(ctx, vu, &response) {
            response = self.send(ctx, vu)?;
        }
        self.conclude(ctx, response)
    }

    /// Records the hop; whether there is a next one, which this call then describes.
    fn follow(&mut self, ctx: &Ctx<'_>, vu: &VuState, response: &HttpResponse) -> bool {
        self.record(ctx, vu, response);
        self.keep_cookies(vu, response);
        let Some(next) = self.redirect_target(response) else { return false };
        self.redirects_left -= 1;
        let request = self.request_mut();
        if !matches!(response.status, 307 | 308) {
            if request.method != "HEAD" {
                request.method = "GET".into();
            }
            request.body = Bytes::new();
            request.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
        }
        if next.origin != request.address.origin {
            request.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("authorization"));
        }
        request.address = next;
        self.add_cookies(vu, &[]);
        self.called = Instant::now();
        self.lag_ms = 0.0;
        true
    }

    /// The Response to the last hop.
    fn conclude<'js>(self, ctx: &Ctx<'js>, response: Box<HttpResponse>) -> Result<Class<'js, Response>> {
        if let (true, Some(failure)) = (self.throw, &response.failure) {
            return Err(Exception::throw_message(ctx, &format!("{} {}: {}", self.request.method, self.request.address.as_str(), failure.message)));
        }
        Class::instance(ctx.clone(), Response { request: self.request, got: response, as_binary: self.as_binary })
    }

    fn redirect_target(&self, response: &HttpResponse) -> Option<Address> {
        if self.redirects_left == 0 || !matches!(response.status, 301 | 302 | 303 | 307 | 308) {
            return None;
        }
        let location = response.head.all("location").next()?;
        self.request.address.join(&location)
    }

    fn keep_cookies(&self, vu: &VuState, response: &HttpResponse) {
        for value in response.head.all("set-cookie") {
            let Some(url) = self.request.address.url() else { return };
            // A cookie that the jar refuses (a foreign domain, say) is not kept, as in a browser.
            let _ = vu.jar.borrow_mut().parse(&value, &url);
        }
    }

    fn record(&self, ctx: &Ctx<'_>, vu: &VuState, response: &HttpResponse) {
        let status = response.status.to_string();
        let name = self.name.as_deref().unwrap_or(self.request.address.as_str());
        let passed = self.expected.holds(response.status);
        let code = response.error_code().map(|code| code.to_string());
        let mut extra: Vec<(&str, &str)> = Vec::with_capacity(self.tags.len() + 9);
        extra.extend(self.tags.iter().map(|(key, value)| (key.as_str(), value.as_str())));
        let carried = vu.bundle.defaults.system_tags;
        let ip = response.remote.filter(|_| carried.has(SystemTag::Ip)).map(|remote| remote.ip().to_string());
        let own = [
            (SystemTag::Method, "method", Some(self.request.method.as_str())),
            (SystemTag::Status, "status", Some(status.as_str())),
            (SystemTag::Proto, "proto", Some(response.proto).filter(|proto| !proto.is_empty())),
            (SystemTag::ExpectedResponse, "expected_response", passed.map(|passed| if passed { "true" } else { "false" })),
            (SystemTag::Error, "error", response.failure.as_ref().map(|failure| failure.message.as_str())),
            (SystemTag::ErrorCode, "error_code", code.as_deref()),
            (SystemTag::TlsVersion, "tls_version", Some(response.tls_version).filter(|version| !version.is_empty())),
            (SystemTag::Ip, "ip", ip.as_deref()),
        ];
        if carried.has(SystemTag::Name) || carried.has(SystemTag::Url) {
            extra.push(("name", name));
        }
        extra.extend(own.into_iter().filter(|(tag, ..)| carried.has(*tag)).filter_map(|(_, key, value)| value.map(|value| (key, value))));
        let tags = vu.tag_set(ctx, &extra);
        let timings = &response.timings;
        let response_time_ms = response.finished.saturating_duration_since(self.called).as_secs_f64() * 1000.0 + self.lag_ms;
        let mut recorder = vu.recorder.borrow_mut();
        let builtin = &vu.builtin;
        let samples = [
            (builtin.http_reqs, 1.0),
            (builtin.http_req_duration, timings.duration()),
            (builtin.http_req_response_time, response_time_ms),
            (builtin.http_req_blocked, timings.blocked),
            (builtin.http_req_connecting, timings.connecting),
            (builtin.http_req_tls_handshaking, timings.tls_handshaking),
            (builtin.http_req_sending, timings.sending),
            (builtin.http_req_waiting, timings.waiting),
            (builtin.http_req_receiving, timings.receiving),
            (builtin.data_sent, response.bytes_sent as f64),
            (builtin.data_received, response.bytes_received as f64),
        ];
        recorder.add_all(tags, &samples);
        if let Some(passed) = passed {
            recorder.add(builtin.http_req_failed, tags, f64::from(u8::from(!passed)));
        }
    }
}

/// Requests that run beside the script: `http.asyncRequest()`.
#[derive(Clone)]
struct Beside<'js> {
    vu: Rc<VuState>,
    events: Rc<Events<'js>>,
}

impl<'js> Beside<'js> {
    /// Begins the request; its promise gets the Response, or what a blocking call would throw.
    fn promise(&self, ctx: &Ctx<'js>, call: Result<Call>) -> Result<Promise<'js>> {
        let (promise, resolve, reject) = ctx.promise()?;
        let moment = self.vu.moment();
        match call {
            Ok(call) => self.start(ctx, Pending { call, moment, resolve, reject })?,
            Err(error) => reject.call::<_, ()>((thrown(ctx, error)?,))?,
        }
        Ok(promise)
    }

    fn start(&self, ctx: &Ctx<'js>, pending: Pending<'js>) -> Result<()> {
        let request = pending.call.request.clone();
        let beside = self.clone();
        let number = self.events.expect(Box::new(move |ctx, response| beside.take(ctx, pending, response)));
        self.vu.start(ctx, number, request)
    }

    fn take(&self, ctx: &Ctx<'js>, mut pending: Pending<'js>, response: Box<HttpResponse>) -> Result<()> {
        let Pending { call, moment, .. } = &mut pending;
        if self.vu.at(moment, || call.follow(ctx, &self.vu, &response)) {
            return self.start(ctx, pending);
        }
        match pending.call.conclude(ctx, response) {
            Ok(response) => pending.resolve.call((response,)),
            Err(error) => pending.reject.call((thrown(ctx, error)?,)),
        }
    }
}

/// A request on its way, with the promise of its response.
struct Pending<'js> {
    call: Call,
    moment: Moment,
    resolve: Function<'js>,
    reject: Function<'js>,
}

/// The value that was thrown; errors that no script may catch stay errors.
fn thrown<'js>(ctx: &Ctx<'js>, error: Error) -> Result<Value<'js>> {
    let value = match error {
        Error::Exception => ctx.catch(),
        other => Exception::from_message(ctx.clone(), &other.to_string())?.into_value(),
    };
    if value.is_uncatchable_error() {
        return Err(ctx.throw(value));
    }
    Ok(value)
}
