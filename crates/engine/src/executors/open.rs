//! Open model: arrivals by plan. The plan never waits for a VU; an arrival that finds none gets a new one up
//! to the cap, beyond it waits in line and is measured from its plan.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::pin::pin;
use std::rc::Rc;
use std::time::{Duration, Instant};

use plimsoll_core::options::Executor;
use plimsoll_core::schedule::Arrivals;
use tokio::sync::{watch, Notify};

use crate::drive::{Arrival, Context, End};
use crate::epochs::{Ending, Level};
use crate::timer::Timer;
use crate::worker::{LateArrivals, Ready, Slot, Worker};

/// Arrivals kept waiting on one thread at most; more could not be sent in any reasonable time.
const MAX_LINE: usize = 1_000_000;

/// How long a line that gets shorter is left alone.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// Arrivals planned in one go, between two looks at what else there is to do.
const AT_ONCE: usize = 1000;

/// A turn of the loop that is shorter had nothing to do: a request takes longer than a look at the sockets.
const IDLE_TURN: Duration = Duration::from_micros(5);

/// An arrival in line, and whether it came when no further VU was allowed.
#[derive(Clone, Copy)]
struct Waiting {
    planned_s: f64,
    /// That of its level.
    epoch: u32,
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

    /// Empties the line; the epochs of those in it.
    fn clear(&self) -> Vec<u32> {
        self.0.borrow_mut().drain(..).map(|waiting| waiting.epoch).collect()
    }
}

/// VUs without work. The ones that the script declared take turns, as in k6: a script that picks its data by __VU
/// spreads evenly, and every one keeps its connection open. The ones made for a burst rest again after it.
struct Free {
    declared: u64,
    by_turns: VecDeque<Pooled>,
    for_bursts: Vec<Pooled>,
}

/// A VU and its number in the pool, from 0.
struct Pooled {
    slot: Slot,
    number: u64,
}

impl Free {
    fn take(&mut self) -> Option<Pooled> {
        self.by_turns.pop_front().or_else(|| self.for_bursts.pop())
    }

    fn put(&mut self, vu: Pooled) {
        if vu.number < self.declared {
            self.by_turns.push_back(vu);
        } else {
            self.for_bursts.push(vu);
        }
    }
}

struct Pool {
    context: Rc<Context>,
    free: RefCell<Free>,
    line: Rc<Line>,
    made: Cell<u64>,
    busy: Cell<u64>,
    cap: u64,
    /// That of the level by which arrivals are planned.
    epoch: Cell<u32>,
    all_free: Notify,
    /// Somebody in line may have a new VU.
    wanted: Notify,
}

pub async fn run(worker: Rc<Worker>, at: usize, ready: Ready) {
    let context = Context::new(worker.clone(), at);
    let Executor::Open { rate_per_s, pre_allocated_vus, max_vus } = &context.scenario().executor
    else {
        return;
    };
    let Ready { slots, timers: Some((of_plan, of_maker)) } = ready else {
        return;
    };
    let shared = &worker.shared;
    let mut arrivals = Arrivals::new(
        rate_per_s.clone(),
        shared.spacing,
        shared.seed.wrapping_add(at as u64 * 7919),
        worker.index,
        shared.threads,
    );
    let segment = shared.options.segment.of_work(max_vus.unwrap_or(*pre_allocated_vus));
    if segment.fraction() == 0.0 {
        return;
    }
    arrivals.limit_to(segment);
    let cap = max_vus.map_or(shared.vu_cap, |max_vus| shared.options.segment.share(max_vus).max(1));
    let cap = cap.min(shared.most_vus).max(shared.options.segment.share(*pre_allocated_vus));
    let line = Rc::new(Line::default());
    worker.waiting.borrow_mut().push(line.clone());
    slots.iter().for_each(|slot| context.adopt(slot));
    let declared = slots.len() as u64;
    let by_turns =
        slots.into_iter().zip(0..).map(|(slot, number)| Pooled { slot, number }).collect();
    let pool = Rc::new(Pool {
        context: context.clone(),
        made: Cell::new(declared),
        free: RefCell::new(Free { declared, by_turns, for_bursts: Vec::new() }),
        line,
        busy: Cell::new(0),
        cap: worker.share_of(cap).max(1),
        epoch: Cell::new(0),
        all_free: Notify::new(),
        wanted: Notify::new(),
    });
    let start_s = if context.scenario().start_time.is_zero() { 0.0 } else { worker.elapsed_s() };
    context.term.begin(Duration::from_secs_f64(rate_per_s.duration_s()));
    let maker = tokio::task::spawn_local(make_vus(pool.clone(), of_maker));
    send_by_plan(&pool, &mut arrivals, start_s, &of_plan).await;
    pool.finish().await;
    maker.abort();
}

async fn send_by_plan(pool: &Rc<Pool>, arrivals: &mut Arrivals, start_s: f64, timer: &Timer) {
    let worker = &pool.context.worker;
    let mut levels = worker.shared.level.clone();
    let follow = |levels: &mut watch::Receiver<Level>, arrivals: &mut Arrivals, elapsed_s: f64| {
        let level = *levels.borrow_and_update();
        arrivals.set_level(level.value, elapsed_s);
        pool.epoch.set(level.epoch);
        worker.follow(level.epoch);
    };
    follow(&mut levels, arrivals, 0.0);
    let end_s = start_s + pool.context.scenario().duration().as_secs_f64();
    let mut stopping = pin!(pool.context.stopping());
    loop {
        let now_s = worker.elapsed_s();
        let is_behind = take_due(pool, arrivals, start_s, now_s);
        if is_behind && !pool.context.is_over() {
            tokio::task::yield_now().await;
            continue;
        }
        if now_s >= end_s {
            return;
        }
        if levels.has_changed().unwrap_or(false) {
            follow(&mut levels, arrivals, now_s - start_s);
        }
        let next_s = arrivals.peek_s().map_or(end_s, |planned_s| planned_s + start_s).min(end_s);
        let wait = Duration::from_secs_f64((next_s - worker.elapsed_s()).max(0.0));
        tokio::select! {
            biased;
            () = timer.wait(wait) => {}
            () = &mut stopping => return,
            changed = levels.changed() => {
                if changed.is_err() {
                    return;
                }
                levels.mark_changed();
            }
        }
    }
}

/// Takes the arrivals that are due, up to a number; whether more are.
fn take_due(pool: &Rc<Pool>, arrivals: &mut Arrivals, start_s: f64, now_s: f64) -> bool {
    for _ in 0..AT_ONCE {
        let due_s = arrivals
            .peek_s()
            .map(|planned_s| planned_s + start_s)
            .filter(|planned_s| *planned_s <= now_s);
        let Some(planned_s) = due_s else { return false };
        arrivals.take();
        pool.arrive(planned_s);
    }
    true
}

/// Makes VUs for arrivals in line, one at a time; between two of them everything else that is ready has its turn. A
/// line that gets shorter by itself needs none: the ready ones work it off.
async fn make_vus(pool: Rc<Pool>, timer: Timer) {
    loop {
        pool.wanted.notified().await;
        while pool.line.length() > 0 && pool.made.get() < pool.cap {
            let began = Instant::now();
            match pool.context.worker.new_slot(pool.context.term.clone()) {
                Ok(slot) => {
                    pool.context.adopt(&slot);
                    let vu = Pooled { slot, number: pool.made.replace(pool.made.get() + 1) };
                    match pool.line.next() {
                        Some(waiting) => pool.start(vu, waiting),
                        None => pool.free.borrow_mut().put(vu),
                    }
                }
                Err(error) => pool.context.show_error(&error),
            }
            let mut before = pool.line.length();
            give_way(began.elapsed()).await;
            while (1..before).contains(&pool.line.length()) {
                before = pool.line.length();
                timer.wait(LOOK_AGAIN).await;
            }
        }
    }
}

/// Leaves the thread to the others for this long, or until none of them has anything to do.
async fn give_way(at_most: Duration) {
    let began = Instant::now();
    loop {
        let turn = Instant::now();
        tokio::task::yield_now().await;
        if turn.elapsed() < IDLE_TURN || began.elapsed() >= at_most {
            return;
        }
    }
}

impl Pool {
    fn arrive(self: &Rc<Self>, planned_s: f64) {
        let worker = &self.context.worker;
        worker.counts.borrow_mut().planned += 1;
        let epoch = self.epoch.get();
        let waiting = Waiting {
            planned_s,
            epoch,
            beyond_cap: self.made.get() + self.line.length() >= self.cap,
        };
        let free = self.free.borrow_mut().take();
        if let Some(vu) = free {
            worker.ledger.arrived(epoch);
            self.start(vu, Waiting { beyond_cap: false, ..waiting });
            return;
        }
        let may_wait = !waiting.beyond_cap || worker.shared.late_arrivals == LateArrivals::Wait;
        if may_wait && self.line.join(waiting) {
            worker.ledger.arrived(epoch);
            self.wanted.notify_one();
        } else {
            self.drop_arrival(epoch);
        }
    }

    fn start(self: &Rc<Self>, vu: Pooled, waiting: Waiting) {
        self.busy.set(self.busy.get() + 1);
        tokio::task::spawn_local(serve(self.clone(), vu, waiting));
    }

    fn drop_arrival(&self, epoch: u32) {
        let worker = &self.context.worker;
        worker.counts.borrow_mut().dropped += 1;
        self.context.count(worker.builtin.dropped_iterations, epoch);
    }

    /// After the plan's end: what waits may still be sent, and what runs may end, within `gracefulStop`. A stop from
    /// outside lets nothing more be sent.
    async fn finish(&self) {
        tokio::select! {
            () = self.settled() => return,
            () = self.context.over() => {}
            () = self.context.stopping() => {}
        }
        for epoch in self.line.clear() {
            self.context.worker.ledger.ended(epoch, Ending::Dropped);
            self.drop_arrival(epoch);
        }
        tokio::select! {
            () = self.settled() => return,
            () = self.context.over() => {}
        }
        self.context.cut_all();
        self.settled().await;
    }

    /// Ends when nothing waits and nothing runs.
    async fn settled(&self) {
        while self.busy.get() > 0 || self.line.length() > 0 {
            self.all_free.notified().await;
        }
    }
}

/// Serves an arrival, then those that wait in line, then gives the VU back.
async fn serve(pool: Rc<Pool>, mut vu: Pooled, first: Waiting) {
    let context = pool.context.clone();
    let worker = &context.worker;
    let mut next = Some(first);
    while let Some(waiting) = next {
        if waiting.beyond_cap {
            worker.counts.borrow_mut().late += 1;
            context.count(worker.builtin.late_iterations, waiting.epoch);
        }
        let end = context
            .iterate(
                &mut vu.slot,
                Arrival { planned_s: Some(waiting.planned_s), epoch: waiting.epoch },
            )
            .await;
        if pool.line.length() > 0 {
            context.give_turn(&vu.slot).await;
        }
        let goes_on = end == End::Done && !worker.orders().is_stopped() && !context.is_over();
        next = if goes_on { pool.line.next() } else { None };
    }
    pool.free.borrow_mut().put(vu);
    pool.busy.set(pool.busy.get() - 1);
    if pool.busy.get() == 0 {
        pool.all_free.notify_one();
    }
}
