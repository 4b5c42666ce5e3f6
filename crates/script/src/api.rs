//! k6's modules beside k6/http, and what they are made of: one file each.

pub(crate) mod crypto;
pub(crate) mod csv;
pub(crate) mod csv_records;
pub(crate) mod data;
pub(crate) mod encoding;
pub(crate) mod events;
pub(crate) mod execution;
pub(crate) mod files;
pub(crate) mod k6;
pub(crate) mod metrics;
pub(crate) mod random;
pub(crate) mod selector;
pub(crate) mod sockets;
pub(crate) mod text;
