//! Threads whose script gives no sign of life: it is in a function of JavaScript that nothing can interrupt, such as one
//! that works through an array of billions of elements. Such a thread is left behind, as it can neither measure nor end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use plimsoll_script::signs::Signs;
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
        let heard = |signs: &Arc<Signs>| Heard { signs: signs.clone(), latest: 0, silent: Duration::ZERO, is_deaf: false };
        Self { threads: signs.iter().map(heard).collect(), looked: Instant::now() }
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
        let found = self.threads.iter_mut().map(|heard| usize::from(heard.look(gap.min(MOST_OF_A_LOOK), most)));
        found.sum()
    }

    pub fn is_deaf(&self, index: usize) -> bool {
        self.threads.get(index).is_some_and(|heard| heard.is_deaf)
    }
}

impl Heard {
    /// Whether it is found to be deaf now.
    fn look(&mut self, gap: Duration, most: Duration) -> bool {
        let latest = self.signs.latest();
        self.silent = if latest == self.latest && latest != 0 { self.silent + gap } else { Duration::ZERO };
        self.latest = latest;
        let found = !self.is_deaf && self.silent >= most;
        self.is_deaf |= found;
        found
    }
}
