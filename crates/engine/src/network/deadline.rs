//! Time limits of requests. Nearly all end long before their limit, so that a limit is a note in a list which is looked
//! through when the nearest one is due, not a timer of its own.

use std::cell::{Cell, RefCell};
use std::future::{poll_fn, Future};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use tokio::sync::Notify;

/// The time limits of one thread.
#[derive(Default)]
pub struct Deadlines {
    noted: RefCell<Notes>,
    /// No noted limit is due before this.
    nearest: Cell<Option<Instant>>,
    nearer: Notify,
}

#[derive(Default)]
struct Notes {
    places: Vec<Option<Note>>,
    free: Vec<usize>,
}

struct Note {
    due: Instant,
    waker: Waker,
}

/// A place in the list for as long as the work runs.
struct Place<'a> {
    deadlines: &'a Deadlines,
    at: Option<usize>,
}

impl Deadlines {
    /// The work's result, or `None` if it is not there when it is due; without a moment it never is.
    pub fn until<'a, Work: Future>(
        &'a self,
        due: Option<Instant>,
        mut work: Pin<&'a mut Work>,
    ) -> impl Future<Output = Option<Work::Output>> + 'a {
        let mut place = Place { deadlines: self, at: None };
        poll_fn(move |context| {
            if let Poll::Ready(output) = work.as_mut().poll(context) {
                return Poll::Ready(Some(output));
            }
            match due {
                Some(due) => place.note(due, context),
                None => Poll::Pending,
            }
            .map(|()| None)
        })
    }

    /// Wakes the work whose limit is over; never ends.
    pub async fn watch(&self) {
        loop {
            match self.nearest.get() {
                None => self.nearer.notified().await,
                Some(due) => tokio::select! {
                    () = tokio::time::sleep_until(due.into()) => self.wake_due(),
                    () = self.nearer.notified() => {}
                },
            }
        }
    }

    fn wake_due(&self) {
        let now = Instant::now();
        let noted = self.noted.borrow();
        let (due, later): (Vec<&Note>, Vec<&Note>) =
            noted.places.iter().flatten().partition(|note| note.due <= now);
        due.iter().for_each(|note| note.waker.wake_by_ref());
        self.nearest.set(later.iter().map(|note| note.due).min());
    }
}

impl Place<'_> {
    /// Ready when the limit is over.
    fn note(&mut self, due: Instant, context: &Context<'_>) -> Poll<()> {
        let mut noted = self.deadlines.noted.borrow_mut();
        if let Some(note) = self.at.and_then(|at| noted.places[at].as_mut()) {
            if !note.waker.will_wake(context.waker()) {
                note.waker = context.waker().clone();
            }
            return if Instant::now() >= due { Poll::Ready(()) } else { Poll::Pending };
        }
        let note = Some(Note { due, waker: context.waker().clone() });
        match noted.free.pop() {
            Some(at) => {
                noted.places[at] = note;
                self.at = Some(at);
            }
            None => {
                noted.places.push(note);
                self.at = Some(noted.places.len() - 1);
            }
        }
        if self.deadlines.nearest.get().is_none_or(|nearest| due < nearest) {
            self.deadlines.nearest.set(Some(due));
            self.deadlines.nearer.notify_one();
        }
        Poll::Pending
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if let Some(at) = self.at {
            let mut noted = self.deadlines.noted.borrow_mut();
            noted.places[at] = None;
            noted.free.push(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::time::Duration;

    use super::*;

    async fn with_deadlines(test: impl AsyncFnOnce(&Deadlines)) {
        let deadlines = Deadlines::default();
        tokio::select! {
            () = test(&deadlines) => {}
            () = deadlines.watch() => {}
        }
    }

    fn after_ms(ms: u64) -> Option<Instant> {
        Instant::now().checked_add(Duration::from_millis(ms))
    }

    #[tokio::test(flavor = "current_thread")]
    async fn work_ends_by_itself_or_at_its_limit() {
        with_deadlines(async |deadlines| {
            let long = after_ms(60_000);
            assert_eq!(deadlines.until(long, pin!(async { 1 })).await, Some(1));
            assert_eq!(deadlines.until(long, pin!(tokio::task::yield_now())).await, Some(()));
            // A later limit is noted first; the nearer one still comes in time.
            let (slow, endless) = (
                pin!(tokio::time::sleep(Duration::from_millis(60))),
                pin!(std::future::pending::<()>()),
            );
            let (slow, cut) = (deadlines.until(long, slow), deadlines.until(after_ms(20), endless));
            assert_eq!(futures_util::future::join(slow, cut).await, (Some(()), None));
            assert_eq!(deadlines.until(None, pin!(yields_twice())).await, Some(()));
            assert!(deadlines.noted.borrow().places.iter().all(Option::is_none));
        })
        .await;
    }

    async fn yields_twice() {
        tokio::task::yield_now().await;
        tokio::task::yield_now().await;
    }

    #[tokio::test(flavor = "current_thread")]
    async fn limits_of_many_pieces_of_work_end_them_all() {
        with_deadlines(async |deadlines| {
            let limited = |ms: u64| async move {
                deadlines.until(after_ms(ms), pin!(std::future::pending::<()>())).await
            };
            let outcomes =
                futures_util::future::join_all((0..50).map(|at| limited(10 + at % 7))).await;
            assert!(outcomes.iter().all(Option::is_none));
        })
        .await;
    }
}
