//! The modules that scripts import by name. Each is a JavaScript source that finds the functions of the host behind it as
//! `import.meta.native`. Both are made only in VUs that import the module.

use rquickjs::Result;

use crate::api::{
    crypto, csv, data, encoding, events, execution, files, k6, metrics, random, sockets, text,
};
use crate::runtime::host::Natives;
use crate::{http, secrets};

type Install = for<'js> fn(&Natives<'js>) -> Result<()>;

pub struct Builtin {
    pub name: &'static str,
    pub source: &'static str,
    /// Makes the functions of the host.
    pub install: Install,
}

const fn builtin(name: &'static str, source: &'static str, install: Install) -> Builtin {
    Builtin { name, source, install }
}

static FOR_SCRIPTS: [Builtin; 14] = [
    builtin("k6", include_str!("../js/k6.js"), k6::install),
    builtin("k6/http", include_str!("../js/http.js"), http::install),
    builtin("k6/metrics", include_str!("../js/metrics.js"), metrics::install),
    builtin("k6/data", include_str!("../js/data.js"), data::install),
    builtin("k6/execution", include_str!("../js/execution.js"), execution::install),
    builtin("k6/encoding", include_str!("../js/encoding.js"), encoding::install),
    builtin("k6/crypto", include_str!("../js/crypto.js"), crypto::install),
    builtin("k6/timers", include_str!("../js/timers.js"), events::install),
    builtin("k6/secrets", include_str!("../js/secrets.js"), secrets::install),
    builtin("k6/websockets", WEB_SOCKETS, sockets::install),
    builtin("k6/ws", include_str!("../js/ws.js"), sockets::install),
    builtin("k6/experimental/websockets", WEB_SOCKETS, sockets::install),
    builtin("k6/experimental/csv", include_str!("../js/csv.js"), csv::install),
    builtin("k6/experimental/fs", include_str!("../js/fs.js"), files::install),
];

/// What other modules of ours import, and what globals are made of when they are first read.
static INTERNAL: [Builtin; 3] = [
    builtin("plimsoll:shared-array", include_str!("../js/shared_array.js"), |_| Ok(())),
    builtin("plimsoll:text", include_str!("../js/text.js"), text::install),
    builtin("plimsoll:web-crypto", include_str!("../js/web_crypto.js"), random::install),
];

const WEB_SOCKETS: &str = include_str!("../js/websockets.js");

/// Modules of k6 that scripts cannot import, and what to do instead.
const NOT_YET: [(&str, &str); 11] = [
    ("k6/net/grpc", "gRPC is not supported yet; measure the requests over HTTP here and leave the calls to k6"),
    ("k6/experimental/grpc", "gRPC is not supported yet; measure the requests over HTTP here and leave the calls to k6"),
    ("k6/html", "parsing HTML is not supported yet; find what you need in response.body with a regular expression"),
    ("k6/crypto/x509", "parsing certificates is not supported yet; extract their fields beforehand and read them with open() or __ENV"),
    ("k6/browser", "browsers are not supported yet; send the requests of the page with k6/http"),
    ("k6/experimental/browser", "browsers are not supported yet; send the requests of the page with k6/http"),
    ("k6/experimental/streams", "streams are not supported yet; read files with open(), k6/experimental/fs or k6/experimental/csv"),
    ("k6/experimental/redis", "redis is not supported yet, and k6 v2 has removed this module; keep shared data in a SharedArray"),
    ("k6/experimental/timers", "timers are global functions since k6 0.50; remove the import"),
    ("k6/experimental/webcrypto", "crypto is a global object since k6 1.0; remove the import"),
    ("k6/experimental/tracing", "k6 has removed this module; set the header traceparent yourself"),
];

/// A module that scripts may import.
pub fn for_scripts(name: &str) -> Option<&'static Builtin> {
    FOR_SCRIPTS.iter().find(|builtin| builtin.name == name)
}

/// A module that scripts or our own modules may import.
pub fn any(name: &str) -> Option<&'static Builtin> {
    for_scripts(name).or_else(|| INTERNAL.iter().find(|builtin| builtin.name == name))
}

/// Why a script cannot import `name`, and what to do.
pub fn why_not(name: &str) -> String {
    if let Some((_, what)) = NOT_YET.iter().find(|(module, _)| *module == name) {
        return (*what).to_owned();
    }
    if name.starts_with("k6/x/") {
        return "extensions of k6 are not supported; take the import and what uses it out of the script".to_owned();
    }
    let names: Vec<&str> = FOR_SCRIPTS.iter().map(|builtin| builtin.name).collect();
    format!("supported are {}, relative paths to .js and .json files", names.join(", "))
}
