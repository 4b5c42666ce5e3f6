//! WebSockets (RFC 6455) of a VU: the handshake on a connection of HTTP/1.1, then frames both ways, on the thread that the
//! VU runs on. A socket is a future beside its script, as an asynchronous request is; nothing of it waits for the script
//! but the reading, once more has come than the script takes.

mod deflate;
mod frames;
mod handshake;
mod messages;
mod session;

pub use session::{run, News};
