//! What a script asks for when it opens a socket: URL, protocols and parameters, as the request of the handshake (RFC 6455,
//! section 4.1).

use std::sync::Arc;
use std::time::Duration;

use base64::engine::general_purpose::STANDARD;
use base64::Engine;
use bytes::Bytes;
use rquickjs::{Ctx, Exception, Object, Result, Value};

use crate::api::random;
use crate::effect::HttpRequest;
use crate::http::address::Address;
use crate::http::auth;
use crate::http::cookies::{self, Given, SharedJar};
use crate::http::reading::headers_of;
use crate::runtime::raw::each_property;
use crate::state::VuState;
use crate::values::{tags_of, text_of};

/// How long a server may take to answer, as in k6.
const TIMEOUT: Duration = Duration::from_secs(60);

/// What k6 offers, and all that can be undone: each message is compressed by itself (RFC 7692).
const DEFLATE: &str = "permessage-deflate; server_no_context_takeover; client_no_context_takeover";

pub struct Asked {
    pub request: HttpRequest,
    pub compresses: bool,
    pub tags: Vec<(String, String)>,
    pub jar: Option<SharedJar>,
}

/// The URL as its script has it.
pub fn as_socket(url: &str) -> String {
    url.strip_prefix("http").map_or_else(|| url.to_owned(), |rest| format!("ws{rest}"))
}

impl Asked {
    /// `is_strict`: as `new WebSocket()`, which throws where `ws.connect()` gives a response that failed.
    pub fn read<'js>(
        ctx: &Ctx<'js>,
        vu: &VuState,
        url: &Value<'js>,
        protocols: &Value<'js>,
        params: &Value<'js>,
        is_strict: bool,
    ) -> Result<Self> {
        let url = text_of(url);
        let address = match address_of(&url) {
            Ok(address) => address,
            Err(what) if is_strict => return Err(Exception::throw_message(ctx, &what)),
            Err(_) => Address::parse_or_nowhere(""),
        };
        let mut asked =
            Self { request: request_to(address), compresses: false, tags: Vec::new(), jar: None };
        if let Some(params) = params.as_object() {
            asked.read_params(ctx, params, is_strict)?;
        }
        if !asked.tags.iter().any(|(key, _)| key == "name") {
            let name = match asked.request.address.origin.is_nowhere() {
                true => url,
                false => as_socket(&asked.request.address.masked()),
            };
            asked.tags.push(("name".into(), name));
        }
        asked.add_headers(ctx, vu, &protocols_of(protocols))?;
        Ok(asked)
    }

    fn read_params<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        params: &Object<'js>,
        is_strict: bool,
    ) -> Result<()> {
        each_property(params, |key, value| {
            match key {
                "headers" => self.request.headers = headers_of(ctx, &value)?,
                "tags" => self.tags = tags_of(&value)?,
                "jar" => self.jar = cookies::jar_of(&value),
                "compression" if value.is_null() || value.is_undefined() => {}
                "compression" => match text_of(&value).trim() {
                    "" => {}
                    "deflate" => self.compresses = true,
                    other => {
                        let what = format!("unsupported compression algorithm '{other}', supported algorithm is 'deflate'");
                        return Err(Exception::throw_message(ctx, &what));
                    }
                },
                other if is_strict => {
                    let what = format!("unknown WebSocket's option {other}; there are headers, tags, jar and compression");
                    return Err(Exception::throw_message(ctx, &what));
                }
                _ => {}
            }
            Ok(())
        })
    }

    fn has(&self, name: &str) -> bool {
        self.request.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
    }

    fn add_headers(&mut self, ctx: &Ctx<'_>, vu: &VuState, protocols: &[String]) -> Result<()> {
        self.add_user_agent(&vu.bundle.defaults.user_agent);
        let key = STANDARD.encode(random::bytes(ctx, 16)?);
        if let Some(credentials) = self.request.address.credentials().cloned() {
            if !self.has("authorization") {
                let authorization = auth::basic(&credentials);
                self.request.headers.push(("Authorization".into(), authorization));
            }
        }
        if !self.has("cookie") {
            let jar = self.jar.as_ref().unwrap_or(&vu.jar);
            let cookie = Given::default().header_to(&self.request.address, jar, false);
            self.request.headers.extend(cookie.map(|cookie| ("Cookie".into(), cookie)));
        }
        let mut add = |name: &str, value: &str| {
            self.request.headers.push((name.to_owned(), value.to_owned()));
        };
        add("Connection", "Upgrade");
        add("Upgrade", "websocket");
        add("Sec-WebSocket-Version", "13");
        add("Sec-WebSocket-Key", &key);
        if !protocols.is_empty() {
            add("Sec-WebSocket-Protocol", &protocols.join(", "));
        }
        if self.compresses {
            add("Sec-WebSocket-Extensions", DEFLATE);
        }
        Ok(())
    }

    fn add_user_agent(&mut self, usual: &Arc<str>) {
        if !self.has("user-agent") {
            self.request.user_agent = Some(usual.clone());
        }
        // An empty one is sent not at all, as in k6.
        self.request
            .headers
            .retain(|(name, value)| !(name.eq_ignore_ascii_case("user-agent") && value.is_empty()));
    }
}

fn request_to(address: Address) -> HttpRequest {
    HttpRequest {
        method: "GET".into(),
        address,
        headers: Vec::new(),
        user_agent: None,
        body: Bytes::new(),
        timeout: TIMEOUT,
        uncompressed: None,
        discard_body: false,
        checks_coding: false,
        follows_redirects: false,
    }
}

/// A text, or a list of them.
fn protocols_of(value: &Value<'_>) -> Vec<String> {
    match value.as_array() {
        Some(list) => list.iter::<Value>().flatten().map(|one| text_of(&one)).collect(),
        None if value.is_string() => vec![text_of(value)],
        None => Vec::new(),
    }
}

/// Where a URL leads, as an address of HTTP; or what is wrong with it.
fn address_of(url: &str) -> std::result::Result<Address, String> {
    let how = "write the whole address, for example ws://localhost:8080/path";
    if url.is_empty() || url == "undefined" {
        return Err(format!("WebSocket requires a url; {how}"));
    }
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let http = match scheme.to_ascii_lowercase().as_str() {
        "ws" => "http",
        "wss" => "https",
        _ => {
            return Err(format!(
                "WebSocket requires url with scheme ws or wss, but got \"{scheme}\"; {how}"
            ))
        }
    };
    if let Some((_, fragment)) = rest.split_once('#') {
        return Err(format!("WebSocket requires no url fragment, but got \"{fragment}\""));
    }
    Address::parse(&format!("{http}://{rest}"))
        .ok_or_else(|| format!("WebSocket: {url:?} is no URL; {how}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_a_socket_is_one_of_http() {
        let address = address_of("wss://shop.test/chat?a=1").unwrap();
        assert!(address.origin.tls && address.origin.port == 443);
        assert_eq!(
            (address.target(), as_socket(address.as_str()).as_str()),
            ("/chat?a=1", "wss://shop.test/chat?a=1")
        );
        assert!(!address_of("WS://shop.test").unwrap().origin.tls);
    }

    #[test]
    fn what_is_no_address_of_a_socket_is_said() {
        for (url, what) in [
            ("http://a.test/", "scheme ws or wss, but got \"http\""),
            ("a.test", "scheme ws or wss, but got \"\""),
            ("", "requires a url"),
            ("ws://a.test/#b", "no url fragment, but got \"b\""),
            ("ws://", "is no URL"),
        ] {
            let message = address_of(url).unwrap_err();
            assert!(message.contains(what), "{url}: {message}");
        }
    }
}
