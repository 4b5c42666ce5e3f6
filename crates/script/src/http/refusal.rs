//! Requests that cannot be sent as they were asked for: a line break in a header would begin another one. As in k6 such a
//! request fails by itself; nothing of it is left out or sent.

use crate::effect::HttpRequest;

/// Why the request is not sent, worded as k6 does; `None` where nothing is wrong.
pub fn of(request: &HttpRequest) -> Option<String> {
    if !is_token(&request.method) {
        return Some(format!("net/http: invalid method {:?}", request.method));
    }
    if request.user_agent.as_ref().is_some_and(|agent| !is_value(agent)) {
        return Some(of_value("User-Agent"));
    }
    let wrong = request.headers.iter().find(|(name, value)| !is_token(name) || !is_value(value));
    wrong.map(|(name, _)| match is_token(name) {
        false => format!("net/http: invalid header field name {name:?}"),
        // The value may be a secret.
        true => of_value(name),
    })
}

fn of_value(name: &str) -> String {
    format!("net/http: invalid header field value for {name:?}")
}

/// A method or a header's name (RFC 9110, section 5.6.2).
pub fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// A header's value: no control character but the tab (RFC 9110, section 5.5).
pub fn is_value(text: &str) -> bool {
    !text.bytes().any(|byte| byte.is_ascii_control() && byte != b'\t')
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bytes::Bytes;

    use super::*;
    use crate::http::address::Address;

    fn request(method: &str, header: (&str, &str), agent: Option<&str>) -> HttpRequest {
        HttpRequest {
            method: method.into(),
            address: Address::parse("http://localhost/").unwrap(),
            headers: vec![("Accept".into(), "*/*".into()), (header.0.into(), header.1.into())],
            user_agent: agent.map(Into::into),
            body: Bytes::new(),
            uncompressed: None,
            timeout: Duration::from_secs(60),
            discard_body: false,
            checks_coding: false,
            follows_redirects: false,
        }
    }

    #[test]
    fn what_is_a_header_is_sent() {
        for header in
            [("X-a!#$%&'*+-.^_`|~9", "a\tb ü \u{80}"), ("Empty", ""), ("Cookie", "a=\"b\"; c")]
        {
            assert_eq!(of(&request("PURGE", header, Some("k6/1"))), None, "{header:?}");
        }
    }

    #[test]
    fn control_characters_are_refused_wherever_they_are_and_the_place_is_named() {
        for control in ["\r\n", "\n", "\r", "\0", "\x7f", "\x0b", "\x1b"] {
            let broken = format!("a{control}b");
            let name = of(&request("GET", (&broken, "x"), None)).unwrap();
            assert!(
                name.starts_with("net/http: invalid header field name \"a")
                    && !name.contains(control),
                "{name}"
            );
            let value = of(&request("GET", ("Authorization", &broken), None)).unwrap();
            assert_eq!(
                value, "net/http: invalid header field value for \"Authorization\"",
                "the value is not shown"
            );
            let agent = of(&request("GET", ("X", "x"), Some(&broken))).unwrap();
            assert_eq!(agent, "net/http: invalid header field value for \"User-Agent\"");
            let method = of(&request(&broken, ("X", "x"), None)).unwrap();
            assert!(
                method.starts_with("net/http: invalid method \"a") && !method.contains(control),
                "{method}"
            );
        }
        for (method, name) in
            [("GE T", "X"), ("", "X"), ("GET", ""), ("GET", "a b"), ("GET", "a:b"), ("GET", "ü")]
        {
            assert!(of(&request(method, (name, "x"), None)).is_some(), "{method:?} {name:?}");
        }
    }
}
