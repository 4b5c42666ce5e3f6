//! How a connection becomes a socket (RFC 6455, section 4.1): what the script asked for, and whether the server agreed.

use plimsoll_script::effect::{code, Failure, HttpRequest, HttpResponse};
use plimsoll_script::socket::answer_to;

use super::deflate;

/// What the handshake itself says; a script that says it too would break it.
const OWN_HEADERS: [&str; 5] = [
    "Upgrade",
    "Connection",
    "Sec-WebSocket-Key",
    "Sec-WebSocket-Version",
    "Sec-WebSocket-Extensions",
];

/// Why it is not even tried.
pub fn hindrance(request: &HttpRequest) -> Option<Failure> {
    if request.address.origin.is_nowhere() {
        let message = "malformed ws or wss URL".to_owned();
        return Some(Failure { code: code::INVALID_URL, message });
    }
    let count = |wanted: &&&str| {
        request.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case(wanted)).count()
    };
    let twice = OWN_HEADERS.iter().find(|wanted| count(wanted) > 1)?;
    let message =
        format!("websocket: duplicate header not allowed: {twice}; leave it to the handshake");
    Some(Failure { code: code::GENERIC, message })
}

/// Whether messages are compressed from now on; or why this is no socket.
pub fn agreed(request: &HttpRequest, response: &HttpResponse) -> Result<bool, String> {
    let says = |name: &str, word: &str| {
        let has = response
            .head
            .all(name)
            .any(|value| value.split(',').any(|part| part.trim().eq_ignore_ascii_case(word)));
        has
    };
    let key = request.headers.iter().find(|(name, _)| name == "Sec-WebSocket-Key");
    let answer = key.map(|(_, key)| answer_to(key));
    let is_answered =
        response.head.all("sec-websocket-accept").next().as_deref() == answer.as_deref();
    let is_one = response.status == 101
        && says("upgrade", "websocket")
        && says("connection", "upgrade")
        && is_answered;
    if !is_one {
        return Err("websocket: bad handshake".into());
    }
    deflate::is_agreed(response.head.all("sec-websocket-extensions").collect::<Vec<_>>().iter())
        .map_err(|what| format!("websocket: {what}"))
}
