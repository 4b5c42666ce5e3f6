//! From an origin to a connection: `hosts`, `blockHostnames`, proxies, DNS, `blacklistIPs`, `localIPs`, TCP, TLS.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, RawFd};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use plimsoll_core::options::network::{DnsPolicy, DnsSelect};
use plimsoll_script::effect::{code, Failure, Timings, Tls};
use plimsoll_script::http::address::Origin;
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, ProtocolVersion};
use tokio_rustls::TlsConnector;
use tokio_util::either::Either;

use crate::limits;
use crate::network::connection::{Connection, Stream};
use crate::network::deadline::Deadlines;
use crate::network::failures;
use crate::network::http2::Http2;
use crate::network::rules::Rules;
use crate::network::tls;
use crate::network::traffic::Counted;
use crate::self_watch::Refusals;
use crate::timer::milliseconds;

/// What all VUs of a thread share: the rules, resolved names and the time limits of requests.
pub struct Network {
    pub deadlines: Deadlines,
    pub rules: Arc<Rules>,
    pub refusals: Refusals,
    /// The highest number of a file that a connection may have; what is above is left to the run's own files.
    last_file: RawFd,
    names: RefCell<HashMap<String, Answer>>,
    /// Hosts and ports that speak TLS but no HTTP/2.
    http1_only: RefCell<HashSet<(String, u16)>>,
    /// What this thread has told `rules.reached`, which takes a lock.
    reached: RefCell<HashSet<SocketAddr>>,
}

/// What DNS said of a name.
struct Answer {
    ips: Rc<[IpAddr]>,
    got: Instant,
    /// How often it was used.
    uses: usize,
}

/// A connection of the protocol that both sides speak.
pub enum Link {
    Http1(Box<Connection>),
    Http2(Rc<Http2>),
}

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Requests of whichever protocol both sides speak.
    Requests,
    /// A WebSocket, which begins in HTTP/1.1 and goes through a tunnel of any proxy.
    Socket,
}

impl Network {
    pub fn new(rules: Arc<Rules>) -> Rc<Self> {
        Rc::new(Self {
            deadlines: Deadlines::default(),
            rules,
            refusals: Refusals::default(),
            last_file: limits::last_file_of_connections(),
            names: RefCell::default(),
            http1_only: RefCell::default(),
            reached: RefCell::default(),
        })
    }

    /// Whether a server is known not to speak HTTP/2.
    pub fn is_http1_only(&self, origin: &Origin) -> bool {
        self.http1_only.borrow().contains(&(origin.host.clone(), origin.port))
    }

    /// Makes a connection; its phases go to `timings`.
    pub async fn connect(
        &self,
        origin: &Origin,
        purpose: Purpose,
        from: Option<IpAddr>,
        timings: &mut Timings,
    ) -> Result<Link, Failure> {
        let config = self.tls_to(origin, purpose).await?;
        self.allow(origin)?;
        let proxy = self.rules.proxies.between(origin)?;
        let began = Instant::now();
        let through = |failure| match &proxy {
            Some(proxy) => proxy.out_of_reach(failure),
            None => failure,
        };
        let remote = self
            .locate(proxy.as_ref().map_or(origin, |proxy| &proxy.origin))
            .await
            .map_err(through)?;
        let resolved = Instant::now();
        timings.looking_up = milliseconds(began, resolved);
        let tcp = dial(remote, from, self.last_file)
            .await
            .map_err(|error| through(self.failed(&error)))?;
        let _ = tcp.set_nodelay(true);
        let wire = match &proxy {
            Some(proxy) => {
                self.rules.proxies.note_used(proxy);
                Box::pin(proxy.tunnel(tcp, &self.rules.tls, origin, purpose)).await?
            }
            None => {
                self.note_reached(remote);
                Either::Left(tcp)
            }
        };
        let connected = Instant::now();
        timings.connecting = milliseconds(resolved, connected);
        let Some(config) = config else {
            let connection = Connection::new(wire.into(), remote, None);
            return Ok(Link::Http1(Box::new(
                connection.through(proxy.filter(|proxy| proxy.takes_whole_url(origin, purpose))),
            )));
        };
        let name = tls::server_name(&origin.host)
            .map_err(|message| Failure { code: code::TLS, message })?;
        let stream = TlsConnector::from(config)
            .connect(name, Counted::new(wire))
            .await
            .map_err(|error| failures::of_exchange(&error))?;
        timings.tls_handshaking = milliseconds(connected, Instant::now());
        let session = stream.get_ref().1;
        let agreed = agreed(session);
        if session.alpn_protocol() == Some(b"h2") {
            return Http2::begin(stream, remote, agreed)
                .await
                .map(|http2| Link::Http2(Rc::new(http2)));
        }
        if purpose == Purpose::Requests {
            self.http1_only.borrow_mut().insert((origin.host.clone(), origin.port));
        }
        Ok(Link::Http1(Box::new(Connection::new(
            Stream::Tls(Box::new(stream)),
            remote,
            Some(agreed),
        ))))
    }

    /// How TLS is spoken to an origin that wants it.
    async fn tls_to(
        &self,
        origin: &Origin,
        purpose: Purpose,
    ) -> Result<Option<Arc<ClientConfig>>, Failure> {
        if !origin.tls {
            return Ok(None);
        }
        let tls = &self.rules.tls;
        let config = match purpose {
            Purpose::Requests => tls.config(&origin.host, origin.port).await,
            Purpose::Socket => tls.config_of_http1(&origin.host, origin.port).await.map(Arc::new),
        };
        config.map(Some).map_err(|message| Failure { code: code::TLS, message })
    }

    fn note_reached(&self, remote: SocketAddr) {
        let mut reached = self.reached.borrow_mut();
        if !reached.contains(&remote) {
            self.rules.reached.note(remote);
            // A script that calls ever new addresses must not fill the memory.
            if reached.len() >= 1000 {
                reached.clear();
            }
            reached.insert(remote);
        }
    }

    fn failed(&self, error: &std::io::Error) -> Failure {
        self.refusals.note(error);
        failures::of_dialling(error)
    }

    /// Fails where `blockHostnames` has the origin.
    fn allow(&self, origin: &Origin) -> Result<(), Failure> {
        let blocked = &self.rules.network.block_hostnames;
        if blocked.iter().any(|pattern| pattern.matches(&origin.host, origin.port)) {
            return Err(Failure {
                code: code::BLOCKED_HOSTNAME,
                message: "hostname is blocked".into(),
            });
        }
        Ok(())
    }

    /// The address to connect to, unless the options forbid it.
    async fn locate(&self, origin: &Origin) -> Result<SocketAddr, Failure> {
        let network = &self.rules.network;
        let (host, port) = (origin.host.as_str(), origin.port);
        let remote = match network.target_of(host, port) {
            Some(target) => SocketAddr::new(target.ip, target.port.unwrap_or(port)),
            None => SocketAddr::new(self.resolve(host).await?, port),
        };
        if network.blacklist_ips.iter().any(|range| range.contains(remote.ip())) {
            return Err(Failure {
                code: code::BLACKLISTED_IP,
                message: "ip is blacklisted".into(),
            });
        }
        Ok(remote)
    }

    async fn resolve(&self, host: &str) -> Result<IpAddr, Failure> {
        if let Ok(ip) = host.parse() {
            return Ok(ip);
        }
        let dns = self.rules.network.dns;
        let fresh = |answer: &Answer| dns.ttl.is_none_or(|ttl| answer.got.elapsed() < ttl);
        if let Some(answer) = self.names.borrow_mut().get_mut(host).filter(|answer| fresh(answer)) {
            answer.uses += 1;
            return Ok(choose(&answer.ips, dns.select, answer.uses - 1));
        }
        let found = tokio::net::lookup_host((host, 0)).await.map_err(|error| {
            self.refusals.note(&error);
            let code =
                if error.to_string().contains("emporary") { code::DNS } else { code::NO_SUCH_HOST };
            let message = if code == code::DNS {
                format!("lookup: {error}")
            } else {
                "lookup: no such host".into()
            };
            Failure { code, message }
        })?;
        let ips = allowed(found.map(|address| address.ip()).collect(), dns.policy);
        if ips.is_empty() {
            return Err(Failure {
                code: code::NO_SUCH_HOST,
                message: "lookup: no such host".into(),
            });
        }
        let ips: Rc<[IpAddr]> = ips.into();
        self.names
            .borrow_mut()
            .insert(host.to_owned(), Answer { ips: ips.clone(), got: Instant::now(), uses: 1 });
        Ok(choose(&ips, dns.select, 0))
    }
}

async fn dial(
    remote: SocketAddr,
    from: Option<IpAddr>,
    last_file: RawFd,
) -> std::io::Result<TcpStream> {
    let socket = if remote.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // The kernel gives the lowest free number: all up to this one are in use.
    if socket.as_raw_fd() > last_file {
        return Err(std::io::Error::from_raw_os_error(libc::EMFILE));
    }
    if let Some(from) = from.filter(|from| from.is_ipv4() == remote.is_ipv4()) {
        socket.bind(SocketAddr::new(from, 0))?;
    }
    socket.connect(remote).await
}

/// What a handshake agreed on, as k6 calls it.
fn agreed(session: &ClientConnection) -> Tls {
    let version = match session.protocol_version() {
        Some(ProtocolVersion::TLSv1_2) => "tls1.2",
        _ => "tls1.3",
    };
    let suite = session
        .negotiated_cipher_suite()
        .and_then(|suite| suite.suite().as_str())
        .unwrap_or_default();
    // rustls writes TLS13_AES_128_GCM_SHA256, everybody else TLS_AES_128_GCM_SHA256.
    let cipher_suite = match suite.strip_prefix("TLS13_") {
        Some("AES_128_GCM_SHA256") => "TLS_AES_128_GCM_SHA256",
        Some("AES_256_GCM_SHA384") => "TLS_AES_256_GCM_SHA384",
        Some("CHACHA20_POLY1305_SHA256") => "TLS_CHACHA20_POLY1305_SHA256",
        _ => suite,
    };
    Tls { version, cipher_suite }
}

/// The addresses that a policy leaves, in their order.
fn allowed(ips: Vec<IpAddr>, policy: DnsPolicy) -> Vec<IpAddr> {
    let (v4, v6): (Vec<IpAddr>, Vec<IpAddr>) = ips.iter().partition(|ip| ip.is_ipv4());
    match policy {
        DnsPolicy::Any => ips,
        DnsPolicy::OnlyIpv4 => v4,
        DnsPolicy::OnlyIpv6 => v6,
        DnsPolicy::PreferIpv4 => {
            if v4.is_empty() {
                v6
            } else {
                v4
            }
        }
        DnsPolicy::PreferIpv6 => {
            if v6.is_empty() {
                v4
            } else {
                v6
            }
        }
    }
}

fn choose(ips: &[IpAddr], select: DnsSelect, uses: usize) -> IpAddr {
    match select {
        DnsSelect::First => ips[0],
        DnsSelect::RoundRobin => ips[uses % ips.len()],
        DnsSelect::Random => ips[rand::random_range(0..ips.len())],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_and_selections() {
        let ips: Vec<IpAddr> =
            ["::1", "10.0.0.1", "10.0.0.2"].iter().map(|ip| ip.parse().unwrap()).collect();
        let count = |policy| allowed(ips.clone(), policy).len();
        assert_eq!(
            [DnsPolicy::Any, DnsPolicy::OnlyIpv4, DnsPolicy::OnlyIpv6].map(count),
            [3, 2, 1]
        );
        assert_eq!([DnsPolicy::PreferIpv4, DnsPolicy::PreferIpv6].map(count), [2, 1]);
        assert_eq!(allowed(ips[1..].to_vec(), DnsPolicy::PreferIpv6).len(), 2);
        assert_eq!(choose(&ips, DnsSelect::First, 5), ips[0]);
        assert_eq!(
            (0..4).map(|uses| choose(&ips, DnsSelect::RoundRobin, uses)).collect::<Vec<_>>(),
            [ips[0], ips[1], ips[2], ips[0]]
        );
        assert!(ips.contains(&choose(&ips, DnsSelect::Random, 0)));
    }
}
