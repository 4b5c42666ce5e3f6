//! `k6/http`: from a script's call to requests on the wire (redirects, cookies, tags) and back to a Response.

use std::rc::Rc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use plimsoll_core::duration;
use rquickjs::function::{Args, Func, Opt};
use rquickjs::{Array, ArrayBuffer, Ctx, Exception, Function, Object, Result, Value};
use url::Url;

use crate::effect::{Effect, HttpRequest, HttpResponse, Reply};
use crate::native::{tags_of, text_of};
use crate::state::VuState;

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// A call of the script, with what is needed to follow redirects and to tag its metrics.
struct Call {
    request: HttpRequest,
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

pub fn install<'js>(_ctx: &Ctx<'js>, state: &Rc<VuState>, native: &Object<'js>) -> Result<()> {
    let expected = Rc::new(std::cell::RefCell::new(Expected(Some(vec![(200, 399)]))));
    let (vu, default) = (state.clone(), expected.clone());
    let request = move |ctx: Ctx<'js>, method: String, url: Value<'js>, body: Value<'js>, params: Value<'js>, make: Function<'js>| {
        let call = Call::read(&ctx, &vu, method, &url, &body, &params, &default.borrow())?;
        let response = match vu.perform(&ctx, Effect::Http(call.request.clone()))? {
            Reply::Http(response) => *response,
            _ => return Err(vu.throw_uncatchable(&ctx)),
        };
        call.finish(&ctx, &vu, response, &make)
    };
    native.set("request", Func::from(request))?;
    let (vu, default) = (state.clone(), expected.clone());
    let batch = move |ctx: Ctx<'js>, rows: Vec<Array<'js>>, make: Function<'js>| -> Result<Vec<Object<'js>>> {
        let mut calls = Vec::with_capacity(rows.len());
        for row in rows {
            let method = text_of(&row.get::<Value>(0)?).to_uppercase();
            calls.push(Call::read(&ctx, &vu, method, &row.get(1)?, &row.get(2)?, &row.get(3)?, &default.borrow())?);
        }
        let requests = calls.iter().map(|call| call.request.clone()).collect();
        let responses = match vu.perform(&ctx, Effect::Batch(requests))? {
            Reply::Batch(responses) => responses,
            _ => return Err(vu.throw_uncatchable(&ctx)),
        };
        calls.into_iter().zip(responses).map(|(call, response)| call.finish(&ctx, &vu, response, &make)).collect()
    };
    native.set("batch", Func::from(batch))?;
    let set_expected = move |ranges: Value<'js>| *expected.borrow_mut() = read_expected(&ranges);
    native.set("setExpected", Func::from(set_expected))?;
    install_cookies(state, native)
}

fn install_cookies<'js>(state: &Rc<VuState>, native: &Object<'js>) -> Result<()> {
    let vu = state.clone();
    let cookies_for = move |ctx: Ctx<'js>, url: String| -> Result<Object<'js>> {
        let found = Object::new(ctx.clone())?;
        let url = parse_url(&ctx, &url)?;
        for (name, value) in vu.jar.borrow().get_request_values(&url) {
            found.set(name, vec![value])?;
        }
        Ok(found)
    };
    native.set("cookiesFor", Func::from(cookies_for))?;
    let vu = state.clone();
    let set_cookie = move |ctx: Ctx<'js>, url: String, name: String, value: String, options: Object<'js>| -> Result<()> {
        let url = parse_url(&ctx, &url)?;
        let mut text = format!("{name}={value}");
        for (key, attribute) in [("domain", "Domain"), ("path", "Path"), ("expires", "Expires"), ("max_age", "Max-Age")] {
            let option: Value = options.get(key)?;
            if !option.is_undefined() {
                text.push_str(&format!("; {attribute}={}", text_of(&option)));
            }
        }
        if options.get::<_, Option<bool>>("secure")?.unwrap_or(false) {
            text.push_str("; Secure");
        }
        vu.jar
            .borrow_mut()
            .parse(&text, &url)
            .map(|_| ())
            .map_err(|error| Exception::throw_message(&ctx, &format!("cookie '{name}': {error}; check its domain and path")))
    };
    native.set("setCookie", Func::from(set_cookie))?;
    let vu = state.clone();
    let clear = move |ctx: Ctx<'js>, url: String, name: Opt<Option<String>>| -> Result<()> {
        let url = parse_url(&ctx, &url)?;
        let doomed: Vec<_> = vu
            .jar
            .borrow()
            .matches(&url)
            .iter()
            .filter(|cookie| name.0.as_ref().and_then(Option::as_ref).is_none_or(|name| name == cookie.name()))
            .map(|cookie| (String::from(&cookie.domain), String::from(&cookie.path), cookie.name().to_owned()))
            .collect();
        for (domain, path, name) in doomed {
            vu.jar.borrow_mut().remove(&domain, &path, &name);
        }
        Ok(())
    };
    native.set("clearCookies", Func::from(clear))
}

fn parse_url(ctx: &Ctx<'_>, text: &str) -> Result<Url> {
    Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host()).ok_or_else(|| {
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
        for (key, value) in tags_of(body) {
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
        method: String,
        url: &Value<'js>,
        body: &Value<'js>,
        params: &Value<'js>,
        expected: &Expected,
    ) -> Result<Self> {
        let called = Instant::now();
        let (address, mut name) = match url.as_object() {
            Some(template) if !url.is_string() => (template.get("url")?, template.get::<_, Option<String>>("name")?),
            _ => (text_of(url), None),
        };
        let (body, content_type) = read_body(ctx, body)?;
        let defaults = &vu.bundle.defaults;
        let mut call = Self {
            request: HttpRequest {
                method,
                url: parse_url(ctx, &address)?,
                headers: Vec::new(),
                body,
                timeout: DEFAULT_TIMEOUT,
                discard_body: defaults.discard_response_bodies,
            },
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
        if let Some(params) = params.as_object() {
            call.read_params(ctx, params, &mut given_cookies)?;
        }
        if let Some(at) = call.tags.iter().position(|(key, _)| key == "name") {
            name = Some(call.tags.swap_remove(at).1);
        }
        call.name = name;
        if let Some(content_type) = content_type {
            call.add_default_header("Content-Type", content_type);
        }
        call.add_default_header("User-Agent", &defaults.user_agent);
        call.add_cookies(vu, &given_cookies);
        Ok(call)
    }

    fn read_params<'js>(&mut self, ctx: &Ctx<'js>, params: &Object<'js>, cookies: &mut Vec<(String, String)>) -> Result<()> {
        for (key, value) in params.props::<String, Value>().flatten() {
            match key.as_str() {
                "headers" => self.request.headers = tags_of(&value),
                "tags" => self.tags = tags_of(&value),
                "cookies" => {
                    for (name, cookie) in value.as_object().into_iter().flat_map(|object| object.props::<String, Value>().flatten()) {
                        let text = match cookie.as_object() {
                            Some(object) if !cookie.is_string() => text_of(&object.get("value")?),
                            _ => text_of(&cookie),
                        };
                        cookies.push((name, text));
                    }
                }
                "timeout" => {
                    self.request.timeout =
                        duration::parse(&text_of(&value)).map_err(|what| Exception::throw_message(ctx, &format!("timeout: {what}")))?;
                }
                "redirects" => self.redirects_left = value.as_int().unwrap_or(0).max(0) as u32,
                "responseType" => {
                    let kind = text_of(&value);
                    self.as_binary = kind == "binary";
                    self.request.discard_body = kind == "none";
                }
                "responseCallback" => {
                    self.expected = match value.as_object() {
                        Some(object) => read_expected(&object.get("expected")?),
                        None => Expected(None),
                    };
                }
                "throw" => self.throw = value.as_bool().unwrap_or(false),
                "jar" => {}
                "auth" | "compression" => {
                    return Err(Exception::throw_message(
                        ctx,
                        &format!("the request parameter '{key}' is not supported yet; set the header yourself"),
                    ));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn add_default_header(&mut self, name: &str, value: &str) {
        if !self.request.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
            self.request.headers.push((name.to_owned(), value.to_owned()));
        }
    }

    fn add_cookies(&mut self, vu: &VuState, given: &[(String, String)]) {
        let jar = vu.jar.borrow();
        let url = &self.request.url;
        let stored = jar.get_request_values(url).filter(|(name, _)| !given.iter().any(|(other, _)| other == name));
        let pairs: Vec<String> =
            stored.map(|(name, value)| format!("{name}={value}")).chain(given.iter().map(|(name, value)| format!("{name}={value}"))).collect();
        if !pairs.is_empty() {
            self.request.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("cookie"));
            self.request.headers.push(("Cookie".into(), pairs.join("; ")));
        }
    }

    /// Records the hop, follows redirects, and makes the Response.
    fn finish<'js>(mut self, ctx: &Ctx<'js>, vu: &VuState, mut response: HttpResponse, make: &Function<'js>) -> Result<Object<'js>> {
        loop {
            self.record(vu, &response);
            self.keep_cookies(vu, &response);
            let Some(next) = self.redirect_target(&response) else { break };
            self.redirects_left -= 1;
            if !matches!(response.status, 307 | 308) {
                if self.request.method != "HEAD" {
                    self.request.method = "GET".into();
                }
                self.request.body = Bytes::new();
                self.request.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
            }
            if next.origin() != self.request.url.origin() {
                self.request.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("authorization"));
            }
            self.request.url = next;
            self.add_cookies(vu, &[]);
            self.called = Instant::now();
            self.lag_ms = 0.0;
            response = match vu.perform(ctx, Effect::Http(self.request.clone()))? {
                Reply::Http(response) => *response,
                _ => return Err(vu.throw_uncatchable(ctx)),
            };
        }
        if let (true, Some(failure)) = (self.throw, &response.failure) {
            return Err(Exception::throw_message(ctx, &format!("{} {}: {}", self.request.method, self.request.url, failure.message)));
        }
        self.response_object(ctx, &response, make)
    }

    fn redirect_target(&self, response: &HttpResponse) -> Option<Url> {
        if self.redirects_left == 0 || !matches!(response.status, 301 | 302 | 303 | 307 | 308) {
            return None;
        }
        let location = response.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("location"))?;
        self.request.url.join(&location.1).ok()
    }

    fn keep_cookies(&self, vu: &VuState, response: &HttpResponse) {
        for (_, value) in response.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie")) {
            // A cookie that the jar refuses (a foreign domain, say) is not kept, as in a browser.
            let _ = vu.jar.borrow_mut().parse(value, &self.request.url);
        }
    }

    fn record(&self, vu: &VuState, response: &HttpResponse) {
        let status = response.status.to_string();
        let url_text;
        let name = match &self.name {
            Some(name) => name.as_str(),
            None => {
                url_text = self.request.url.as_str();
                url_text
            }
        };
        let passed = self.expected.holds(response.status);
        let code = error_code(response).map(|code| code.to_string());
        let mut extra: Vec<(&str, &str)> = Vec::with_capacity(self.tags.len() + 7);
        extra.extend(self.tags.iter().map(|(key, value)| (key.as_str(), value.as_str())));
        extra.extend([("name", name), ("method", self.request.method.as_str()), ("status", status.as_str()), ("proto", response.proto)]);
        if let Some(passed) = passed {
            extra.push(("expected_response", if passed { "true" } else { "false" }));
        }
        if let Some(code) = &code {
            extra.push(("error_code", code));
        }
        if !response.tls_version.is_empty() {
            extra.push(("tls_version", response.tls_version));
        }
        let tags = vu.tag_set(&extra);
        let timings = &response.timings;
        let response_time_ms = response.finished.saturating_duration_since(self.called).as_secs_f64() * 1000.0 + self.lag_ms;
        let mut recorder = vu.recorder.borrow_mut();
        let builtin = &vu.builtin;
        for (metric, value) in [
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
        ] {
            recorder.add(metric, tags, value);
        }
        if let Some(passed) = passed {
            recorder.add(builtin.http_req_failed, tags, f64::from(u8::from(!passed)));
        }
    }

    /// Calls the prelude's constructor: its property names are atoms already, which naming them here would look up.
    fn response_object<'js>(&self, ctx: &Ctx<'js>, response: &HttpResponse, make: &Function<'js>) -> Result<Object<'js>> {
        let mut raw_headers = String::with_capacity(response.headers.len() * 40);
        for (name, value) in &response.headers {
            raw_headers.extend([name.as_str(), ": ", value.as_str(), "\n"]);
        }
        let mut args = Args::new(ctx.clone(), 20);
        args.push_arg(response.status)?;
        args.push_arg(response.status_text.as_str())?;
        args.push_arg(self.request.url.as_str())?;
        args.push_arg(self.request.method.as_str())?;
        args.push_arg(response.proto)?;
        args.push_arg(response.remote_ip.as_str())?;
        args.push_arg(response.remote_port)?;
        args.push_arg(response.tls_version)?;
        args.push_arg(response.failure.as_ref().map_or("", |failure| failure.message.as_str()))?;
        args.push_arg(error_code(response).unwrap_or(0))?;
        if self.request.discard_body {
            args.push_arg(Value::new_null(ctx.clone()))?;
        } else if self.as_binary {
            args.push_arg(ArrayBuffer::new_copy(ctx.clone(), &response.body)?)?;
        } else {
            args.push_arg(String::from_utf8_lossy(&response.body).as_ref())?;
        }
        args.push_arg(raw_headers)?;
        let timings = &response.timings;
        let phases = [timings.duration(), timings.blocked, timings.looking_up, timings.connecting, timings.tls_handshaking];
        for value in phases.into_iter().chain([timings.sending, timings.waiting, timings.receiving]) {
            args.push_arg(value)?;
        }
        args.apply(make)
    }
}

/// k6's error codes: the failure's own, or 1000 + status from 400 on.
fn error_code(response: &HttpResponse) -> Option<u32> {
    match &response.failure {
        Some(failure) => Some(failure.code),
        None => (response.status >= 400).then(|| 1000 + u32::from(response.status)),
    }
}
