//! k6's executors: the closed model, the open one, and iterations that are counted.

pub(crate) mod backoff;
pub(crate) mod closed;
pub(crate) mod iterations;
pub(crate) mod open;
