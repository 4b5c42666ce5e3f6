//! Open model: arrivals by plan. The plan never waits for a VU; an arrival that finds none gets a new one up
//! to the cap, beyond it waits in line and is measured from its plan.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use plimsoll_core::options::Executor;
use plimsoll_core::schedule::Arrivals;
use tokio::sync::Notify;

use crate::drive::{Context, End};
use crate::timer::Timer;
use crate::worker::{LateArrivals, Slot, Worker};

/// Arrivals kept waiting on one thread at most; more could not be sent in any reasonable time.
const MAX_LINE: usize = 1_000_000;

/// Arrivals of a scenario that wait for a VU: their planned times.
#[derive(Default)]
pub struct Line(RefCell<VecDeque<f64>>);

impl Line {
    pub fn length(&self) -> u64 {
        self.0.borrow().len() as u64
    }

    pub fn oldest_wait_s(&self, now_s: f64) -> f64 {
        self.0.borrow().front().map_or(0.0, |planned_s| (now_s - planned_s).max(0.0))
    }

    fn join(&self, planned_s: f64) -> bool {
        let mut line = self.0.borrow_mut();
        let fits = line.len() < MAX_LINE;
        if fits {
            line.push_back(planned_s);
        }
        fits
    }

    fn next(&self) -> Option<f64> {
        self.0.borrow_mut().pop_front()
    }
}

struct Pool {
    context: Rc<Context>,
    free: RefCell<Vec<Slot>>,
    line: Rc<Line>,
    made: std::cell::Cell<u64>,
    busy: std::cell::Cell<u64>,
    cap: u64,
    all_free: Notify,
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
        made: std::cell::Cell::new(slots.len() as u64),
        free: RefCell::new(slots),
        line,
        busy: std::cell::Cell::new(0),
        cap: worker.share_of(cap).max(1),
        all_free: Notify::new(),
    });
    let start_s = worker.elapsed_s();
    let start_s = if context.scenario().start_time.is_zero() { 0.0 } else { start_s };
    send_by_plan(&pool, &mut arrivals, start_s).await;
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
        let next_s = arrivals.peek_s().map_or(end_s, |planned_s| planned_s + start_s);
        if now_s >= end_s {
            return;
        }
        let wait = Duration::from_secs_f64((next_s - worker.elapsed_s()).max(0.0));
        if wait.is_zero() {
            // Behind the plan: let the VUs run between two looks at it.
            tokio::task::yield_now().await;
            continue;
        }
        tokio::select! {
            () = timer.wait(wait) => {}
            changed = level.changed() => {
                if changed.is_err() {
                    return;
                }
                let now_s = worker.elapsed_s();
                while let Some(planned_s) = arrivals.peek_s().map(|planned_s| planned_s + start_s).filter(|planned_s| *planned_s <= now_s) {
                    arrivals.take();
                    pool.arrive(planned_s);
                }
                arrivals.set_level(*level.borrow_and_update(), now_s - start_s);
            }
            () = pool.context.stopping() => return,
        }
    }
}

impl Pool {
    fn arrive(self: &Rc<Self>, planned_s: f64) {
        let worker = &self.context.worker;
        worker.counts.borrow_mut().planned += 1;
        let free = self.free.borrow_mut().pop();
        match free.or_else(|| self.new_slot()) {
            Some(slot) => {
                self.busy.set(self.busy.get() + 1);
                tokio::task::spawn_local(serve(self.clone(), slot, planned_s));
            }
            None if worker.shared.late_arrivals == LateArrivals::Wait && self.line.join(planned_s) => {}
            None => self.drop_arrivals(1),
        }
    }

    fn new_slot(&self) -> Option<Slot> {
        if self.made.get() >= self.cap {
            return None;
        }
        match self.context.worker.new_slot() {
            Ok(slot) => {
                self.made.set(self.made.get() + 1);
                Some(slot)
            }
            Err(error) => {
                self.context.worker.show_error(&error);
                None
            }
        }
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
async fn serve(pool: Rc<Pool>, mut slot: Slot, planned_s: f64) {
    let context = pool.context.clone();
    let mut end = context.iterate(&mut slot, Some(planned_s), context.cut()).await;
    while end == End::Done {
        let Some(planned_s) = pool.line.next() else { break };
        let worker = &context.worker;
        worker.counts.borrow_mut().late += 1;
        context.count(worker.builtin.late_iterations, 1);
        end = context.iterate(&mut slot, Some(planned_s), context.cut()).await;
    }
    pool.free.borrow_mut().push(slot);
    pool.busy.set(pool.busy.get() - 1);
    if pool.busy.get() == 0 {
        pool.all_free.notify_one();
    }
}
