//! Proxies between generator and target: those that HTTP_PROXY, HTTPS_PROXY and NO_PROXY name, by the rules of Go's
//! net/http, which k6 follows (golang.org/x/net/http/httpproxy). Nothing of this machine's loopback goes through one.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use percent_encoding::percent_decode_str;
use plimsoll_core::options::network::IpRange;
use plimsoll_script::allowance::MOST_HEAD_BYTES;
use plimsoll_script::effect::{code, Failure};
use plimsoll_script::http::address::Origin;
use plimsoll_script::http::auth::{basic, Credentials};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_socks::tcp::Socks5Stream;
use tokio_util::either::Either;
use url::Url;

use crate::network::dial::Purpose;
use crate::network::failures;
use crate::network::tls::{server_name, Tls};
use crate::network::traffic::{Counted, Wire};

/// Characters of what a proxy says that a message holds.
const MOST_TOLD: usize = 120;

/// The proxies of a run, and which it has used so far.
#[derive(Debug, Default)]
pub struct Proxies {
    http: Option<Given>,
    https: Option<Given>,
    excluded: Vec<Excluded>,
    used: Mutex<BTreeSet<String>>,
}

/// A variable's proxy, or what is wrong with it: that fails the requests that would go through it, as in k6.
type Given = Result<Arc<Proxy>, String>;

#[derive(Debug)]
pub struct Proxy {
    /// Where it listens.
    pub origin: Origin,
    kind: Kind,
    credentials: Option<Credentials>,
    /// The Proxy-Authorization header, which each request carries that has the whole URL.
    pub authorization: Option<String>,
    /// The variable that names it.
    variable: &'static str,
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Http,
    Socks5,
}

/// An entry of NO_PROXY; a port, where there is one, must be the same.
#[derive(Debug)]
enum Excluded {
    All,
    Range(IpRange),
    Ip(IpAddr, Option<u16>),
    /// ".shop.test": what is below; and the name itself, unless it was written with the dot or "*.".
    Domain {
        below: String,
        itself: bool,
        port: Option<u16>,
    },
}

impl Proxies {
    pub fn of_environment() -> Self {
        Self::of(|name| std::env::var(name).ok())
    }

    fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        let first = |names: [&'static str; 2]| {
            let found =
                names.map(|name| (name, variable(name).unwrap_or_default().trim().to_owned()));
            found.into_iter().find(|(_, value)| !value.is_empty())
        };
        let proxy =
            |names| first(names).map(|(name, value)| Proxy::parse(name, &value).map(Arc::new));
        let excluded = first(["NO_PROXY", "no_proxy"]).map(|(_, value)| value).unwrap_or_default();
        Self {
            http: proxy(["HTTP_PROXY", "http_proxy"]),
            https: proxy(["HTTPS_PROXY", "https_proxy"]),
            excluded: excluded
                .split(',')
                .filter_map(|entry| Excluded::parse(&entry.trim().to_ascii_lowercase()))
                .collect(),
            used: Mutex::default(),
        }
    }

    /// The proxy through which requests to an origin go.
    pub fn between(&self, origin: &Origin) -> Result<Option<Arc<Proxy>>, Failure> {
        let given = if origin.tls { &self.https } else { &self.http };
        let Some(given) = given else { return Ok(None) };
        let host = origin.host.trim_end_matches('.').to_ascii_lowercase();
        let ip: Option<IpAddr> = host.parse().ok();
        if host == "localhost" || ip.is_some_and(|ip| ip.to_canonical().is_loopback()) {
            return Ok(None);
        }
        if self.excluded.iter().any(|entry| entry.matches(&host, ip, origin.port)) {
            return Ok(None);
        }
        given.clone().map(Some).map_err(|message| Failure { code: code::GENERIC, message })
    }

    pub fn note_used(&self, proxy: &Proxy) {
        let words = format!("{} of {}", proxy.origin.authority, proxy.variable);
        self.used.lock().unwrap_or_else(PoisonError::into_inner).insert(words);
    }

    /// "proxy.example:3128 of HTTP_PROXY", without user and password, for each that was used.
    pub fn used(&self) -> Vec<String> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

impl Proxy {
    /// As Go has it, what has no scheme is an HTTP proxy. The value may hold a password and is in no message.
    fn parse(variable: &'static str, value: &str) -> Result<Self, String> {
        let with_host = |text: &str| {
            Url::parse(text).ok().filter(|url| url.host_str().is_some_and(|host| !host.is_empty()))
        };
        let how = "write http://host:port, https://host:port or socks5://host:port, or unset it";
        let url = if value.contains("://") {
            with_host(value)
        } else {
            with_host(&format!("http://{value}"))
        };
        let url = url.ok_or_else(|| format!("{variable} is no address of a proxy; {how}"))?;
        let (kind, usual_port) = match url.scheme() {
            "http" => (Kind::Http, 80),
            "socks5" | "socks5h" => (Kind::Socks5, 1080),
            "https" => (Kind::Http, 443),
            other => {
                return Err(format!("{variable}: there is no proxy of the kind '{other}'; {how}"))
            }
        };
        let host = url.host_str().unwrap_or_default();
        let port = url.port().unwrap_or(usual_port);
        let tls = url.scheme() == "https";
        let origin = Origin {
            tls,
            host: host.trim_matches(['[', ']']).to_owned(),
            port,
            authority: format!("{host}:{port}"),
        };
        let plain = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let (user, password) = (plain(url.username()), plain(url.password().unwrap_or_default()));
        let credentials = (!user.is_empty() || url.password().is_some())
            .then_some(Credentials { user, password });
        let authorization = credentials.as_ref().map(basic);
        Ok(Self { origin, kind, credentials, authorization, variable })
    }

    /// Whether requests to it carry the whole URL: of http to an HTTP proxy (RFC 9112, section 3.2.2).
    pub fn takes_whole_url(&self, origin: &Origin, purpose: Purpose) -> bool {
        self.kind == Kind::Http && !origin.tls && purpose == Purpose::Requests
    }

    /// A failure of the way to the proxy, which is none of the target's; numbered and begun as k6 does.
    pub fn out_of_reach(&self, failure: Failure) -> Failure {
        let message = format!(
            "proxyconnect: the proxy {} of {}: {}",
            self.origin.authority, self.variable, failure.message
        );
        Failure { code: code::TCP, message }
    }

    /// Makes a connection to the proxy one to the origin; the proxy looks up its name.
    pub async fn tunnel(
        &self,
        tcp: TcpStream,
        tls: &Tls,
        origin: &Origin,
        purpose: Purpose,
    ) -> Result<Wire, Failure> {
        match self.kind {
            Kind::Http => {
                let mut wire = self.greet(tcp, tls).await?;
                if !self.takes_whole_url(origin, purpose) {
                    self.connect(&mut wire, origin).await?;
                }
                Ok(wire)
            }
            Kind::Socks5 => {
                let target = (origin.host.as_str(), origin.port);
                let stream = match &self.credentials {
                    Some(Credentials { user, password }) => {
                        Socks5Stream::connect_with_password_and_socket(tcp, target, user, password)
                            .await
                    }
                    None => Socks5Stream::connect_with_socket(tcp, target).await,
                };
                stream
                    .map(|stream| Either::Left(stream.into_inner()))
                    .map_err(|error| self.refused(&error.to_string()))
            }
        }
    }

    /// The connection to it, in TLS where it speaks that.
    async fn greet(&self, tcp: TcpStream, tls: &Tls) -> Result<Wire, Failure> {
        let Origin { tls: true, host, port, .. } = &self.origin else {
            return Ok(Either::Left(tcp));
        };
        let failed = |message| self.out_of_reach(Failure { code: code::TLS, message });
        let config = tls.config_of_http1(host, *port).await.map_err(failed)?;
        let name = server_name(host).map_err(failed)?;
        let secured = TlsConnector::from(Arc::new(config))
            .connect(name, Counted::new(Either::Left(tcp)))
            .await;
        let secured = secured.map_err(|error| self.out_of_reach(failures::of_exchange(&error)))?;
        Ok(Either::Right(Box::new(secured)))
    }

    /// CONNECT (RFC 9110, section 9.3.6).
    async fn connect(&self, wire: &mut Wire, origin: &Origin) -> Result<(), Failure> {
        let host = if origin.host.contains(':') {
            format!("[{}]", origin.host)
        } else {
            origin.host.clone()
        };
        let target = format!("{host}:{}", origin.port);
        let authorization = self
            .authorization
            .as_ref()
            .map(|value| format!("Proxy-Authorization: {value}\r\n"))
            .unwrap_or_default();
        let request = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{authorization}\r\n");
        let broken = |error: std::io::Error| self.refused(&failures::of_exchange(&error).message);
        wire.write_all(request.as_bytes()).await.map_err(broken)?;
        wire.flush().await.map_err(broken)?;
        let (mut head, mut line_begins) = (Vec::new(), 0);
        // Byte by byte: what comes after the head is the target's.
        loop {
            if head.len() > MOST_HEAD_BYTES {
                return Err(self.refused("its answer has no end"));
            }
            head.push(wire.read_u8().await.map_err(broken)?);
            if !head.ends_with(b"\n") {
                continue;
            }
            let line = head[line_begins..].trim_ascii();
            if line.is_empty() && line_begins > 0 {
                return Ok(());
            }
            if line_begins == 0 {
                self.check_status(line)?;
            }
            line_begins = head.len();
        }
    }

    /// Whether the first line of an answer to CONNECT says 200.
    fn check_status(&self, line: &[u8]) -> Result<(), Failure> {
        let line = String::from_utf8_lossy(line);
        match line.split_once(' ').filter(|(version, _)| version.starts_with("HTTP/1.")) {
            Some((_, status)) if status.split(' ').next() == Some("200") => Ok(()),
            Some((_, status)) => Err(self.refused(status)),
            None => Err(self.refused("it does not answer as an HTTP proxy does")),
        }
    }

    fn refused(&self, why: &str) -> Failure {
        let why: String = why.chars().filter(|one| !one.is_control()).take(MOST_TOLD).collect();
        let message = format!(
            "the proxy {} of {} opens no tunnel: {why}",
            self.origin.authority, self.variable
        );
        Failure { code: code::GENERIC, message }
    }
}

impl Excluded {
    /// `entry`: in lower case, without blanks around it.
    fn parse(entry: &str) -> Option<Self> {
        if entry == "*" {
            return Some(Self::All);
        }
        if let Some(range) = entry.contains('/').then(|| IpRange::parse(entry).ok()).flatten() {
            return Some(Self::Range(range));
        }
        let is_bare_v6 = entry.parse::<IpAddr>().is_ok();
        let (host, port) = match entry.rsplit_once(':').filter(|_| !is_bare_v6) {
            Some((host, "")) => (host, None),
            Some((host, port)) => (host, Some(port.parse().ok()?)),
            None => (entry, None),
        };
        let host = host.trim_matches(['[', ']']);
        if let Ok(ip) = host.parse() {
            return Some(Self::Ip(ip, port));
        }
        let host = host.strip_prefix('*').filter(|rest| rest.starts_with('.')).unwrap_or(host);
        match host.strip_prefix('.') {
            _ if host.is_empty() => None,
            Some(_) => Some(Self::Domain { below: host.to_owned(), itself: false, port }),
            None => Some(Self::Domain { below: format!(".{host}"), itself: true, port }),
        }
    }

    fn matches(&self, host: &str, ip: Option<IpAddr>, at: u16) -> bool {
        let is_port = |port: &Option<u16>| port.is_none_or(|port| port == at);
        match self {
            Self::All => true,
            Self::Range(range) => ip.is_some_and(|ip| range.contains(ip)),
            Self::Ip(excluded, port) => ip == Some(*excluded) && is_port(port),
            Self::Domain { below, itself, port } => {
                (host.ends_with(below) || (*itself && host == &below[1..])) && is_port(port)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_script::http::address::Address;

    use super::*;

    fn of(variables: &[(&str, &str)]) -> Proxies {
        let variables: Vec<(String, String)> =
            variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        Proxies::of(|asked| {
            variables.iter().find(|(name, _)| name == asked).map(|(_, value)| value.clone())
        })
    }

    /// Where requests to the URL go, or what is wrong.
    fn between(proxies: &Proxies, url: &str) -> Option<Result<String, String>> {
        let found = proxies.between(&Address::parse(url).unwrap().origin);
        match found {
            Ok(proxy) => proxy.map(|proxy| Ok(proxy.origin.authority.clone())),
            Err(failure) => Some(Err(failure.message)),
        }
    }

    #[test]
    fn the_scheme_decides_which_one_and_upper_case_comes_first() {
        let proxies = of(&[
            ("http_proxy", "a:1"),
            ("HTTP_PROXY", " http://b:2 "),
            ("https_proxy", "socks5://c"),
            ("ALL_PROXY", "d:4"),
        ]);
        assert_eq!(between(&proxies, "http://shop.test/x"), Some(Ok("b:2".into())));
        assert_eq!(between(&proxies, "https://shop.test/x"), Some(Ok("c:1080".into())));
        assert_eq!(between(&of(&[("HTTPS_PROXY", "b:2")]), "http://shop.test/"), None);
        assert_eq!(
            between(&of(&[("HTTP_PROXY", ""), ("http_proxy", "[::1]:3")]), "http://shop.test/"),
            Some(Ok("[::1]:3".into()))
        );
    }

    #[test]
    fn loopback_and_what_is_excluded_is_reached_without() {
        let list =
            " .below.test, exact.test,*.star.test, port.test:81,10.0.0.0/8,192.0.2.7,192.0.2.8:82,[2001:db8::1]:83,2001:db8::2,,:84,x:y,empty.test: ";
        let proxies = of(&[("HTTP_PROXY", "p:1"), ("NO_PROXY", list)]);
        let without = [
            "localhost",
            "127.0.0.1",
            "127.8.8.8",
            "[::1]",
            "a.below.test",
            "exact.test",
            "www.exact.test",
            "EXACT.test.",
            "a.star.test",
            "port.test:81",
            "10.1.2.3",
            "192.0.2.7:9",
            "192.0.2.8:82",
            "[2001:db8::1]:83",
            "[2001:db8::2]",
            "[::ffff:127.0.0.1]",
            "empty.test",
        ];
        for host in without {
            assert_eq!(between(&proxies, &format!("http://{host}/")), None, "{host}");
        }
        let through = [
            "below.test",
            "inexact.test",
            "star.test",
            "port.test",
            "11.1.2.3",
            "192.0.2.8",
            "[2001:db8::1]",
            "[2001:db8::3]",
            "localhost.test",
        ];
        for host in through {
            assert_eq!(
                between(&proxies, &format!("http://{host}/")),
                Some(Ok("p:1".into())),
                "{host}"
            );
        }
        assert_eq!(
            between(&of(&[("HTTP_PROXY", "p:1"), ("no_proxy", "a, *")]), "http://shop.test/"),
            None
        );
    }

    #[test]
    fn a_value_that_is_no_proxy_fails_the_requests_and_is_not_shown() {
        let values =
            [("http://me:secret@", "is no address"), ("ftp://me:secret@p", "of the kind 'ftp'")];
        for (value, what) in values {
            let proxies = of(&[("HTTP_PROXY", value)]);
            let told = between(&proxies, "http://shop.test/").unwrap().unwrap_err();
            assert!(
                told.starts_with("HTTP_PROXY") && told.contains(what) && !told.contains("secret"),
                "{told}"
            );
            assert_eq!(between(&proxies, "http://localhost/"), None);
        }
    }

    #[test]
    fn user_and_password_are_decoded_and_kept_out_of_what_is_told() {
        let proxies = of(&[("HTTP_PROXY", "http://me:p%40ss@p:1")]);
        let proxy =
            proxies.between(&Address::parse("http://shop.test/").unwrap().origin).unwrap().unwrap();
        assert_eq!(proxy.authorization.as_deref(), Some("Basic bWU6cEBzcw=="));
        proxies.note_used(&proxy);
        proxies.note_used(&proxy);
        assert_eq!(proxies.used(), ["p:1 of HTTP_PROXY"]);
    }
}
