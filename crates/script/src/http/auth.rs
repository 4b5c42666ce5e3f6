//! Authentication of requests: basic (RFC 7617) and digest (RFC 7616, with RFC 2069's form without qop).

use base64::prelude::{Engine, BASE64_STANDARD};
use md5::{Digest, Md5};
use rand::RngCore;
use sha2::{Sha256, Sha512_256};

/// The user and password of a URL, percent-decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credentials {
    pub user: String,
    pub password: String,
}

/// How a request shows its credentials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheme {
    #[default]
    Basic,
    /// Answers a challenge, once.
    Digest,
}

/// The Authorization header of basic authentication.
pub fn basic(credentials: &Credentials) -> String {
    format!(
        "Basic {}",
        BASE64_STANDARD.encode(format!("{}:{}", credentials.user, credentials.password))
    )
}

/// What a digest is made for.
pub struct Target<'a> {
    pub method: &'a str,
    /// Path and query.
    pub uri: &'a str,
    pub body: &'a [u8],
}

#[derive(Clone, Copy)]
enum Algorithm {
    Md5,
    Sha256,
    Sha512256,
}

impl Algorithm {
    /// The algorithm and whether it is the session variant.
    fn named(name: &str) -> Option<(Self, bool)> {
        let upper = name.to_ascii_uppercase();
        let (name, session) =
            upper.strip_suffix("-SESS").map_or((upper.as_str(), false), |name| (name, true));
        let algorithm = match name {
            "" | "MD5" => Self::Md5,
            "SHA-256" => Self::Sha256,
            "SHA-512-256" => Self::Sha512256,
            _ => return None,
        };
        Some((algorithm, session))
    }

    fn hash(self, bytes: impl AsRef<[u8]>) -> String {
        let bytes = match self {
            Self::Md5 => Md5::digest(bytes).to_vec(),
            Self::Sha256 => Sha256::digest(bytes).to_vec(),
            Self::Sha512256 => Sha512_256::digest(bytes).to_vec(),
        };
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The Authorization header that answers a WWW-Authenticate header; `None` if it is no digest challenge that is known.
pub fn digest(challenge: &str, credentials: &Credentials, target: &Target) -> Option<String> {
    let mut random = [0u8; 16];
    rand::rng().fill_bytes(&mut random);
    answer(challenge, credentials, target, &random.map(|byte| format!("{byte:02x}")).concat())
}

fn answer(
    challenge: &str,
    credentials: &Credentials,
    target: &Target,
    cnonce: &str,
) -> Option<String> {
    let fields = fields_of(challenge)?;
    let field = |name: &str| {
        fields
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    };
    let (realm, nonce) = (field("realm")?, field("nonce")?);
    let (algorithm, session) = Algorithm::named(field("algorithm").unwrap_or_default())?;
    let offered = field("qop").map(|qop| qop.split(',').map(str::trim).collect::<Vec<_>>());
    let qop = match &offered {
        None => None,
        Some(offered) => Some(*["auth", "auth-int"].iter().find(|known| offered.contains(known))?),
    };
    let Credentials { user, password } = credentials;
    let mut secret = algorithm.hash(format!("{user}:{realm}:{password}"));
    if session {
        secret = algorithm.hash(format!("{secret}:{nonce}:{cnonce}"));
    }
    let mut what = format!("{}:{}", target.method, target.uri);
    if qop == Some("auth-int") {
        what = format!("{what}:{}", algorithm.hash(target.body));
    }
    let what = algorithm.hash(what);
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let mut header = format!(
        "Digest username=\"{}\", realm=\"{}\", nonce=\"{}\", uri=\"{}\"",
        quoted(user),
        quoted(realm),
        quoted(nonce),
        target.uri
    );
    let response = match qop {
        None => algorithm.hash(format!("{secret}:{nonce}:{what}")),
        Some(qop) => {
            header.push_str(&format!(", qop={qop}, nc=00000001, cnonce=\"{cnonce}\""));
            algorithm.hash(format!("{secret}:{nonce}:00000001:{cnonce}:{qop}:{what}"))
        }
    };
    header.push_str(&format!(", response=\"{response}\""));
    for (name, value) in [("algorithm", field("algorithm")), ("opaque", field("opaque"))] {
        match value {
            Some(value) if name == "opaque" => {
                header.push_str(&format!(", opaque=\"{}\"", quoted(value)))
            }
            Some(value) => header.push_str(&format!(", {name}={value}")),
            None => {}
        }
    }
    Some(header)
}

/// The parameters of a digest challenge.
fn fields_of(challenge: &str) -> Option<Vec<(String, String)>> {
    let (scheme, mut rest) = challenge.trim().split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("digest") {
        return None;
    }
    let mut fields = Vec::new();
    while let Some((name, value)) = rest.split_once('=') {
        let name = name.trim_matches([' ', ',']).to_owned();
        let value = value.trim_start();
        let (value, after) = match value.strip_prefix('"') {
            Some(quoted) => unquote(quoted)?,
            None => {
                let end = value.find(',').unwrap_or(value.len());
                (value[..end].trim().to_owned(), &value[end..])
            }
        };
        fields.push((name, value));
        rest = after;
    }
    Some(fields)
}

/// The text up to the closing quote, and what follows it.
fn unquote(quoted: &str) -> Option<(String, &str)> {
    let (mut text, mut escaped) = (String::new(), false);
    for (at, letter) in quoted.char_indices() {
        match letter {
            _ if escaped => {
                text.push(letter);
                escaped = false;
            }
            '\\' => escaped = true,
            '"' => return Some((text, &quoted[at + 1..])),
            _ => text.push(letter),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mufasa(password: &str) -> Credentials {
        Credentials { user: "Mufasa".into(), password: password.into() }
    }

    #[test]
    fn rfc_7616_section_3_9_1() {
        let challenge = |algorithm: &str| {
            format!(
                "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", algorithm={algorithm}, \
                 nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\""
            )
        };
        let target = Target { method: "GET", uri: "/dir/index.html", body: b"" };
        for (algorithm, response) in [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ] {
            let header = answer(
                &challenge(algorithm),
                &mufasa("Circle of Life"),
                &target,
                "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ",
            )
            .unwrap();
            assert!(header.contains(&format!("response=\"{response}\"")), "{header}");
            assert!(
                header.contains("qop=auth, nc=00000001")
                    && header.contains(&format!("algorithm={algorithm}"))
            );
        }
    }

    #[test]
    fn rfc_2069_has_no_qop() {
        let challenge =
            "Digest realm=\"testrealm@host.com\", nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\", opaque=\"5ccc069c403ebaf9f0171e9517f40e41\"";
        let target = Target { method: "GET", uri: "/dir/index.html", body: b"" };
        let header = answer(challenge, &mufasa("CircleOfLife"), &target, "x").unwrap();
        // Erratum 749 of RFC 2069.
        assert!(
            header.contains("response=\"1949323746fe6a43ef61f9606e7febea\"")
                && !header.contains("cnonce"),
            "{header}"
        );
    }

    #[test]
    fn other_challenges_are_not_answered() {
        let target = Target { method: "GET", uri: "/", body: b"" };
        for challenge in [
            "Basic realm=\"x\"",
            "Digest realm=\"x\", nonce=\"y\", algorithm=SHA-1",
            "Digest realm=\"x\", nonce=\"y\", qop=\"z\"",
        ] {
            assert_eq!(digest(challenge, &mufasa("x"), &target), None, "{challenge}");
        }
    }

    #[test]
    fn basic_is_base64() {
        assert_eq!(
            basic(&Credentials { user: "Aladdin".into(), password: "open sesame".into() }),
            "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
        );
    }
}
