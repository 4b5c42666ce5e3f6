//! A socket's life: opened, frames both ways, closed. What happens goes to the script as news; what the script sends is
//! taken from the line between them.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::{poll_fn, Future};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{ready, Context, Poll, Waker};
use std::time::{Duration, Instant};

use bytes::{Buf, Bytes, BytesMut};
use plimsoll_script::effect::{code, Failure, HttpResponse, Timings};
use plimsoll_script::socket::{close, Ended, Event, Handshake, Kind, Line, Traffic};
use rand::Rng;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::frames;
use super::handshake;
use super::messages::{Broken, Incoming, Reader};
use crate::network::client::Client;
use crate::network::connection::Stream;
use crate::network::failures;

/// Frames are gathered up to this before they are sent.
const OUT_BYTES: usize = 16 << 10;
/// What is read at once; more where a long message comes.
const READ_BYTES: usize = 4 << 10;
const LARGE_READ_BYTES: usize = 64 << 10;
/// How long a server may take to answer the closing. k6 waits without end.
const CLOSING: Duration = Duration::from_secs(10);
/// Reads of what is there when a socket is given up.
const MOST_DRAINED: usize = 64;
/// How long what a script has left may still come. Closed at once, with bytes that nobody has read, the connection would be
/// reset, and the server would lose what it had not read either.
const LINGER: Duration = Duration::from_secs(1);
/// Pings whose answers are awaited; of more, the oldest is given up.
const MOST_PINGS: usize = 1000;

/// What happened to sockets and is not told yet, by their numbers.
pub type News = Rc<RefCell<VecDeque<(u32, Event)>>>;

/// Opens the socket and carries it to its end.
pub async fn run(client: &Client, line: Rc<Line>, news: News) {
    let tell = |event| {
        line.told(&event);
        news.borrow_mut().push_back((line.number, event));
    };
    let (began, request) = (Instant::now(), &line.request);
    let failed = |response| {
        tell(Event::Opened(Box::new(Handshake { response, refused: None, took: began.elapsed() })));
    };
    if let Some(failure) = handshake::hindrance(request) {
        return failed(Box::new(HttpResponse::failed(failure, Timings::default())));
    }
    // Apart, as what it takes to connect is large, and the socket lives on without it.
    let (response, connection) = match Box::pin(client.upgrade(request)).await {
        Ok(opened) => opened,
        Err(response) => return failed(response),
    };
    let agreed = handshake::agreed(request, &response);
    let took = began.elapsed();
    let inflates = match agreed {
        Ok(inflates) => inflates,
        Err(refused) => {
            return tell(Event::Opened(Box::new(Handshake {
                response,
                refused: Some(refused),
                took,
            })))
        }
    };
    tell(Event::Opened(Box::new(Handshake { response, refused: None, took })));
    let (stream, buffer) = connection.into_parts();
    let mut session = Session {
        stream,
        line: line.clone(),
        news: news.clone(),
        reader: Reader::new(client.allowance(), inflates),
        incoming: buffer,
        received: 0,
        outgoing: BytesMut::new(),
        is_to_flush: false,
        under_way: UnderWay::default(),
        deflates: inflates,
        pings: VecDeque::new(),
        closing: Closing::Open,
        is_over: false,
    };
    let ended = session.until_closed().await;
    session.is_over = true;
    session.count();
    tell(Event::Closed(Box::new(ended)));
    if line.is_left() {
        tokio::task::spawn_local(session.linger());
    }
}

/// What of the frames to be sent counts once they have gone.
#[derive(Default)]
struct UnderWay {
    counted: u32,
    payload_bytes: usize,
}

/// How far the closing has come.
#[derive(Debug)]
enum Closing {
    Open,
    /// This side has closed; the server's answer is awaited.
    Sent,
    /// The other side has closed, or broken off; what is left goes out, and that was it.
    Over(Ended),
}

struct Session {
    stream: Stream,
    line: Rc<Line>,
    news: News,
    reader: Reader,
    incoming: BytesMut,
    /// Bytes since they were last counted.
    received: u64,
    outgoing: BytesMut,
    is_to_flush: bool,
    under_way: UnderWay,
    deflates: bool,
    /// Pings of the script that were sent, with what they carry.
    pings: VecDeque<(Bytes, Instant)>,
    closing: Closing,
    /// Nothing is left to say to the server.
    is_over: bool,
}

impl Session {
    async fn until_closed(&mut self) -> Ended {
        let mut limit: Option<Pin<Box<tokio::time::Sleep>>> = None;
        poll_fn(move |context| {
            if let Poll::Ready(ended) = self.poll(context) {
                return Poll::Ready(ended);
            }
            if !matches!(self.closing, Closing::Open) || self.line.is_left() {
                let limit = limit.get_or_insert_with(|| Box::pin(tokio::time::sleep(CLOSING)));
                if limit.as_mut().poll(context).is_ready() {
                    return Poll::Ready(self.given_up());
                }
            }
            Poll::Pending
        })
        .await
    }

    /// The server did not answer the closing in time, or takes nothing any more.
    fn given_up(&mut self) -> Ended {
        match std::mem::replace(&mut self.closing, Closing::Open) {
            Closing::Over(ended) => ended,
            _ => Ended::now(
                close::ABNORMAL,
                format!("the server did not answer the closing for {} s", CLOSING.as_secs()),
            ),
        }
    }

    /// Sends and receives as far as it goes without waiting.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Ended> {
        self.line.wait(context);
        loop {
            let sent = self.poll_send(context);
            if let Poll::Ready(Err(error)) = sent {
                // What the server said before it broke off is worth more than that it broke off.
                return Poll::Ready(self.broken_off(&error));
            }
            if let Closing::Over(ended) = &self.closing {
                return sent.map(|_| ended.clone());
            }
            if self.line.is_left() {
                return sent.map(|_| Ended::now(close::GOING_AWAY, ""));
            }
            if !self.line.has_room() {
                return Poll::Pending;
            }
            let has_more = self.take_incoming();
            if has_more {
                continue;
            }
            match self.poll_read(context) {
                Poll::Pending => {
                    self.rest();
                    return Poll::Pending;
                }
                Poll::Ready(Ok(0)) => return Poll::Ready(self.end_of_stream()),
                Poll::Ready(Ok(_)) => {}
                Poll::Ready(Err(error)) => return Poll::Ready(self.broken_off(&error)),
            }
        }
    }

    /// Gives back what long messages took: a socket may wait for a long time.
    fn rest(&mut self) {
        for buffer in [&mut self.incoming, &mut self.outgoing] {
            if buffer.is_empty() && buffer.capacity() > OUT_BYTES {
                *buffer = BytesMut::new();
            }
        }
    }

    /// Reads on until the server closes, for nobody.
    async fn linger(mut self) {
        let read_on = poll_fn(|context| loop {
            self.incoming.clear();
            if matches!(ready!(self.poll_read(context)), Ok(0) | Err(_)) {
                return Poll::Ready(());
            }
        });
        let _ = tokio::time::timeout(LINGER, read_on).await;
    }

    fn end_of_stream(&mut self) -> Ended {
        Ended::now(close::ABNORMAL, "unexpected EOF")
    }

    fn broken_off(&mut self, error: &io::Error) -> Ended {
        if let Closing::Over(ended) = &self.closing {
            return ended.clone();
        }
        match error.kind() {
            // As k6 says of both.
            io::ErrorKind::UnexpectedEof => self.end_of_stream(),
            _ => Ended {
                failure: Some(failures::of_exchange(error)),
                ..Ended::now(close::ABNORMAL, "")
            },
        }
    }

    /// Takes what is complete of what has come; whether that changed anything that concerns sending or room.
    fn take_incoming(&mut self) -> bool {
        while self.line.has_room() {
            match self.reader.next(&mut self.incoming) {
                Ok(None) => return false,
                Ok(Some(incoming)) => {
                    self.take(incoming);
                    if matches!(self.closing, Closing::Over(_)) || !self.outgoing.is_empty() {
                        return true;
                    }
                }
                Err(broken) => {
                    self.break_off(broken);
                    return true;
                }
            }
        }
        true
    }

    fn take(&mut self, incoming: Incoming) {
        match incoming {
            Incoming::Message { kind, bytes, claim } => {
                self.tell(Event::Message { kind, bytes, claim });
            }
            Incoming::Ping(payload) => {
                if matches!(self.closing, Closing::Open) {
                    self.write(Kind::Pong, payload.to_vec());
                }
                self.tell(Event::Ping);
            }
            Incoming::Pong(payload) => {
                let took = self.ping_answered(&payload);
                self.tell(Event::Pong(took));
            }
            Incoming::Close { code, reason } => {
                if matches!(self.closing, Closing::Open) {
                    let answer = if code == close::NO_STATUS {
                        Vec::new()
                    } else {
                        code.to_be_bytes().to_vec()
                    };
                    self.write(Kind::Close, answer);
                }
                self.closing = Closing::Over(Ended::now(code, reason));
            }
        }
    }

    /// The time since the ping that this answers; those before it are answered with it (RFC 6455, section 5.5.3).
    fn ping_answered(&mut self, payload: &[u8]) -> Option<Duration> {
        let at = self.pings.iter().position(|(sent, _)| sent == payload)?;
        self.pings.drain(..=at).next_back().map(|(_, at)| at.elapsed())
    }

    fn break_off(&mut self, broken: Broken) {
        if matches!(self.closing, Closing::Open) {
            self.write(Kind::Close, broken.code.to_be_bytes().to_vec());
        }
        let failure = Failure { code: code::GENERIC, message: broken.what.clone() };
        self.closing =
            Closing::Over(Ended { failure: Some(failure), ..Ended::now(broken.code, broken.what) });
    }

    fn tell(&mut self, event: Event) {
        self.count();
        self.line.told(&event);
        self.news.borrow_mut().push_back((self.line.number, event));
    }

    /// Leaves the bytes of the connection to the line.
    fn count(&mut self) {
        let (mut sent, mut received) = (0, std::mem::take(&mut self.received));
        if let Stream::Tls(tls) = &self.stream {
            (sent, received) = tls.get_ref().0.traffic.take();
        }
        self.line.note(Traffic { frames_sent: 0, bytes_sent: sent, bytes_received: received });
    }

    /// Puts a frame behind those that are to be sent.
    fn write(&mut self, kind: Kind, mut payload: Vec<u8>) {
        let is_compressed = self.deflates && kind.is_message() && !payload.is_empty();
        if is_compressed {
            payload = super::deflate::compressed(&payload);
        }
        frames::write(&mut self.outgoing, kind, is_compressed, rand::rng().random(), &mut payload);
        self.outgoing.extend_from_slice(&payload);
    }

    /// Takes frames of the script, as long as there is room for them.
    fn take_outgoing(&mut self) {
        while self.outgoing.len() < OUT_BYTES && matches!(self.closing, Closing::Open) {
            let Some(next) = self.line.next_outgoing() else {
                return;
            };
            self.under_way.counted += u32::from(self.line.counts(next.kind));
            self.under_way.payload_bytes += next.payload.len();
            match next.kind {
                Kind::Close => self.closing = Closing::Sent,
                Kind::Ping => {
                    if self.pings.len() >= MOST_PINGS {
                        self.pings.pop_front();
                    }
                    self.pings.push_back((next.payload.clone().into(), Instant::now()));
                }
                _ => {}
            }
            self.write(next.kind, next.payload);
        }
    }

    /// Ready when all that was to be sent has gone.
    fn poll_send(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            if self.outgoing.is_empty() && !self.is_to_flush {
                let UnderWay { counted, payload_bytes } = std::mem::take(&mut self.under_way);
                self.line.sent(counted, payload_bytes);
                self.take_outgoing();
                if self.outgoing.is_empty() {
                    return Poll::Ready(Ok(()));
                }
            }
            ready!(self.poll_write(context))?;
        }
    }

    fn poll_write(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.outgoing.is_empty() {
            let written = match &mut self.stream {
                Stream::Plain(tcp) => ready!(Pin::new(tcp).poll_write(context, &self.outgoing))?,
                Stream::Tls(tls) => ready!(Pin::new(tls).poll_write(context, &self.outgoing))?,
            };
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.outgoing.advance(written);
            match &self.stream {
                Stream::Plain(_) => {
                    self.line.note(Traffic { bytes_sent: written as u64, ..Traffic::default() });
                }
                Stream::Tls(_) => self.is_to_flush = true,
            }
        }
        if let (Stream::Tls(tls), true) = (&mut self.stream, self.is_to_flush) {
            ready!(Pin::new(tls).poll_flush(context))?;
            self.is_to_flush = false;
        }
        Poll::Ready(Ok(()))
    }

    /// Reads once more; 0 at the end.
    fn poll_read(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let room = if self.incoming.len() >= READ_BYTES { LARGE_READ_BYTES } else { READ_BYTES };
        self.incoming.reserve(room);
        let before = self.incoming.len();
        let mut into = ReadBuf::uninit(self.incoming.spare_capacity_mut());
        match &mut self.stream {
            Stream::Plain(tcp) => ready!(Pin::new(tcp).poll_read(context, &mut into))?,
            Stream::Tls(tls) => ready!(Pin::new(tls).poll_read(context, &mut into))?,
        }
        let read = into.filled().len();
        // SAFETY: the reader has filled that many bytes behind those that were there.
        unsafe { self.incoming.set_len(before + read) };
        self.received += read as u64;
        Poll::Ready(Ok(read))
    }
}

/// A socket that its iteration leaves open says that it goes, as far as that needs no waiting.
impl Drop for Session {
    fn drop(&mut self) {
        if self.is_over || !matches!(self.closing, Closing::Open) || !self.outgoing.is_empty() {
            return;
        }
        self.write(Kind::Close, close::NORMAL.to_be_bytes().to_vec());
        let context = &mut Context::from_waker(Waker::noop());
        let _ = self.poll_write(context);
        // What is there and not read would reset the connection, and the goodbye might not come.
        for _ in 0..MOST_DRAINED {
            self.incoming.clear();
            if !matches!(self.poll_read(context), Poll::Ready(Ok(1..))) {
                break;
            }
        }
    }
}
