//! What a VU asks of the world, and what it gets back. The host that resumes the VU carries it out; this
//! crate opens no socket and arms no timer.

use std::time::{Duration, Instant};

use bytes::Bytes;
use url::Url;

#[derive(Debug)]
pub enum Effect {
    Http(HttpRequest),
    Batch(Vec<HttpRequest>),
    Sleep(Duration),
}

#[derive(Debug)]
pub enum Reply {
    Http(Box<HttpResponse>),
    Batch(Vec<HttpResponse>),
    Slept,
}

/// One hop: redirects and cookies are the script's side of the work.
#[derive(Clone, Debug)]
pub struct HttpRequest {
    pub method: String,
    pub url: Url,
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
    pub timeout: Duration,
    pub discard_body: bool,
}

/// k6's phases of a request, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Timings {
    pub blocked: f64,
    pub looking_up: f64,
    pub connecting: f64,
    pub tls_handshaking: f64,
    pub sending: f64,
    pub waiting: f64,
    pub receiving: f64,
}

impl Timings {
    /// `http_req_duration`: send + wait + receive, without connecting.
    pub fn duration(&self) -> f64 {
        self.sending + self.waiting + self.receiving
    }
}

/// Why a request got no response, with k6's error code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub code: u32,
    pub message: String,
}

#[derive(Clone, Debug)]
pub struct HttpResponse {
    /// 0 when there was no response.
    pub status: u16,
    pub status_text: String,
    pub proto: &'static str,
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
    pub timings: Timings,
    pub failure: Option<Failure>,
    pub remote_ip: String,
    pub remote_port: u16,
    pub tls_version: &'static str,
    pub bytes_sent: u64,
    pub bytes_received: u64,
    /// When the last byte came, or the failure was seen.
    pub finished: Instant,
}
