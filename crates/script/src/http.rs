//! `k6/http`: from a script's call to requests on the wire (redirects, cookies, tags) and back to a Response.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use plimsoll_core::duration;
use plimsoll_core::system_tags::SystemTag;
use rquickjs::function::{Opt, Rest};
use rquickjs::{
    Array, Class, Coerced, Ctx, Error, Exception, FromJs, Function, IntoJs, Object, Promise,
    Result, Value,
};

use crate::address::Address;
use crate::auth::{self, Credentials, Scheme};
use crate::body;
use crate::compression;
use crate::cookies::{self, Given, SharedJar};
use crate::effect::{code, is_redirection, Effect, HttpRequest, HttpResponse, Reply};
use crate::events::Events;
use crate::host::Natives;
use crate::places::place_of_call;
use crate::raw::each_property;
use crate::refusal;
use crate::response::{self, Hops, Response, OCSP_STATUS};
use crate::state::{Moment, VuState};
use crate::values::{named, tags_of, text_of, text_of_string, GivenText};

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// A call of the script, with what is needed to follow redirects and to tag its metrics.
struct Call {
    request: Rc<HttpRequest>,
    /// What the script asked for, once the call went on to something else.
    first: Option<Rc<HttpRequest>>,
    /// The `name` tag, if the script gave one.
    name: Option<String>,
    tags: Vec<(String, String)>,
    redirects_left: u32,
    /// Running out of redirects is said: the script did not ask for the limit.
    warns: bool,
    as_binary: bool,
    expected: Expected,
    throw: bool,
    called: Instant,
    lag_ms: f64,
    cookies: Option<Box<Given>>,
    /// The script's own jar; else the VU's.
    jar: Option<SharedJar>,
    scheme: Scheme,
    /// For the answer to a digest challenge, which is given once.
    secret: Option<Rc<Credentials>>,
    compression: Option<String>,
    /// That the request is refused has been told with its place.
    refusal_is_told: bool,
}

/// Which statuses count as success; `None` counts nothing as failed and tags nothing.
#[derive(Clone)]
pub struct Expected(Option<Rc<[(u16, u16)]>>);

impl Default for Expected {
    fn default() -> Self {
        Self(Some([(200, 399)].into()))
    }
}

impl Expected {
    fn holds(&self, status: u16) -> Option<bool> {
        self.0
            .as_ref()
            .map(|ranges| ranges.iter().any(|(low, high)| (*low..=*high).contains(&status)))
    }

    /// What `expectedStatuses()` made, or null.
    fn read(callback: &Value<'_>) -> Result<Self> {
        let Some(callback) = callback.as_object() else {
            return Ok(Self(None));
        };
        let Some(rows) = callback.get::<_, Option<Array>>("expected")? else {
            return Ok(Self(None));
        };
        Ok(Self(Some(
            rows.iter::<Vec<u16>>()
                .flatten()
                .filter(|pair| pair.len() == 2)
                .map(|pair| (pair[0], pair[1]))
                .collect(),
        )))
    }
}

pub fn install<'js>(natives: &Natives<'js>) -> Result<()> {
    for (name, method) in [("get", "GET"), ("head", "HEAD")] {
        natives.add(name, move |ctx: Ctx<'js>, url: Value<'js>, params: Opt<Value<'js>>| {
            send(&ctx, method, &url, None, params.0)
        })?;
    }
    for (name, method) in [
        ("post", "POST"),
        ("put", "PUT"),
        ("patch", "PATCH"),
        ("del", "DELETE"),
        ("options", "OPTIONS"),
    ] {
        let with_body =
            move |ctx: Ctx<'js>,
                  url: Value<'js>,
                  body: Opt<Value<'js>>,
                  params: Opt<Value<'js>>| send(&ctx, method, &url, body.0, params.0);
        natives.add(name, with_body)?;
    }
    natives.add(
        "request",
        |ctx: Ctx<'js>,
         method: Value<'js>,
         url: Value<'js>,
         body: Opt<Value<'js>>,
         params: Opt<Value<'js>>| {
            send(&ctx, &text_of(&method).to_uppercase(), &url, body.0, params.0)
        },
    )?;
    natives.add(
        "asyncRequest",
        |ctx: Ctx<'js>,
         method: Value<'js>,
         url: Value<'js>,
         body: Opt<Value<'js>>,
         params: Opt<Value<'js>>| {
            let vu = VuState::running(&ctx)?;
            let beside = Beside { events: vu.events(&ctx)?, vu };
            let method = text_of(&method).to_uppercase();
            let call =
                Call::read(&ctx, &beside.vu, &method, &url, body.0.as_ref(), params.0.as_ref());
            // Later the stack does not tell where the call was.
            let call = call
                .inspect(|call| call.tell_refusal(&ctx, &beside.vu))
                .map(|call| Call { refusal_is_told: true, ..call });
            beside.promise(&ctx, call)
        },
    )?;
    natives.add("batch", batch)?;
    natives.add("url", template)?;
    natives.add("expectedStatuses", expected_statuses)?;
    natives.add("setResponseCallback", |ctx: Ctx<'js>, callback: Value<'js>| -> Result<()> {
        VuState::running(&ctx)?.expected.replace(Expected::read(&callback)?);
        Ok(())
    })?;
    natives.add("file", body::file)?;
    response::install(natives)?;
    cookies::install(natives)
}

fn send<'js>(
    ctx: &Ctx<'js>,
    method: &str,
    url: &Value<'js>,
    body: Option<Value<'js>>,
    params: Option<Value<'js>>,
) -> Result<Class<'js, Response>> {
    let vu = VuState::running(ctx)?;
    let call = Call::read(ctx, &vu, method, url, body.as_ref(), params.as_ref())?;
    let response = call.send(ctx, &vu)?;
    call.finish(ctx, &vu, response)
}

/// The responses to several requests, which are given as an array or under names.
fn batch<'js>(ctx: Ctx<'js>, requests: Value<'js>) -> Result<Value<'js>> {
    let vu = VuState::running(&ctx)?;
    let Some(rows) = requests.as_object() else {
        return Err(Exception::throw_type(
            &ctx,
            &format!(
                "http.batch() wants an array or an object of requests, not {}",
                named(&requests)
            ),
        ));
    };
    let mut names = Vec::new();
    let mut calls = Vec::new();
    let mut read = |name: &str, row: &Value<'js>| {
        if row.is_undefined() || row.is_null() {
            let what =
                "give each a URL, or an array or an object with method, url, body and params";
            return Err(Exception::throw_type(
                &ctx,
                &format!("http.batch(): request {name} is {}; {what}", named(row)),
            ));
        }
        names.push(name.to_owned());
        calls.push(Call::read_row(&ctx, &vu, row)?);
        Ok(())
    };
    match rows.as_array() {
        // A hole is no property.
        Some(rows) => rows
            .iter::<Value>()
            .enumerate()
            .try_for_each(|(at, row)| read(&at.to_string(), &row?))?,
        None => each_property(rows, |name, row| read(name, &row))?,
    }
    let asked = calls.iter().map(|call| call.request.clone()).collect();
    let Reply::Batch(responses) = vu.perform(&ctx, Effect::Batch(asked))? else {
        return Err(vu.throw_uncatchable(&ctx));
    };
    let responses =
        calls.into_iter().zip(responses).map(|(call, response)| call.finish(&ctx, &vu, response));
    if requests.is_array() {
        return responses.collect::<Result<Vec<_>>>()?.into_js(&ctx);
    }
    let named = Object::new(ctx.clone())?;
    for (name, response) in names.into_iter().zip(responses) {
        named.set(name, response?)?;
    }
    Ok(named.into_value())
}

/// What stands for a URL whose requests have one name: http.url`https://example.com/${id}`.
fn template<'js>(
    ctx: Ctx<'js>,
    parts: Vec<GivenText>,
    values: Rest<Coerced<rquickjs::String<'js>>>,
) -> Result<Object<'js>> {
    let mut url = String::new();
    for (at, part) in parts.iter().enumerate() {
        url.push_str(&part.0);
        if at + 1 < parts.len() {
            url.push_str(
                &values
                    .0
                    .get(at)
                    .map_or_else(|| "undefined".into(), |value| text_of_string(&value.0)),
            );
        }
    }
    let template = Object::new(ctx)?;
    template.set("url", url)?;
    template
        .set("name", parts.iter().map(|part| part.0.as_str()).collect::<Vec<_>>().join("${}"))?;
    Ok(template)
}

fn expected_statuses<'js>(ctx: Ctx<'js>, ranges: Rest<Value<'js>>) -> Result<Object<'js>> {
    let mut expected: Vec<[Value<'js>; 2]> = Vec::with_capacity(ranges.0.len());
    for range in ranges.0 {
        expected.push(match range.as_object() {
            Some(range) => [range.get("min")?, range.get("max")?],
            None => [range.clone(), range],
        });
    }
    let callback = Object::new(ctx)?;
    callback.set("expected", expected.into_iter().map(Vec::from).collect::<Vec<_>>())?;
    Ok(callback)
}

/// Headers of a script; a value that is no text is what JavaScript's String() makes of it, as in k6.
fn headers_of<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Vec<(String, String)>> {
    let mut headers = Vec::new();
    if let Some(given) = value.as_object() {
        each_property(given, |name, value| {
            let is_plain = value.is_string() || value.is_number() || value.is_bool();
            let text =
                if is_plain { text_of(&value) } else { Coerced::<String>::from_js(ctx, value)?.0 };
            headers.push((name.to_owned(), text));
            Ok(())
        })?;
    }
    Ok(headers)
}

impl Call {
    /// A request of `batch()`: a URL, an array of method, URL, body and parameters, or an object of these.
    fn read_row<'js>(ctx: &Ctx<'js>, vu: &VuState, row: &Value<'js>) -> Result<Self> {
        let method = |given: Value<'js>| {
            if given.is_string() {
                text_of(&given).to_uppercase()
            } else {
                "GET".to_owned()
            }
        };
        if let Some(row) = row.as_array() {
            let (body, params) = (row.get(2)?, row.get(3)?);
            return Self::read(
                ctx,
                vu,
                &method(row.get(0)?),
                &row.get(1)?,
                Some(&body),
                Some(&params),
            );
        }
        let Some(fields) = row.as_object().filter(|_| !row.is_string()) else {
            return Self::read(ctx, vu, "GET", row, None, None);
        };
        // What http.url made has a name beside its URL.
        let url = if fields.contains_key("name")? { row.clone() } else { fields.get("url")? };
        let (body, params) = (fields.get("body")?, fields.get("params")?);
        Self::read(ctx, vu, &method(fields.get("method")?), &url, Some(&body), Some(&params))
    }

    fn read<'js>(
        ctx: &Ctx<'js>,
        vu: &VuState,
        method: &str,
        url: &Value<'js>,
        body: Option<&Value<'js>>,
        params: Option<&Value<'js>>,
    ) -> Result<Self> {
        let called = Instant::now();
        let (address, mut name) = match url.as_object() {
            Some(template) if !url.is_string() => {
                (template.get("url")?, template.get::<_, Option<String>>("name")?)
            }
            _ => (text_of(url), None),
        };
        let defaults = &vu.bundle.defaults;
        let request = HttpRequest {
            method: method.to_owned(),
            address: Address::parse_or_nowhere(&address),
            headers: Vec::new(),
            user_agent: None,
            body: Bytes::new(),
            timeout: DEFAULT_TIMEOUT,
            uncompressed: None,
            discard_body: defaults.discard_response_bodies,
            checks_coding: false,
            follows_redirects: false,
        };
        let mut call = Self {
            request: Rc::new(request),
            first: None,
            name: None,
            tags: Vec::new(),
            redirects_left: defaults.max_redirects,
            warns: true,
            as_binary: false,
            expected: vu.expected.borrow().clone(),
            throw: defaults.throw,
            called,
            lag_ms: vu.lag_to_charge_ms.replace(0.0),
            cookies: None,
            jar: None,
            scheme: Scheme::Basic,
            secret: None,
            compression: None,
            refusal_is_told: false,
        };
        if let Some(params) = params.and_then(Value::as_object) {
            call.read_params(ctx, params)?;
        }
        if let Some(at) = call.tags.iter().position(|(key, _)| key == "name") {
            name = Some(call.tags.swap_remove(at).1);
        }
        call.name = name;
        call.request_mut().follows_redirects = call.redirects_left > 0;
        if let Some(body) = body.filter(|body| !body.is_null() && !body.is_undefined()) {
            call.read_body(ctx, body)?;
        }
        call.read_headers(defaults.user_agent.clone());
        if call.request.address.credentials().is_some() {
            call.authorize();
        }
        call.add_cookies(vu, false);
        Ok(call)
    }

    fn read_body<'js>(&mut self, ctx: &Ctx<'js>, body: &Value<'js>) -> Result<()> {
        let own = self
            .request
            .headers
            .iter()
            .position(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let (bytes, content_type) =
            body::read(ctx, body, own.map(|at| self.request.headers[at].1.as_str()))?;
        let request = self.request_mut();
        request.body = bytes;
        match (content_type, own) {
            (Some(content_type), None) => {
                request.headers.push(("Content-Type".into(), content_type))
            }
            // It names no boundary, so that nobody could read the parts.
            (Some(content_type), Some(at))
                if body::is_multipart_without_boundary(&request.headers[at].1, &content_type) =>
            {
                request.headers[at].1 = content_type;
            }
            _ => {}
        }
        match self.compression.take() {
            Some(codings) => self.compress(ctx, &codings),
            None => Ok(()),
        }
    }

    /// What headers of the script's own stand for what is sent otherwise.
    fn read_headers(&mut self, user_agent: Arc<str>) {
        let (mut agent, mut cookie) = (None, None);
        for (at, (name, _)) in self.request.headers.iter().enumerate() {
            match name.len() {
                10 if name.eq_ignore_ascii_case("user-agent") => agent = Some(at),
                6 if name.eq_ignore_ascii_case("cookie") => cookie = Some(at),
                _ => {}
            }
        }
        if let Some(at) = cookie {
            self.cookies.get_or_insert_default().header = Some(self.request.headers[at].1.clone());
        }
        match agent {
            None => self.request_mut().user_agent = Some(user_agent),
            // An empty one is sent not at all, as in k6.
            Some(at) if self.request.headers[at].1.is_empty() => {
                drop(self.request_mut().headers.remove(at))
            }
            Some(_) => {}
        }
    }

    /// Compresses the body as the parameter `compression` says.
    fn compress(&mut self, ctx: &Ctx<'_>, codings: &str) -> Result<()> {
        let (body, header) = compression::encode(codings, &self.request.body)
            .map_err(|what| Exception::throw_message(ctx, &format!("compression: {what}")))?;
        let has_header = self.has_header("Content-Encoding");
        let request = self.request_mut();
        request.uncompressed = Some(Box::new(std::mem::replace(&mut request.body, body)));
        if !has_header {
            request.headers.push(("Content-Encoding".into(), header));
        }
        Ok(())
    }

    /// Uses the user and password of the URL.
    fn authorize(&mut self) {
        let Some(credentials) = self.request.address.credentials().cloned() else {
            return;
        };
        match self.scheme {
            Scheme::Basic if self.has_header("Authorization") => {}
            Scheme::Basic => {
                self.request_mut().headers.push(("Authorization".into(), auth::basic(&credentials)))
            }
            Scheme::Digest => {
                let address = self.request.address.without_credentials();
                self.request_mut().address = address;
                self.secret = Some(credentials);
            }
        }
    }

    fn read_params<'js>(&mut self, ctx: &Ctx<'js>, params: &Object<'js>) -> Result<()> {
        each_property(params, |key, value| {
            match key {
                "headers" => self.request_mut().headers = headers_of(ctx, &value)?,
                "tags" => self.tags = tags_of(&value)?,
                "cookies" => {
                    let Some(given) = value.as_object() else {
                        return Ok(());
                    };
                    let cookies = &mut self.cookies.get_or_insert_default().cookies;
                    each_property(given, |name, cookie| {
                        let (text, replace) = match cookie.as_object() {
                            Some(object) => (
                                text_of(&object.get("value")?),
                                object.get::<_, Option<bool>>("replace")?.unwrap_or(false),
                            ),
                            None => (text_of(&cookie), false),
                        };
                        cookies::refuse_several(ctx, name, &text)?;
                        cookies.push((name.to_string(), text, replace));
                        Ok(())
                    })?;
                }
                "jar" => self.jar = cookies::jar_of(&value),
                "timeout" => {
                    self.request_mut().timeout =
                        duration::parse(&text_of(&value)).map_err(|what| {
                            Exception::throw_message(ctx, &format!("timeout: {what}"))
                        })?;
                }
                "redirects" => {
                    self.redirects_left = value.as_number().unwrap_or(0.0).max(0.0) as u32;
                    self.warns = false;
                }
                "responseType" if value.is_undefined() || value.is_null() => {}
                "responseType" => {
                    let kind = text_of(&value);
                    if !matches!(kind.as_str(), "text" | "binary" | "none") {
                        return Err(Exception::throw_message(
                            ctx,
                            &format!("responseType '{kind}': use 'text', 'binary' or 'none'"),
                        ));
                    }
                    self.as_binary = kind == "binary";
                    self.request_mut().discard_body = kind == "none";
                }
                "responseCallback" => self.expected = Expected::read(&value)?,
                "throw" => self.throw = value.as_bool().unwrap_or(false),
                "auth" => {
                    self.scheme = match text_of(&value).as_str() {
                        "digest" => Scheme::Digest,
                        "ntlm" => {
                            return Err(Exception::throw_message(
                                ctx,
                                "auth: 'ntlm' is not supported yet; use 'basic' or 'digest'",
                            ))
                        }
                        _ => Scheme::Basic,
                    };
                }
                "compression" => {
                    self.compression = Some(text_of(&value)).filter(|codings| !codings.is_empty())
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

    /// Sets the Cookie header; `redirected` after the first hop.
    fn add_cookies(&mut self, vu: &VuState, redirected: bool) {
        let jar = self.jar.as_ref().unwrap_or(&vu.jar);
        if self.cookies.is_none() && jar.borrow().iter_any().next().is_none() {
            return;
        }
        let given = self.cookies.as_deref().map_or_else(Cow::default, Cow::Borrowed);
        let header = given.header_to(&self.request.address, jar, redirected);
        let headers = &mut self.request_mut().headers;
        headers.retain(|(name, _)| !name.eq_ignore_ascii_case("cookie"));
        headers.extend(header.map(|header| ("Cookie".into(), header)));
    }

    /// Suspends the VU until the request has been carried out.
    fn send(&self, ctx: &Ctx<'_>, vu: &VuState) -> Result<Box<HttpResponse>> {
        match vu.perform(ctx, Effect::Http(self.request.clone()))? {
            Reply::Http(response) => Ok(response),
            _ => Err(vu.throw_uncatchable(ctx)),
        }
    }

    /// Follows the call through its hops to its Response.
    fn finish<'js>(
        mut self,
        ctx: &Ctx<'js>,
        vu: &VuState,
        mut response: Box<HttpResponse>,
    ) -> Result<Class<'js, Response>> {
        while self.follow(ctx, vu, &response) {
            response = self.send(ctx, vu)?;
        }
        self.conclude(ctx, vu, response)
    }

    /// Records the hop; whether there is a next one, which this call then describes.
    fn follow(&mut self, ctx: &Ctx<'_>, vu: &VuState, response: &HttpResponse) -> bool {
        if response.failure.as_ref().is_some_and(|failure| failure.code == code::INVALID_URL) {
            return false;
        }
        let proof = if self.secret.is_some() { self.prove(response) } else { None };
        self.record(ctx, vu, response, proof.is_some());
        self.keep_cookies(vu, response);
        if let Some(proof) = proof {
            self.next_hop(response).headers.push(("Authorization".into(), proof));
            return true;
        }
        let Some(next) = self.redirect_target(vu, response) else {
            return false;
        };
        self.redirects_left -= 1;
        self.redirect_to(next, response);
        self.request_mut().follows_redirects = self.redirects_left > 0;
        self.add_cookies(vu, true);
        true
    }

    /// The answer to a digest challenge.
    fn prove(&mut self, response: &HttpResponse) -> Option<String> {
        let secret = self.secret.take().filter(|_| response.status == 401)?;
        let request = &self.request;
        let target = auth::Target {
            method: &request.method,
            uri: request.address.target(),
            body: &request.body,
        };
        response
            .head
            .all("www-authenticate")
            .find_map(|challenge| auth::digest(&challenge, &secret, &target))
    }

    /// The request of the next hop, to describe. All hops of a call share its timeout, as in k6.
    fn next_hop(&mut self, response: &HttpResponse) -> &mut HttpRequest {
        self.first.get_or_insert_with(|| self.request.clone());
        self.called = Instant::now();
        self.lag_ms = 0.0;
        let request = self.request_mut();
        request.timeout = request.timeout.saturating_sub(response.took);
        request
    }

    /// Makes the request one to where it was redirected (RFC 9110, section 15.4), as k6 does.
    fn redirect_to(&mut self, next: Address, response: &HttpResponse) {
        let stays =
            response.head.all("location").next().is_some_and(|location| !location.contains("//"));
        let request = self.next_hop(response);
        if !matches!(response.status, 307 | 308) {
            if request.method != "HEAD" {
                request.method = "GET".into();
            }
            request.body = Bytes::new();
            request.headers.retain(|(name, _)| {
                !["content-type", "content-encoding"]
                    .iter()
                    .any(|gone| name.eq_ignore_ascii_case(gone))
            });
        }
        if !stays {
            request.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("host"));
        }
        let changes_host = next.origin.host != request.address.origin.host;
        if changes_host {
            request.headers.retain(|(name, _)| {
                !["authorization", "cookie"].iter().any(|gone| name.eq_ignore_ascii_case(gone))
            });
        }
        let refers = next.origin.tls || !request.address.origin.tls;
        request.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("referer"));
        if refers {
            request.headers.push((
                "Referer".into(),
                request.address.without_credentials().as_str().to_owned(),
            ));
        }
        request.address = next;
        if changes_host {
            self.cookies = None;
        }
    }

    /// The Response to the last hop.
    fn conclude<'js>(
        self,
        ctx: &Ctx<'js>,
        vu: &VuState,
        response: Box<HttpResponse>,
    ) -> Result<Class<'js, Response>> {
        if response.failure.as_ref().is_some_and(|failure| failure.code == code::GENERIC)
            && !self.throw
        {
            self.tell_refusal(ctx, vu);
        }
        if let (true, Some(failure)) = (self.throw, &response.failure) {
            return Err(Exception::throw_message(
                ctx,
                &format!(
                    "{} {}: {}",
                    self.request.method,
                    self.request.address.masked(),
                    failure.message
                ),
            ));
        }
        Response::object(
            ctx,
            vu,
            Hops { last: self.request, first: self.first },
            response,
            self.as_binary,
        )
    }

    /// Says that a request which cannot be written down was not sent, and where the script asks for it; once per place.
    fn tell_refusal(&self, ctx: &Ctx<'_>, vu: &VuState) {
        if self.refusal_is_told {
            return;
        }
        let Some(what) = refusal::of(&self.request) else {
            return;
        };
        let place = place_of_call(ctx, &vu.bundle).unwrap_or_default();
        if vu.bundle.first_time(&format!("refused {place}")) {
            let address = self.request.address.masked();
            let remedy = "take line breaks and other control characters out, as with trim() of what a file held";
            let text = format!("request to {address} was not sent: {what}; {remedy} (said once per place)\n  at {place}");
            vu.bundle.log("WARN", vu.vu, &vu.bundle.secrets.clean(&text));
        }
    }

    fn redirect_target(&self, vu: &VuState, response: &HttpResponse) -> Option<Address> {
        if !is_redirection(response.status) {
            return None;
        }
        // One that is empty leads nowhere, as in k6.
        let location = response.head.location().filter(|location| !location.is_empty())?;
        if self.redirects_left == 0 {
            if self.warns {
                let how = "pass {redirects: n} with the request or set options.maxRedirects to silence this";
                let at = vu.bundle.secrets.clean(&self.request.address.masked());
                crate::tell!("WARN stopped after the most redirects at {at} and returned the redirection; {how}");
            }
            return None;
        }
        Some(self.request.address.join(&location))
    }

    fn keep_cookies(&self, vu: &VuState, response: &HttpResponse) {
        for value in response.head.all("set-cookie") {
            let Some(url) = self.request.address.url() else {
                return;
            };
            let jar = self.jar.as_ref().unwrap_or(&vu.jar);
            // A cookie that the jar refuses (a foreign domain, say) is not kept, as in a browser.
            let _ = jar.borrow_mut().parse(&value, &url);
        }
    }

    /// Records the hop; a challenge that is answered counts as expected.
    fn record(&self, ctx: &Ctx<'_>, vu: &VuState, response: &HttpResponse, is_answered: bool) {
        let status = response.status.to_string();
        let name =
            self.name.as_deref().map_or_else(|| self.request.address.masked(), Cow::Borrowed);
        let passed = self.expected.holds(response.status).map(|passed| passed || is_answered);
        let code = response.error_code().map(|code| code.to_string());
        let mut extra: Vec<(&str, &str)> = Vec::with_capacity(self.tags.len() + 10);
        extra.extend(self.tags.iter().map(|(key, value)| (key.as_str(), value.as_str())));
        let carried = vu.bundle.defaults.system_tags;
        let ip = response
            .remote
            .filter(|_| carried.has(SystemTag::Ip))
            .map(|remote| remote.ip().to_string());
        let own = [
            (SystemTag::Method, "method", Some(self.request.method.as_str())),
            (SystemTag::Status, "status", Some(status.as_str())),
            (SystemTag::Proto, "proto", Some(response.proto).filter(|proto| !proto.is_empty())),
            (
                SystemTag::ExpectedResponse,
                "expected_response",
                passed.map(|passed| if passed { "true" } else { "false" }),
            ),
            (
                SystemTag::Error,
                "error",
                response.failure.as_ref().map(|failure| failure.message.as_str()),
            ),
            (SystemTag::ErrorCode, "error_code", code.as_deref()),
            (SystemTag::TlsVersion, "tls_version", response.tls.map(|tls| tls.version)),
            (SystemTag::OcspStatus, "ocsp_status", response.tls.map(|_| OCSP_STATUS)),
            (SystemTag::Ip, "ip", ip.as_deref()),
        ];
        if carried.has(SystemTag::Name) || carried.has(SystemTag::Url) {
            extra.push(("name", &*name));
        }
        extra.extend(
            own.into_iter()
                .filter(|(tag, ..)| carried.has(*tag))
                .filter_map(|(_, key, value)| value.map(|value| (key, value))),
        );
        let tags = vu.tag_set(ctx, &extra);
        let response_time_ms =
            response.finished.saturating_duration_since(self.called).as_secs_f64() * 1000.0
                + self.lag_ms;
        let mut recorder = vu.recorder.borrow_mut();
        recorder.add_all(tags, &vu.builtin.of_request(response, response_time_ms));
        if let Some(passed) = passed {
            recorder.add(vu.builtin.http_req_failed, tags, f64::from(u8::from(!passed)));
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
        let number =
            self.events.expect(Box::new(move |ctx, response| beside.take(ctx, pending, response)));
        self.vu.start(ctx, number, request)
    }

    fn take(
        &self,
        ctx: &Ctx<'js>,
        mut pending: Pending<'js>,
        response: Box<HttpResponse>,
    ) -> Result<()> {
        let Pending { call, moment, .. } = &mut pending;
        if self.vu.at(moment, || call.follow(ctx, &self.vu, &response)) {
            return self.start(ctx, pending);
        }
        match pending.call.conclude(ctx, &self.vu, response) {
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
