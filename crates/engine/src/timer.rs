//! A timer with the kernel's precision: tokio's own rounds up to a millisecond, which would show as lag of
//! every planned arrival.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::{Duration, Instant};

use tokio::io::unix::AsyncFd;

/// From one moment to another; 0 where that came first.
pub fn milliseconds(from: Instant, to: Instant) -> f64 {
    to.saturating_duration_since(from).as_secs_f64() * 1000.0
}

pub struct Timer {
    fd: AsyncFd<OwnedFd>,
}

impl Timer {
    /// Needs a tokio runtime with I/O.
    pub fn new() -> io::Result<Self> {
        // SAFETY: a plain system call; the result is checked before it is owned.
        let raw = unsafe {
            libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_NONBLOCK | libc::TFD_CLOEXEC)
        };
        if raw < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: `raw` was just opened and belongs to nobody else.
        let owned = unsafe { OwnedFd::from_raw_fd(raw) };
        // SAFETY: an `OwnedFd` stays open for as long as the `AsyncFd` holds it.
        Ok(Self { fd: unsafe { AsyncFd::register(owned)? } })
    }

    /// Waits for a duration; cancel-safe.
    pub async fn wait(&self, duration: Duration) {
        let ns = duration.as_nanos().clamp(1, i64::MAX as u128);
        let value = libc::timespec {
            tv_sec: (ns / 1_000_000_000) as libc::time_t,
            tv_nsec: (ns % 1_000_000_000) as libc::c_long,
        };
        let spec = libc::itimerspec {
            it_interval: libc::timespec { tv_sec: 0, tv_nsec: 0 },
            it_value: value,
        };
        // SAFETY: the descriptor is open and `spec` lives through the call.
        unsafe { libc::timerfd_settime(self.fd.as_raw_fd(), 0, &spec, std::ptr::null_mut()) };
        loop {
            let Ok(mut ready) = self.fd.readable().await else {
                return;
            };
            let mut expirations = [0u8; 8];
            // SAFETY: eight writable bytes, as timerfd wants.
            let read =
                unsafe { libc::read(self.fd.as_raw_fd(), expirations.as_mut_ptr().cast(), 8) };
            // Once read it is not ready until it expires again, of which the system tells.
            ready.clear_ready();
            if read == 8 {
                return;
            }
        }
    }
}
