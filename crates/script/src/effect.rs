//! What a VU asks of the world, and what it gets back. The host that resumes the VU carries it out; this
//! crate opens no socket and arms no timer.

use std::borrow::Cow;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use percent_encoding::{percent_encode, CONTROLS};

use crate::allowance::Claim;
use crate::http::address::Address;
pub use crate::http::failure::{code, Failure};
use crate::socket::{Event, Line};

#[derive(Debug)]
pub enum Effect {
    Http(Rc<HttpRequest>),
    Batch(Vec<Rc<HttpRequest>>),
    Sleep(Duration),
    /// Begin a request beside the script, which goes on at once.
    Start(u32, Rc<HttpRequest>),
    /// Open a socket beside the script, which goes on at once.
    Open(Rc<Line>),
    /// Wait for the next news of a request begun with `Start` or of a socket, at most until then.
    Next(Wanted),
}

/// Which news a script waits for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    pub until: Option<Instant>,
    /// That of this request or socket alone; the other is kept for later.
    pub of: Option<u32>,
}

/// What came of something that runs beside the script.
#[derive(Debug)]
pub enum News {
    Answer(Box<HttpResponse>),
    Socket(Event),
}

#[derive(Debug)]
pub enum Reply {
    Http(Box<HttpResponse>),
    Batch(Vec<Box<HttpResponse>>),
    Slept,
    Started,
    /// The number of a request or socket with its news; `None` if the time came first.
    Next(Option<(u32, News)>),
}

/// One hop: redirects and cookies are the script's side of the work.
#[derive(Clone, Debug)]
pub struct HttpRequest {
    pub method: String,
    pub address: Address,
    pub headers: Vec<(String, String)>,
    /// Sent where the script gives no User-Agent of its own.
    pub user_agent: Option<Arc<str>>,
    pub body: Bytes,
    /// What the script gave as the body, where that was compressed.
    pub uncompressed: Option<Box<Bytes>>,
    /// What is left of the call's time: its earlier hops have used the rest.
    pub timeout: Duration,
    pub discard_body: bool,
    /// A coded body is decoded all the same, to see whether it is whole.
    pub checks_coding: bool,
    /// A redirection is followed, so that nobody reads its body.
    pub follows_redirects: bool,
}

impl HttpRequest {
    /// Whether nobody needs the body of a response.
    pub fn discards(&self, is_coded: bool) -> bool {
        self.discard_body && !(is_coded && self.checks_coding)
    }

    /// Whether the call goes on after a response of that status, which says `moves` to where.
    pub fn goes_on_after(&self, status: u16, moves: bool) -> bool {
        self.follows_redirects && moves && is_redirection(status)
    }
}

/// The statuses after which k6 goes on to the Location (RFC 9110, section 15.4).
pub fn is_redirection(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
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

/// A response's status line and headers as they came; most scripts read none of them.
#[derive(Clone, Debug, Default)]
pub struct Head(pub Bytes);

impl Head {
    fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.0.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line))
    }

    /// The words after the status code.
    pub fn reason(&self) -> Cow<'_, str> {
        let reason =
            self.lines().next().and_then(|line| line.splitn(3, |byte| *byte == b' ').nth(2));
        String::from_utf8_lossy(reason.unwrap_or_default())
    }

    /// Names and values in their order.
    pub fn headers(&self) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
        self.lines().skip(1).filter_map(|line| {
            let at = line.iter().position(|byte| *byte == b':')?;
            Some((
                String::from_utf8_lossy(&line[..at]),
                String::from_utf8_lossy(line[at + 1..].trim_ascii()),
            ))
        })
    }

    /// The values of a header, which may come more than once.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = Cow<'a, str>> {
        self.values(name).map(String::from_utf8_lossy)
    }

    /// Where it leads; bytes that are no UTF-8 percent-encoded, as they would be sent.
    pub fn location(&self) -> Option<Cow<'_, str>> {
        let value = self.values("location").next()?;
        Some(
            std::str::from_utf8(value)
                .map_or_else(|_| percent_encode(value, CONTROLS).to_string().into(), Cow::Borrowed),
        )
    }

    fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        let named = |line: &&[u8]| {
            line.len() > name.len()
                && line[name.len()] == b':'
                && line[..name.len()].eq_ignore_ascii_case(name.as_bytes())
        };
        self.lines().skip(1).filter(named).map(|line| line[name.len() + 1..].trim_ascii())
    }
}

/// What was agreed on in the handshake, as k6 calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tls {
    pub version: &'static str,
    pub cipher_suite: &'static str,
}

#[derive(Debug)]
pub struct HttpResponse {
    /// 0 when there was no response.
    pub status: u16,
    pub proto: &'static str,
    pub head: Head,
    /// Without its Content-Encoding, unless `is_coded`.
    pub body: Bytes,
    /// What the body holds of its VU's allowance.
    pub claim: Claim,
    pub timings: Timings,
    pub failure: Option<Failure>,
    pub remote: Option<SocketAddr>,
    /// There is a Content-Encoding that was not undone.
    pub is_coded: bool,
    pub tls: Option<Tls>,
    pub bytes_sent: u64,
    pub bytes_received: u64,
    /// When the last byte came, or the failure was seen.
    pub finished: Instant,
    /// What it used of the call's time, decoding included.
    pub took: Duration,
}

impl HttpResponse {
    /// No response, for a reason.
    pub fn failed(failure: Failure, timings: Timings) -> Self {
        Self {
            status: 0,
            proto: "",
            head: Head::default(),
            body: Bytes::new(),
            claim: Claim::default(),
            timings,
            failure: Some(failure),
            remote: None,
            is_coded: false,
            tls: None,
            bytes_sent: 0,
            bytes_received: 0,
            finished: Instant::now(),
            took: Duration::ZERO,
        }
    }

    /// What came cannot be used, for a reason: as if no response had come, but for its times and bytes.
    pub fn spoilt(self, failure: Failure) -> Self {
        let (remote, finished) = (self.remote, self.finished);
        let (bytes_sent, bytes_received) = (self.bytes_sent, self.bytes_received);
        Self { remote, finished, bytes_sent, bytes_received, ..Self::failed(failure, self.timings) }
    }

    /// k6's error codes: the failure's own, or 1000 + status from 400 on.
    pub fn error_code(&self) -> Option<u32> {
        match &self.failure {
            Some(failure) => Some(failure.code),
            None => (self.status >= 400).then(|| 1000 + u32::from(self.status)),
        }
    }
}
