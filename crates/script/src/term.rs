//! When scripts have to end, whatever they are at. A script that computes hands nothing back, so that no future can end
//! it: QuickJS asks here as it goes on, and executors ask between iterations, which needs no turn of their thread's loop.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// What a whole run was told, from whichever thread; each order stands for good.
#[derive(Debug, Default)]
pub struct Orders {
    stopped: OnceLock<Instant>,
    aborted: AtomicBool,
    last: OnceLock<Instant>,
}

impl Orders {
    /// From now on no iteration begins.
    pub fn stop(&self) {
        self.stopped.get_or_init(Instant::now);
    }

    /// Iterations, setup() and scripts that are being loaded end now.
    pub fn abort(&self) {
        self.stop();
        self.aborted.store(true, Ordering::Relaxed);
    }

    /// Like an abort; teardown() and handleSummary() have this long in all.
    pub fn end(&self, left: Duration) {
        self.last.get_or_init(|| Instant::now() + left);
        self.abort();
    }

    pub fn stopped_at(&self) -> Option<Instant> {
        self.stopped.get().copied()
    }

    pub fn is_stopped(&self) -> bool {
        self.stopped.get().is_some()
    }

    pub fn is_aborted(&self) -> bool {
        self.aborted.load(Ordering::Relaxed)
    }

    /// After it nothing of the run's scripts goes on.
    pub fn last_moment(&self) -> Option<Instant> {
        self.last.get().copied()
    }
}

/// How long what a VU does may go on.
#[derive(Debug, Default)]
pub enum Term {
    /// Until the run is aborted: a script that is being loaded.
    #[default]
    UntilAbort,
    /// setup(): until its time limit as well.
    Until(Instant),
    /// teardown() and handleSummary(), which an abort of the iterations leaves alone: until their time limit, if they
    /// have begun, or the run's last moment.
    PastAbort(Option<Instant>),
    /// Iterations: they begin until `ends`, which is not known before the scenario begins, or until the run is stopped;
    /// those that go on then have `grace`.
    Scenario { ends: Cell<Option<Instant>>, grace: Duration },
}

impl Term {
    pub fn scenario(grace: Duration) -> Self {
        Self::Scenario { ends: Cell::new(None), grace }
    }

    /// The scenario begins, and begins iterations for so long.
    pub fn begin(&self, duration: Duration) {
        if let Self::Scenario { ends, .. } = self {
            ends.set(Instant::now().checked_add(duration));
        }
    }

    /// Whether an iteration may begin.
    pub fn may_begin(&self, orders: &Orders, now: Instant) -> bool {
        let is_early = match self {
            Self::Scenario { ends, .. } => ends.get().is_none_or(|ends| now < ends),
            _ => true,
        };
        is_early && !orders.is_stopped()
    }

    /// When what goes on is interrupted, as far as it is known by now; an abort is not in it.
    pub fn over_at(&self, orders: &Orders) -> Option<Instant> {
        match self {
            Self::UntilAbort => None,
            Self::Until(limit) => Some(*limit),
            Self::PastAbort(limit) => earlier(*limit, orders.last_moment()),
            Self::Scenario { ends, grace } => {
                earlier(ends.get(), orders.stopped.get().copied())?.checked_add(*grace)
            }
        }
    }

    /// Whether what goes on has to end now.
    pub fn is_over(&self, orders: &Orders, now: Instant) -> bool {
        let is_aborted = orders.is_aborted() && !matches!(self, Self::PastAbort(_));
        is_aborted || self.over_at(orders).is_some_and(|moment| now >= moment)
    }
}

fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    one.into_iter().chain(other).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn iterations_begin_until_their_scenario_ends_and_go_on_for_its_grace() {
        let (orders, term) = (Orders::default(), Term::scenario(2 * SECOND));
        let now = Instant::now();
        assert!(
            term.may_begin(&orders, now) && !term.is_over(&orders, now + 100 * SECOND),
            "it has not begun"
        );
        term.begin(10 * SECOND);
        assert!(
            term.may_begin(&orders, now + 9 * SECOND)
                && !term.may_begin(&orders, now + 11 * SECOND)
        );
        assert!(
            !term.is_over(&orders, now + 11 * SECOND) && term.is_over(&orders, now + 13 * SECOND)
        );
    }

    #[test]
    fn a_stop_begins_the_grace_earlier_and_never_later() {
        let (orders, term) = (Orders::default(), Term::scenario(2 * SECOND));
        term.begin(10 * SECOND);
        orders.stop();
        let now = Instant::now();
        assert!(
            !term.may_begin(&orders, now)
                && !term.is_over(&orders, now + SECOND)
                && term.is_over(&orders, now + 3 * SECOND)
        );
        let first = term.over_at(&orders);
        orders.stop();
        assert_eq!(term.over_at(&orders), first, "a second stop gives no new grace");
        let past = Term::scenario(SECOND);
        past.begin(Duration::ZERO);
        assert!(past.is_over(&orders, now + 2 * SECOND));
    }

    #[test]
    fn an_abort_leaves_teardown_alone_until_the_last_moment() {
        let orders = Orders::default();
        let now = Instant::now();
        let (teardown, setup) =
            (Term::PastAbort(Some(now + 60 * SECOND)), Term::Until(now + 60 * SECOND));
        orders.stop();
        assert!(!setup.is_over(&orders, now), "a graceful stop lets setup() end");
        orders.abort();
        assert!(
            setup.is_over(&orders, now)
                && Term::UntilAbort.is_over(&orders, now)
                && !teardown.is_over(&orders, now)
        );
        assert!(teardown.is_over(&orders, now + 60 * SECOND));
        orders.end(SECOND);
        assert!(teardown.is_over(&orders, now + 2 * SECOND) && !teardown.is_over(&orders, now));
    }
}
