//! Requests on the wire. `client` carries them out, over `connection` (HTTP/1.1) or `http2`, which `dial` makes by the run's
//! `rules`, through a `proxy` where the environment names one; `deadline` is their time limits, `beside` what runs beside a
//! script, `websocket` among it.

pub(crate) mod beside;
pub(crate) mod client;
pub(crate) mod connection;
pub(crate) mod deadline;
pub(crate) mod decode;
pub(crate) mod dial;
pub(crate) mod failures;
pub(crate) mod http2;
pub(crate) mod proxy;
pub(crate) mod rules;
pub(crate) mod tls;
pub(crate) mod traffic;
pub(crate) mod websocket;
