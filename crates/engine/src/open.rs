//! Open model: arrivals by plan. The plan never waits for a VU; an arrival that finds none gets a new one up
//! to the cap, beyond it waits in line and is measured from its plan.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, Instant};

use plimsoll_core::options::Executor;
use plimsoll_core::schedule::Arrivals;
use tokio::sync::Notify;

use crate::drive::{Context, End};
use crate::timer::Timer;
use crate::worker::{LateArrivals, Slot, Worker};

/// Arrivals kept waiting on one thread at most; more could not be sent in any reasonable time.
const MAX_LINE: usize = 1_000_000;

/// An arrival in line, and whether it came when no further VU was allowed.
#[derive(Clone, Copy)]
struct Waiting {
    planned_s: f64,
    beyond_cap: bool,
}

/// Arrivals of a scenario that wait for a VU.
#[derive(Default)]
pub struct Line(RefCell<VecDeque<Waiting>>);

impl Line {
    pub fn length(&self) -> u64 {
        self.0.borrow().len() as u64
    }

    pub fn oldest_wait_s(&self, now_s: f64) -> f64 {
        self.0.borrow().front().map_or(0.0, |waiting| (now_s - waiting.planned_s).max(0.0))
    }

    fn join(&self, waiting: Waiting) -> bool {
        let mut line = self.0.borrow_mut();
        let fits = line.len() < MAX_LINE;
        if fits {
            line.push_back(waiting);
        }
        fits
    }

    fn next(&self) -> Option<Waiting> {
        self.0.borrow_mut().pop_front()
    }
}

struct Pool {
    context: Rc<Context>,
    free: RefCell<Vec<Slot>>,
    line: Rc<Line>,
    made: Cell<u64>,
    busy: Cell<u64>,
    cap: u64,
    all_free: Notify,
    /// Somebody in line may have a new VU.
    wanted: Notify,
}

pub async fn run(worker: Rc<Worker>, at: usize, slots: Vec<Slot>) {
    let context = Context::new(worker.clone(), at);
    let Executor::Open { rate_per_s, pre_allocated_vus, max_vus } = &context.scenario().executor else { return };
    let shared = &worker.shared;
    let mut arrivals = Arrivals::new(rate_per_s.clone(), shared.spacing, shared.seed.wrapping_add(at as u64 * 7919), worker.index, shared.threads);
    let cap = max_vus.unwrap_or(shared.vu_cap).max(*pre_allocated_vus);
    let line = Rc::new(Line::default());
    worker.waiting.borrow_mut().push(line.clone());
    let pool = Rc::new(Pool {
        context: context.clone(),
        made: Cell::new(slots.len() as u64),
        free: RefCell::new(slots),
        line,
        busy: Cell::new(0),
        cap: worker.share_of(cap).max(1),
        all_free: Notify::new(),
        wanted: Notify::new(),
    });
    let start_s = worker.elapsed_s();
    let start_s = if context.scenario().start_time.is_zero() { 0.0 } else { start_s };
    let maker = tokio::task::spawn_local(make_vus(pool.clone()));
    send_by_plan(&pool, &mut arrivals, start_s).await;
    maker.abort();
    pool.finish().await;
}

async fn send_by_plan(pool: &Rc<Pool>, arrivals: &mut Arrivals, start_s: f64) {
    let worker = &pool.context.worker;
    let Ok(timer) = Timer::new() else { return };
    let mut level = worker.shared.level.clone();
    arrivals.set_level(*level.borrow_and_update(), 0.0);
    let end_s = start_s + pool.context.scenario().end().as_secs_f64() - pool.context.scenario().start_time.as_secs_f64();
    loop {
        let now_s = worker.elapsed_s();
        while let Some(planned_s) = arrivals.peek_s().map(|planned_s| planned_s + start_s).filter(|planned_s| *planned_s <= now_s) {
            arrivals.take();
            pool.arrive(planned_s);
        }
        if now_s >= end_s {
            return;
        }
        if level.has_changed().unwrap_or(false) {
            arrivals.set_level(*level.borrow_and_update(), now_s - start_s);
        }
        let next_s = arrivals.peek_s().map_or(end_s, |planned_s| planned_s + start_s).min(end_s);
        let wait = Duration::from_secs_f64((next_s - worker.elapsed_s()).max(0.0));
        tokio::select! {
            biased;
            () = pool.context.stopping() => return,
            changed = level.changed() => {
                if changed.is_err() {
                    return;
                }
                level.mark_changed();
            }
            () = timer.wait(wait) => {}
        }
    }
}

/// Makes VUs for arrivals in line, one at a time and for at most half of the thread's time: making them all at
/// once would keep the ready ones from working.
async fn make_vus(pool: Rc<Pool>) {
    let Ok(timer) = Timer::new() else { return };
    loop {
        pool.wanted.notified().await;
        while pool.line.length() > 0 && pool.made.get() < pool.cap {
            let began = Instant::now();
            match pool.context.worker.new_slot() {
                Ok(slot) => {
                    pool.made.set(pool.made.get() + 1);
                    match pool.line.next() {
                        Some(waiting) => pool.start(slot, waiting),
                        None => pool.free.borrow_mut().push(slot),
                    }
                }
                Err(error) => pool.context.worker.show_error(&error),
            }
            timer.wait(began.elapsed()).await;
        }
    }
}

impl Pool {
    fn arrive(self: &Rc<Self>, planned_s: f64) {
        let worker = &self.context.worker;
        worker.counts.borrow_mut().planned += 1;
        let waiting = Waiting { planned_s, beyond_cap: self.made.get() + self.line.length() >= self.cap };
        if let Some(slot) = self.free.borrow_mut().pop() {
            self.start(slot, Waiting { beyond_cap: false, ..waiting });
            return;
        }
        let may_wait = !waiting.beyond_cap || worker.shared.late_arrivals == LateArrivals::Wait;
        if may_wait && self.line.join(waiting) {
            self.wanted.notify_one();
        } else {
            self.drop_arrivals(1);
        }
    }

    fn start(self: &Rc<Self>, slot: Slot, waiting: Waiting) {
        self.busy.set(self.busy.get() + 1);
        tokio::task::spawn_local(serve(self.clone(), slot, waiting));
    }

    fn drop_arrivals(&self, times: u64) {
        let worker = &self.context.worker;
        worker.counts.borrow_mut().dropped += times;
        self.context.count(worker.builtin.dropped_iterations, times);
    }

    /// After the plan's end: what still waits cannot be sent; what runs may end within `gracefulStop`.
    async fn finish(&self) {
        let mut unsent = 0;
        while self.line.next().is_some() {
            unsent += 1;
        }
        self.drop_arrivals(unsent);
        if self.busy.get() > 0 {
            tokio::select! {
                () = self.all_free.notified() => return,
                () = tokio::time::sleep(self.context.scenario().graceful_stop) => {}
                () = self.context.cut() => {}
            }
            self.context.cut_all();
            while self.busy.get() > 0 {
                self.all_free.notified().await;
            }
        }
    }
}

/// Serves an arrival, then those that wait in line, then gives the VU back.
async fn serve(pool: Rc<Pool>, mut slot: Slot, first: Waiting) {
    let context = pool.context.clone();
    let worker = &context.worker;
    let mut next = Some(first);
    while let Some(waiting) = next {
        if waiting.beyond_cap {
            worker.counts.borrow_mut().late += 1;
            context.count(worker.builtin.late_iterations, 1);
        }
        let end = context.iterate(&mut slot, Some(waiting.planned_s), context.cut()).await;
        next = if end == End::Done { pool.line.next() } else { None };
    }
    pool.free.borrow_mut().push(slot);
    pool.busy.set(pool.busy.get() - 1);
    if pool.busy.get() == 0 {
        pool.all_free.notify_one();
    }
}
