//! The JavaScript host: sole owner of the JS engine. A VU is resumed with what it asked for and says what it
//! wants next (`Effect`); sockets, timers and threads are the host's.

pub mod address;
mod builtin;
pub mod bundle;
mod commonjs;
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
mod http;
mod import_map;
mod json;
mod k6;
mod memory;
mod metrics;
mod modules;
mod native;
mod packages;
mod places;
mod random;
mod raw;
mod resolve;
mod response;
pub mod secrets;
pub mod state;
mod text;
mod typescript;
mod unit;
pub mod vu;
