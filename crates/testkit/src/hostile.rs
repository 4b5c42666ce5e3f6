//! What a server must not do: answers that break the rules of HTTP/1.1, have no end, or come at the wrong time. Each path
//! of the site that begins so answers with exactly the bytes that its name says.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncWrite, AsyncWriteExt};

pub const HELP: &str = "
hostile paths, over HTTP/1.1 only:
  /short, /close/head          ends in the middle of a body, of a head
  /chunks/KIND                 good, plus (+3), end (no line break after a chunk), empty, bare (line feeds only), cut,
                               endless (one chunk), many (chunks for ever), long (the line of a chunk)
  /trailer/KIND                good, bad, endless
  /lengths/KIND                same, differ, list, plus
  /transfer/CODING             a Transfer-Encoding
  /headers/COUNT, /head/KIB    so many headers, a head of that size; /head/endless
  /folded, /interim            a header in two lines; 100 Continue for ever
  /early/stall, /early/close   413 before the request's body is read
  /endless, /endless/length    a body without end, with a length of a petabyte
  /drip                        a body of a byte each 20 ms
  /hops/COUNT/MS               302 after so many ms, so many times, then /echo
  /moved/KIND                  302 with a body to /echo: endless, broken (no gzip), nowhere (an empty Location)";

/// What follows the first bytes.
enum Then {
    /// The next request.
    Next,
    Close,
    /// Nothing, with the connection open.
    Stall,
    /// These bytes until the client goes away, with a pause before each.
    Repeat(Vec<u8>, Duration),
}

pub struct Reply {
    wait: Duration,
    bytes: Vec<u8>,
    then: Then,
}

impl Reply {
    fn new(head: &str, body: &[u8], then: Then) -> Self {
        Self {
            wait: Duration::ZERO,
            bytes: [b"HTTP/1.1 ", head.as_bytes(), b"\r\n\r\n", body].concat(),
            then,
        }
    }

    /// Sends it; whether the connection goes on.
    pub async fn send<S: AsyncWrite + Unpin>(self, stream: &mut S) -> io::Result<bool> {
        tokio::time::sleep(self.wait).await;
        stream.write_all(&self.bytes).await?;
        stream.flush().await?;
        match self.then {
            Then::Next => Ok(true),
            Then::Close => Ok(false),
            Then::Stall => std::future::pending().await,
            Then::Repeat(bytes, pause) => loop {
                if !pause.is_zero() {
                    tokio::time::sleep(pause).await;
                }
                stream.write_all(&bytes).await?;
                stream.flush().await?;
            },
        }
    }
}

/// Whether the request's body is left unread.
pub fn is_early(target: &str) -> bool {
    target.starts_with("/early/")
}

/// The reply to a hostile path; `None` for any other.
pub fn reply(target: &str) -> Option<Reply> {
    let words: Vec<&str> =
        target.split('?').next().unwrap_or_default().trim_start_matches('/').split('/').collect();
    let whole = |head: &str, body: &[u8]| Some(Reply::new(head, body, Then::Next));
    match words.as_slice() {
        ["short"] => Some(Reply::new("200 OK\r\nContent-Length: 20", b"0123456789", Then::Close)),
        ["close", "head"] => Some(Reply {
            wait: Duration::ZERO,
            bytes: b"HTTP/1.1 200 OK\r\nContent-Le".to_vec(),
            then: Then::Close,
        }),
        ["chunks", kind] => Some(chunks(kind)),
        ["trailer", kind] => Some(trailer(kind)),
        ["lengths", kind] => {
            let lengths = match *kind {
                "same" => "Content-Length: 3\r\nContent-Length: 3",
                "differ" => "Content-Length: 3\r\nContent-Length: 4",
                "list" => "Content-Length: 3, 3",
                _ => "Content-Length: +3",
            };
            whole(&format!("200 OK\r\n{lengths}"), b"abc")
        }
        ["transfer", coding] => {
            whole(&format!("200 OK\r\nTransfer-Encoding: {coding}"), b"3\r\nabc\r\n0\r\n\r\n")
        }
        ["headers", count] => {
            let count = count.parse().unwrap_or(0);
            let headers: String = (0..count).map(|at| format!("X-{at}: {at}\r\n")).collect();
            whole(&format!("200 OK\r\n{headers}Content-Length: 3"), b"abc")
        }
        ["head", "endless"] => Some(Reply {
            wait: Duration::ZERO,
            bytes: b"HTTP/1.1 200 OK\r\n".to_vec(),
            then: Then::Repeat(b"X-Endless: for ever\r\n".repeat(1000), Duration::ZERO),
        }),
        ["head", kibibytes] => {
            // The first line, the names and the line breaks take 50 bytes.
            let filler = "x".repeat((kibibytes.parse().unwrap_or(1) << 10) - 50);
            whole(&format!("200 OK\r\nContent-Length: 3\r\nX-Filler: {filler}"), b"abc")
        }
        ["folded"] => whole("200 OK\r\nX-Folded: one\r\n two\r\nContent-Length: 3", b"abc"),
        ["interim"] => Some(Reply {
            wait: Duration::ZERO,
            bytes: Vec::new(),
            then: Then::Repeat(b"HTTP/1.1 100 Continue\r\n\r\n".repeat(1000), Duration::ZERO),
        }),
        ["early", kind] => {
            let then = if *kind == "stall" { Then::Stall } else { Then::Close };
            Some(Reply::new("413 Content Too Large\r\nContent-Length: 8", b"too much", then))
        }
        ["endless"] => {
            Some(Reply::new("200 OK", b"", Then::Repeat(vec![b'e'; 64 << 10], Duration::ZERO)))
        }
        ["endless", "length"] => Some(Reply::new(
            "200 OK\r\nContent-Length: 1000000000000000",
            b"",
            Then::Repeat(vec![b'e'; 64 << 10], Duration::ZERO),
        )),
        ["drip"] => {
            Some(Reply::new("200 OK", b"", Then::Repeat(b"d".to_vec(), Duration::from_millis(20))))
        }
        ["hops", left, ms] => Some(hop(left.parse().unwrap_or(0), ms)),
        ["moved", "endless"] => Some(Reply::new(
            "302 Found\r\nLocation: /echo",
            b"",
            Then::Repeat(vec![b'e'; 64 << 10], Duration::ZERO),
        )),
        ["moved", "broken"] => whole(
            "302 Found\r\nLocation: /echo\r\nContent-Encoding: gzip\r\nContent-Length: 7",
            b"no gzip",
        ),
        ["moved", _] => whole("302 Found\r\nLocation: \r\nContent-Length: 3", b"abc"),
        _ => None,
    }
}

fn hop(left: u32, ms: &str) -> Reply {
    let location = if left == 0 { "/echo".to_owned() } else { format!("/hops/{}/{ms}", left - 1) };
    let wait = Duration::from_millis(ms.parse().unwrap_or(0));
    Reply {
        wait,
        ..Reply::new(
            &format!("302 Found\r\nLocation: {location}\r\nContent-Length: 0"),
            b"",
            Then::Next,
        )
    }
}

fn chunks(kind: &str) -> Reply {
    let head = "200 OK\r\nTransfer-Encoding: chunked";
    let (bytes, then): (&[u8], Then) = match kind {
        "good" => (b"3\r\nabc\r\n3;x=y\r\ndef\r\n0\r\n\r\n", Then::Next),
        "plus" => (b"+3\r\nabc\r\n0\r\n\r\n", Then::Next),
        "end" => (b"3\r\nabcXX0\r\n\r\n", Then::Next),
        "empty" => (b"\r\nabc\r\n0\r\n\r\n", Then::Next),
        "bare" => (b"3\nabc\n0\n\n", Then::Close),
        "endless" => (b"FFFFFFFFFFFF\r\n", Then::Repeat(vec![b'c'; 64 << 10], Duration::ZERO)),
        "many" => (b"", Then::Repeat(b"10\r\n0123456789abcdef\r\n".repeat(1000), Duration::ZERO)),
        "long" => (b"3;", Then::Repeat(vec![b'x'; 64 << 10], Duration::ZERO)),
        _ => (b"3\r\nabc\r\n10\r\nde", Then::Close),
    };
    Reply::new(head, bytes, then)
}

fn trailer(kind: &str) -> Reply {
    let head = "200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum";
    match kind {
        "good" => Reply::new(head, b"3\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n", Then::Next),
        "endless" => Reply::new(
            head,
            b"3\r\nabc\r\n0\r\n",
            Then::Repeat(b"X-Sum: 1\r\n".repeat(1000), Duration::ZERO),
        ),
        _ => Reply::new(head, b"3\r\nabc\r\n0\r\nno header\r\n\r\n", Then::Next),
    }
}
