//! A VU's HTTP client: connects, reuses, times each phase as k6 does, and turns every failure into data.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use plimsoll_script::address::Origin;
use plimsoll_script::effect::{Failure, Head, HttpRequest, HttpResponse, Timings};
use tokio::net::TcpStream;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::ProtocolVersion;
use tokio_rustls::TlsConnector;

use crate::connection::{Connection, Stream};
use crate::deadline::Deadlines;
use crate::tls::Tls;

/// k6's numbers for requests without a response.
mod code {
    pub const GENERIC: u32 = 1000;
    pub const TIMEOUT: u32 = 1050;
    pub const DNS: u32 = 1101;
    pub const TCP: u32 = 1200;
    pub const REFUSED: u32 = 1212;
    pub const RESET: u32 = 1220;
    pub const TLS: u32 = 1300;
}

/// What all VUs of a thread share: TLS configuration, resolved names and the time limits of requests.
pub struct Network {
    pub deadlines: Deadlines,
    tls: Arc<Tls>,
    names: RefCell<HashMap<(String, u16), SocketAddr>>,
    reuse: bool,
}

impl Network {
    pub fn new(tls: Arc<Tls>, reuse: bool) -> Rc<Self> {
        Rc::new(Self { deadlines: Deadlines::default(), tls, names: RefCell::default(), reuse })
    }
}

pub struct Client {
    network: Rc<Network>,
    idle: RefCell<Vec<(Rc<Origin>, Connection)>>,
}

pub fn milliseconds(from: Instant, to: Instant) -> f64 {
    to.saturating_duration_since(from).as_secs_f64() * 1000.0
}

impl Client {
    pub fn new(network: Rc<Network>) -> Self {
        Self { network, idle: RefCell::default() }
    }

    pub fn close_idle(&self) {
        self.idle.borrow_mut().clear();
    }

    /// Carries out one request; never fails, a failure is part of the response.
    pub async fn perform(&self, request: &HttpRequest) -> Box<HttpResponse> {
        let mut timings = Timings::default();
        let attempted = self.network.deadlines.within(request.timeout, self.attempt(request, &mut timings)).await;
        let result = attempted.unwrap_or_else(|| Err(Failure { code: code::TIMEOUT, message: "request timeout".into() }));
        result.unwrap_or_else(|failure| {
            Box::new(HttpResponse {
                status: 0,
                proto: "",
                head: Head::default(),
                body: Bytes::new(),
                timings,
                failure: Some(failure),
                remote: None,
                tls_version: "",
                bytes_sent: 0,
                bytes_received: 0,
                finished: Instant::now(),
            })
        })
    }

    async fn attempt(&self, request: &HttpRequest, timings: &mut Timings) -> Result<Box<HttpResponse>, Failure> {
        let origin = &request.address.origin;
        loop {
            let began = Instant::now();
            let (mut connection, reused) = match self.take_idle(origin) {
                Some(connection) => (connection, true),
                None => (self.connect(origin, timings).await?, false),
            };
            let ready = Instant::now();
            timings.blocked = if reused { milliseconds(began, ready) } else { timings.looking_up };
            match connection.exchange(request, timings).await {
                Ok((response, keep_alive)) => {
                    if keep_alive && self.network.reuse {
                        self.idle.borrow_mut().push((origin.clone(), connection));
                    }
                    return Ok(response);
                }
                // The server closed an idle connection while the request was on its way: only a request that
                // changes nothing may be sent again (RFC 9110, section 9.2.2).
                Err(error) if reused && is_closed(&error) && matches!(request.method.as_str(), "GET" | "HEAD" | "OPTIONS") => {}
                Err(error) => {
                    timings.waiting = milliseconds(ready, Instant::now());
                    return Err(describe(&error));
                }
            }
        }
    }

    fn take_idle(&self, origin: &Origin) -> Option<Connection> {
        let mut idle = self.idle.borrow_mut();
        while let Some(at) = idle.iter().position(|(known, _)| **known == *origin) {
            let (_, connection) = idle.swap_remove(at);
            if !connection.is_stale() {
                return Some(connection);
            }
        }
        None
    }

    async fn connect(&self, origin: &Origin, timings: &mut Timings) -> Result<Connection, Failure> {
        let failed = |message: String| Failure { code: code::TLS, message: format!("tls: {message}") };
        let tls = if origin.tls { Some(self.network.tls.config().await.map_err(failed)?) } else { None };
        let began = Instant::now();
        let remote = self.resolve(&origin.host, origin.port).await?;
        let resolved = Instant::now();
        timings.looking_up = milliseconds(began, resolved);
        let tcp = TcpStream::connect(remote).await.map_err(|error| describe(&error))?;
        let _ = tcp.set_nodelay(true);
        let connected = Instant::now();
        timings.connecting = milliseconds(resolved, connected);
        let Some(tls) = tls else { return Ok(Connection::new(Stream::Plain(tcp), remote, "")) };
        let name = ServerName::try_from(origin.host.clone()).map_err(|error| failed(error.to_string()))?;
        let stream = TlsConnector::from(tls).connect(name, tcp).await.map_err(|error| failed(error.to_string()))?;
        timings.tls_handshaking = milliseconds(connected, Instant::now());
        let version = match stream.get_ref().1.protocol_version() {
            Some(ProtocolVersion::TLSv1_2) => "tls1.2",
            _ => "tls1.3",
        };
        Ok(Connection::new(Stream::Tls(Box::new(stream)), remote, version))
    }

    async fn resolve(&self, host: &str, port: u16) -> Result<SocketAddr, Failure> {
        if let Ok(address) = host.parse::<IpAddr>() {
            return Ok(SocketAddr::new(address, port));
        }
        let key = (host.to_owned(), port);
        if let Some(known) = self.network.names.borrow().get(&key) {
            return Ok(*known);
        }
        let failed = |why: String| Failure { code: code::DNS, message: format!("lookup {host}: {why}") };
        let found: Vec<SocketAddr> = tokio::net::lookup_host((host, port)).await.map_err(|error| failed(error.to_string()))?.collect();
        let preferred = found.iter().find(|address| address.is_ipv4()).or(found.first()).copied();
        let address = preferred.ok_or_else(|| failed("no such host".into()))?;
        self.network.names.borrow_mut().insert(key, address);
        Ok(address)
    }
}

fn is_closed(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe)
}

fn describe(error: &io::Error) -> Failure {
    let code = match error.kind() {
        io::ErrorKind::ConnectionRefused => code::REFUSED,
        io::ErrorKind::ConnectionReset | io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe => code::RESET,
        io::ErrorKind::InvalidData => code::GENERIC,
        _ => code::TCP,
    };
    Failure { code, message: error.to_string() }
}
