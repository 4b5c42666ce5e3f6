//! `k6/http`: from a script's call (`reading`) to requests on the wire (`hops`: redirects, cookies) and back to a Response.

pub mod address;
pub mod auth;
pub(crate) mod body;
pub mod compression;
pub(crate) mod cookies;
pub(crate) mod failure;
pub mod refusal;
pub(crate) mod response;

mod hops;
pub(crate) mod reading;

use std::borrow::Cow;
use std::rc::Rc;
use std::time::Instant;

use plimsoll_core::record::TagSetId;
use plimsoll_core::system_tags::SystemTag;
use rquickjs::function::{Opt, Rest};
use rquickjs::{
    Array, Class, Coerced, Ctx, Error, Exception, Function, IntoJs, Object, Promise, Result, Value,
};

use crate::api::events::Events;
use crate::effect::{Effect, HttpRequest, HttpResponse, Reply};
use crate::http::auth::{Credentials, Scheme};
use crate::http::cookies::{Given, SharedJar};
use crate::http::response::{Hops, Response, OCSP_STATUS};
use crate::modules::places::place_of_call;
use crate::runtime::host::Natives;
use crate::runtime::raw::each_property;
use crate::state::{Moment, VuState};
use crate::values::{named, text_of, text_of_string, GivenText};

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

impl Call {
    /// The request, to change it before it is sent (again); nobody else holds it then.
    fn request_mut(&mut self) -> &mut HttpRequest {
        Rc::make_mut(&mut self.request)
    }

    fn has_header(&self, name: &str) -> bool {
        self.request.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
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

    /// The Response to the last hop.
    fn conclude<'js>(
        self,
        ctx: &Ctx<'js>,
        vu: &VuState,
        response: Box<HttpResponse>,
    ) -> Result<Class<'js, Response>> {
        if response.failure.is_some() && !self.throw {
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

    /// Why the request cannot be sent to anybody, if so, and what to do.
    fn refusal(&self) -> Option<String> {
        let address = &self.request.address;
        if address.origin.is_nowhere() {
            return Some(format!("a request was not sent: {}", address.mistake().message));
        }
        let what = refusal::of(&self.request)?;
        let remedy =
            "take line breaks and other control characters out, as with trim() of what a file held";
        Some(format!("request to {} was not sent: {what}; {remedy}", address.masked()))
    }

    /// Says that a request was not sent, and where the script asks for it; once per place.
    fn tell_refusal(&self, ctx: &Ctx<'_>, vu: &VuState) {
        if self.refusal_is_told {
            return;
        }
        let Some(what) = self.refusal() else {
            return;
        };
        let place = place_of_call(ctx, &vu.bundle).unwrap_or_default();
        if vu.bundle.first_time(&format!("refused {place}")) {
            let text = format!("{what} (said once per place)\n  at {place}");
            vu.bundle.log("WARN", vu.vu, &vu.bundle.secrets.clean(&text));
        }
    }

    /// Records the hop; a challenge that is answered counts as expected.
    fn record(&self, ctx: &Ctx<'_>, vu: &VuState, response: &HttpResponse, is_answered: bool) {
        let passed = self.expected.holds(response.status).map(|passed| passed || is_answered);
        let tags = self.tag_set(ctx, vu, response, passed);
        let response_time_ms =
            response.finished.saturating_duration_since(self.called).as_secs_f64() * 1000.0
                + self.lag_ms;
        vu.recorder.borrow_mut().add_all(tags, &vu.builtin.of_request(response, response_time_ms));
        vu.record_outcome(tags, passed);
    }

    /// Records a request that had no address to go to: it failed, and took neither time nor bytes.
    fn record_unsent(&self, ctx: &Ctx<'_>, vu: &VuState, response: &HttpResponse) {
        let passed = self.expected.holds(response.status);
        vu.record_outcome(self.tag_set(ctx, vu, response, passed), passed);
    }

    fn tag_set(
        &self,
        ctx: &Ctx<'_>,
        vu: &VuState,
        response: &HttpResponse,
        passed: Option<bool>,
    ) -> TagSetId {
        let status = response.status.to_string();
        let name =
            self.name.as_deref().map_or_else(|| self.request.address.masked(), Cow::Borrowed);
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
        vu.tag_set(ctx, &extra)
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
        self.vu.begin_beside(ctx, Effect::Start(number, request))
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
