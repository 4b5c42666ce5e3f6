//! Lines for the user on stderr. One that cannot be written is lost: std's macro would panic, and a run must not end
//! because nobody reads what it says.

/// As `eprintln!`, in one write, and never panics.
#[macro_export]
macro_rules! tell {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = std::io::stderr().write_all((format!($($text)*) + "\n").as_bytes());
    }};
}
