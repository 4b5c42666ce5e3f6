//! Time limits of requests. Nearly all end long before their limit, so that a limit is a note in a list which is looked
//! through when the nearest one is due, not a timer of its own.

use std::cell::{Cell, RefCell};
use std::future::{poll_fn, Future};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

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
    /// The work's result, or `None` if it takes longer than `limit`.
    pub async fn within<Output>(&self, limit: Duration, work: impl Future<Output = Output>) -> Option<Output> {
        let due = Instant::now().checked_add(limit);
        let mut place = Place { deadlines: self, at: None };
        let mut work = pin!(work);
        poll_fn(|context| {
            if let Poll::Ready(output) = work.as_mut().poll(context) {
                return Poll::Ready(Some(output));
            }
            match due {
                Some(due) => place.note(due, context),
                None => Poll::Pending,
            }
            .map(|()| None)
        })
        .await
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
        let (due, later): (Vec<&Note>, Vec<&Note>) = noted.places.iter().flatten().partition(|note| note.due <= now);
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
    use super::*;

    async fn with_deadlines(test: impl AsyncFnOnce(&Deadlines)) {
        let deadlines = Deadlines::default();
        tokio::select! {
            () = test(&deadlines) => {}
            () = deadlines.watch() => {}
        }
    }

    #[tokio::test(flavor = "current_thread")]
    async fn work_ends_by_itself_or_at_its_limit() {
        with_deadlines(async |deadlines| {
            let long = Duration::from_secs(60);
            assert_eq!(deadlines.within(long, async { 1 }).await, Some(1));
            let yields = async { tokio::task::yield_now().await };
            assert_eq!(deadlines.within(long, yields).await, Some(()));
            // A later limit is noted first; the nearer one still comes in time.
            let slow = deadlines.within(long, tokio::time::sleep(Duration::from_millis(60)));
            let cut = deadlines.within(Duration::from_millis(20), std::future::pending::<()>());
            assert_eq!(futures_util::future::join(slow, cut).await, (Some(()), None));
            assert_eq!(deadlines.within(Duration::MAX, yields_twice()).await, Some(()));
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
            let limit = |ms: u64| deadlines.within(Duration::from_millis(ms), std::future::pending::<()>());
            let outcomes = futures_util::future::join_all((0..50).map(|at| limit(10 + at % 7))).await;
            assert!(outcomes.iter().all(Option::is_none));
        })
        .await;
    }
}
