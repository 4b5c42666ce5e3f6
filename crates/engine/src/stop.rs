//! How a run is told to end: its futures by a channel, scripts that compute by what QuickJS asks (`Orders`).

use std::sync::Arc;
use std::time::Duration;

use plimsoll_script::term::Orders;
use tokio::sync::watch;

/// Left to teardown() and handleSummary() once a run has to end at once.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// How far a run has been told to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    Running,
    /// Start nothing new; let iterations end.
    Stopping,
    /// Interrupt iterations.
    Aborting,
    /// Interrupt iterations, and soon afterwards everything else.
    Ending,
}

/// Tells all of a run how far it has to end; a lower phase than the one in force changes nothing.
pub struct Stop {
    phase: watch::Sender<Phase>,
    orders: Arc<Orders>,
}

impl Stop {
    pub fn new(orders: Arc<Orders>) -> Self {
        Self { phase: watch::channel(Phase::Running).0, orders }
    }

    pub fn advance(&self, wanted: Phase) {
        match wanted {
            Phase::Running => return,
            Phase::Stopping => self.orders.stop(),
            Phase::Aborting => self.orders.abort(),
            Phase::Ending => self.orders.end(LAST_WORDS),
        }
        self.phase
            .send_if_modified(|phase| std::mem::replace(phase, (*phase).max(wanted)) < wanted);
    }

    pub fn orders(&self) -> &Orders {
        &self.orders
    }

    pub fn subscribe(&self) -> watch::Receiver<Phase> {
        self.phase.subscribe()
    }
}

/// Ends when the run has to end as far as that.
pub async fn reached(mut phase: watch::Receiver<Phase>, wanted: Phase) {
    // The sender lives as long as the run.
    let _ = phase.wait_for(|phase| *phase >= wanted).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_told_to_end_further_and_never_less_far() {
        let stop = Stop::new(Arc::default());
        let seen = stop.subscribe();
        for (wanted, phase) in [
            (Phase::Running, Phase::Running),
            (Phase::Stopping, Phase::Stopping),
            (Phase::Aborting, Phase::Aborting),
            (Phase::Stopping, Phase::Aborting),
            (Phase::Ending, Phase::Ending),
        ] {
            stop.advance(wanted);
            assert_eq!(*seen.borrow(), phase);
        }
        assert!(stop.orders().is_aborted() && stop.orders().last_moment().is_some());
    }
}
