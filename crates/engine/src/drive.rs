//! One iteration: resumes the VU, carries out its effects, records the iteration's times.

use std::cell::{Cell, RefCell};
use std::future::{pending, poll_fn, Future};
use std::pin::{pin, Pin};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use futures_util::stream::{self, StreamExt};
use plimsoll_core::options::{Executor, Scenario};
use plimsoll_core::record::{MetricId, TagSetId};
use plimsoll_core::system_tags::SystemTag;
use plimsoll_script::effect::{Effect, HttpRequest, HttpResponse, Reply};
use plimsoll_script::http::address::Origin;
use plimsoll_script::modules::bundle::{RequestDefaults, ScriptError};
use plimsoll_script::state::{Extent, Iteration, ScenarioFacts};
use plimsoll_script::term::Term;
use plimsoll_script::vu::{Job, Outcome, Step, Vu};
use tokio::sync::Semaphore;

use crate::collector::unix_now_s;
use crate::epochs::Ending;
use crate::network::beside::Beside;
use crate::network::client::Client;
use crate::plain::Plain;
use crate::signal::Signal;
use crate::stop::{self, Phase};
use crate::worker::{Slot, Worker};

/// A script that kept its thread for longer gives it away before its next iteration; a turn of the loop costs about 2 µs.
const LONG_TURN: Duration = Duration::from_micros(250);

/// What an executor knows of its scenario on this thread.
pub struct Context {
    pub worker: Rc<Worker>,
    pub at: usize,
    /// When its iterations begin and end at the latest.
    pub term: Rc<Term>,
    pub tags: Rc<[(String, String)]>,
    env: Rc<[(String, String)]>,
    facts: Rc<ScenarioFacts>,
    function: Rc<str>,
    /// The series of what an iteration as a whole measures.
    own_tags: Cell<Option<TagSetId>>,
    /// What interrupts each VU of the scenario.
    cuts: RefCell<Vec<Rc<Signal>>>,
    is_cut: Cell<bool>,
    /// What an iteration is where there is no script.
    plain: Option<Plain>,
}

/// What an iteration serves: its plan in an open model, and the epoch of its level.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub planned_s: Option<f64>,
    pub epoch: u32,
}

impl Arrival {
    /// One of a closed model or of a fixed number of iterations: it belongs to the level at its start.
    pub fn unplanned(worker: &Worker) -> Self {
        let epoch = worker.epoch.get();
        worker.ledger.arrived(epoch);
        Self { planned_s: None, epoch }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Done,
    Interrupted,
}

impl Context {
    pub fn new(worker: Rc<Worker>, at: usize) -> Rc<Self> {
        let scenario = &worker.shared.options.scenarios[at];
        let mut tags = worker.shared.options.tags.clone();
        tags.retain(|(key, _)| !scenario.tags.iter().any(|(other, _)| other == key));
        tags.extend(scenario.tags.iter().cloned());
        let carries_scenario = worker.shared.options.system_tags.has(SystemTag::Scenario);
        if carries_scenario && !tags.iter().any(|(key, _)| key == "scenario") {
            tags.push(("scenario".into(), scenario.name.clone()));
        }
        tags.sort();
        let env = scenario.env.as_slice().into();
        let facts = Rc::new(ScenarioFacts {
            name: scenario.name.clone(),
            executor: scenario.executor_name.clone(),
            start_unix_ms: (unix_now_s() * 1000.0).floor(),
            started: Instant::now(),
            extent: match scenario.executor {
                Executor::SharedIterations { iterations, .. } => Extent::Iterations(iterations),
                Executor::PerVuIterations { vus, iterations, .. } => {
                    Extent::Iterations(vus.saturating_mul(iterations))
                }
                _ => Extent::Time(scenario.duration()),
            },
        });
        let function = scenario.exec.as_str().into();
        let plain = worker.repeated.clone().map(Plain::new);
        let term = Rc::new(Term::scenario(scenario.graceful_stop));
        let context = Rc::new(Self {
            worker,
            plain,
            at,
            term,
            tags: tags.into(),
            env,
            facts,
            function,
            own_tags: Cell::new(None),
            cuts: RefCell::default(),
            is_cut: Cell::new(false),
        });
        let aborted = context.clone();
        tokio::task::spawn_local(async move {
            aborted.aborting().await;
            aborted.cut_all();
        });
        context
    }

    pub fn scenario(&self) -> &Scenario {
        &self.worker.shared.options.scenarios[self.at]
    }

    /// Gives the scenario a VU: it is interrupted with the others.
    pub fn adopt(&self, slot: &Slot) {
        if let Some(vu) = &slot.vu {
            vu.state.set_term(self.term.clone());
        }
        self.cuts.borrow_mut().push(slot.cut.clone());
        if self.is_cut.get() {
            slot.cut.raise();
        }
    }

    /// Interrupts the scenario's iterations.
    pub fn cut_all(&self) {
        self.is_cut.set(true);
        self.cuts.borrow().iter().for_each(|cut| cut.raise());
    }

    /// Ends when the run's iterations must be interrupted.
    pub async fn aborting(&self) {
        stop::reached(self.worker.shared.phase.clone(), Phase::Aborting).await;
    }

    /// Ends when no new iteration may start.
    pub async fn stopping(&self) {
        stop::reached(self.worker.shared.phase.clone(), Phase::Stopping).await;
    }

    /// Ends when the iterations that go on must be interrupted: they had their grace, or the run was aborted.
    pub async fn over(&self) {
        let orders = self.worker.orders();
        // A stop brings it nearer: the grace counts from then on.
        let mut is_stopped = orders.is_stopped();
        while !self.is_over() {
            let moment = self.term.over_at(orders);
            let due = async {
                match moment {
                    Some(moment) => tokio::time::sleep_until(moment.into()).await,
                    None => pending().await,
                }
            };
            tokio::select! {
                () = due => {}
                () = self.aborting() => {}
                () = self.stopping(), if !is_stopped => is_stopped = true,
            }
        }
    }

    /// Whether they must be interrupted now.
    pub fn is_over(&self) -> bool {
        self.term.is_over(self.worker.orders(), Instant::now())
    }

    /// Whether an iteration may begin now.
    pub fn may_begin(&self) -> bool {
        self.term.may_begin(self.worker.orders(), Instant::now())
    }

    /// Lets the thread's other work go on after an iteration: at once, if the script kept the thread for long.
    pub async fn give_turn(&self, slot: &Slot) {
        let is_long =
            slot.vu.as_ref().is_some_and(|vu| vu.state.resumed.get().elapsed() > LONG_TURN);
        if is_long {
            tokio::task::yield_now().await;
        } else {
            tokio::task::consume_budget().await;
        }
    }

    /// Shows that a VU could not be made, unless it was not to be made to its end.
    pub fn show_error(&self, error: &ScriptError) {
        if !self.is_over() {
            self.worker.show_error(error);
        }
    }

    /// Runs one iteration for an arrival that the ledger knows. The VU's cut interrupts it.
    pub async fn iterate(&self, slot: &mut Slot, arrival: Arrival) -> End {
        let (worker, planned_s) = (&self.worker, arrival.planned_s);
        let started = Instant::now();
        let started_s = worker.elapsed_s_at(started);
        let lag_ms = planned_s.map_or(0.0, |planned_s| (started_s - planned_s).max(0.0) * 1000.0);
        slot.iterations += 1;
        slot.attempts.begin();
        slot.doing.arrival.set(Some((arrival.epoch, planned_s.unwrap_or(started_s))));
        {
            let mut counts = worker.counts.borrow_mut();
            counts.started += 1;
            counts.planned += u64::from(planned_s.is_none());
        }
        worker.in_flight.set(worker.in_flight.get() + 1);
        worker.count_active(1);
        let outcome = match &self.plain {
            Some(plain) => plain.iterate(self, slot, started, lag_ms).await,
            None => self.drive(slot, lag_ms).await,
        };
        worker.in_flight.set(worker.in_flight.get() - 1);
        worker.count_active(-1);
        slot.doing.nothing();
        if worker.shared.options.no_vu_connection_reuse {
            slot.client.close_idle();
        }
        if let Some(message) =
            slot.vu.as_ref().and_then(|vu| vu.state.test_aborted.borrow_mut().take())
        {
            (worker.shared.abort_test)(message);
            // As in k6, the iteration that ends the run counts; those that it interrupts do not.
            self.record(slot, arrival, started_s, lag_ms, Ending::Done);
            return End::Interrupted;
        }
        let ending = match outcome {
            Outcome::Aborted => {
                worker.recording.tally.interrupted.fetch_add(1, Ordering::Relaxed);
                worker.counts.borrow_mut().interrupted += 1;
                worker.ledger.ended(arrival.epoch, Ending::Interrupted);
                return End::Interrupted;
            }
            Outcome::Threw(error) => {
                worker.show_error(&error);
                let explained = slot.vu.as_ref().is_some_and(|vu| vu.state.has_failed.get());
                let mut counts = worker.counts.borrow_mut();
                counts.threw += 1;
                counts.broke += u64::from(!explained);
                if explained {
                    Ending::Done
                } else {
                    Ending::Broke
                }
            }
            Outcome::Returned(_) => Ending::Done,
        };
        self.record(slot, arrival, started_s, lag_ms, ending);
        self.rest(slot, started_s).await;
        End::Done
    }

    /// Keeps the VU until `minIterationDuration` has passed, if the iteration was shorter.
    async fn rest(&self, slot: &Slot, started_s: f64) {
        let least = self.worker.shared.options.min_iteration_duration;
        if least.is_zero() {
            return;
        }
        let rest_s = started_s + least.as_secs_f64() - self.worker.elapsed_s();
        if rest_s > 0.0 {
            let rested = pin!(tokio::time::sleep(Duration::from_secs_f64(rest_s)));
            tokio::select! {
                _ = slot.cut.unless_raised(rested) => {}
                () = self.stopping() => {}
            }
        }
    }

    /// Lets the VU rest for its think time; false if `cut` ended the rest.
    pub async fn think(&self, rest: Duration, cut: impl Future<Output = ()>) -> bool {
        if rest.is_zero() {
            return true;
        }
        self.worker.count_active(1);
        let rested = tokio::select! {
            () = tokio::time::sleep(rest) => true,
            () = cut => false,
        };
        self.worker.count_active(-1);
        rested
    }

    fn record(&self, slot: &Slot, arrival: Arrival, started_s: f64, lag_ms: f64, ending: Ending) {
        let worker = &self.worker;
        worker.ledger.ended(arrival.epoch, ending);
        let now_s = worker.elapsed_s();
        worker.recording.tally.completed.fetch_add(1, Ordering::Relaxed);
        let own = slot.vu.as_ref().and_then(|vu| vu.state.own_tag_set());
        let tags = own.unwrap_or_else(|| self.own_tags());
        let mut recorder = worker.recorder.borrow_mut();
        recorder.set_epoch(arrival.epoch);
        recorder.add_all(
            tags,
            &[
                (worker.builtin.iterations, 1.0),
                (worker.builtin.iteration_duration, (now_s - started_s) * 1000.0),
            ],
        );
        if let Some(planned_s) = arrival.planned_s {
            let response_time_ms = (now_s - planned_s) * 1000.0;
            recorder.add_all(
                tags,
                &[
                    (worker.builtin.arrival_lag, lag_ms),
                    (worker.builtin.iteration_response_time, response_time_ms),
                ],
            );
        }
    }

    /// Counts an arrival of this scenario under a builtin counter.
    pub fn count(&self, metric: MetricId, epoch: u32) {
        let tags = self.own_tags();
        self.worker.records_for(None, epoch);
        self.worker.recorder.borrow_mut().add(metric, tags, 1.0);
    }

    fn own_tags(&self) -> TagSetId {
        self.own_tags.get().unwrap_or_else(|| {
            let tags: Vec<(&str, &str)> =
                self.tags.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
            let id = self.worker.recorder.borrow_mut().tag_set(&tags);
            self.own_tags.set(Some(id));
            id
        })
    }

    /// What the next iteration of a VU is; its number on the VU is from 0.
    fn job(&self, number_on_vu: u64, lag_ms: f64) -> Job {
        let shared = &self.worker.shared;
        Job {
            function: self.function.clone(),
            iteration: Iteration {
                scenario: Some(self.facts.clone()),
                tags: self.tags.clone(),
                env: self.env.clone(),
                number_in_scenario: shared.iteration_numbers[self.at]
                    .fetch_add(1, Ordering::Relaxed),
                number_on_vu,
                arrival_lag_ms: lag_ms,
            },
            argument_json: shared.setup_json.clone(),
            wants_result: false,
        }
    }

    /// Runs the script's function once.
    async fn drive(&self, slot: &mut Slot, lag_ms: f64) -> Outcome {
        let number_on_vu = slot.iterations - 1;
        let origin = Some((slot.number as u32, number_on_vu as u32));
        let job = self.job(number_on_vu, lag_ms);
        let epoch = slot.epoch();
        let Slot { vu: Some(vu), client, cut, doing, attempts, .. } = slot else {
            return Outcome::Aborted;
        };
        self.worker.records_for(origin, epoch);
        let mut beside = None;
        let mut script = self.worker.watch.script_time();
        script.goes_on();
        let mut step = vu.start(job);
        script.stands();
        loop {
            let effect = match step {
                Step::Finished(outcome) => {
                    self.worker.watch.record(&script);
                    return outcome;
                }
                Step::Effect(effect) => effect,
            };
            doing.waits_for(&effect);
            let Some(reply) = cut
                .unless_raised(pin!(carry_out(
                    client,
                    effect,
                    &mut beside,
                    &vu.state.bundle.defaults
                )))
                .await
            else {
                vu.abort();
                client.close_idle();
                return Outcome::Aborted;
            };
            attempts.note_reply(&reply);
            self.worker.records_for(origin, epoch);
            script.goes_on();
            step = vu.reply(reply);
            script.stands();
        }
    }
}

/// Runs one function outside an iteration (setup, teardown), without a cut.
pub async fn call(vu: &mut Vu, client: &Client, job: Job) -> Outcome {
    let mut beside = None;
    let mut step = vu.start(job);
    loop {
        match step {
            Step::Finished(outcome) => return outcome,
            Step::Effect(effect) => {
                let reply = carry_out(client, effect, &mut beside, &vu.state.bundle.defaults).await;
                step = vu.reply(reply);
            }
        }
    }
}

/// Carries out what a script asks for. What is to run beside it does so in `beside` from the first one on, and goes on meanwhile.
async fn carry_out<'a>(
    client: &'a Client,
    effect: Effect,
    beside: &mut Option<Box<Beside<'a>>>,
    defaults: &RequestDefaults,
) -> Reply {
    match effect {
        Effect::Http(request) => {
            Reply::Http(meanwhile(beside, pin!(client.perform(&request))).await)
        }
        Effect::Batch(requests) => {
            Reply::Batch(meanwhile(beside, pin!(batch(client, &requests, defaults))).await)
        }
        // No wait, and yet a turn for others: a loop of these must not keep the thread.
        Effect::Sleep(Duration::ZERO) => {
            meanwhile(beside, pin!(tokio::task::yield_now())).await;
            Reply::Slept
        }
        Effect::Sleep(duration) => {
            meanwhile(beside, pin!(tokio::time::sleep(duration))).await;
            Reply::Slept
        }
        Effect::Start(number, request) => {
            beside.get_or_insert_default().start(client, number, request).await;
            Reply::Started
        }
        Effect::Open(line) => {
            beside.get_or_insert_default().open(client, line).await;
            Reply::Started
        }
        Effect::Next(wanted) => Reply::Next(beside.get_or_insert_default().next(wanted).await),
    }
}

/// The work's result; what runs beside it goes on.
fn meanwhile<'b, 'a, Work: Future>(
    beside: &'b mut Option<Box<Beside<'a>>>,
    mut work: Pin<&'b mut Work>,
) -> impl Future<Output = Work::Output> + use<'b, 'a, Work> {
    poll_fn(move |context| {
        if let Some(beside) = beside {
            beside.progress(context);
        }
        work.as_mut().poll(context)
    })
}

/// At most `batch` requests at once and `batchPerHost` of them to one host; the responses in the requests' order.
async fn batch(
    client: &Client,
    requests: &[Rc<HttpRequest>],
    defaults: &RequestDefaults,
) -> Vec<Box<HttpResponse>> {
    let per_host =
        if defaults.batch_per_host == 0 { defaults.batch } else { defaults.batch_per_host };
    let mut hosts: Vec<(&Origin, Semaphore)> = Vec::new();
    for request in requests {
        let origin = &*request.address.origin;
        if !hosts.iter().any(|(known, _)| *known == origin) {
            hosts.push((origin, Semaphore::new(per_host.min(Semaphore::MAX_PERMITS))));
        }
    }
    let hosts = &hosts;
    let send = |request: &'_ Rc<HttpRequest>| {
        let request = request.clone();
        async move {
            let host = hosts.iter().find(|(known, _)| **known == *request.address.origin);
            // Nobody closes the semaphore, so that a turn always comes.
            let _turn = match host {
                Some((_, turns)) => turns.acquire().await.ok(),
                None => None,
            };
            client.perform(&request).await
        }
    };
    stream::iter(requests).map(send).buffered(defaults.batch.max(1)).collect().await
}
