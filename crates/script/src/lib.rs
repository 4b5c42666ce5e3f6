//! The JavaScript host: sole owner of the JS engine. A VU is resumed with what it asked for and says what it
//! wants next (`Effect`); sockets, timers and threads are the host's.

pub mod allowance;
mod api;
pub mod effect;
pub mod http;
pub mod modules;
mod runtime;
pub mod secrets;
pub mod signs;
pub mod socket;
pub mod state;
pub mod tell;
pub mod term;
mod values;
pub mod vu;
mod whole_file;

pub use runtime::{sharing, Sharing};
