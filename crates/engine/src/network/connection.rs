//! One HTTP/1.1 connection (RFC 9112): writes a request, reads a response, and says when each phase ended.

mod body;
mod head;
mod outbox;

use std::future::{poll_fn, Future};
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Buf, Bytes, BytesMut};
use plimsoll_script::allowance::{Allowance, Claim};
use plimsoll_script::effect::{Head, HttpRequest, HttpResponse, Timings, Tls};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;
use tokio_util::either::Either;

use crate::network::proxy::Proxy;
use crate::network::traffic::{Counted, Wire};
use crate::timer::milliseconds;
use body::MOST_BUFFERED_BYTES;
pub use head::too_long;
use head::{unfold, Framing, LastHead, ResponseHead};
use outbox::Outbox;

/// A body up to this goes out with its head in one piece.
const MAX_BODY_COPIED: usize = 16 << 10;
/// Room for what is read at once, of short answers and in the middle of long ones.
const READ_BYTES: usize = 4 << 10;
const LARGE_READ_BYTES: usize = 64 << 10;

pub enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<Counted>>),
}

pub struct Connection {
    stream: Stream,
    remote: SocketAddr,
    tls: Option<Tls>,
    /// It is to this proxy, which takes the whole URL.
    proxy: Option<Arc<Proxy>>,
    buffer: BytesMut,
    request: Vec<u8>,
    outbox: Outbox,
    /// Bytes that came for the request.
    received: u64,
    /// Reading on after this many is an error.
    most_received: Option<u64>,
    last: LastHead,
}

/// A request with what is known of it before it is sent.
#[derive(Clone, Copy)]
pub struct Outgoing<'a> {
    pub request: &'a HttpRequest,
    /// The whole message, where it was made beforehand; the response then comes without its head, which nobody reads.
    pub message: Option<&'a [u8]>,
    /// What the body may take of memory.
    pub allowance: &'a Rc<Allowance>,
}

impl From<Wire> for Stream {
    fn from(wire: Wire) -> Self {
        match wire {
            Either::Left(tcp) => Self::Plain(tcp),
            Either::Right(tls) => Self::Tls(tls),
        }
    }
}

impl Connection {
    pub fn new(stream: Stream, remote: SocketAddr, tls: Option<Tls>) -> Self {
        Self {
            stream,
            remote,
            tls,
            proxy: None,
            buffer: BytesMut::with_capacity(READ_BYTES),
            request: Vec::new(),
            outbox: Outbox::default(),
            received: 0,
            most_received: None,
            last: LastHead::default(),
        }
    }

    /// The same, to a proxy that takes the whole URL.
    pub fn through(self, proxy: Option<Arc<Proxy>>) -> Self {
        Self { proxy, ..self }
    }

    /// What is below HTTP, and what has come after the last response.
    pub fn into_parts(self) -> (Stream, BytesMut) {
        (self.stream, self.buffer)
    }

    /// Whether the peer has closed or written while the connection was idle; either way it cannot be reused.
    pub fn is_stale(&self) -> bool {
        let tcp = match &self.stream {
            Stream::Plain(tcp) => tcp,
            Stream::Tls(tls) => tls.get_ref().0.tcp(),
        };
        !matches!(tcp.try_read(&mut [0u8; 1]), Err(error) if error.kind() == io::ErrorKind::WouldBlock)
            || !self.buffer.is_empty()
    }

    /// The response to a request that is to be sent, from `ready` on, and whether the connection may be used again. Adds
    /// the phases to `timings`.
    pub async fn exchange(
        &mut self,
        outgoing: Outgoing<'_>,
        ready: Instant,
        timings: &mut Timings,
    ) -> io::Result<(Box<HttpResponse>, bool)> {
        let exchanged = self.send_and_receive(outgoing, ready, timings).await;
        // A server that reads no more may have answered; where it has not, the sending is what failed.
        exchanged.map_err(|error| self.outbox.error.take().unwrap_or(error))
    }

    async fn send_and_receive(
        &mut self,
        outgoing: Outgoing<'_>,
        ready: Instant,
        timings: &mut Timings,
    ) -> io::Result<(Box<HttpResponse>, bool)> {
        let Outgoing { request, message, allowance } = outgoing;
        (self.received, self.most_received) = (0, None);
        self.send(request, message)?;
        if !self.outbox.is_empty() {
            self.send_some().await;
        }
        let sent = Instant::now();
        if self.fill_or_end().await? == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "EOF"));
        }
        let first_byte = Instant::now();
        let sent = match self.outbox.emptied {
            Some(emptied) => emptied.max(sent),
            None if self.outbox.is_empty() => sent,
            // The answer came before the end of the request.
            None => first_byte,
        };
        let (head, bytes) = self.read_head(request, message.is_none()).await?;
        let mut claim = Claim::on(allowance);
        let (body, is_whole) = if request.goes_on_after(head.status, head.moves) {
            (Bytes::new(), self.pass_over(head.framing).await?)
        } else {
            (
                self.read_body(
                    head.framing,
                    (!request.discards(head.is_coded)).then_some(&mut claim),
                )
                .await?,
                true,
            )
        };
        let finished = Instant::now();
        timings.sending = milliseconds(ready, sent);
        timings.waiting = milliseconds(sent, first_byte);
        timings.receiving = milliseconds(first_byte, finished);
        let (mut bytes_sent, mut bytes_received) = (self.outbox.written, self.received);
        if let Stream::Tls(tls) = &self.stream {
            (bytes_sent, bytes_received) = tls.get_ref().0.traffic.take();
        }
        let response = HttpResponse {
            status: head.status,
            proto: if head.http11 { "HTTP/1.1" } else { "HTTP/1.0" },
            head: Head(bytes),
            body,
            claim,
            // Where there may be no body, none was coded.
            is_coded: head.is_coded && head.framing != Framing::Empty,
            timings: *timings,
            failure: None,
            remote: Some(self.remote),
            tls: self.tls,
            bytes_sent,
            bytes_received,
            finished,
            took: Duration::ZERO,
        };
        if self.received > MOST_BUFFERED_BYTES as u64 && self.buffer.is_empty() {
            self.buffer = BytesMut::with_capacity(READ_BYTES);
        }
        let is_over = is_whole && self.outbox.is_empty() && self.outbox.error.is_none();
        Ok((Box::new(response), head.keep_alive && is_over && head.framing != Framing::UntilClose))
    }

    /// The head of the final response, and its bytes where they are wanted.
    async fn read_head(
        &mut self,
        request: &HttpRequest,
        is_wanted: bool,
    ) -> io::Result<(ResponseHead, Bytes)> {
        loop {
            let Some(head) = self.last.read(&self.buffer, &request.method)? else {
                self.fill().await?;
                continue;
            };
            let bytes = if is_wanted || (head.is_coded && request.checks_coding) {
                let mut bytes = self.buffer.split_to(head.length);
                if head.is_folded {
                    unfold(&mut bytes);
                }
                bytes.freeze()
            } else {
                self.buffer.advance(head.length);
                Bytes::new()
            };
            // 1xx responses announce the real one (RFC 9110, section 15.2).
            if !(100..200).contains(&head.status) || head.status == 101 {
                return Ok((head, bytes));
            }
        }
    }

    /// Begins to send the message, or makes the request's; what does not go out at once is left in the outbox.
    fn send(&mut self, request: &HttpRequest, message: Option<&[u8]>) -> io::Result<()> {
        // Made beforehand, it is as the target takes it.
        if let Some(message) = message.filter(|_| self.proxy.is_none()) {
            return self.outbox.begin(&mut self.stream, message, Bytes::new());
        }
        self.request.clear();
        write_head(&mut self.request, request, self.proxy.as_deref());
        let mut rest = request.body.clone();
        if rest.len() <= MAX_BODY_COPIED {
            self.request.extend_from_slice(&rest);
            rest = Bytes::new();
        }
        self.outbox.begin(&mut self.stream, &self.request, rest)
    }

    /// Sends as far as it goes without waiting.
    async fn send_some(&mut self) {
        poll_fn(|context| {
            self.outbox.poll(&mut self.stream, context);
            std::task::Poll::Ready(())
        })
        .await
    }

    /// Reads once more into the buffer; an end of the stream is an error here.
    async fn fill(&mut self) -> io::Result<u64> {
        match self.fill_or_end().await? {
            0 => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "unexpected EOF")),
            read => Ok(read),
        }
    }

    /// Reads once more into the buffer, and goes on sending meanwhile: an answer may come before the request has gone.
    async fn fill_or_end(&mut self) -> io::Result<u64> {
        if self.most_received.is_some_and(|most| self.received > most) {
            return Err(io::ErrorKind::QuotaExceeded.into());
        }
        // More at once where a long body comes.
        self.buffer.reserve(if self.received > MOST_BUFFERED_BYTES as u64 {
            LARGE_READ_BYTES
        } else {
            READ_BYTES
        });
        let Self { stream, buffer, outbox, .. } = self;
        let read = poll_fn(|context| {
            if !outbox.is_empty() {
                outbox.poll(stream, context);
            }
            match stream {
                Stream::Plain(tcp) => pin!(tcp.read_buf(buffer)).poll(context),
                Stream::Tls(tls) => pin!(tls.read_buf(buffer)).poll(context),
            }
        });
        let read = read.await? as u64;
        self.received += read;
        Ok(read)
    }
}

/// A request as HTTP/1.1 has it, with its body.
pub fn message(request: &HttpRequest) -> Vec<u8> {
    let mut message = Vec::new();
    write_head(&mut message, request, None);
    message.extend_from_slice(&request.body);
    message
}

/// Says what the body alone decides, so that a script's own are not sent, as in k6.
const FRAMING_HEADERS: [&str; 3] = ["content-length", "transfer-encoding", "trailer"];

/// The request must be one that is not refused (`refusal`): its texts are written as they are.
fn write_head(head: &mut Vec<u8>, request: &HttpRequest, proxy: Option<&Proxy>) {
    let mut put =
        |parts: &[&str]| parts.iter().for_each(|part| head.extend_from_slice(part.as_bytes()));
    let address = &request.address;
    put(&[&request.method, " "]);
    if proxy.is_some() {
        put(&["http://", &address.origin.authority]);
    }
    put(&[address.target(), " HTTP/1.1\r\n"]);
    if let Some(authorization) = proxy.and_then(|proxy| proxy.authorization.as_ref()) {
        put(&["Proxy-Authorization: ", authorization, "\r\n"]);
    }
    if !request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        put(&["Host: ", &address.origin.authority, "\r\n"]);
    }
    if let Some(user_agent) = &request.user_agent {
        put(&["User-Agent: ", user_agent, "\r\n"]);
    }
    for (name, value) in &request.headers {
        if !FRAMING_HEADERS.iter().any(|framing| name.eq_ignore_ascii_case(framing)) {
            put(&[name, ": ", value, "\r\n"]);
        }
    }
    if !request.body.is_empty() || matches!(request.method.as_str(), "POST" | "PUT" | "PATCH") {
        put(&["Content-Length: ", &request.body.len().to_string(), "\r\n"]);
    }
    put(&["\r\n"]);
}

#[cfg(test)]
mod properties;
