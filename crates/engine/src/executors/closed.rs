//! Closed model: VUs that rest and iterate in turns; their number follows the profile times the level.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use plimsoll_core::options::Executor;
use plimsoll_core::think::Thinking;
use tokio::sync::Notify;

use crate::drive::{Arrival, Context, End};
use crate::executors::backoff::Backoff;
use crate::signal::Signal;
use crate::worker::{Slot, Worker};

const TICK: Duration = Duration::from_millis(50);

pub async fn run(worker: Rc<Worker>, at: usize, slots: Vec<Slot>) {
    let context = Context::new(worker.clone(), at);
    let Executor::Closed { vus, graceful_ramp_down, think_time } = &context.scenario().executor
    else {
        return;
    };
    let wanted = Rc::new(Wanted { target: Cell::new(Some(0)), changed: Notify::new() });
    let mut slots = slots.into_iter();
    let mut running: Vec<Running> = Vec::new();
    let start_s = worker.elapsed_s();
    context.term.begin(Duration::from_secs_f64(vus.duration_s()));
    let stopping = context.stopping();
    tokio::pin!(stopping);
    loop {
        let elapsed_s = worker.elapsed_s() - start_s;
        if elapsed_s >= vus.duration_s() {
            break;
        }
        let total = worker.shared.options.segment.share(worker.shared.options.vus_at(
            at,
            elapsed_s,
            worker.followed().value,
        ));
        worker.watch.deny(total.saturating_sub(worker.shared.vu_cap));
        let mine = worker.share_of(total.min(worker.shared.vu_cap));
        while (running.len() as u64) < mine && context.may_begin() {
            let slot = match slots.next().map_or_else(|| worker.new_slot(context.term.clone()), Ok)
            {
                Ok(slot) => slot,
                Err(error) => {
                    context.show_error(&error);
                    break;
                }
            };
            context.adopt(&slot);
            let number = running.len() as u64;
            let stream =
                ((at as u64) << 48) + number * worker.shared.threads as u64 + worker.index as u64;
            let cut = slot.cut.clone();
            let vu = Vu {
                slot,
                number,
                thinking: Thinking::new(*think_time, worker.shared.seed, stream),
            };
            let task = tokio::task::spawn_local(serve(context.clone(), vu, wanted.clone()));
            running.push(Running { task, cut, unwanted_from_s: None });
        }
        wanted.set(Some(mine));
        for (number, vu) in running.iter_mut().enumerate() {
            vu.follow((number as u64) < mine, elapsed_s, *graceful_ramp_down);
        }
        let left = Duration::from_secs_f64((vus.duration_s() - elapsed_s).max(0.0)).min(TICK);
        tokio::select! {
            () = tokio::time::sleep(left) => {}
            () = &mut stopping => break,
        }
    }
    finish(&context, &wanted, running).await;
}

/// How many VUs are wanted on this thread; `None` when none ever will be again.
struct Wanted {
    target: Cell<Option<u64>>,
    changed: Notify,
}

impl Wanted {
    fn set(&self, target: Option<u64>) {
        if self.target.replace(target) != target {
            self.changed.notify_waiters();
        }
    }

    /// Ends when the VU of that number is among the wanted ones; false if it never will be again.
    async fn includes(&self, number: u64) -> bool {
        loop {
            match self.target.get() {
                None => return false,
                Some(target) if number < target => return true,
                // Nobody else runs between the look and the wait, so that no change is missed.
                Some(_) => self.changed.notified().await,
            }
        }
    }

    /// Ends when the VU of that number is not wanted any more.
    async fn excludes(&self, number: u64) {
        while self.target.get().is_some_and(|target| number < target) {
            self.changed.notified().await;
        }
    }
}

/// A VU as its executor sees it.
struct Running {
    task: tokio::task::JoinHandle<()>,
    cut: Rc<Signal>,
    /// Since when it is one too many.
    unwanted_from_s: Option<f64>,
}

impl Running {
    /// Cuts the iteration of a VU that has been unwanted for the whole grace.
    fn follow(&mut self, wanted: bool, now_s: f64, grace: Duration) {
        if wanted {
            if self.unwanted_from_s.take().is_some() {
                self.cut.lower();
            }
        } else if now_s - *self.unwanted_from_s.get_or_insert(now_s) >= grace.as_secs_f64() {
            self.cut.raise();
        }
    }
}

async fn finish(context: &Context, wanted: &Wanted, running: Vec<Running>) {
    // Idle ones end, the ones in an iteration have `gracefulStop`.
    wanted.set(None);
    let all = futures_util::future::join_all(running.into_iter().map(|vu| vu.task));
    tokio::pin!(all);
    tokio::select! {
        _ = &mut all => return,
        () = context.over() => {}
    }
    context.cut_all();
    all.await;
}

/// A VU and its number on this thread, from 0.
struct Vu {
    slot: Slot,
    number: u64,
    thinking: Thinking,
}

/// Lets a VU rest and iterate in turns while it is among the wanted ones.
async fn serve(context: Rc<Context>, mut vu: Vu, wanted: Rc<Wanted>) {
    let number = vu.number;
    let mut joined = false;
    let mut backoff = Backoff::default();
    while wanted.includes(number).await {
        let rest = if joined { vu.thinking.between() } else { vu.thinking.first() };
        joined = context.think(rest, wanted.excludes(number)).await;
        if !joined {
            continue;
        }
        if !context.may_begin() {
            return;
        }
        let (began, arrival) = (Instant::now(), Arrival::unplanned(&context.worker));
        if context.iterate(&mut vu.slot, arrival).await == End::Interrupted {
            joined = false;
            tokio::task::yield_now().await;
        } else if let Some(pause) = backoff.after(&vu.slot.attempts, began.elapsed()) {
            context.count(context.worker.builtin.unanswered_iterations, arrival.epoch);
            joined = context.think(pause, wanted.excludes(number)).await;
        }
        context.give_turn(&vu.slot).await;
    }
}
