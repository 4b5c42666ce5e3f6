//! The JavaScript host: sole owner of the JS engine. A VU is resumed with what it asked for and says what it
//! wants next (`Effect`); sockets, timers and threads are the host's.

pub mod address;
pub mod bundle;
mod commonjs;
mod cookies;
pub mod effect;
mod events;
mod http;
mod import_map;
mod json;
mod memory;
mod modules;
mod native;
mod packages;
mod places;
mod raw;
mod resolve;
mod response;
pub mod state;
mod typescript;
mod unit;
pub mod vu;
