//! Where a request goes: a URL as far as a connection and a request line need it.
//!
//! Most URLs of a script differ from the last one in their path only. The part before the path is parsed once per
//! thread; a path of plain characters needs no parsing at all (WHATWG URL: nothing in it would be rewritten).

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

use hashbrown::HashMap;
use percent_encoding::{percent_decode_str, utf8_percent_encode, AsciiSet, CONTROLS};
use url::{Position, Url};

use crate::http::auth::Credentials;
use crate::http::failure::{code, Failure};

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

impl Origin {
    /// No request can be sent there: what stood for a URL is none.
    pub fn is_nowhere(&self) -> bool {
        self.host.is_empty()
    }
}

#[derive(Clone, Debug)]
pub struct Address {
    pub origin: Rc<Origin>,
    text: String,
    /// Where the path begins and where the query ends.
    target: (usize, usize),
    credentials: Option<Rc<Credentials>>,
}

impl Address {
    /// Parses an absolute http or https URL; `None` for anything else. As in Go, control characters make it none, as does a
    /// path whose % is no escape: the URL standard would take line breaks and tabs out of it in silence.
    pub fn parse(text: &str) -> Option<Self> {
        if has_control(text) || no_escape(text).is_some() {
            return None;
        }
        if let Some(at) = plain_target(text) {
            let known = ORIGINS.with_borrow(|origins| origins.get(&text[..at]).cloned());
            if let Some(origin) = known {
                return Some(Self {
                    origin,
                    text: text.to_owned(),
                    target: (at, text.len()),
                    credentials: None,
                });
            }
        }
        Self::of(Url::parse(text).ok()?, target_as_written(text))
    }

    /// `written`: path and query to send in place of the URL's.
    fn of(url: Url, written: Option<String>) -> Option<Self> {
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
        let mut credentials = None;
        if !url.username().is_empty() || url.password().is_some() {
            let plain = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
            credentials = Some(Rc::new(Credentials {
                user: plain(url.username()),
                password: plain(url.password().unwrap_or_default()),
            }));
        } else {
            ORIGINS.with_borrow_mut(|origins| {
                if origins.len() < MAX_ORIGINS {
                    origins.insert(before_path.to_owned(), origin.clone());
                }
            });
        }
        let at = before_path.len();
        let Some(written) = written else {
            let target = (at, url[..Position::AfterQuery].len());
            return Some(Self { origin, text: url.into(), target, credentials });
        };
        let target = (at, at + written.len());
        Some(Self {
            origin,
            text: [before_path, &written, &url[Position::AfterQuery..]].concat(),
            target,
            credentials,
        })
    }

    /// As `parse`; what is no http or https URL becomes an address to which requests fail with what `mistake` says.
    pub fn parse_or_nowhere(text: &str) -> Self {
        Self::parse(text).unwrap_or_else(|| Self::nowhere(text))
    }

    fn nowhere(text: &str) -> Self {
        let origin = Origin { tls: false, host: String::new(), port: 0, authority: String::new() };
        Self {
            origin: Rc::new(origin),
            text: text.to_owned(),
            target: (0, text.len()),
            credentials: None,
        }
    }

    /// Why a request to nowhere fails.
    pub fn mistake(&self) -> Failure {
        let what = "write the whole address, for example http://localhost:8080/path";
        if has_control(&self.text) {
            let what = "take line breaks and other control characters out, as with trim() of what a file held";
            let message = format!(
                "invalid URL: parse {:?}: net/url: invalid control character in URL; {what}",
                self.text
            );
            return Failure { code: code::INVALID_URL, message };
        }
        let path = self.text.split(['?', '#']).next().unwrap_or_default();
        if let Some(part) =
            no_escape(&self.text).or_else(|| bad_escape(path).filter(|_| path.starts_with('/')))
        {
            let message = format!("invalid URL: parse {:?}: invalid URL escape {part:?}; write a % of the path itself as %25", self.text);
            return Failure { code: code::INVALID_URL, message };
        }
        let scheme = match Url::parse(&self.text) {
            Ok(url) => url.scheme().to_owned(),
            Err(url::ParseError::RelativeUrlWithoutBase) => String::new(),
            Err(error) => {
                return Failure {
                    code: code::INVALID_URL,
                    message: format!("invalid URL: '{}': {error}; {what}", self.text),
                }
            }
        };
        if matches!(scheme.as_str(), "http" | "https") {
            return Failure {
                code: code::GENERIC,
                message: format!("http: no Host in request URL '{}'; {what}", self.text),
            };
        }
        Failure {
            code: code::GENERIC,
            message: format!("unsupported protocol scheme \"{scheme}\" of '{}'; {what}", self.text),
        }
    }

    /// The user and password of the URL.
    pub fn credentials(&self) -> Option<&Rc<Credentials>> {
        self.credentials.as_ref()
    }

    /// The URL as tags show it: without user and password, as k6 masks them.
    pub fn masked(&self) -> Cow<'_, str> {
        match &self.credentials {
            Some(_) => Cow::Owned(self.with_user("****:****@")),
            None => Cow::Borrowed(&self.text),
        }
    }

    /// The same address without user and password.
    pub fn without_credentials(&self) -> Self {
        match &self.credentials {
            Some(_) => Self::parse_or_nowhere(&self.with_user("")),
            None => self.clone(),
        }
    }

    /// The URL with other text for its user and password, which it has.
    fn with_user(&self, user: &str) -> String {
        let (scheme, rest) = self.text.split_once("//").unwrap_or_default();
        format!("{scheme}//{user}{}", rest.split_once('@').unwrap_or_default().1)
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

    /// The address that a reference (a Location header) means from here, with its query as it was written. As in Go, `.`
    /// and `..` are taken out of its path, in no other form, and what has a scheme needs a host.
    pub fn join(&self, reference: &str) -> Self {
        self.joined(reference).unwrap_or_else(|| Self::nowhere(reference))
    }

    fn joined(&self, reference: &str) -> Option<Self> {
        if has_control(reference) {
            return None;
        }
        let (before, fragment) = split_before(reference, &['#']);
        let is_absolute = parts(before).is_some();
        if !is_absolute && split_before(before, &['/', '?']).0.contains(':') {
            return None;
        }
        let authority_at = if is_absolute {
            before.find("://").map(|at| at + 3)
        } else {
            before.starts_with("//").then_some(2)
        };
        let rest = authority_at.map_or(before, |at| split_before(&before[at..], &['/', '?']).1);
        let (path, query) = split_before(rest, &['?']);
        let (own_path, own_query) = split_before(self.target(), &['?']);
        let (path, query) = match path {
            _ if authority_at.is_some() || path.starts_with('/') => (path.to_owned(), query),
            "" => (own_path.to_owned(), if query.is_empty() { own_query } else { query }),
            _ => (
                format!("{}/{path}", own_path.rsplit_once('/').map_or("", |(folder, _)| folder)),
                query,
            ),
        };
        if bad_escape(&path).is_some() {
            return None;
        }
        let url = self
            .url()?
            .join(&[&before[..before.len() - rest.len()], "/", fragment].concat())
            .ok()?;
        Self::of(url, Some(sent(&without_dots(&path), query)))
    }
}

/// A path without `.` and `..` (RFC 3986, section 5.2.4).
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let parts: Vec<&str> = path.strip_prefix('/').unwrap_or(path).split('/').collect();
    for (at, part) in parts.iter().enumerate() {
        if *part == ".." {
            kept.pop();
        } else if *part != "." {
            kept.push(part);
        }
        if at + 1 == parts.len() && matches!(*part, "." | "..") {
            kept.push("");
        }
    }
    format!("/{}", kept.join("/"))
}

/// What of a path is sent percent-encoded, by the URL standard and Go alike.
const ENCODED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}')
    .add(b'\\');

/// And of a query: Go sends what was written, a blank too, which most servers answer with 400; that one is encoded here.
const ENCODED_IN_QUERY: &AsciiSet = &CONTROLS.add(b' ');

/// Path and query of a text as Go sends them, as they were written: the URL standard takes `.` and `..` out of the path, in
/// whatever form, turns \ around, cuts blanks off its end and leaves | and ^ alone; of a query it encodes quotes, < and >.
/// None where the two agree, or the text is not of the usual form.
fn target_as_written(text: &str) -> Option<String> {
    let (authority, path, query) = parts(text)?;
    if authority.contains('\\') {
        return None;
    }
    let path = if path.is_empty() { "/" } else { path };
    let lower = path.to_ascii_lowercase();
    let is_rewritten = path.contains(['\\', '|', '^'])
        || path.ends_with(' ')
        || query.contains(['\'', '"', '<', '>'])
        || lower.replace("%2e", ".").split('/').any(|part| part == "." || part == "..");
    is_rewritten.then(|| sent(path, query))
}

/// Path and query as a request line has them.
fn sent(path: &str, query: &str) -> String {
    format!(
        "{}{}",
        utf8_percent_encode(path, ENCODED),
        utf8_percent_encode(query, ENCODED_IN_QUERY)
    )
}

/// The first % of a path that is no escape, with what follows it.
fn no_escape(text: &str) -> Option<&str> {
    if !text.contains('%') {
        return None;
    }
    parts(text).and_then(|(_, path, _)| bad_escape(path))
}

fn bad_escape(path: &str) -> Option<&str> {
    path.match_indices('%').map(|(at, _)| &path[at..]).find_map(|rest| {
        let is_one = rest.bytes().skip(1).take(2).filter(u8::is_ascii_hexdigit).count() == 2;
        (!is_one).then(|| &rest[..rest.char_indices().nth(3).map_or(rest.len(), |(end, _)| end)])
    })
}

/// Authority, path, and query with its question mark, of an http(s) URL.
fn parts(text: &str) -> Option<(&str, &str, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    if !["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        return None;
    }
    let (authority, target) = split_before(split_before(rest, &['#']).0, &['/', '?']);
    let (path, query) = split_before(target, &['?']);
    Some((authority, path, query))
}

/// What is in front of the first of these letters, and the rest from it on.
fn split_before<'a>(text: &'a str, letters: &[char]) -> (&'a str, &'a str) {
    text.split_at(text.find(letters).unwrap_or(text.len()))
}

fn has_control(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_control())
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
            "/a b",
            "/ü?x=[1]",
            "/a#part",
            "/a?b#part",
            "/{id}",
            "?q=1",
            "",
            "/a//b/.c",
        ];
        for origin in [
            "http://localhost:8080",
            "https://example.test",
            "http://[::1]:81",
            "HTTP://Example.Test:80",
        ] {
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
    fn path_and_query_are_sent_as_they_were_written() {
        for (path, sent) in [
            ("/a/../b", "/a/../b"),
            ("/a/./b/%2E%2e/c?d=/../e", "/a/./b/%2E%2e/c?d=/../e"),
            ("/a\\b", "/a%5Cb"),
            ("/a/..#part", "/a/.."),
            ("/ü/../a b", "/%C3%BC/../a%20b"),
            ("/a ", "/a%20"),
            ("/x|y^z", "/x%7Cy%5Ez"),
            ("/x?$filter=name eq 'ü'&a=<b>\"#part", "/x?$filter=name%20eq%20'%C3%BC'&a=<b>\""),
            ("/x%2F?a=%zz&b=%", "/x%2F?a=%zz&b=%"),
            ("?x='1'", "/?x='1'"),
        ] {
            for origin in ["http://localhost:8080", "https://us:pw@example.test"] {
                let address = Address::parse(&format!("{origin}{path}")).unwrap();
                assert_eq!(address.target(), sent, "{origin}{path}");
            }
        }
        assert_eq!(
            Address::parse("http://a.test/x/y").unwrap().join("../w").target(),
            "/w",
            "a reference is resolved"
        );
    }

    #[test]
    fn what_is_no_http_address_is_none() {
        for text in ["", "/path", "ftp://host/", "http://", "localhost:80/"] {
            assert!(Address::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_reference_is_sent_as_it_was_written_but_for_its_dots() {
        let here = Address::parse("http://us:pw@a.test:81/x/y?z=1").unwrap();
        for (reference, sent) in [
            ("/x?q='a'&b=\"c\"", "/x?q='a'&b=\"c\""),
            ("/%2e%2e/x", "/%2e%2e/x"),
            ("/b/../x/./", "/x/"),
            ("w", "/x/w"),
            ("../../..", "/"),
            ("?z=<2>", "/x/y?z=<2>"),
            ("", "/x/y?z=1"),
            ("#part", "/x/y?z=1"),
            ("/x\\back", "/x%5Cback"),
            ("\\\\host\\b", "/x/%5C%5Chost%5Cb"),
            ("/a b?c d#e f", "/a%20b?c%20d"),
            ("/a/b:c", "/a/b:c"),
        ] {
            let there = here.join(reference);
            assert_eq!((there.target(), there.origin.port), (sent, 81), "{reference}");
        }
        for (reference, sent) in [
            ("//b.test/x?'", "/x?'"),
            ("https://b.test", "/"),
            ("HTTPS://b.test?q", "/?q"),
            ("//b.test/a/../c", "/c"),
        ] {
            let there = here.join(reference);
            assert_eq!(
                (there.target(), there.origin.host.as_str()),
                (sent, "b.test"),
                "{reference}"
            );
        }
        for reference in [
            "/x%zz",
            "x%zz",
            "http:/host/one",
            "http:rel",
            ":bad",
            "mailto:a@b",
            "https://b.test/%",
            "http://",
        ] {
            let there = here.join(reference);
            assert!(
                there.origin.is_nowhere() && !there.mistake().message.is_empty(),
                "{reference}: {}",
                there.as_str()
            );
        }
        assert!(here.join("/x%zz").mistake().message.contains("invalid URL escape \"%zz\""));
        assert!(here.join("http:rel").mistake().message.contains("no Host in request URL"));
    }

    #[test]
    fn a_redirect_may_leave_the_origin() {
        let here = Address::parse("http://a.test/x/y?z=1").unwrap();
        assert_eq!(here.join("../w").as_str(), "http://a.test/w");
        let there = here.join("https://b.test/v");
        assert_ne!(there.origin, here.origin);
    }

    #[test]
    fn user_and_password_are_known_and_masked() {
        for _ in 0..2 {
            let address = Address::parse("http://us%40er:pa:ss@a.test/x@y").unwrap();
            let credentials = address.credentials().unwrap();
            assert_eq!(
                (credentials.user.as_str(), credentials.password.as_str()),
                ("us@er", "pa:ss")
            );
            assert_eq!(address.masked(), "http://****:****@a.test/x@y");
            assert_eq!(address.without_credentials().as_str(), "http://a.test/x@y");
            assert_eq!(address.target(), "/x@y");
        }
    }

    #[test]
    fn a_url_with_a_control_character_is_none_and_its_message_has_no_line_break() {
        for control in ["\r\n", "\n", "\t", "\0", "\x7f"] {
            for text in [
                format!("http://a.test/x{control}y"),
                format!("http://a{control}.test/"),
                format!("http://a.test/{control}"),
            ] {
                assert!(Address::parse(&text).is_none(), "{text:?}");
                let message = Address::parse_or_nowhere(&text).mistake().message;
                assert!(
                    message.contains("invalid control character in URL")
                        && !message.contains(control),
                    "{message}"
                );
            }
        }
        let here = Address::parse("http://a.test/x").unwrap();
        assert!(here.join("/y\tz").origin.is_nowhere());
    }

    #[test]
    fn nowhere_says_why() {
        for (text, code) in [
            ("nope", 1000),
            ("ftp://x/", 1000),
            ("http://a b/", 1020),
            ("http://a:99999/", 1020),
            ("http://a/\r\nX: 1", 1020),
            ("\thttp://a/", 1020),
            ("http://a/%zz", 1020),
            ("http://a/b%4", 1020),
            ("http://a/%é", 1020),
        ] {
            let address = Address::parse_or_nowhere(text);
            assert!(address.origin.is_nowhere());
            assert_eq!(address.mistake().code, code, "{text}");
        }
    }
}
