//! A flag that one task of this thread watches beside its work. Watching costs a comparison at each poll, where a
//! channel would subscribe and unsubscribe with each piece of work.

use std::cell::{Cell, RefCell};
use std::future::{poll_fn, Future};
use std::pin::Pin;
use std::task::{Poll, Waker};

#[derive(Default)]
pub struct Signal {
    raised: Cell<bool>,
    watcher: RefCell<Option<Waker>>,
}

impl Signal {
    pub fn raise(&self) {
        self.raised.set(true);
        if let Some(watcher) = self.watcher.take() {
            watcher.wake();
        }
    }

    pub fn lower(&self) {
        self.raised.set(false);
    }

    /// The work's result, or `None` if the signal is up before the work is done.
    pub fn unless_raised<'a, Work: Future>(
        &'a self,
        mut work: Pin<&'a mut Work>,
    ) -> impl Future<Output = Option<Work::Output>> + 'a {
        poll_fn(move |context| {
            if let Poll::Ready(output) = work.as_mut().poll(context) {
                return Poll::Ready(Some(output));
            }
            if self.raised.get() {
                return Poll::Ready(None);
            }
            let mut watcher = self.watcher.borrow_mut();
            if !watcher.as_ref().is_some_and(|known| known.will_wake(context.waker())) {
                *watcher = Some(context.waker().clone());
            }
            Poll::Pending
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::rc::Rc;

    #[tokio::test(flavor = "current_thread")]
    async fn a_raised_signal_ends_the_work_that_waits() {
        let signal = Rc::new(Signal::default());
        assert_eq!(signal.unless_raised(pin!(async { 1 })).await, Some(1));
        let raiser = signal.clone();
        let waiting = pin!(std::future::pending::<()>());
        let waiting = signal.unless_raised(waiting);
        let (outcome, ()) =
            futures_util::future::join(waiting, async move { raiser.raise() }).await;
        assert_eq!(outcome, None);
        assert_eq!(signal.unless_raised(pin!(std::future::pending::<()>())).await, None);
        signal.lower();
        assert_eq!(signal.unless_raised(pin!(tokio::task::yield_now())).await, Some(()));
    }
}
