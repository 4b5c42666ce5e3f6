//! The server's side of digest access authentication (RFC 7616), written apart from the client's so that each
//! checks the other.

use md5::{Digest, Md5};
use sha2::{Sha256, Sha512_256};

const REALM: &str = "site";
const NONCE: &str = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v";
const OPAQUE: &str = "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS";

fn hash(algorithm: &str, text: &str) -> String {
    let bytes = match algorithm.trim_end_matches("-sess") {
        "SHA-256" => Sha256::digest(text).to_vec(),
        "SHA-512-256" => Sha512_256::digest(text).to_vec(),
        _ => Md5::digest(text).to_vec(),
    };
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The WWW-Authenticate header; without qop it is RFC 2069's.
pub fn challenge(algorithm: &str, qop: &str) -> String {
    let qop = if qop == "none" { String::new() } else { format!(", qop=\"{qop}\"") };
    format!("Digest realm=\"{REALM}\"{qop}, algorithm={algorithm}, nonce=\"{NONCE}\", opaque=\"{OPAQUE}\"")
}

/// Whether an Authorization header proves the password.
pub fn holds(given: &str, method: &str, body: &[u8], user: &str, password: &str) -> bool {
    let Some(given) = given.strip_prefix("Digest ") else {
        return false;
    };
    let field = |name: &str| {
        let found = given.split(", ").find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
        found.map(|value| value.trim_matches('"')).unwrap_or_default()
    };
    let algorithm = field("algorithm");
    let mut secret = hash(algorithm, &format!("{user}:{REALM}:{password}"));
    if algorithm.ends_with("-sess") {
        secret = hash(algorithm, &format!("{secret}:{NONCE}:{}", field("cnonce")));
    }
    let mut what = format!("{method}:{}", field("uri"));
    if field("qop") == "auth-int" {
        what = format!("{what}:{}", hash(algorithm, &String::from_utf8_lossy(body)));
    }
    let what = hash(algorithm, &what);
    let wanted = match field("qop") {
        "" => hash(algorithm, &format!("{secret}:{NONCE}:{what}")),
        qop => hash(
            algorithm,
            &format!("{secret}:{NONCE}:{}:{}:{qop}:{what}", field("nc"), field("cnonce")),
        ),
    };
    field("username") == user
        && field("opaque") == OPAQUE
        && field("nonce") == NONCE
        && field("response") == wanted
}
