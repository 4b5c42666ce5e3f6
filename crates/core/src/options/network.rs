//! Options of the network: where names lead, which addresses are refused, TLS, the limit of requests per second.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use serde_json::Value;

use super::Reader;
use crate::duration;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Network {
    /// Where names lead instead of where DNS says.
    pub hosts: Vec<(HostPattern, HostTarget)>,
    pub block_hostnames: Vec<HostPattern>,
    pub blacklist_ips: Vec<IpRange>,
    pub dns: Dns,
    /// Requests per second over all threads.
    pub rps: Option<u64>,
    pub tls_versions: TlsVersions,
    /// As the IANA and k6 call them; empty: all that there are.
    pub tls_cipher_suites: Vec<String>,
    pub tls_auth: Vec<ClientCertificate>,
    /// The addresses that VUs connect from, in turns.
    pub local_ips: Vec<IpRange>,
    pub http_debug: HttpDebug,
}

/// A host name, perhaps with `*` for its beginning, perhaps with a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPattern {
    pub text: String,
    /// Lower case; what follows the `*` of a wildcard.
    name: String,
    is_wildcard: bool,
    port: Option<u16>,
}

/// An address, and a port if the request's own is not meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostTarget {
    pub ip: IpAddr,
    pub port: Option<u16>,
}

/// Addresses from `first` to `last`, both in it; of one family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IpRange {
    pub text: String,
    first: u128,
    last: u128,
    is_v4: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dns {
    /// How long an answer holds; `None`: for ever.
    pub ttl: Option<Duration>,
    pub select: DnsSelect,
    pub policy: DnsPolicy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DnsSelect {
    First,
    Random,
    RoundRobin,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DnsPolicy {
    PreferIpv4,
    PreferIpv6,
    OnlyIpv4,
    OnlyIpv6,
    Any,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsVersion {
    Tls10,
    Tls11,
    Tls12,
    Tls13,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TlsVersions {
    pub min: Option<TlsVersion>,
    pub max: Option<TlsVersion>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificate {
    /// PEM.
    pub certificate: String,
    /// PEM.
    pub key: String,
    pub password: String,
    /// Empty: every server.
    pub domains: Vec<HostPattern>,
}

/// What of requests and responses is written to stderr.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HttpDebug {
    #[default]
    Nothing,
    Headers,
    Full,
}

impl Default for Dns {
    fn default() -> Self {
        Self {
            ttl: Some(Duration::from_secs(300)),
            select: DnsSelect::Random,
            policy: DnsPolicy::PreferIpv4,
        }
    }
}

impl HostPattern {
    fn parse(text: &str) -> Result<Self, String> {
        let (rest, port) = match text.rsplit_once(':') {
            Some((rest, port)) if !rest.contains(':') => {
                (rest, Some(port.parse().map_err(|_| format!("'{text}': '{port}' is not a port"))?))
            }
            _ => (text, None),
        };
        let name = rest.strip_prefix('*').unwrap_or(rest);
        if rest.is_empty() || name.contains(['*', '/', ' ']) {
            return Err(format!("'{text}' is not a host name; a wildcard is a '*' at its beginning, as in *.example.com"));
        }
        Ok(Self {
            text: text.to_owned(),
            name: name.to_ascii_lowercase(),
            is_wildcard: name.len() < rest.len(),
            port,
        })
    }

    /// Whether a host and port are meant.
    pub fn matches(&self, host: &str, port: u16) -> bool {
        let tail = host.len().checked_sub(self.name.len()).and_then(|at| host.as_bytes().get(at..));
        let fits = tail.is_some_and(|tail| tail.eq_ignore_ascii_case(self.name.as_bytes()));
        fits && (self.is_wildcard || host.len() == self.name.len())
            && self.port.is_none_or(|wanted| wanted == port)
    }

    /// How narrow the pattern is: of several that match, the narrowest counts.
    pub fn rank(&self) -> (bool, usize, bool) {
        (!self.is_wildcard, self.name.len(), self.port.is_some())
    }
}

impl HostTarget {
    fn parse(text: &str) -> Result<Self, String> {
        if let Ok(address) = text.parse::<SocketAddr>() {
            return Ok(Self { ip: address.ip(), port: Some(address.port()) });
        }
        let ip = text.parse().map_err(|_| {
            format!("'{text}' is not an IP address, as 127.0.0.1, 127.0.0.1:8080 or [::1]:8080")
        })?;
        Ok(Self { ip, port: None })
    }
}

fn number_of(ip: IpAddr) -> u128 {
    match ip {
        IpAddr::V4(ip) => u128::from(ip.to_bits()),
        IpAddr::V6(ip) => ip.to_bits(),
    }
}

impl IpRange {
    /// `10.0.0.1`, `10.0.0.0/8` or `10.0.0.1-10.0.0.9`.
    ///
    /// # Errors
    /// That it is none, in a sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!("'{text}' is not an IP address or range of them, as 10.0.0.1, 10.0.0.0/8 or 10.0.0.1-10.0.0.9")
        };
        let ip = |part: &str| part.trim().parse::<IpAddr>().map_err(|_| wrong());
        let made = |first: IpAddr, last: IpAddr| Self {
            text: text.to_owned(),
            first: number_of(first),
            last: number_of(last),
            is_v4: first.is_ipv4(),
        };
        if let Some((base, bits)) = text.split_once('/') {
            let base = ip(base)?;
            let width: u32 = if base.is_ipv4() { 32 } else { 128 };
            let bits = bits.parse::<u32>().ok().filter(|bits| *bits <= width).ok_or_else(wrong)?;
            let hosts = 1u128.checked_shl(width - bits).map_or(u128::MAX, |size| size - 1);
            let mut range = made(base, base);
            range.first &= !hosts;
            range.last = range.first | hosts;
            return Ok(range);
        }
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let range = made(ip(first)?, ip(last)?);
        if ip(last)?.is_ipv4() != range.is_v4 || range.first > range.last {
            return Err(wrong());
        }
        Ok(range)
    }

    pub fn contains(&self, ip: IpAddr) -> bool {
        let ip = ip.to_canonical();
        ip.is_ipv4() == self.is_v4 && (self.first..=self.last).contains(&number_of(ip))
    }

    /// How many addresses, at most 2^64.
    pub fn count(&self) -> u64 {
        u64::try_from(self.last - self.first).unwrap_or(u64::MAX).saturating_add(1)
    }

    /// The address at a place from 0.
    pub fn at(&self, place: u64) -> IpAddr {
        let number = self.first + u128::from(place);
        match u32::try_from(number) {
            Ok(bits) if self.is_v4 => IpAddr::from(bits.to_be_bytes()),
            _ => IpAddr::from(number.to_be_bytes()),
        }
    }
}

impl Network {
    /// Where a host leads by `hosts`.
    pub fn target_of(&self, host: &str, port: u16) -> Option<HostTarget> {
        let matching = self.hosts.iter().filter(|(pattern, _)| pattern.matches(host, port));
        matching.max_by_key(|(pattern, _)| pattern.rank()).map(|(_, target)| *target)
    }

    /// The address that a VU (from 1) connects from.
    pub fn local_ip_of(&self, vu: u64) -> Option<IpAddr> {
        let total =
            self.local_ips.iter().fold(0u64, |sum, range| sum.saturating_add(range.count()));
        let mut place = vu.saturating_sub(1).checked_rem(total)?;
        for range in &self.local_ips {
            if place < range.count() {
                return Some(range.at(place));
            }
            place -= range.count();
        }
        None
    }
}

/// Reads this part of the options, with its mistakes.
pub(super) fn read(reader: &mut Reader) -> Network {
    let mut network = Network {
        hosts: read_hosts(reader),
        block_hostnames: read_list(reader, "blockHostnames", HostPattern::parse),
        blacklist_ips: read_list(reader, "blacklistIPs", IpRange::parse),
        dns: read_dns(reader),
        rps: reader.whole("rps").filter(|rps| *rps > 0),
        tls_versions: read_tls_versions(reader),
        tls_cipher_suites: read_list(reader, "tlsCipherSuites", |name| Ok(name.to_owned())),
        tls_auth: read_tls_auth(reader),
        ..Network::default()
    };
    let local_ips = reader.text("localIPs").unwrap_or_default();
    for part in local_ips.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        match IpRange::parse(part) {
            Ok(range) => network.local_ips.push(range),
            Err(what) => reader.mistake("localIPs", &what),
        }
    }
    network.http_debug = match reader.text("httpDebug").as_deref() {
        None | Some("" | "false") => HttpDebug::Nothing,
        Some("full") => HttpDebug::Full,
        Some("headers" | "true") => HttpDebug::Headers,
        Some(other) => {
            reader.mistake("httpDebug", &format!("'{other}' is neither 'headers' nor 'full'"));
            HttpDebug::Nothing
        }
    };
    network
}

fn read_list<T>(
    reader: &mut Reader,
    key: &'static str,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Vec<T> {
    let value = match reader.get(key) {
        None => return Vec::new(),
        Some(value) => value,
    };
    let Some(rows) = value.as_array() else {
        reader.mistake(key, &format!("{value} is not a list of texts"));
        return Vec::new();
    };
    let mut found = Vec::new();
    for row in rows {
        match row.as_str().ok_or_else(|| format!("{row} is not a text")).and_then(&parse) {
            Ok(one) => found.push(one),
            Err(what) => reader.mistake(key, &what),
        }
    }
    found
}

fn read_hosts(reader: &mut Reader) -> Vec<(HostPattern, HostTarget)> {
    let mut hosts = Vec::new();
    for (name, address) in reader.pairs("hosts") {
        match HostPattern::parse(&name)
            .and_then(|pattern| Ok((pattern, HostTarget::parse(&address)?)))
        {
            Ok(host) => hosts.push(host),
            Err(what) => reader.mistake("hosts", &what),
        }
    }
    hosts
}

fn read_dns(reader: &mut Reader) -> Dns {
    let mut dns = Dns::default();
    let Some(value) = reader.get("dns") else {
        return dns;
    };
    let Some(fields) = value.as_object() else {
        reader.mistake("dns", &format!("{value} is not an object like {{ttl: '5m', select: 'random', policy: 'preferIPv4'}}"));
        return dns;
    };
    let mut inner = Reader::new(&format!("{}.dns", reader.place), fields, reader.mistakes);
    match inner.get("ttl") {
        None => {}
        Some(Value::String(text)) if text == "inf" => dns.ttl = None,
        Some(ttl) => match duration::from_json(ttl) {
            Ok(ttl) => dns.ttl = Some(ttl),
            Err(what) => inner.mistake("ttl", &format!("{what}; or 'inf'")),
        },
    }
    let select = [
        ("first", DnsSelect::First),
        ("random", DnsSelect::Random),
        ("roundRobin", DnsSelect::RoundRobin),
    ];
    dns.select = read_word(&mut inner, "select", &select).unwrap_or(dns.select);
    let policy = [
        ("preferIPv4", DnsPolicy::PreferIpv4),
        ("preferIPv6", DnsPolicy::PreferIpv6),
        ("onlyIPv4", DnsPolicy::OnlyIpv4),
        ("onlyIPv6", DnsPolicy::OnlyIpv6),
        ("any", DnsPolicy::Any),
    ];
    dns.policy = read_word(&mut inner, "policy", &policy).unwrap_or(dns.policy);
    inner.refuse_unknown();
    dns
}

fn read_word<T: Copy>(reader: &mut Reader, key: &'static str, words: &[(&str, T)]) -> Option<T> {
    let text = reader.text(key)?;
    let found = words.iter().find(|(word, _)| *word == text).map(|(_, meant)| *meant);
    if found.is_none() {
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        reader.mistake(key, &format!("'{text}' is none of {}", known.join(", ")));
    }
    found
}

const TLS_VERSIONS: [(&str, TlsVersion); 4] = [
    ("tls1.0", TlsVersion::Tls10),
    ("tls1.1", TlsVersion::Tls11),
    ("tls1.2", TlsVersion::Tls12),
    ("tls1.3", TlsVersion::Tls13),
];

fn read_tls_versions(reader: &mut Reader) -> TlsVersions {
    let versions = match reader.get("tlsVersion") {
        None => return TlsVersions::default(),
        Some(Value::Object(fields)) => {
            let mut inner =
                Reader::new(&format!("{}.tlsVersion", reader.place), fields, reader.mistakes);
            let versions = TlsVersions {
                min: read_word(&mut inner, "min", &TLS_VERSIONS),
                max: read_word(&mut inner, "max", &TLS_VERSIONS),
            };
            inner.refuse_unknown();
            versions
        }
        Some(_) => {
            let one = read_word(reader, "tlsVersion", &TLS_VERSIONS);
            TlsVersions { min: one, max: one }
        }
    };
    if versions.max.is_some_and(|max| max < TlsVersion::Tls12) {
        reader.mistake(
            "tlsVersion",
            "TLS 1.0 and 1.1 are not supported (RFC 8996 forbids them); allow tls1.2 or tls1.3",
        );
    } else if versions.min.zip(versions.max).is_some_and(|(min, max)| min > max) {
        reader.mistake("tlsVersion", "min is above max");
    }
    versions
}

fn read_tls_auth(reader: &mut Reader) -> Vec<ClientCertificate> {
    let Some(value) = reader.get("tlsAuth") else {
        return Vec::new();
    };
    let Some(rows) = value.as_array() else {
        reader.mistake(
            "tlsAuth",
            "must be a list like [{cert: open('client.pem'), key: open('client.key')}]",
        );
        return Vec::new();
    };
    let mut found = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let place = format!("{}.tlsAuth[{index}]", reader.place);
        let Some(fields) = row.as_object() else {
            reader.mistakes.push(format!("{place}: must be {{cert, key, password, domains}}"));
            continue;
        };
        let mut inner = Reader::new(&place, fields, reader.mistakes);
        let (certificate, key) = (inner.text("cert"), inner.text("key"));
        let password = inner.text("password").unwrap_or_default();
        let domains = read_list(&mut inner, "domains", HostPattern::parse);
        inner.refuse_unknown();
        match (certificate, key) {
            (Some(certificate), Some(key)) => {
                found.push(ClientCertificate { certificate, key, password, domains })
            }
            _ => inner.mistake("cert, key", "both are needed, in PEM: open('client.pem')"),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;
    use serde_json::json;

    fn network(value: Value) -> Network {
        Options::from_json(&value).unwrap().network
    }

    #[test]
    fn the_narrowest_pattern_of_hosts_leads() {
        let network = network(json!({"hosts": {
            "*.example.com": "10.0.0.1", "a.example.com": "10.0.0.2", "a.example.com:8080": "10.0.0.3:81", "*": "::1",
        }}));
        let leads = |host, port| {
            network.target_of(host, port).map(|target| (target.ip.to_string(), target.port))
        };
        assert_eq!(leads("b.example.com", 80), Some(("10.0.0.1".into(), None)));
        assert_eq!(leads("A.Example.com", 80), Some(("10.0.0.2".into(), None)));
        assert_eq!(leads("a.example.com", 8080), Some(("10.0.0.3".into(), Some(81))));
        assert_eq!(leads("example.com", 80), Some(("::1".into(), None)));
    }

    #[test]
    fn addresses_are_in_their_ranges_and_no_others() {
        let ranges = network(json!({"blacklistIPs": ["10.1.0.0/16", "::1/128", "192.168.0.7"]}))
            .blacklist_ips;
        let is_in = |ip: &str| ranges.iter().any(|range| range.contains(ip.parse().unwrap()));
        assert!(["10.1.0.0", "10.1.255.255", "::1", "192.168.0.7", "::ffff:10.1.2.3"]
            .into_iter()
            .all(is_in));
        assert!(!["10.2.0.0", "10.0.255.255", "::2", "192.168.0.8"].into_iter().any(is_in));
    }

    #[test]
    fn local_addresses_take_turns() {
        let network = network(json!({"localIPs": "127.0.0.2, 127.0.1.1-127.0.1.2"}));
        let turns: Vec<String> =
            (1..=4).map(|vu| network.local_ip_of(vu).unwrap().to_string()).collect();
        assert_eq!(turns, ["127.0.0.2", "127.0.1.1", "127.0.1.2", "127.0.0.2"]);
        assert_eq!(Network::default().local_ip_of(1), None);
    }

    #[test]
    fn mistakes_have_their_place() {
        let mistakes = Options::from_json(&json!({
            "hosts": {"a": "nowhere"}, "blockHostnames": ["a.*"], "blacklistIPs": ["10.0.0.0/99"], "dns": {"ttl": "x", "select": "last"},
            "tlsVersion": "tls1.1", "tlsAuth": [{"cert": "c"}], "httpDebug": "loud", "localIPs": "1.2.3.4-1.2.3.1", "tlsCipherSuites": "RSA",
        }))
        .unwrap_err()
        .join("\n");
        for place in [
            "hosts: 'nowhere'",
            "blockHostnames: 'a.*'",
            "blacklistIPs: '10.0.0.0/99'",
            "dns.ttl",
            "dns.select: 'last'",
            "tlsVersion: TLS 1.0",
            "tlsAuth[0].cert, key",
            "httpDebug: 'loud'",
            "localIPs",
            "tlsCipherSuites: \"RSA\"",
        ] {
            assert!(mistakes.contains(place), "{place} is missing in\n{mistakes}");
        }
    }

    #[test]
    fn dns_and_tls_versions_are_read() {
        let network = network(
            json!({"dns": {"ttl": "inf", "select": "roundRobin", "policy": "onlyIPv6"}, "tlsVersion": {"min": "tls1.2"}}),
        );
        assert_eq!(
            network.dns,
            Dns { ttl: None, select: DnsSelect::RoundRobin, policy: DnsPolicy::OnlyIpv6 }
        );
        assert_eq!(network.tls_versions, TlsVersions { min: Some(TlsVersion::Tls12), max: None });
    }
}
