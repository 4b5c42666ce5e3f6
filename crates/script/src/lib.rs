//! The JavaScript host: sole owner of the JS engine. A VU is resumed with what it asked for and says what it
//! wants next (`Effect`); sockets, timers and threads are the host's.

pub mod address;
mod builtin;
pub mod bundle;
mod cookies;
mod crypto;
mod csv;
mod csv_records;
mod data;
pub mod effect;
mod encoding;
mod execution;
mod files;
mod http;
mod json;
mod k6;
mod metrics;
mod modules;
mod native;
mod places;
mod random;
mod raw;
mod response;
pub mod secrets;
pub mod state;
mod text;
pub mod vu;
