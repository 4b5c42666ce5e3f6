//! Where a request goes: a URL as far as a connection and a request line need it.
//!
//! Most URLs of a script differ from the last one in their path only. The part before the path is parsed once per
//! thread; a path of plain characters needs no parsing at all (WHATWG URL: nothing in it would be rewritten).

use std::cell::RefCell;
use std::rc::Rc;

use hashbrown::HashMap;
use url::{Position, Url};

/// Origins remembered on a thread; a script that makes up host names must not fill the memory.
const MAX_ORIGINS: usize = 1024;

thread_local! {
    static ORIGINS: RefCell<HashMap<String, Rc<Origin>>> = RefCell::default();
}

/// What a connection is kept for.
#[derive(Debug, PartialEq, Eq)]
pub struct Origin {
    pub tls: bool,
    /// The host without the brackets of an IPv6 address.
    pub host: String,
    pub port: u16,
    /// The Host header: host, and the port where it is not the scheme's own.
    pub authority: String,
}

#[derive(Clone, Debug)]
pub struct Address {
    pub origin: Rc<Origin>,
    text: String,
    /// Where the path begins and where the query ends.
    target: (usize, usize),
}

impl Address {
    /// Parses an absolute http or https URL; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(at) = plain_target(text) {
            let known = ORIGINS.with_borrow(|origins| origins.get(&text[..at]).cloned());
            if let Some(origin) = known {
                return Some(Self { origin, text: text.to_owned(), target: (at, text.len()) });
            }
        }
        Url::parse(text).ok().and_then(Self::of)
    }

    fn of(url: Url) -> Option<Self> {
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return None;
        }
        let host = url.host_str().unwrap_or_default();
        let authority = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        let origin = Rc::new(Origin {
            tls: url.scheme() == "https",
            host: host.trim_matches(['[', ']']).to_owned(),
            port: url.port_or_known_default().unwrap_or(80),
            authority,
        });
        let before_path = &url[..Position::BeforePath];
        if url.username().is_empty() && url.password().is_none() {
            ORIGINS.with_borrow_mut(|origins| {
                if origins.len() < MAX_ORIGINS {
                    origins.insert(before_path.to_owned(), origin.clone());
                }
            });
        }
        let target = (before_path.len(), url[..Position::AfterQuery].len());
        Some(Self { origin, text: url.into(), target })
    }

    /// The whole URL.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Path and query, as the request line has them.
    pub fn target(&self) -> &str {
        &self.text[self.target.0..self.target.1]
    }

    /// As a URL; `None` never happens, because it was one.
    pub fn url(&self) -> Option<Url> {
        Url::parse(&self.text).ok()
    }

    /// The address that a reference (a Location header) means from here.
    pub fn join(&self, reference: &str) -> Option<Self> {
        self.url()?.join(reference).ok().and_then(Self::of)
    }
}

/// Where the path of an http(s) URL begins, if path and query have only characters that stay as they are.
fn plain_target(text: &str) -> Option<usize> {
    let authority = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"))?;
    let at = text.len() - authority.len() + authority.find('/')?;
    let target = &text.as_bytes()[at..];
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/-_~!$&()*+,;=:@%?.".contains(byte);
    let dotted = |pair: &[u8]| pair[0] == b'/' && (pair[1] == b'.' || pair[1] == b'%');
    (target.iter().all(plain) && !target.windows(2).any(dotted)).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_way_gives_what_the_url_standard_gives() {
        let rests = [
            "/",
            "/a/b?c=d&e=%20",
            "/a/../b",
            "/a/./b/%2e%2e/c",
            "/a b",
            "/ü?x='1'",
            "/a#part",
            "/a?b#part",
            "/{id}",
            "?q=1",
            "",
            "/a//b/.c",
            "/x|y^z",
            "/a\\b",
        ];
        for origin in ["http://localhost:8080", "https://example.test", "http://[::1]:81", "HTTP://Example.Test:80"] {
            for rest in rests {
                let text = format!("{origin}{rest}");
                let url = Url::parse(&text).unwrap();
                for round in 0..2 {
                    let address = Address::parse(&text).unwrap();
                    assert_eq!(address.as_str(), url.as_str(), "{text}, round {round}");
                    let target = &url[Position::BeforePath..Position::AfterQuery];
                    assert_eq!(address.target(), target, "{text}, round {round}");
                    assert_eq!(address.origin.port, url.port_or_known_default().unwrap());
                    assert_eq!(address.origin.tls, url.scheme() == "https");
                }
            }
        }
    }

    #[test]
    fn what_is_no_http_address_is_none() {
        for text in ["", "/path", "ftp://host/", "http://", "localhost:80/"] {
            assert!(Address::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_redirect_may_leave_the_origin() {
        let here = Address::parse("http://a.test/x/y?z=1").unwrap();
        assert_eq!(here.join("../w").unwrap().as_str(), "http://a.test/w");
        let there = here.join("https://b.test/v").unwrap();
        assert_ne!(there.origin, here.origin);
    }
}
