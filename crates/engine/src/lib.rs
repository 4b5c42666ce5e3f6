//! The load engine: threads, sockets, the clock, executors and live control.
//!
//! `loading` reads script and options, `run` is a run from outside, `plan` carries it out. Each `worker` is one thread with its
//! VUs and `executors` (the closed model, the open one, counted iterations). `network` carries out requests. `collector` merges
//! the threads' seconds into snapshots. `stop` tells all of it to end, `gate` lets the threads begin together. `epochs` knows
//! the level to which an arrival belongs. `self_watch` is what a thread sees of itself. `samples` writes raw ones. `plain`
//! requests one URL without a script.

mod bounds;
mod collector;
pub mod deaf;
mod debug;
mod drive;
mod epochs;
mod executors;
mod gate;
pub mod limits;
mod loading;
mod network;
mod once;
mod plain;
mod plan;
pub mod run;
mod samples;
mod self_watch;
mod signal;
mod stop;
mod summary;
mod threads;
mod timer;
mod worker;

pub use loading::{inspect, Config, EngineError};
pub use plimsoll_script::secrets::Cleaner;
pub use plimsoll_script::term::Orders;
pub use plimsoll_script::{sharing, Sharing};
pub use run::Run;
