//! The load engine: threads, sockets, the clock, executors and live control.
//!
//! `loading` reads script and options, `run` is a run from outside, `plan` carries it out; each `worker` is one thread with its VUs and executors (`closed`, `open`,
//! `iterations`); `client` carries out requests, over `connection` (HTTP/1.1) or `http2`, which `dial` makes by the run's `rules`, through a `proxy` where the environment names one;
//! `deadline` is their time limits, `beside` what runs beside a script; `collector` merges the threads' seconds into snapshots;
//! `stop` tells all of it to end, `gate` lets the threads begin together; `epochs` knows the level to which an arrival belongs; `self_watch` is what a thread sees of itself; `samples` writes raw ones; `plain` requests one URL without a script.

mod backoff;
mod beside;
mod bounds;
mod client;
mod closed;
mod collector;
mod connection;
mod deadline;
pub mod deaf;
mod debug;
mod decode;
mod dial;
mod drive;
mod epochs;
mod failures;
mod gate;
mod http2;
mod iterations;
pub mod limits;
mod loading;
mod once;
mod open;
mod plain;
mod plan;
mod proxy;
mod rules;
pub mod run;
mod samples;
mod self_watch;
mod signal;
mod stop;
mod summary;
mod threads;
mod timer;
mod tls;
mod traffic;
mod worker;

pub use loading::{inspect, Config, EngineError};
pub use plimsoll_script::secrets::Cleaner;
pub use plimsoll_script::term::Orders;
pub use plimsoll_script::{sharing, Sharing};
pub use run::Run;
