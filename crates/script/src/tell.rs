//! Lines for the user on stderr. One that cannot be written is lost: std's macro would panic, and a run must not end
//! because nobody reads what it says.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// As `eprintln!`, in one write, and never panics.
#[macro_export]
macro_rules! tell {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = std::io::stderr().write_all((format!($($text)*) + "\n").as_bytes());
    }};
}

const MOST_ERRORS: usize = 10;

/// A script's errors, of all threads: each is written once, and the first few of them.
#[derive(Default)]
pub struct ErrorsTold(Mutex<HashSet<String>>);

impl ErrorsTold {
    /// Writes an error unless it was written before, or enough others were.
    pub fn tell(&self, error: impl FnOnce() -> String) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() > MOST_ERRORS {
            return;
        }
        let text = error();
        if known.contains(&text) {
            return;
        }
        if known.len() < MOST_ERRORS {
            tell!("ERROR {text}");
        } else {
            tell!("ERROR more script errors follow and are not shown");
        }
        known.insert(text);
    }
}
