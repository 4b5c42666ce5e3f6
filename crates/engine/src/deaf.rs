//! Threads whose script gives no sign of life: it is in a function of JavaScript that nothing can interrupt, such as one
//! that works through an array of billions of elements. Such a thread is left behind, as it can neither measure nor end.

use std::io;
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError};
use std::sync::Arc;
use std::time::{Duration, Instant};

use plimsoll_script::signs::{self, Signs};
use plimsoll_script::state::MAX_COMPUTE;

/// How often is looked. A longer gap counts as little more: then this process did not live, and neither did its scripts.
pub const LOOK: Duration = Duration::from_millis(50);
const MOST_OF_A_LOOK: Duration = Duration::from_millis(100);
/// Beyond the time that a script may compute.
const BEYOND: Duration = Duration::from_secs(1);
/// Once all scripts have to have ended.
const AT_END: Duration = Duration::from_millis(600);

pub const WORDS: &str = "the script did not end when it had to: it is in a function of JavaScript that cannot be interrupted, such as one on a \
                         very large array or text; its thread is left behind. See what it computes";

/// The threads of a run, by index.
pub struct Deaf {
    threads: Vec<Heard>,
    looked: Instant,
}

struct Heard {
    signs: Arc<Signs>,
    latest: u64,
    silent: Duration,
    is_deaf: bool,
}

impl Deaf {
    pub fn among(signs: &[Arc<Signs>]) -> Self {
        Self { threads: signs.iter().cloned().map(Heard::from).collect(), looked: Instant::now() }
    }

    /// Looks, unless that was done just now; how many threads are found to be deaf by it. `is_over`: all scripts have to
    /// have ended.
    pub fn look(&mut self, is_over: bool) -> usize {
        let gap = self.looked.elapsed();
        if gap < LOOK {
            return 0;
        }
        self.looked = Instant::now();
        let most = if is_over { AT_END } else { MAX_COMPUTE + BEYOND };
        let found = self
            .threads
            .iter_mut()
            .map(|heard| usize::from(heard.look(gap.min(MOST_OF_A_LOOK), most)));
        found.sum()
    }

    pub fn is_deaf(&self, index: usize) -> bool {
        self.threads.get(index).is_some_and(|heard| heard.is_deaf)
    }
}

impl From<Arc<Signs>> for Heard {
    fn from(signs: Arc<Signs>) -> Self {
        Self { signs, latest: 0, silent: Duration::ZERO, is_deaf: false }
    }
}

impl Heard {
    /// Whether it is found to be deaf now.
    fn look(&mut self, gap: Duration, most: Duration) -> bool {
        let latest = self.signs.latest();
        self.silent =
            if latest == self.latest && latest != 0 { self.silent + gap } else { Duration::ZERO };
        self.latest = latest;
        let found = !self.is_deaf && self.silent >= most;
        self.is_deaf |= found;
        found
    }
}

/// As large as that of a process's first thread: scripts are loaded on it.
const STACK_BYTES: usize = 8 << 20;

/// Work with a script in a thread of its own, which is left behind where it gives no sign of life.
pub struct Work<T> {
    result: Receiver<T>,
    thread: Deaf,
}

/// How far work has come.
pub enum Come<T> {
    Done(T),
    GoesOn,
    Deaf,
    Panicked,
}

impl<T: Send + 'static> Work<T> {
    pub fn begin(name: &str, work: impl FnOnce() -> T + Send + 'static) -> io::Result<Self> {
        let (sender, result) = channel();
        let own = Arc::new(Signs::default());
        let thread = Deaf::among(std::slice::from_ref(&own));
        let body = move || {
            signs::tell_to(own);
            drop(sender.send(work()));
        };
        std::thread::Builder::new().name(name.into()).stack_size(STACK_BYTES).spawn(body)?;
        Ok(Self { result, thread })
    }

    /// Waits for at most `time`. `is_over`: its script has to have ended.
    pub fn wait(&mut self, time: Duration, is_over: bool) -> Come<T> {
        match self.result.recv_timeout(time) {
            Ok(result) => Come::Done(result),
            Err(RecvTimeoutError::Disconnected) => Come::Panicked,
            Err(RecvTimeoutError::Timeout) if self.thread.look(is_over) > 0 => Come::Deaf,
            Err(RecvTimeoutError::Timeout) => Come::GoesOn,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_done_goes_on_or_has_panicked() {
        let mut work = Work::begin("adds", || 1 + 1).unwrap();
        assert!(matches!(work.wait(Duration::from_secs(60), false), Come::Done(2)));
        let (sender, held) = channel::<()>();
        let mut work = Work::begin("waits", move || held.recv().is_err()).unwrap();
        for _ in 0..3 {
            assert!(
                matches!(work.wait(LOOK, true), Come::GoesOn),
                "no script runs, so none is deaf"
            );
        }
        drop(sender);
        assert!(matches!(work.wait(Duration::from_secs(60), true), Come::Done(true)));
        let mut work =
            Work::<()>::begin("panics", || std::panic::resume_unwind(Box::new(()))).unwrap();
        assert!(matches!(work.wait(Duration::from_secs(60), false), Come::Panicked));
    }
}
