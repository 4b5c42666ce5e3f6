//! A VU's HTTP client: connects, reuses, times each phase as k6 does, and turns every failure into data.

use std::cell::RefCell;
use std::io;
use std::net::IpAddr;
use std::pin::pin;
use std::rc::Rc;
use std::time::Instant;

use plimsoll_core::options::network::HttpDebug;
use plimsoll_script::allowance::Allowance;
use plimsoll_script::effect::{code, Failure, HttpRequest, HttpResponse, Timings};
use plimsoll_script::http::address::Origin;
use plimsoll_script::http::refusal;
use tokio::sync::Mutex;

use crate::debug;
use crate::network::connection::{message, Connection, Outgoing};
use crate::network::decode::decoded;
use crate::network::dial::{Link, Network, Purpose};
use crate::network::failures;
use crate::network::http2::Http2;
use crate::timer::milliseconds;

pub struct Client {
    network: Rc<Network>,
    /// The address that connections come from.
    from: Option<IpAddr>,
    /// What the bodies of the VU's responses may take of memory.
    allowance: Rc<Allowance>,
    idle: RefCell<Vec<(Rc<Origin>, Box<Connection>)>>,
    shared: RefCell<Vec<(Rc<Origin>, Rc<Http2>)>>,
    /// Held while it is found out whether a server speaks HTTP/2.
    first: Mutex<()>,
}

/// A request that is made again and again, and whose response's head and body nobody reads.
pub struct Repeated {
    pub request: HttpRequest,
    message: Vec<u8>,
}

impl Repeated {
    pub fn new(request: HttpRequest) -> Self {
        let message = message(&request);
        Self { request, message }
    }
}

impl Client {
    /// The client of the VU with that number (from 1).
    pub fn new(network: Rc<Network>, vu: u64) -> Self {
        let from = network.rules.network.local_ip_of(vu);
        let allowance = Allowance::new(network.rules.bodies.clone());
        Self {
            network,
            from,
            allowance,
            idle: RefCell::default(),
            shared: RefCell::default(),
            first: Mutex::default(),
        }
    }

    pub fn close_idle(&self) {
        self.idle.borrow_mut().clear();
        self.shared.borrow_mut().clear();
    }

    /// Carries out one request; never fails, a failure is part of the response.
    pub async fn perform(&self, request: &HttpRequest) -> Box<HttpResponse> {
        self.carry_out(
            Outgoing { request, message: None, allowance: &self.allowance },
            Instant::now(),
        )
        .await
    }

    /// The same for a request that was called for at a moment just past.
    pub async fn repeat(&self, repeated: &Repeated, called: Instant) -> Box<HttpResponse> {
        let is_shown = self.network.rules.network.http_debug != HttpDebug::Nothing;
        let message = (!is_shown).then_some(repeated.message.as_slice());
        self.carry_out(
            Outgoing { request: &repeated.request, message, allowance: &self.allowance },
            called,
        )
        .await
    }

    async fn carry_out(&self, outgoing: Outgoing<'_>, called: Instant) -> Box<HttpResponse> {
        let (rules, request) = (&self.network.rules, outgoing.request);
        // A message that was made beforehand was looked at then.
        if let Some(message) = outgoing.message.map_or_else(|| refusal::of(request), |_| None) {
            return Box::new(HttpResponse::failed(
                Failure { code: code::GENERIC, message },
                Timings::default(),
            ));
        }
        let mut began = called;
        if let Some(pace) = &rules.pace {
            Box::pin(pace.turn()).await;
            began = Instant::now();
        }
        let shown = rules.network.http_debug;
        if shown != HttpDebug::Nothing {
            debug::show_request(shown, request, &rules.secrets);
        }
        let mut timings = Timings::default();
        if request.timeout.is_zero() {
            // The call's earlier hops have used all of it.
            return Box::new(HttpResponse::failed(timed_out(), timings));
        }
        let due = began.checked_add(request.timeout);
        let attempted = self
            .network
            .deadlines
            .until(due, pin!(self.attempt(outgoing, began, &mut timings)))
            .await;
        let result = attempted.unwrap_or_else(|| Err(timed_out()));
        let mut response =
            result.unwrap_or_else(|failure| Box::new(HttpResponse::failed(failure, timings)));
        response.took = began.elapsed();
        if shown != HttpDebug::Nothing {
            debug::show_response(shown, &response, &rules.secrets);
        }
        response
    }

    /// The response, decoded.
    async fn attempt(
        &self,
        outgoing: Outgoing<'_>,
        began: Instant,
        timings: &mut Timings,
    ) -> Result<Box<HttpResponse>, Failure> {
        let response = self.exchange(outgoing, began, timings).await?;
        if !response.is_coded {
            return Ok(response);
        }
        Ok(Box::pin(decoded(response, outgoing.request, &self.allowance)).await)
    }

    async fn exchange(
        &self,
        outgoing: Outgoing<'_>,
        mut began: Instant,
        timings: &mut Timings,
    ) -> Result<Box<HttpResponse>, Failure> {
        let request = outgoing.request;
        let origin = &request.address.origin;
        // The server closed a connection while the request was on its way: only a request that changes nothing may be
        // sent again (RFC 9110, section 9.2.2).
        let may_repeat = || matches!(request.method.as_str(), "GET" | "HEAD" | "OPTIONS");
        loop {
            let (link, reused) = match self.take_kept(origin) {
                Some(link) => (link, true),
                None => Box::pin(self.open(request, timings)).await?,
            };
            let ready = Instant::now();
            timings.blocked = milliseconds(began, ready);
            match link {
                Link::Http1(mut connection) => {
                    match connection.exchange(outgoing, ready, timings).await {
                        Ok((response, keep_alive)) => {
                            if keep_alive && self.network.rules.reuse {
                                self.idle.borrow_mut().push((origin.clone(), connection));
                            }
                            return Ok(response);
                        }
                        Err(error) if reused && is_closed(&error) && may_repeat() => {}
                        Err(error) => {
                            timings.waiting = milliseconds(ready, Instant::now());
                            return Err(failures::of_exchange(&error));
                        }
                    }
                }
                Link::Http2(http2) => {
                    match Box::pin(http2.exchange(request, &self.allowance, timings)).await {
                        Ok(response) => return Ok(response),
                        Err(broken) => {
                            if broken.is_gone {
                                self.shared
                                    .borrow_mut()
                                    .retain(|(_, known)| !Rc::ptr_eq(known, &http2));
                            }
                            if !(broken.is_gone && reused && may_repeat()) {
                                timings.waiting = milliseconds(ready, Instant::now());
                                return Err(broken.failure);
                            }
                        }
                    }
                }
            }
            began = Instant::now();
        }
    }

    /// A connection for a socket, whose response says whether it is one.
    pub async fn upgrade(
        &self,
        request: &HttpRequest,
    ) -> Result<(Box<HttpResponse>, Box<Connection>), Box<HttpResponse>> {
        let (began, mut timings) = (Instant::now(), Timings::default());
        let due = began.checked_add(request.timeout);
        let asked = self.network.deadlines.until(due, pin!(self.ask(request, &mut timings))).await;
        asked
            .unwrap_or_else(|| Err(timed_out()))
            .map_err(|failure| Box::new(HttpResponse::failed(failure, timings)))
    }

    async fn ask(
        &self,
        request: &HttpRequest,
        timings: &mut Timings,
    ) -> Result<(Box<HttpResponse>, Box<Connection>), Failure> {
        if let Some(message) = refusal::of(request) {
            return Err(Failure { code: code::GENERIC, message });
        }
        let origin = &request.address.origin;
        let link = self.network.connect(origin, Purpose::Socket, self.from, timings).await?;
        let Link::Http1(mut connection) = link else {
            return Err(Failure {
                code: code::GENERIC,
                message: "the server speaks HTTP/2 where HTTP/1.1 was asked for".into(),
            });
        };
        let outgoing = Outgoing { request, message: None, allowance: &self.allowance };
        let (response, _) = connection
            .exchange(outgoing, Instant::now(), timings)
            .await
            .map_err(|error| failures::of_exchange(&error))?;
        Ok((response, connection))
    }

    pub fn allowance(&self) -> &Rc<Allowance> {
        &self.allowance
    }

    /// A connection that is there already.
    fn take_kept(&self, origin: &Rc<Origin>) -> Option<Link> {
        if origin.tls {
            let shared = self.shared.borrow();
            if let Some((_, http2)) = shared.iter().find(|(known, _)| is_same(known, origin)) {
                return Some(Link::Http2(http2.clone()));
            }
        }
        let mut idle = self.idle.borrow_mut();
        while let Some(at) = idle.iter().position(|(known, _)| is_same(known, origin)) {
            let (_, connection) = idle.swap_remove(at);
            if !connection.is_stale() {
                return Some(Link::Http1(connection));
            }
        }
        None
    }

    /// A connection to use, and whether it was there already. Requests that come at once to a server that may speak
    /// HTTP/2 wait for the first of them to find out.
    async fn open(
        &self,
        request: &HttpRequest,
        timings: &mut Timings,
    ) -> Result<(Link, bool), Failure> {
        let origin = &request.address.origin;
        if origin.is_nowhere() {
            return Err(request.address.mistake());
        }
        let reuse = self.network.rules.reuse;
        let turn = if origin.tls && reuse && !self.network.is_http1_only(origin) {
            Some(self.first.lock().await)
        } else {
            None
        };
        if let Some(link) = turn.as_ref().and_then(|_| self.take_kept(origin)) {
            return Ok((link, true));
        }
        let link = self.network.connect(origin, Purpose::Requests, self.from, timings).await?;
        if let (Link::Http2(http2), true) = (&link, reuse) {
            self.shared.borrow_mut().push((origin.clone(), http2.clone()));
        }
        Ok((link, false))
    }
}

fn timed_out() -> Failure {
    Failure { code: code::TIMEOUT, message: "request timeout".into() }
}

/// Requests of one address share their origin, so that mostly the pointers tell.
fn is_same(known: &Rc<Origin>, origin: &Rc<Origin>) -> bool {
    Rc::ptr_eq(known, origin) || **known == **origin
}

fn is_closed(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe
    )
}
