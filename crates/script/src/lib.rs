//! The JavaScript host: sole owner of the JS engine. A VU is resumed with what it asked for and says what it
//! wants next (`Effect`); sockets, timers and threads are the host's.

pub mod address;
pub mod auth;
mod body;
mod builtin;
pub mod bundle;
mod commonjs;
mod compression;
mod cookies;
mod crypto;
mod csv;
mod csv_records;
mod data;
pub mod effect;
mod encoding;
mod events;
mod execution;
mod files;
mod globals;
mod host;
mod http;
mod import_map;
mod intrinsics;
mod job_list;
mod json;
mod k6;
mod memory;
mod metrics;
mod modules;
mod packages;
mod places;
mod random;
mod raw;
mod resolve;
mod response;
mod runtime;
pub mod secrets;
mod selector;
pub mod state;
pub mod term;
mod text;
mod typescript;
mod unit;
mod values;
pub mod vu;

pub use runtime::{sharing, Sharing};
