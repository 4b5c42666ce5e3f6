//! One HTTP/2 connection (RFC 9113): all requests of a VU to a host share it.

use std::future::{poll_fn, Future};
use std::net::SocketAddr;
use std::pin::{pin, Pin};
use std::rc::Rc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use h2::client::{ResponseFuture, SendRequest};
use h2::{RecvStream, SendStream};
use http::{HeaderName, HeaderValue, Method, Request, Uri};
use plimsoll_script::allowance::{Allowance, Claim, Gathered, TooLarge, MOST_HEAD_BYTES};
use plimsoll_script::effect::{code, Failure, Head, HttpRequest, HttpResponse, Timings, Tls};
use tokio_rustls::client::TlsStream;

use crate::network::connection::too_long;
use crate::network::failures;
use crate::network::traffic::{Counted, Traffic};
use crate::timer::milliseconds;

/// What a server may send before it must wait for us: on one stream, and on all together.
const STREAM_WINDOW_BYTES: u32 = 4 << 20;
const CONNECTION_WINDOW_BYTES: u32 = 16 << 20;
/// h2 counts 32 bytes for each header beside its text. More than this it refuses itself.
const MOST_HEADER_LIST_BYTES: u32 = 1 << 20;
/// Of a body that nobody wants; another stream costs nothing.
const MOST_PASSED_OVER_BYTES: usize = 256 << 10;
/// Headers that belong to one connection, or that HTTP/2 says otherwise (RFC 9113, sections 8.2.2 and 8.3.1).
const NOT_SENT: [&str; 8] = [
    "connection",
    "keep-alive",
    "proxy-connection",
    "transfer-encoding",
    "trailer",
    "upgrade",
    "host",
    "content-length",
];

pub struct Http2 {
    sender: SendRequest<Bytes>,
    remote: SocketAddr,
    tls: Tls,
    traffic: Rc<Traffic>,
}

/// Why an exchange failed, and whether it is the connection that is gone: then another may serve the request.
pub struct Broken {
    pub failure: Failure,
    pub is_gone: bool,
}

impl Broken {
    fn generic(message: String) -> Self {
        Self { failure: Failure { code: code::GENERIC, message }, is_gone: false }
    }
}

impl From<TooLarge> for Broken {
    fn from(over: TooLarge) -> Self {
        Self::generic(over.to_string())
    }
}

impl From<h2::Error> for Broken {
    fn from(error: h2::Error) -> Self {
        Self { failure: failures::of_http2(&error), is_gone: error.is_io() || error.is_go_away() }
    }
}

impl Http2 {
    /// Greets the server; the connection then serves itself until the last request and this have gone.
    pub async fn begin(
        stream: TlsStream<Counted>,
        remote: SocketAddr,
        tls: Tls,
    ) -> Result<Self, Failure> {
        let traffic = stream.get_ref().0.traffic.clone();
        let mut builder = h2::client::Builder::new();
        builder
            .enable_push(false)
            .initial_window_size(STREAM_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES);
        builder.max_header_list_size(MOST_HEADER_LIST_BYTES);
        let (sender, connection) =
            builder.handshake(stream).await.map_err(|error| failures::of_http2(&error))?;
        tokio::task::spawn_local(async move {
            // Its errors reach the requests that are under way.
            let _ = connection.await;
        });
        Ok(Self { sender, remote, tls, traffic })
    }

    /// The response to a request. Adds the phases to `timings`.
    pub async fn exchange(
        &self,
        request: &HttpRequest,
        allowance: &Rc<Allowance>,
        timings: &mut Timings,
    ) -> Result<Box<HttpResponse>, Broken> {
        let head = head_of(request).map_err(Broken::generic)?;
        let ready = Instant::now();
        let mut sender = self.sender.clone().ready().await?;
        let (answer, stream) = sender.send_request(head, request.body.is_empty())?;
        // The server may answer before it has read everything.
        let mut upload =
            Upload { sending: pin!(send_body(stream, request.body.clone())), ended: None };
        let (head, incoming) = upload.beside(receive_head(answer)).await?;
        let first_byte = Instant::now();
        let sent = upload.ended.map_or(first_byte, |ended| ended.min(first_byte));
        let lines = as_lines(&head)?;
        let status = head.status.as_u16();
        let goes_on = request.goes_on_after(
            status,
            head.headers.get(http::header::LOCATION).is_some_and(|location| !location.is_empty()),
        );
        let mut claim = Claim::on(allowance);
        let is_coded = head.headers.contains_key(http::header::CONTENT_ENCODING)
            && may_have_body(request, status);
        let keep = if goes_on || request.discards(is_coded) {
            Keep::Nothing { at_most: goes_on.then_some(MOST_PASSED_OVER_BYTES) }
        } else {
            Keep::All(&mut claim)
        };
        let body = upload.beside(receive_body(incoming, length_of(request, &head), keep)).await?;
        let finished = Instant::now();
        timings.sending = milliseconds(ready, sent);
        timings.waiting = milliseconds(sent, first_byte);
        timings.receiving = milliseconds(first_byte, finished);
        let (bytes_sent, bytes_received) = self.traffic.take();
        Ok(Box::new(HttpResponse {
            status,
            proto: "HTTP/2.0",
            is_coded,
            head: lines,
            body,
            claim,
            timings: *timings,
            failure: None,
            remote: Some(self.remote),
            tls: Some(self.tls),
            bytes_sent,
            bytes_received,
            finished,
            took: Duration::ZERO,
        }))
    }
}

/// A request's body on its way while the response comes.
struct Upload<'a, F> {
    sending: Pin<&'a mut F>,
    /// When the last of it went, or it was seen that the rest cannot; what the response says counts then.
    ended: Option<Instant>,
}

impl<F: Future> Upload<'_, F> {
    /// The work's result; the upload goes on meanwhile.
    async fn beside<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        poll_fn(|context| {
            if self.ended.is_none() && self.sending.as_mut().poll(context).is_ready() {
                self.ended = Some(Instant::now());
            }
            work.as_mut().poll(context)
        })
        .await
    }
}

/// What becomes of a body.
enum Keep<'a> {
    All(&'a mut Claim),
    /// It is thrown away, and left at all after so many bytes.
    Nothing {
        at_most: Option<usize>,
    },
}

fn may_have_body(request: &HttpRequest, status: u16) -> bool {
    request.method != "HEAD" && status != 204 && status != 304
}

/// What the head says of the body's length.
fn length_of(request: &HttpRequest, head: &http::response::Parts) -> Option<usize> {
    let length = head.headers.get(http::header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok();
    length.filter(|_| may_have_body(request, head.status.as_u16()))
}

fn head_of(request: &HttpRequest) -> Result<Request<()>, String> {
    let named = |wanted: &str| {
        request
            .headers
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(wanted))
            .map(|(_, value)| value.as_str())
    };
    let authority = named("host").unwrap_or(&request.address.origin.authority);
    let uri = Uri::builder()
        .scheme("https")
        .authority(authority)
        .path_and_query(request.address.target())
        .build();
    let uri = uri.map_err(|error| {
        format!("'{}' cannot be sent over HTTP/2: {error}", request.address.as_str())
    })?;
    let method = Method::from_bytes(request.method.as_bytes())
        .map_err(|error| format!("method '{}': {error}", request.method))?;
    let mut head = Request::new(());
    (*head.method_mut(), *head.uri_mut()) = (method, uri);
    let headers = head.headers_mut();
    let agent = request.user_agent.iter().map(|agent| ("user-agent", agent.as_ref()));
    for (name, value) in
        agent.chain(request.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())))
    {
        if NOT_SENT.iter().any(|not| name.eq_ignore_ascii_case(not)) {
            continue;
        }
        let wrong = |error: &dyn std::fmt::Display| format!("header '{name}': {error}");
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|error| wrong(&error))?;
        headers
            .append(key, HeaderValue::from_bytes(value.as_bytes()).map_err(|error| wrong(&error))?);
    }
    if !request.body.is_empty() || matches!(request.method.as_str(), "POST" | "PUT" | "PATCH") {
        headers.insert(http::header::CONTENT_LENGTH, HeaderValue::from(request.body.len()));
    }
    Ok(head)
}

/// Sends as the server's window lets it.
async fn send_body(mut stream: SendStream<Bytes>, mut body: Bytes) -> Result<(), h2::Error> {
    while !body.is_empty() {
        stream.reserve_capacity(body.len());
        let room = match poll_fn(|context| stream.poll_capacity(context)).await {
            Some(room) => room?,
            // The server has answered and wants no more of it.
            None => return Ok(()),
        };
        let part = body.split_to(room.min(body.len()));
        stream.send_data(part, body.is_empty())?;
    }
    Ok(())
}

async fn receive_head(
    answer: ResponseFuture,
) -> Result<(http::response::Parts, RecvStream), h2::Error> {
    answer.await.map(http::Response::into_parts)
}

async fn receive_body(
    mut incoming: RecvStream,
    length: Option<usize>,
    mut keep: Keep<'_>,
) -> Result<Bytes, Broken> {
    if let (Keep::All(claim), Some(length)) = (&keep, length) {
        claim.admits(length)?;
    }
    let (mut first, mut joined, mut received) = (Bytes::new(), Gathered::default(), 0);
    while let Some(part) = incoming.data().await {
        let part = part?;
        incoming.flow_control().release_capacity(part.len())?;
        received += part.len();
        match &mut keep {
            Keep::Nothing { at_most } if at_most.is_some_and(|most| received > most) => {
                return Ok(Bytes::new())
            }
            Keep::Nothing { .. } => {}
            Keep::All(claim) if first.is_empty() => {
                claim.grow_to(received)?;
                first = part;
            }
            Keep::All(claim) => {
                if joined.length() == 0 {
                    claim.add(&mut joined, &first)?;
                }
                claim.add(&mut joined, &part)?;
            }
        }
    }
    if length.is_some_and(|length| received < length) {
        return Err(Broken::generic("unexpected EOF".into()));
    }
    Ok(if joined.length() == 0 { first } else { joined.whole() })
}

/// The head as HTTP/1.1 would have written it, which is how responses keep it.
fn as_lines(head: &http::response::Parts) -> Result<Head, Broken> {
    let reason = head.status.canonical_reason().unwrap_or_default();
    let mut lines = format!("HTTP/2.0 {} {reason}\r\n", head.status.as_u16()).into_bytes();
    for (name, value) in &head.headers {
        for part in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
            lines.extend_from_slice(part);
        }
    }
    if lines.len() > MOST_HEAD_BYTES {
        return Err(Broken::generic(too_long("head")));
    }
    Ok(Head(Bytes::from(lines)))
}
