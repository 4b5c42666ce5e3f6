//! The pure core of the load engine: what a load *is*, without a clock, a socket or a thread.
//!
//! `schedule` says when arrivals are planned, `segment` which part of them is this process's, `think` how long VUs rest, `options` what a script asked for, `record` holds what was
//! measured, `sums` what all of it adds up to, `histogram` how it is summarised, `threshold` whether it was good enough.

pub mod duration;
pub mod histogram;
pub mod options;
pub mod record;
pub mod schedule;
pub mod segment;
pub mod snapshot;
pub mod sums;
pub mod system_tags;
pub mod think;
pub mod threshold;
