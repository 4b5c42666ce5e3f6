//! One thread of the engine: its VUs, its executors, its pulse.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::Arc;
use std::time::{Duration, Instant};

use plimsoll_core::histogram::Histogram;
use plimsoll_core::options::{Executor, Options, Scenario};
use plimsoll_core::schedule::Spacing;
use plimsoll_core::snapshot::Counts;
use plimsoll_script::modules::bundle::{Bundle, ScriptError};
use plimsoll_script::signs::{self, Signs};
use plimsoll_script::state::{Builtin, Recording, SharedRecorder, VuState};
use plimsoll_script::tell::ErrorsTold;
use plimsoll_script::term::{Orders, Term};
use plimsoll_script::vu::Vu;
use tokio::sync::watch;

use crate::collector::{Part, ThreadSecond};
use crate::epochs::{self, Doing, Ledger, Level};
use crate::executors::backoff::Attempts;
use crate::executors::{closed, iterations, open};
use crate::gate::Gate;
use crate::network::client::{Client, Repeated};
use crate::network::dial::Network;
use crate::network::rules::Rules;
use crate::plain::PlainUrl;
use crate::samples::{Origin, Samples};
use crate::self_watch::SelfWatch;
use crate::signal::Signal;
use crate::stop::{self, Phase};
use crate::timer::Timer;

const PULSE: Duration = Duration::from_millis(10);

/// What is done with an arrival that finds no VU and may not get a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LateArrivals {
    Wait,
    Drop,
}

/// What all threads share.
pub struct Shared {
    pub options: Options,
    pub bundle: Arc<Bundle>,
    pub threads: usize,
    pub spacing: Spacing,
    pub seed: u64,
    pub late_arrivals: LateArrivals,
    /// Cap of VUs of a scenario that states none.
    pub vu_cap: u64,
    /// VUs that the machine holds at most, whatever the script states.
    pub most_vus: u64,
    pub setup_json: Option<Arc<str>>,
    pub level: watch::Receiver<Level>,
    pub phase: watch::Receiver<Phase>,
    pub abort_test: Arc<dyn Fn(String) + Send + Sync>,
    pub vu_numbers: AtomicU64,
    /// Per scenario: the number of the next iteration.
    pub iteration_numbers: Vec<AtomicU64>,
    /// Per scenario: iterations taken from a shared number.
    pub iterations_taken: Vec<AtomicU64>,
    /// Per scenario: iterations that VUs share in this process.
    pub iterations_shared: Vec<u64>,
    pub start: Gate,
    /// Per thread: what it tells of its script.
    pub signs: Vec<Arc<Signs>>,
    pub cpus: Vec<usize>,
    pub rules: Arc<Rules>,
    pub samples: Option<Arc<Samples>>,
    pub errors_told: ErrorsTold,
    /// What to request where there is no script.
    pub plain: Option<PlainUrl>,
}

/// A VU with its connections.
pub struct Slot {
    /// Its number in the run, from 1.
    pub number: u64,
    /// Its script; `None` where there is none.
    pub vu: Option<Vu>,
    /// Interrupts its iteration.
    pub cut: Rc<Signal>,
    pub client: Client,
    pub iterations: u64,
    /// What it is at.
    pub doing: Rc<Doing>,
    /// The requests of its iteration.
    pub attempts: Attempts,
}

/// What a scenario has on a thread before it begins.
pub struct Ready {
    pub slots: Vec<Slot>,
    /// Where arrivals come by plan: for the plan, and for what makes VUs.
    pub timers: Option<(Timer, Timer)>,
}

impl Slot {
    /// That of the arrival which it serves.
    pub fn epoch(&self) -> u32 {
        self.doing.arrival.get().map_or(0, |(epoch, _)| epoch)
    }
}

pub struct Worker {
    pub shared: Arc<Shared>,
    pub index: usize,
    pub recorder: SharedRecorder,
    pub builtin: Builtin,
    pub recording: Recording,
    network: Rc<Network>,
    pub began: Cell<Instant>,
    pub counts: RefCell<Counts>,
    pub in_flight: Cell<u64>,
    /// That of the newest level which this thread has seen.
    pub epoch: Cell<u32>,
    pub ledger: Ledger,
    doings: RefCell<Vec<Rc<Doing>>>,
    pub vus: Cell<u64>,
    pub waiting: RefCell<Vec<Rc<open::Line>>>,
    lag: RefCell<Histogram>,
    pub watch: SelfWatch,
    /// Iterations completed that reports have told of.
    told_done: Cell<u64>,
    /// The second that the next report is about.
    second: Cell<u32>,
    /// The request of an iteration where there is no script.
    pub repeated: Option<Rc<Repeated>>,
    /// Whose samples are being recorded, for raw outputs.
    pub origin: Origin,
}

impl Worker {
    fn new(shared: Arc<Shared>, index: usize) -> Result<Self, ScriptError> {
        let recording = Recording::new(&shared.bundle).map_err(ScriptError::new)?;
        let network = Network::new(shared.rules.clone());
        let origin = Origin::default();
        if let Some(samples) = &shared.samples {
            recording.recorder.borrow_mut().attach(samples.tap(origin.clone()));
        }
        let repeated = shared
            .plain
            .as_ref()
            .map(|url| url.request(&shared.options))
            .transpose()
            .map_err(ScriptError::new)?;
        let repeated = repeated.map(|request| Rc::new(Repeated::new(request)));
        Ok(Self {
            shared,
            index,
            recorder: recording.recorder.clone(),
            builtin: recording.builtin,
            recording,
            network,
            began: Cell::new(Instant::now()),
            counts: RefCell::default(),
            in_flight: Cell::new(0),
            epoch: Cell::new(0),
            ledger: Ledger::default(),
            doings: RefCell::default(),
            vus: Cell::new(0),
            waiting: RefCell::default(),
            lag: RefCell::default(),
            watch: SelfWatch::new(),
            told_done: Cell::new(0),
            second: Cell::new(0),
            repeated,
            origin,
        })
    }

    /// What the run was told.
    pub fn orders(&self) -> &Orders {
        &self.shared.bundle.orders
    }

    pub fn elapsed_s(&self) -> f64 {
        self.elapsed_s_at(Instant::now())
    }

    pub fn elapsed_s_at(&self, moment: Instant) -> f64 {
        moment.saturating_duration_since(self.began.get()).as_secs_f64()
    }

    /// Makes a VU; loading its script has to end as `term` says, and what it does then.
    pub fn new_slot(&self, term: Rc<Term>) -> Result<Slot, ScriptError> {
        let number = self.shared.vu_numbers.fetch_add(1, Ordering::Relaxed) + 1;
        let vu = if self.shared.plain.is_none() {
            let state =
                VuState::new(self.shared.bundle.clone(), self.recording.clone(), number, term)?;
            state.run_started.set(self.began.get());
            Some(Vu::load(state)?)
        } else {
            None
        };
        self.vus.set(self.vus.get() + 1);
        self.recording.tally.initialized.store(self.vus.get(), Ordering::Relaxed);
        let doing = Rc::<Doing>::default();
        self.doings.borrow_mut().push(doing.clone());
        Ok(Slot {
            number,
            vu,
            cut: Rc::default(),
            client: Client::new(self.network.clone(), number),
            iterations: 0,
            doing,
            attempts: Attempts::default(),
        })
    }

    /// A level of that epoch is in force on this thread.
    pub fn follow(&self, epoch: u32) {
        self.epoch.set(self.epoch.get().max(epoch));
    }

    /// The level as it is now, which then is in force on this thread.
    pub fn followed(&self) -> Level {
        let level = *self.shared.level.borrow();
        self.follow(level.epoch);
        level
    }

    /// What is recorded from now on belongs to that VU's iteration, and to an arrival of that epoch.
    pub fn records_for(&self, origin: Option<(u32, u32)>, epoch: u32) {
        self.origin.set(origin);
        self.recorder.borrow_mut().set_epoch(epoch);
    }

    /// A VU begins (1) or ends (-1) to be active.
    pub fn count_active(&self, by: i64) {
        let active = &self.recording.tally.active;
        active.store(active.load(Ordering::Relaxed).saturating_add_signed(by), Ordering::Relaxed);
    }

    /// Writes a script's error to stderr, each once and the first few of them.
    pub fn show_error(&self, error: &ScriptError) {
        let secrets = &self.shared.bundle.secrets;
        self.shared.errors_told.tell(|| secrets.clean(&error.to_string()));
    }

    /// This thread's part of a number of VUs that all threads share.
    pub fn share_of(&self, total: u64) -> u64 {
        let (threads, index) = (self.shared.threads as u64, self.index as u64);
        total / threads + u64::from(index < total % threads)
    }

    async fn pulse(&self, timer: &Timer, parts: &Sender<Part>) {
        loop {
            let asked = Instant::now();
            timer.wait(PULSE).await;
            let lag_ms = (asked.elapsed().saturating_sub(PULSE)).as_secs_f64() * 1000.0;
            self.lag.borrow_mut().record(lag_ms);
            self.followed();
            let gap_s = self.watch.pulse();
            while self.elapsed_s() >= f64::from(self.second.get() + 1) {
                self.report(parts);
                // It reached into the next second as well.
                self.watch.note_gap(gap_s);
            }
        }
    }

    fn report(&self, parts: &Sender<Part>) {
        let second = self.second.replace(self.second.get() + 1);
        let mut counts = std::mem::take(&mut *self.counts.borrow_mut());
        let now_s = self.elapsed_s();
        for line in self.waiting.borrow().iter() {
            counts.backlog += line.length();
            counts.oldest_wait_s = counts.oldest_wait_s.max(line.oldest_wait_s(now_s));
        }
        counts.in_flight = self.in_flight.get();
        let epoch = self.followed().epoch;
        let behind = self.ledger.is_behind(epoch);
        let mut arrivals = self.ledger.take();
        if behind {
            let plain = self.repeated.as_ref().map(|repeated| &repeated.request);
            epochs::describe(self.doings.borrow().iter(), plain, epoch, now_s, &mut arrivals);
        }
        let tally = &self.recording.tally;
        let completed = tally.completed.load(Ordering::Relaxed);
        counts.done = completed - self.told_done.replace(completed);
        counts.vus = tally.active.load(Ordering::Relaxed);
        counts.vus_max = self.vus.get();
        let mut recorder = self.recorder.borrow_mut();
        let part = ThreadSecond {
            second,
            elapsed_s: now_s,
            counts,
            epoch,
            arrivals,
            deltas: recorder.take(),
            lag: std::mem::take(&mut *self.lag.borrow_mut()),
            health: self.watch.take(self.network.refusals.take()),
            overflow: recorder.overflow().cloned(),
        };
        // The collector outlives the workers; a send can only fail while the process ends.
        let _ = parts.send(Part::Second(Box::new(part)));
    }
}

/// Runs a thread to its end; the first error of loading its VUs is returned.
pub fn run(shared: Arc<Shared>, index: usize, parts: &Sender<Part>) -> Result<(), ScriptError> {
    if let Some(cpu) = shared.cpus.get(index % shared.cpus.len().max(1)) {
        crate::limits::pin_thread(*cpu);
    }
    if let Some(own) = shared.signs.get(index) {
        signs::tell_to(own.clone());
    }
    // Every thread comes to the gate, whether its VUs loaded or not: the others wait there.
    let prepared = prepare_thread(&shared, index);
    let begins = shared.start.pass(prepared.is_ok());
    let Prepared { worker, runtime, timer, scenarios } = prepared?;
    if !begins {
        return Ok(());
    }
    let local = tokio::task::LocalSet::new();
    let watched = worker.clone();
    let load = local.run_until(async {
        worker.began.set(Instant::now());
        worker.watch.begin();
        worker.followed();
        let ended = scenarios
            .into_iter()
            .enumerate()
            .map(|(at, ready)| run_scenario(worker.clone(), at, ready));
        tokio::select! {
            _ = futures_util::future::join_all(ended) => {}
            () = worker.pulse(&timer, parts) => {}
            () = worker.network.deadlines.watch() => {}
        }
        worker.report(parts);
        Ok(())
    });
    runtime.block_on(watched.watch.turns_of(load))
}

struct Prepared {
    worker: Rc<Worker>,
    runtime: tokio::runtime::Runtime,
    timer: Timer,
    scenarios: Vec<Ready>,
}

/// All that may fail for want of memory or files, before the load begins.
fn prepare_thread(shared: &Arc<Shared>, index: usize) -> Result<Prepared, ScriptError> {
    let worker = Rc::new(Worker::new(shared.clone(), index)?);
    let no_files = |what: &str, error: std::io::Error| {
        ScriptError::new(format!(
            "cannot {what}: {error}; raise the limit of open files (ulimit -n)"
        ))
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| no_files("start a thread's event loop", error))?;
    let new_timer = || {
        let _within = runtime.enter();
        Timer::new().map_err(|error| no_files("make a timer for the load", error))
    };
    let timer = new_timer()?;
    let mut scenarios = Vec::new();
    for scenario in &shared.options.scenarios {
        let timers = if scenario.is_open() { Some((new_timer()?, new_timer()?)) } else { None };
        scenarios.push(Ready { slots: prepare(&worker, scenario)?, timers });
    }
    Ok(Prepared { worker, runtime, timer, scenarios })
}

/// Loads the VUs that a scenario needs from the start; fewer where the run is told to end meanwhile.
fn prepare(worker: &Worker, scenario: &Scenario) -> Result<Vec<Slot>, ScriptError> {
    let shared = &worker.shared;
    let needed = vus_at_start(scenario, shared.level.borrow().value);
    let mut slots = Vec::new();
    for _ in 0..worker.share_of(shared.options.segment.share(needed)) {
        if worker.orders().is_stopped() {
            break;
        }
        match worker.new_slot(Rc::default()) {
            Ok(slot) => slots.push(slot),
            Err(_) if worker.orders().is_aborted() => break,
            Err(error) => return Err(error),
        }
    }
    Ok(slots)
}

/// The VUs that a scenario makes before it begins, in all segments.
pub fn vus_at_start(scenario: &Scenario, level: f64) -> u64 {
    match &scenario.executor {
        Executor::SharedIterations { vus, .. } | Executor::PerVuIterations { vus, .. } => *vus,
        Executor::Closed { vus, .. } => (vus.peak() * level).round() as u64,
        Executor::Open { pre_allocated_vus, .. } => *pre_allocated_vus,
    }
}

async fn run_scenario(worker: Rc<Worker>, at: usize, ready: Ready) {
    let shared = worker.shared.clone();
    let scenario = &shared.options.scenarios[at];
    let delay = scenario.start_time.saturating_sub(worker.began.get().elapsed());
    if !delay.is_zero() {
        tokio::select! {
            () = tokio::time::sleep(delay) => {}
            () = stop::reached(shared.phase.clone(), Phase::Stopping) => return,
        }
    }
    match &scenario.executor {
        Executor::Open { .. } => open::run(worker, at, ready).await,
        Executor::Closed { .. } => closed::run(worker, at, ready.slots).await,
        Executor::SharedIterations { .. } | Executor::PerVuIterations { .. } => {
            iterations::run(worker, at, ready.slots).await
        }
    }
}
