//! A WebSocket (RFC 6455) between a script and its host: the host makes the connection, frames and counts; the script says
//! what to send and is told what came. Neither waits for the other: each leaves what it has in the `Line` between them.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use base64::engine::general_purpose::STANDARD;
use base64::Engine;
use bytes::Bytes;
use sha1::{Digest, Sha1};

use crate::allowance::Claim;
use crate::effect::{Failure, HttpRequest, HttpResponse};
use crate::runtime::memory::Charge;

/// What a server adds to a key before it hashes it (RFC 6455, section 1.3).
const ACCEPTED: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// Closing is how the other side ends it, or both.
pub mod close {
    pub const NORMAL: u16 = 1000;
    pub const GOING_AWAY: u16 = 1001;
    pub const PROTOCOL_ERROR: u16 = 1002;
    /// A frame that closes said no code.
    pub const NO_STATUS: u16 = 1005;
    /// The connection ended without one.
    pub const ABNORMAL: u16 = 1006;
    pub const TOO_BIG: u16 = 1009;
}

/// What a server must answer to a key.
pub fn answer_to(key: &str) -> String {
    STANDARD.encode(Sha1::digest([key.as_bytes(), ACCEPTED.as_bytes()].concat()))
}

/// What a frame is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    Binary,
    Ping,
    Pong,
    Close,
}

impl Kind {
    pub fn is_message(self) -> bool {
        matches!(self, Self::Text | Self::Binary)
    }
}

/// What a script sends.
#[derive(Debug)]
pub struct Outgoing {
    pub kind: Kind,
    pub payload: Vec<u8>,
    /// The payload, as a part of its VU's memory.
    pub charge: Charge,
}

/// What became of the attempt to open a socket.
#[derive(Debug)]
pub struct Handshake {
    pub response: Box<HttpResponse>,
    /// Why there is no connection, although a response came.
    pub refused: Option<String>,
    pub took: Duration,
}

/// What the host tells of a socket.
#[derive(Debug)]
pub enum Event {
    Opened(Box<Handshake>),
    Message {
        kind: Kind,
        bytes: Bytes,
        /// What it holds of its VU's allowance until the script has it.
        claim: Claim,
    },
    Ping,
    /// With the time since the ping that it answers, if that was one of the script's.
    Pong(Option<Duration>),
    /// The last one.
    Closed(Box<Ended>),
}

impl Event {
    /// What a script has to take of memory with it.
    fn bytes(&self) -> usize {
        match self {
            Self::Message { bytes, .. } => bytes.len(),
            _ => 0,
        }
    }
}

/// How a connection ended.
#[derive(Clone, Debug)]
pub struct Ended {
    pub code: u16,
    pub reason: String,
    /// What went wrong on this side, if the other did not end it.
    pub failure: Option<Failure>,
    pub at: Instant,
}

impl Ended {
    pub fn now(code: u16, reason: impl Into<String>) -> Self {
        Self { code, reason: reason.into(), failure: None, at: Instant::now() }
    }

    /// What scripts are told as the error; ends that were to be expected are none. Worded as in k6.
    pub fn error(&self) -> Option<String> {
        if let Some(failure) = &self.failure {
            return Some(failure.message.clone());
        }
        if matches!(self.code, close::NORMAL | close::GOING_AWAY) {
            return None;
        }
        let name = match self.code {
            1002 => " (protocol error)",
            1003 => " (unsupported data)",
            1005 => " (no status)",
            1006 => " (abnormal closure)",
            1007 => " (invalid payload data)",
            1008 => " (policy violation)",
            1009 => " (message too big)",
            1010 => " (mandatory extension missing)",
            1011 => " (internal server error)",
            1015 => " (TLS handshake error)",
            _ => "",
        };
        let reason =
            if self.reason.is_empty() { String::new() } else { format!(": {}", self.reason) };
        Some(format!("websocket: close {}{name}{reason}", self.code))
    }
}

/// What was sent and received since it was last asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    pub frames_sent: u32,
    pub bytes_sent: u64,
    pub bytes_received: u64,
}

/// How a socket is used.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manner {
    /// Messages may be compressed, if the server agrees (RFC 7692).
    pub compresses: bool,
    /// Pings and the closing count as messages that were sent, as k6 has it for k6/websockets and not for k6/ws.
    pub counts_all: bool,
}

/// What is on its way to a script.
#[derive(Clone, Copy, Debug, Default)]
struct Untaken {
    events: usize,
    bytes: usize,
}

impl Untaken {
    /// With more than this before the script nothing more is read: the server then waits.
    const MOST_EVENTS: usize = 64;
    const MOST_BYTES: usize = 1 << 20;

    fn has_room(self) -> bool {
        self.events < Self::MOST_EVENTS && self.bytes < Self::MOST_BYTES
    }
}

/// A socket as both sides know it.
#[derive(Debug)]
pub struct Line {
    pub number: u32,
    /// What asks for the connection.
    pub request: HttpRequest,
    pub manner: Manner,
    outgoing: RefCell<VecDeque<Outgoing>>,
    /// Payload that the system has not taken yet.
    unsent_bytes: Cell<usize>,
    /// Events that the script has not taken yet.
    untaken: Cell<Untaken>,
    /// The script has gone on; nothing is told any more.
    is_left: Cell<bool>,
    traffic: Cell<Traffic>,
    waker: RefCell<Option<Waker>>,
}

impl Line {
    pub fn new(number: u32, request: HttpRequest, manner: Manner) -> Self {
        Self {
            number,
            request,
            manner,
            outgoing: RefCell::default(),
            unsent_bytes: Cell::new(0),
            untaken: Cell::default(),
            is_left: Cell::new(false),
            traffic: Cell::default(),
            waker: RefCell::default(),
        }
    }

    /// The script sends something; it goes out when the script next waits.
    pub fn send(&self, outgoing: Outgoing) {
        self.unsent_bytes.set(self.unsent_bytes.get() + outgoing.payload.len());
        self.outgoing.borrow_mut().push_back(outgoing);
        self.wake();
    }

    pub fn unsent_bytes(&self) -> usize {
        self.unsent_bytes.get()
    }

    /// The script has taken an event.
    pub fn taken(&self, event: &Event) {
        let before = self.untaken.get();
        let left = Untaken {
            events: before.events.saturating_sub(1),
            bytes: before.bytes.saturating_sub(event.bytes()),
        };
        self.untaken.set(left);
        if left.has_room() && !before.has_room() {
            self.wake();
        }
    }

    /// The script is done with the socket: it ends once what was sent has gone out.
    pub fn leave(&self) {
        self.is_left.set(true);
        self.wake();
    }

    pub fn is_left(&self) -> bool {
        self.is_left.get()
    }

    pub fn take_traffic(&self) -> Traffic {
        self.traffic.take()
    }

    /// The host: whether there is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.outgoing.borrow().is_empty()
    }

    /// The host: what is to be sent next.
    pub fn next_outgoing(&self) -> Option<Outgoing> {
        self.outgoing.borrow_mut().pop_front()
    }

    /// The host: another event is on its way to the script.
    pub fn told(&self, event: &Event) {
        let Untaken { events, bytes } = self.untaken.get();
        self.untaken.set(Untaken { events: events + 1, bytes: bytes + event.bytes() });
    }

    /// The host: whether the script keeps up.
    pub fn has_room(&self) -> bool {
        self.untaken.get().has_room()
    }

    /// The host: so many frames that count, and that payload in all, have gone out.
    pub fn sent(&self, frames: u32, payload_bytes: usize) {
        self.unsent_bytes.set(self.unsent_bytes.get().saturating_sub(payload_bytes));
        self.note(Traffic { frames_sent: frames, ..Traffic::default() });
    }

    /// Whether a frame that was sent counts as a message.
    pub fn counts(&self, kind: Kind) -> bool {
        kind.is_message() || (self.manner.counts_all && kind != Kind::Pong)
    }

    pub fn note(&self, more: Traffic) {
        let known = self.traffic.get();
        self.traffic.set(Traffic {
            frames_sent: known.frames_sent + more.frames_sent,
            bytes_sent: known.bytes_sent + more.bytes_sent,
            bytes_received: known.bytes_received + more.bytes_received,
        });
    }

    /// The host waits, and is to be woken when the script does something.
    pub fn wait(&self, context: &Context<'_>) {
        let mut waker = self.waker.borrow_mut();
        if !waker.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
            *waker = Some(context.waker().clone());
        }
    }

    fn wake(&self) {
        if let Some(waker) = self.waker.borrow_mut().take() {
            waker.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_to_a_key_is_that_of_the_standard() {
        assert_eq!(answer_to("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }

    #[test]
    fn an_end_that_was_to_be_expected_is_no_error() {
        let error = |code, reason: &str| Ended::now(code, reason).error();
        assert_eq!((error(1000, "done"), error(1001, "")), (None, None));
        assert_eq!(
            error(1006, "unexpected EOF").unwrap(),
            "websocket: close 1006 (abnormal closure): unexpected EOF"
        );
        assert_eq!(error(1005, "").unwrap(), "websocket: close 1005 (no status)");
        assert_eq!(error(4001, "go").unwrap(), "websocket: close 4001: go");
    }
}
