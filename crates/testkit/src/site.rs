//! A site of all that HTTP does: each path answers in a way that its name says, so that a client can be tested
//! against it. What a request asks for is in its path and query; nothing is kept from one request to the next.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::Write;
use std::time::Duration;

use base64::prelude::{Engine, BASE64_STANDARD};
use serde_json::json;
use url::Url;

use crate::digest;

pub const HELP: &str = "paths of the site:
  /echo                        the request as JSON; the body as text, or as base64 if it is no UTF-8
  /back                        the body as it came, as JSON
  /encoded/gzip,br             a JSON body in these encodings, one upon the other (gzip, deflate, br, zstd)
  /broken/gzip                 a body that is not in the encoding it claims
  /coded/KIND/gzip             the body of /encoded: cut in the middle, with its end missing, longer, changed, empty; or a
                               bomb of ?mib=128 MiB of zeros, or nothing, many times over (members, of gzip)
  /status/404                  that status with a short body
  /set?cookie=a=1;Path=/&…     a Set-Cookie header for each `cookie`
  /redirect/3                  302 to /redirect/2 … to /echo; with ?set=1 each hop sets a cookie of its number
  /to?status=307&url=…         that status with that Location
  /basic/user/password         401 unless this is the Authorization (RFC 7617)
  /digest/user/password        the same with a challenge (RFC 7616): ?algorithm=SHA-256&qop=auth-int
  /header?name=X&value=…       a header of the response
  /page                        an HTML page with a form and a link
  /wait/50, any path?wait=50   /echo, or what the path says, 50 ms later
  /many/200                    so many headers
  /stall, /close, /reset       never answers; closes; resets the connection";

/// A request, whatever carried it.
pub struct Seen {
    pub method: String,
    pub target: String,
    pub proto: &'static str,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// The client's port: one connection has one.
    pub port: u16,
    /// The subject of the client's certificate was given.
    pub client_certificate: bool,
    pub server_name: Option<String>,
}

pub struct Page {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

pub enum Answer {
    Page(Page),
    Stall,
    Close,
    Reset,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }
}

impl Page {
    fn text(status: u16, text: &str) -> Self {
        Self {
            status,
            headers: vec![("Content-Type".into(), "text/plain".into())],
            body: text.as_bytes().to_vec(),
        }
    }

    fn json(value: &serde_json::Value) -> Self {
        Self {
            status: 200,
            headers: vec![("Content-Type".into(), "application/json".into())],
            body: value.to_string().into_bytes(),
        }
    }

    fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }
}

/// How long the site takes over an answer.
pub fn delay(seen: &Seen) -> Duration {
    let after = |text: &str| {
        seen.target
            .split_once(text)
            .and_then(|(_, rest)| rest.split(['/', '?', '&']).next()?.parse().ok())
    };
    let wanted_ms = after("/wait/").or_else(|| after("wait="));
    Duration::from_millis(wanted_ms.unwrap_or(0))
}

/// What the site answers.
pub fn answer(seen: &Seen) -> Answer {
    let Ok(url) = Url::parse("http://site/").and_then(|base| base.join(&seen.target)) else {
        return Answer::Page(Page::text(400, "no URL"));
    };
    let words: Vec<&str> = url.path().trim_start_matches('/').split('/').collect();
    let query = |name: &str| {
        url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
    };
    let page = match words.as_slice() {
        ["stall"] => return Answer::Stall,
        ["close"] => return Answer::Close,
        ["reset"] => return Answer::Reset,
        ["back"] => Page { status: 200, headers: vec![("Content-Type".into(), "application/json".into())], body: seen.body.clone() },
        ["encoded", encodings] => encoded(encodings),
        ["coded", kind, encodings] => miscoded(kind, encodings, query("mib").and_then(|mib| mib.parse().ok()).unwrap_or(128)),
        ["broken", encodings] => Page::text(200, "this is no such stream").with("Content-Encoding", *encodings),
        ["status", status] => Page::text(status.parse().unwrap_or(400), "status"),
        ["set"] => url
            .query_pairs()
            .filter(|(key, _)| key == "cookie")
            .fold(Page::text(200, "set"), |page, (_, cookie)| page.with("Set-Cookie", cookie.into_owned())),
        ["redirect", left] => redirect(left.parse().unwrap_or(0), query("set").is_some()),
        ["to"] => {
            let status = query("status").and_then(|status| status.parse().ok()).unwrap_or(302);
            Page::text(status, "elsewhere").with("Location", query("url").unwrap_or_default())
        }
        ["basic", user, password] => {
            let wanted = format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")));
            match seen.header("authorization") {
                Some(given) if given == wanted => echo(seen),
                _ => Page::text(401, "who?").with("WWW-Authenticate", "Basic realm=\"site\""),
            }
        }
        ["digest", user, password] => {
            let (algorithm, qop) = (query("algorithm").unwrap_or_else(|| "MD5".into()), query("qop").unwrap_or_else(|| "auth".into()));
            match seen.header("authorization") {
                Some(given) if digest::holds(given, &seen.method, &seen.body, user, password) => echo(seen),
                _ => Page::text(401, "who?").with("WWW-Authenticate", digest::challenge(&algorithm, &qop)),
            }
        }
        ["many", count] => {
            (0..count.parse().unwrap_or(0)).fold(Page::text(200, "many"), |page, at: u32| page.with(&format!("x-{at}"), at.to_string()))
        }
        ["header"] => Page::text(200, "header").with(&query("name").unwrap_or_default(), query("value").unwrap_or_default()),
        ["page"] => Page {
            status: 200,
            headers: vec![("Content-Type".into(), "text/html".into())],
            body: b"<html><body><form action='/echo' method='post'><input name='a' value='1'/></form><a href='/echo?link'>on</a></body></html>"
                .to_vec(),
        },
        _ => echo(seen),
    };
    Answer::Page(page)
}

fn echo(seen: &Seen) -> Page {
    let body = match std::str::from_utf8(&seen.body) {
        Ok(text) => json!(text),
        Err(_) => json!({"base64": BASE64_STANDARD.encode(&seen.body)}),
    };
    Page::json(&json!({
        "method": seen.method, "target": seen.target, "proto": seen.proto, "body": body, "port": seen.port,
        "headers": seen.headers, "client_certificate": seen.client_certificate, "server_name": seen.server_name,
    }))
}

fn redirect(left: u32, set: bool) -> Page {
    let (next, mark) = (left.saturating_sub(1), if set { "?set=1" } else { "" });
    let location = if next == 0 { "/echo".to_owned() } else { format!("/redirect/{next}{mark}") };
    let page = Page::text(302, "on").with("Location", location);
    if set {
        page.with("Set-Cookie", format!("hop{left}={left}; Path=/"))
    } else {
        page
    }
}

fn encoded(encodings: &str) -> Page {
    let plain =
        json!({"hello": "world", "rows": (0..50).collect::<Vec<u32>>()}).to_string().into_bytes();
    coded_page(encodings, encode(encodings, plain))
}

fn coded_page(encodings: &str, body: Option<Vec<u8>>) -> Page {
    let Some(body) = body else {
        return Page::text(400, "no such encoding");
    };
    let header = encodings.replace(',', ", ");
    Page {
        status: 200,
        headers: vec![
            ("Content-Type".into(), "application/json".into()),
            ("Content-Encoding".into(), header),
        ],
        body,
    }
}

fn encode(encodings: &str, mut body: Vec<u8>) -> Option<Vec<u8>> {
    for encoding in encodings.split(',') {
        body = match encoding {
            "gzip" => finish(
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default()),
                &body,
                |encoder| encoder.finish(),
            ),
            "deflate" => finish(
                flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default()),
                &body,
                |encoder| encoder.finish(),
            ),
            "zstd" => zstd::encode_all(body.as_slice(), 0).unwrap_or_default(),
            "br" => {
                let mut compressed = Vec::new();
                // Writing to a vector cannot fail.
                let _ =
                    brotli::CompressorWriter::new(&mut compressed, 4096, 5, 22).write_all(&body);
                compressed
            }
            _ => return None,
        };
    }
    Some(body)
}

/// A coded body with what is wrong with it.
fn miscoded(kind: &str, encodings: &str, mebibytes: usize) -> Page {
    let mut page = encoded(encodings);
    let body = &mut page.body;
    let middle = body.len() / 2;
    match kind {
        "cut" => body.truncate(middle),
        "end" => body.truncate(body.len().saturating_sub(1)),
        "longer" => body.extend_from_slice(b"more"),
        "changed" => body[middle] ^= 0x55,
        "empty" => body.clear(),
        "members" => *body = encode(encodings, Vec::new()).unwrap_or_default().repeat(100_000),
        "bomb" => page = coded_page(encodings, bomb(encodings, mebibytes)),
        _ => page = Page::text(404, "no such kind"),
    }
    page
}

thread_local! {
    /// Bombs take their time to make.
    static BOMBS: RefCell<HashMap<String, Vec<u8>>> = RefCell::default();
}

fn bomb(encodings: &str, mebibytes: usize) -> Option<Vec<u8>> {
    let name = format!("{encodings} {mebibytes}");
    if let Some(known) = BOMBS.with_borrow(|bombs| bombs.get(&name).cloned()) {
        return Some(known);
    }
    let made = encode(encodings, vec![0; mebibytes << 20])?;
    BOMBS.with_borrow_mut(|bombs| bombs.insert(name, made.clone()));
    Some(made)
}

fn finish<W: Write>(
    mut encoder: W,
    body: &[u8],
    end: impl FnOnce(W) -> std::io::Result<Vec<u8>>,
) -> Vec<u8> {
    // Writing to a vector cannot fail.
    let _ = encoder.write_all(body);
    end(encoder).unwrap_or_default()
}
