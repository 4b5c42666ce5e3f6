//! One URL without a script: an iteration is one request, made and recorded without JavaScript.

use std::cell::RefCell;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use plimsoll_core::options::Options;
use plimsoll_core::record::TagSetId;
use plimsoll_core::system_tags::SystemTag;
use plimsoll_script::effect::{HttpRequest, HttpResponse};
use plimsoll_script::http::address::Address;
use plimsoll_script::http::refusal;
use plimsoll_script::vu::Outcome;
use serde::Deserialize;

use crate::drive::Context;
use crate::network::client::Repeated;
use crate::worker::Slot;

const TIMEOUT: Duration = Duration::from_secs(60);
/// Kinds of response whose tags are kept; a server that answers with more statuses than these is looked up each time.
const MOST_KNOWN: usize = 64;

/// What to request, as a caller says it; `rate` per second makes it an open model.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlainUrl {
    pub url: String,
    pub method: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
    pub rate: Option<f64>,
}

impl PlainUrl {
    /// The request of every iteration, or what is wrong with the address.
    pub fn request(&self, options: &Options) -> Result<HttpRequest, String> {
        let address = Address::parse(&self.url)
            .ok_or_else(|| format!("--url {}: not a URL; write the whole address, for example http://localhost:8080/path", self.url))?;
        let names_agent =
            self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("user-agent"));
        let request = HttpRequest {
            method: self.method.clone(),
            address,
            headers: self.headers.clone(),
            user_agent: (!names_agent).then(|| Arc::from(options.user_agent.as_str())),
            body: Bytes::from(self.body.clone()),
            timeout: TIMEOUT,
            discard_body: true,
            checks_coding: true,
            uncompressed: None,
            follows_redirects: false,
        };
        match refusal::of(&request) {
            Some(what) => Err(format!(
                "--url: the request cannot be sent: {what}; correct --method or --header"
            )),
            None => Ok(request),
        }
    }
}

/// What tells the series of responses apart: status, failure's code, protocol and TLS version.
type Kind = (u16, u32, &'static str, &'static str);

/// The request of a scenario on one thread, and the tags of the responses seen.
pub struct Plain {
    repeated: Rc<Repeated>,
    known: RefCell<Vec<(Kind, TagSetId)>>,
}

impl Plain {
    pub fn new(repeated: Rc<Repeated>) -> Self {
        Self { repeated, known: RefCell::default() }
    }

    /// Makes one request and records it; the VU's cut interrupts it. `called` is the moment at which the iteration began.
    pub async fn iterate(
        &self,
        context: &Context,
        slot: &Slot,
        called: Instant,
        lag_ms: f64,
    ) -> Outcome {
        let Some(response) =
            slot.cut.unless_raised(pin!(slot.client.repeat(&self.repeated, called))).await
        else {
            slot.client.close_idle();
            return Outcome::Aborted;
        };
        slot.attempts.note(&response);
        context
            .worker
            .records_for(Some((slot.number as u32, slot.iterations as u32 - 1)), slot.epoch());
        self.record(context, &response, called, lag_ms);
        Outcome::Returned(None)
    }

    fn record(&self, context: &Context, response: &HttpResponse, called: Instant, lag_ms: f64) {
        let worker = &context.worker;
        let tags = self.tags(context, response);
        let response_time_ms =
            response.finished.saturating_duration_since(called).as_secs_f64() * 1000.0 + lag_ms;
        let failed = f64::from(u8::from(!is_expected(response)));
        let mut samples = [(worker.builtin.http_req_failed, failed); 12];
        samples[..11].copy_from_slice(&worker.builtin.of_request(response, response_time_ms));
        worker.recorder.borrow_mut().add_all(tags, &samples);
    }

    fn tags(&self, context: &Context, response: &HttpResponse) -> TagSetId {
        let kind = (
            response.status,
            response.error_code().unwrap_or(0),
            response.proto,
            response.tls.map_or("", |tls| tls.version),
        );
        let known = self.known.borrow().iter().find(|(known, _)| *known == kind).map(|(_, id)| *id);
        known.unwrap_or_else(|| {
            let id = self.intern(context, response);
            let mut known = self.known.borrow_mut();
            if known.len() < MOST_KNOWN {
                known.push((kind, id));
            }
            id
        })
    }

    fn intern(&self, context: &Context, response: &HttpResponse) -> TagSetId {
        let carried = context.worker.shared.options.system_tags;
        let status = response.status.to_string();
        let code = response.error_code().map(|code| code.to_string());
        let name = self.repeated.request.address.masked();
        let own = [
            (SystemTag::Name, "name", Some(&*name)),
            (SystemTag::Method, "method", Some(self.repeated.request.method.as_str())),
            (SystemTag::Status, "status", Some(status.as_str())),
            (SystemTag::Proto, "proto", Some(response.proto).filter(|proto| !proto.is_empty())),
            (
                SystemTag::ExpectedResponse,
                "expected_response",
                Some(if is_expected(response) { "true" } else { "false" }),
            ),
            (
                SystemTag::Error,
                "error",
                response.failure.as_ref().map(|failure| failure.message.as_str()),
            ),
            (SystemTag::ErrorCode, "error_code", code.as_deref()),
            (SystemTag::TlsVersion, "tls_version", response.tls.map(|tls| tls.version)),
        ];
        let mut tags: Vec<(&str, &str)> =
            context.tags.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        tags.extend(
            own.iter()
                .filter(|(tag, ..)| carried.has(*tag))
                .filter_map(|(_, key, value)| value.map(|value| (*key, value))),
        );
        tags.sort_unstable();
        context.worker.recorder.borrow_mut().tag_set(&tags)
    }
}

/// As k6 has it by default: a status from 200 to 399.
fn is_expected(response: &HttpResponse) -> bool {
    (200..400).contains(&response.status)
}
