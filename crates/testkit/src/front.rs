//! The site's door: HTTP/1.1 on plain connections, HTTP/1.1 or HTTP/2 (by ALPN) over TLS.

use std::io;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::TlsAcceptor;

use crate::hostile;
use crate::site::{answer, delay, Answer, Page, Seen};

/// What is known of a connection.
struct Peer {
    port: u16,
    client_certificate: bool,
    server_name: Option<String>,
}

/// Serves the site for ever.
pub async fn run(listener: TcpListener, tls: Option<Arc<ServerConfig>>) -> io::Result<()> {
    loop {
        let (stream, from) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let tls = tls.clone();
        tokio::task::spawn_local(async move {
            // A client that goes away in the middle of a request ends its connection and nothing else.
            let _ = serve(stream, from.port(), tls).await;
        });
    }
}

async fn serve(stream: TcpStream, port: u16, tls: Option<Arc<ServerConfig>>) -> io::Result<()> {
    let mut peer = Peer { port, client_certificate: false, server_name: None };
    let Some(config) = tls else {
        return http1(stream, &peer, |stream| stream.set_zero_linger()).await;
    };
    let stream = TlsAcceptor::from(config).accept(stream).await?;
    let session = stream.get_ref().1;
    peer.client_certificate = session.peer_certificates().is_some();
    peer.server_name = session.server_name().map(str::to_owned);
    if session.alpn_protocol() == Some(b"h2") {
        return http2(stream, peer).await.map_err(io::Error::other);
    }
    http1(stream, &peer, |stream| stream.get_ref().0.set_zero_linger()).await
}

async fn take_time(seen: &Seen) {
    let delay = delay(seen);
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
}

async fn http1<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    peer: &Peer,
    reset: impl Fn(&S) -> io::Result<()>,
) -> io::Result<()> {
    let mut buffer = Vec::with_capacity(4096);
    loop {
        let Some(seen) = read_request(&mut stream, &mut buffer, peer).await? else {
            return Ok(());
        };
        if let Some(reply) = hostile::reply(&seen.target) {
            match reply.send(&mut stream).await? {
                true => continue,
                false => return Ok(()),
            }
        }
        take_time(&seen).await;
        match answer(&seen) {
            Answer::Page(page) => stream.write_all(&in_http1(&page, &seen.method)).await?,
            Answer::Stall => std::future::pending().await,
            Answer::Close => return Ok(()),
            Answer::Reset => return reset(&stream),
        }
        stream.flush().await?;
    }
}

async fn read_request<S: AsyncRead + Unpin>(
    stream: &mut S,
    buffer: &mut Vec<u8>,
    peer: &Peer,
) -> io::Result<Option<Seen>> {
    let head_end = loop {
        if let Some(at) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(&buffer[..head_end]).into_owned();
    let mut lines = head.lines();
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (method, target) =
        (words.next().unwrap_or_default().to_owned(), words.next().unwrap_or("/").to_owned());
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    if hostile::is_early(&target) {
        return Ok(Some(seen(peer, method, target, "HTTP/1.1", headers, Vec::new())));
    }
    let length = headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .and_then(|(_, value)| value.parse().ok());
    let end = head_end + length.unwrap_or(0);
    while buffer.len() < end {
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
    let body = buffer[head_end..end].to_vec();
    buffer.drain(..end);
    Ok(Some(seen(peer, method, target, "HTTP/1.1", headers, body)))
}

fn seen(
    peer: &Peer,
    method: String,
    target: String,
    proto: &'static str,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
) -> Seen {
    let (client_certificate, server_name) = (peer.client_certificate, peer.server_name.clone());
    Seen { method, target, proto, headers, body, port: peer.port, client_certificate, server_name }
}

fn in_http1(page: &Page, method: &str) -> Vec<u8> {
    let reason = http::StatusCode::from_u16(page.status)
        .ok()
        .and_then(|status| status.canonical_reason())
        .unwrap_or("Known");
    let mut text =
        format!("HTTP/1.1 {} {reason}\r\nContent-Length: {}\r\n", page.status, page.body.len());
    for (name, value) in &page.headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    let mut bytes = text.into_bytes();
    if method != "HEAD" {
        bytes.extend_from_slice(&page.body);
    }
    bytes
}

async fn http2<S: AsyncRead + AsyncWrite + Unpin + 'static>(
    stream: S,
    peer: Peer,
) -> Result<(), h2::Error> {
    let peer = Rc::new(peer);
    let mut connection = h2::server::handshake(stream).await?;
    while let Some(accepted) = connection.accept().await {
        let (request, responder) = accepted?;
        let peer = peer.clone();
        tokio::task::spawn_local(async move {
            // As above: a client that goes away ends its own request only.
            let _ = respond(request, responder, &peer).await;
        });
    }
    Ok(())
}

async fn respond(
    request: http::Request<h2::RecvStream>,
    mut responder: h2::server::SendResponse<Bytes>,
    peer: &Peer,
) -> Result<(), h2::Error> {
    let (head, mut incoming) = request.into_parts();
    if hostile::is_early(head.uri.path()) {
        let refused = http::Response::builder().status(413).body(()).unwrap_or_default();
        responder
            .send_response(refused, false)?
            .send_data(Bytes::from_static(b"too much"), true)?;
        if head.uri.path() == "/early/stall" {
            // The client's part of the stream stays open and unread.
            std::future::pending::<()>().await;
        }
        return Ok(());
    }
    let mut body = Vec::new();
    while let Some(part) = incoming.data().await {
        let part = part?;
        body.extend_from_slice(&part);
        incoming.flow_control().release_capacity(part.len())?;
    }
    let mut headers: Vec<(String, String)> = head
        .headers
        .iter()
        .map(|(name, value)| {
            (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        })
        .collect();
    headers
        .push(("host".into(), head.uri.authority().map(ToString::to_string).unwrap_or_default()));
    let target = head.uri.path_and_query().map_or("/", |target| target.as_str()).to_owned();
    let seen = seen(peer, head.method.to_string(), target, "HTTP/2.0", headers, body);
    take_time(&seen).await;
    match answer(&seen) {
        Answer::Page(page) => {
            let mut response = http::Response::builder().status(page.status);
            for (name, value) in &page.headers {
                response = response.header(name, value);
            }
            let Ok(response) = response.body(()) else {
                responder.send_reset(h2::Reason::INTERNAL_ERROR);
                return Ok(());
            };
            let body =
                if head.method == http::Method::HEAD { Bytes::new() } else { page.body.into() };
            responder.send_response(response, false)?.send_data(body, true)
        }
        Answer::Stall => std::future::pending().await,
        Answer::Close => {
            responder.send_reset(h2::Reason::INTERNAL_ERROR);
            Ok(())
        }
        Answer::Reset => {
            responder.send_reset(h2::Reason::REFUSED_STREAM);
            Ok(())
        }
    }
}
