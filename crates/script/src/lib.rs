//! The JavaScript host: sole owner of the JS engine. A VU is resumed with what it asked for and says what it
//! wants next (`Effect`); sockets, timers and threads are the host's.

pub mod address;
pub mod auth;
mod body;
pub mod bundle;
mod compression;
mod cookies;
pub mod effect;
mod http;
mod json;
mod modules;
mod native;
mod places;
mod raw;
mod response;
mod selector;
pub mod state;
pub mod vu;
