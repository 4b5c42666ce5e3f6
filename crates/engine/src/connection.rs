//! One HTTP/1.1 connection (RFC 9112): writes a request, reads a response, and says when each phase ended.

use std::io;
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::time::Instant;

use bytes::{Buf, Bytes, BytesMut};
use plimsoll_script::effect::{Head, HttpRequest, HttpResponse, Timings, Tls};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use crate::client::milliseconds;
use crate::traffic::Counted;

const MAX_HEADERS: usize = 128;
const MAX_HEAD_BYTES: usize = 1 << 20;
/// A body up to this goes out with its head in one piece.
const MAX_BODY_COPIED: usize = 16 << 10;

pub enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<Counted>>),
}

pub struct Connection {
    stream: Stream,
    remote: SocketAddr,
    tls: Option<Tls>,
    buffer: BytesMut,
    request: Vec<u8>,
    last: LastHead,
}

/// A request with what is known of it before it is sent.
#[derive(Clone, Copy)]
pub struct Outgoing<'a> {
    pub request: &'a HttpRequest,
    /// The whole message, where it was made beforehand; the response then comes without its head, which nobody reads.
    pub message: Option<&'a [u8]>,
}

/// The last response's head with what it says. Most answers of a server are alike, and to compare costs a twentieth of
/// what reading costs.
#[derive(Default)]
struct LastHead {
    bytes: Vec<u8>,
    of_head_request: bool,
    says: Option<ResponseHead>,
}

impl LastHead {
    /// Longer heads are read each time.
    const MOST_BYTES: usize = 1024;

    /// What the head at the start of the buffer says; `None` when it is not complete yet.
    fn read(&mut self, buffer: &[u8], method: &str) -> io::Result<Option<ResponseHead>> {
        let of_head_request = method == "HEAD";
        if self.says.is_some() && self.of_head_request == of_head_request && buffer.starts_with(&self.bytes) {
            return Ok(self.says);
        }
        let head = parse_head(buffer, method)?;
        if let Some(head) = head.filter(|head| head.length <= Self::MOST_BYTES) {
            self.bytes.clear();
            self.bytes.extend_from_slice(&buffer[..head.length]);
            (self.of_head_request, self.says) = (of_head_request, Some(head));
        }
        Ok(head)
    }
}

/// What the head of a response says.
#[derive(Clone, Copy)]
struct ResponseHead {
    length: usize,
    status: u16,
    http11: bool,
    keep_alive: bool,
    /// Whether there is a Content-Encoding.
    is_coded: bool,
    framing: Framing,
}

/// How the end of a body is known (RFC 9112, section 6.3).
#[derive(Clone, Copy)]
enum Framing {
    Empty,
    Length(usize),
    Chunked,
    UntilClose,
}

impl Connection {
    pub fn new(stream: Stream, remote: SocketAddr, tls: Option<Tls>) -> Self {
        Self { stream, remote, tls, buffer: BytesMut::with_capacity(4096), request: Vec::new(), last: LastHead::default() }
    }

    /// Whether the peer has closed or written while the connection was idle; either way it cannot be reused.
    pub fn is_stale(&self) -> bool {
        let tcp = match &self.stream {
            Stream::Plain(tcp) => tcp,
            Stream::Tls(tls) => &tls.get_ref().0.tcp,
        };
        !matches!(tcp.try_read(&mut [0u8; 1]), Err(error) if error.kind() == io::ErrorKind::WouldBlock) || !self.buffer.is_empty()
    }

    /// The response to a request that is to be sent, from `ready` on, and whether the connection may be used again. Adds
    /// the phases to `timings`.
    pub async fn exchange(&mut self, outgoing: Outgoing<'_>, ready: Instant, timings: &mut Timings) -> io::Result<(Box<HttpResponse>, bool)> {
        let Outgoing { request, message } = outgoing;
        let mut bytes_sent = self.send(request, message).await?;
        let sent = Instant::now();
        let mut received = match self.fill_or_end().await? {
            0 => return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "EOF")),
            read => read,
        };
        let first_byte = Instant::now();
        let (head, bytes) = loop {
            match self.last.read(&self.buffer, &request.method)? {
                Some(head) => {
                    let bytes = match message {
                        None => self.buffer.split_to(head.length).freeze(),
                        Some(_) => {
                            self.buffer.advance(head.length);
                            Bytes::new()
                        }
                    };
                    // 1xx responses announce the real one (RFC 9110, section 15.2).
                    if !(100..200).contains(&head.status) || head.status == 101 {
                        break (head, bytes);
                    }
                }
                None if self.buffer.len() > MAX_HEAD_BYTES => return Err(invalid("the response's headers exceed 1 MiB")),
                None => received += self.fill().await?,
            }
        };
        let body = self.read_body(head.framing, request.discard_body, &mut received).await?;
        let finished = Instant::now();
        timings.sending = milliseconds(ready, sent);
        timings.waiting = milliseconds(sent, first_byte);
        timings.receiving = milliseconds(first_byte, finished);
        if let Stream::Tls(tls) = &self.stream {
            (bytes_sent, received) = tls.get_ref().0.traffic.take();
        }
        let response = HttpResponse {
            status: head.status,
            proto: if head.http11 { "HTTP/1.1" } else { "HTTP/1.0" },
            head: Head(bytes),
            body,
            is_coded: head.is_coded,
            timings: *timings,
            failure: None,
            remote: Some(self.remote),
            tls: self.tls,
            bytes_sent,
            bytes_received: received,
            finished,
        };
        Ok((Box::new(response), head.keep_alive && !matches!(head.framing, Framing::UntilClose)))
    }

    /// Sends the message, or makes and sends the request's; how many bytes that were.
    async fn send(&mut self, request: &HttpRequest, message: Option<&[u8]>) -> io::Result<u64> {
        if let Some(message) = message {
            write_all(&mut self.stream, message).await?;
            return Ok(message.len() as u64);
        }
        self.request.clear();
        write_head(&mut self.request, request);
        let bytes = (self.request.len() + request.body.len()) as u64;
        if request.body.len() <= MAX_BODY_COPIED {
            self.request.extend_from_slice(&request.body);
            write_all(&mut self.stream, &self.request).await?;
        } else {
            write_all(&mut self.stream, &self.request).await?;
            write_all(&mut self.stream, &request.body).await?;
        }
        Ok(bytes)
    }

    /// Reads once more into the buffer; an end of the stream is an error here.
    async fn fill(&mut self) -> io::Result<u64> {
        match self.fill_or_end().await? {
            0 => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "unexpected EOF")),
            read => Ok(read),
        }
    }

    async fn fill_or_end(&mut self) -> io::Result<u64> {
        self.buffer.reserve(4096);
        let read = match &mut self.stream {
            Stream::Plain(tcp) => tcp.read_buf(&mut self.buffer).await?,
            Stream::Tls(tls) => tls.read_buf(&mut self.buffer).await?,
        };
        Ok(read as u64)
    }

    async fn read_body(&mut self, framing: Framing, discard: bool, received: &mut u64) -> io::Result<Bytes> {
        match framing {
            Framing::Empty => Ok(Bytes::new()),
            Framing::Length(length) if discard => {
                let mut left = length;
                loop {
                    let here = left.min(self.buffer.len());
                    self.buffer.advance(here);
                    left -= here;
                    if left == 0 {
                        return Ok(Bytes::new());
                    }
                    *received += self.fill().await?;
                }
            }
            Framing::Length(length) => {
                while self.buffer.len() < length {
                    *received += self.fill().await?;
                }
                Ok(self.buffer.split_to(length).freeze())
            }
            Framing::Chunked => self.read_chunks(discard, received).await,
            Framing::UntilClose => {
                loop {
                    if discard {
                        self.buffer.clear();
                    }
                    match self.fill_or_end().await? {
                        0 => break,
                        read => *received += read,
                    }
                }
                Ok(self.buffer.split().freeze())
            }
        }
    }

    async fn read_chunks(&mut self, discard: bool, received: &mut u64) -> io::Result<Bytes> {
        let mut body = BytesMut::new();
        loop {
            let line = self.read_line(received).await?;
            let size_text = line.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
            let size = std::str::from_utf8(size_text)
                .ok()
                .and_then(|text| usize::from_str_radix(text, 16).ok())
                .ok_or_else(|| invalid("the response has a chunk without a size"))?;
            if size == 0 {
                while !self.read_line(received).await?.is_empty() {}
                return Ok(body.freeze());
            }
            while self.buffer.len() < size.checked_add(2).ok_or_else(|| invalid("the response has an impossible chunk size"))? {
                *received += self.fill().await?;
            }
            let chunk = self.buffer.split_to(size);
            if !discard {
                body.extend_from_slice(&chunk);
            }
            self.buffer.advance(2);
        }
    }

    async fn read_line(&mut self, received: &mut u64) -> io::Result<Bytes> {
        loop {
            if let Some(at) = self.buffer.windows(2).position(|pair| pair == b"\r\n") {
                let line = self.buffer.split_to(at).freeze();
                self.buffer.advance(2);
                return Ok(line);
            }
            if self.buffer.len() > MAX_HEAD_BYTES {
                return Err(invalid("the response has a line over 1 MiB"));
            }
            *received += self.fill().await?;
        }
    }
}

/// A request as HTTP/1.1 has it, with its body.
pub fn message(request: &HttpRequest) -> Vec<u8> {
    let mut message = Vec::new();
    write_head(&mut message, request);
    message.extend_from_slice(&request.body);
    message
}

fn write_head(head: &mut Vec<u8>, request: &HttpRequest) {
    let mut put = |parts: &[&str]| parts.iter().for_each(|part| head.extend_from_slice(part.as_bytes()));
    put(&[&request.method, " ", request.address.target(), " HTTP/1.1\r\n"]);
    if !request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        put(&["Host: ", &request.address.origin.authority, "\r\n"]);
    }
    if let Some(user_agent) = &request.user_agent {
        put(&["User-Agent: ", user_agent, "\r\n"]);
    }
    for (name, value) in &request.headers {
        // A line break in a header would start another one.
        if !name.eq_ignore_ascii_case("content-length") && !value.contains(['\r', '\n']) {
            put(&[name, ": ", value, "\r\n"]);
        }
    }
    if !request.body.is_empty() || matches!(request.method.as_str(), "POST" | "PUT" | "PATCH") {
        put(&["Content-Length: ", &request.body.len().to_string(), "\r\n"]);
    }
    put(&["\r\n"]);
}

async fn write_all(stream: &mut Stream, bytes: &[u8]) -> io::Result<()> {
    match stream {
        Stream::Plain(tcp) => match tcp.try_write(bytes) {
            Ok(written) if written == bytes.len() => Ok(()),
            Ok(written) => tcp.write_all(&bytes[written..]).await,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => tcp.write_all(bytes).await,
            Err(error) => Err(error),
        },
        Stream::Tls(tls) => {
            tls.write_all(bytes).await?;
            tls.flush().await
        }
    }
}

fn invalid(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message.to_owned())
}

/// Parses a response head; `None` when it is not complete yet.
fn parse_head(buffer: &[u8], method: &str) -> io::Result<Option<ResponseHead>> {
    let mut slots = [const { MaybeUninit::uninit() }; MAX_HEADERS];
    let mut response = httparse::Response::new(&mut []);
    let parsed = httparse::ParserConfig::default().parse_response_with_uninit_headers(&mut response, buffer, &mut slots);
    let length = match parsed {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(error) => return Err(invalid(&format!("the response is not HTTP/1.1: {error}"))),
    };
    let status = response.code.unwrap_or(0);
    let http11 = response.version == Some(1);
    let mut keep_alive = http11;
    let mut framing = Framing::UntilClose;
    let mut is_coded = false;
    for header in response.headers.iter() {
        let named = |name: &str| header.name.eq_ignore_ascii_case(name);
        if named("content-length") && !matches!(framing, Framing::Chunked) {
            framing = Framing::Length(content_length(header.value)?);
        } else if named("transfer-encoding") && says(header.value, "chunked") {
            framing = Framing::Chunked;
        } else if named("connection") {
            keep_alive = if http11 { !says(header.value, "close") } else { says(header.value, "keep-alive") };
        } else if named("content-encoding") {
            is_coded = true;
        }
    }
    if method == "HEAD" || (100..200).contains(&status) || status == 204 || status == 304 {
        framing = Framing::Empty;
    }
    Ok(Some(ResponseHead { length, status, http11, keep_alive, is_coded, framing }))
}

/// Whether a header's value has a word, in either case.
fn says(value: &[u8], word: &str) -> bool {
    value.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes()))
}

fn content_length(value: &[u8]) -> io::Result<usize> {
    let text = std::str::from_utf8(value.trim_ascii()).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    let wrong = || invalid(&format!("the response's Content-Length is '{}'", String::from_utf8_lossy(value)));
    text.and_then(|text| text.parse().ok()).ok_or_else(wrong)
}

#[cfg(test)]
mod properties;

#[cfg(test)]
mod tests {
    use super::*;

    fn length(head: Option<ResponseHead>) -> Option<usize> {
        match head?.framing {
            Framing::Length(length) => Some(length),
            Framing::Empty => Some(0),
            Framing::Chunked | Framing::UntilClose => None,
        }
    }

    #[test]
    fn a_known_head_says_the_same_again_and_another_one_is_read() {
        let mut last = LastHead::default();
        let response = |length: usize| format!("HTTP/1.1 200 OK\r\nDate: today\r\nContent-Length: {length}\r\n\r\nbody").into_bytes();
        for wanted in [5, 5, 6, 5] {
            let head = last.read(&response(wanted), "GET").unwrap();
            assert_eq!((head.unwrap().status, length(head)), (200, Some(wanted)));
        }
        // The same head means no body where the request was HEAD, and half of it is no head yet.
        assert_eq!(length(last.read(&response(5), "HEAD").unwrap()), Some(0));
        assert_eq!(length(last.read(&response(5), "GET").unwrap()), Some(5));
        assert!(last.read(&response(5)[..30], "GET").unwrap().is_none());
        assert!(last.read(b"nonsense\r\n\r\n", "GET").is_err());
        assert_eq!(length(last.read(&response(7), "GET").unwrap()), Some(7));
    }
}
