//! What one VU knows of itself while its script runs, shared by all native functions.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::hash::{BuildHasher, Hasher};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use corosensei::Yielder;
use hashbrown::{DefaultHashBuilder, HashTable};
use plimsoll_core::record::{Kind, MetricId, Overflow, Recorder, TagSetId};
use plimsoll_core::system_tags::SystemTag;
use rquickjs::{qjs, Ctx, Error, Persistent, Value};

use crate::api::events::{Events, Rejections};
use crate::effect::{Effect, HttpResponse, Reply};
use crate::http::cookies::SharedJar;
use crate::http::response::Prototypes;
use crate::http::Expected;
use crate::modules::bundle::{Bundle, ScriptError, Tally};
use crate::modules::places::place_of_call;
use crate::runtime::raw::Held;
use crate::runtime::{self, SharedRuntime};
use crate::signs;
use crate::term::Term;
use crate::vu::{Input, Output};

pub type SharedRecorder = Rc<RefCell<Recorder>>;

/// Tags in their order, told apart by address.
pub type TagList = Rc<[(String, String)]>;

/// Metrics that every run has, registered once per thread.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    pub http_reqs: MetricId,
    pub http_req_failed: MetricId,
    pub http_req_duration: MetricId,
    pub http_req_response_time: MetricId,
    pub http_req_blocked: MetricId,
    pub http_req_connecting: MetricId,
    pub http_req_tls_handshaking: MetricId,
    pub http_req_sending: MetricId,
    pub http_req_waiting: MetricId,
    pub http_req_receiving: MetricId,
    pub data_sent: MetricId,
    pub data_received: MetricId,
    pub checks: MetricId,
    pub group_duration: MetricId,
    pub iterations: MetricId,
    pub iteration_duration: MetricId,
    pub arrival_lag: MetricId,
    pub iteration_response_time: MetricId,
    pub ws_connecting: MetricId,
    pub ws_session_duration: MetricId,
    pub ws_ping: MetricId,
    pub ws_sessions: MetricId,
    pub ws_msgs_sent: MetricId,
    pub ws_msgs_received: MetricId,
    pub late_iterations: MetricId,
    pub unanswered_iterations: MetricId,
    pub dropped_iterations: MetricId,
}

impl Builtin {
    /// Registers them; they cannot clash, because they come first.
    pub fn register(recorder: &mut Recorder) -> Result<Self, String> {
        let mut trend = |name: &str| recorder.metric(name, Kind::Trend, true);
        let (http_req_duration, http_req_response_time) =
            (trend("http_req_duration")?, trend("http_req_response_time")?);
        let (http_req_blocked, http_req_connecting) =
            (trend("http_req_blocked")?, trend("http_req_connecting")?);
        let (http_req_tls_handshaking, http_req_sending) =
            (trend("http_req_tls_handshaking")?, trend("http_req_sending")?);
        let (http_req_waiting, http_req_receiving) =
            (trend("http_req_waiting")?, trend("http_req_receiving")?);
        let (group_duration, iteration_duration) =
            (trend("group_duration")?, trend("iteration_duration")?);
        let (arrival_lag, iteration_response_time) =
            (trend("arrival_lag")?, trend("iteration_response_time")?);
        let (ws_connecting, ws_session_duration, ws_ping) =
            (trend("ws_connecting")?, trend("ws_session_duration")?, trend("ws_ping")?);
        let mut counter = |name: &str| recorder.metric(name, Kind::Counter, false);
        let (http_reqs, iterations) = (counter("http_reqs")?, counter("iterations")?);
        let (data_sent, data_received) = (counter("data_sent")?, counter("data_received")?);
        let (late_iterations, dropped_iterations) =
            (counter("late_iterations")?, counter("dropped_iterations")?);
        let unanswered_iterations = counter("unanswered_iterations")?;
        let ws_sessions = counter("ws_sessions")?;
        let (ws_msgs_sent, ws_msgs_received) =
            (counter("ws_msgs_sent")?, counter("ws_msgs_received")?);
        Ok(Self {
            http_reqs,
            http_req_failed: recorder.metric("http_req_failed", Kind::Rate, false)?,
            http_req_duration,
            http_req_response_time,
            http_req_blocked,
            http_req_connecting,
            http_req_tls_handshaking,
            http_req_sending,
            http_req_waiting,
            http_req_receiving,
            data_sent,
            data_received,
            checks: recorder.metric("checks", Kind::Rate, false)?,
            group_duration,
            iterations,
            iteration_duration,
            arrival_lag,
            iteration_response_time,
            ws_connecting,
            ws_session_duration,
            ws_ping,
            ws_sessions,
            ws_msgs_sent,
            ws_msgs_received,
            late_iterations,
            unanswered_iterations,
            dropped_iterations,
        })
    }

    /// What every answered or failed request records, times in ms; whether it failed is the caller's to say.
    pub fn of_request(
        &self,
        response: &HttpResponse,
        response_time_ms: f64,
    ) -> [(MetricId, f64); 11] {
        let timings = &response.timings;
        [
            (self.http_reqs, 1.0),
            (self.http_req_duration, timings.duration()),
            (self.http_req_response_time, response_time_ms),
            (self.http_req_blocked, timings.blocked),
            (self.http_req_connecting, timings.connecting),
            (self.http_req_tls_handshaking, timings.tls_handshaking),
            (self.http_req_sending, timings.sending),
            (self.http_req_waiting, timings.waiting),
            (self.http_req_receiving, timings.receiving),
            (self.data_sent, response.bytes_sent as f64),
            (self.data_received, response.bytes_received as f64),
        ]
    }
}

/// What a script may ask of its scenario.
#[derive(Debug)]
pub struct ScenarioFacts {
    pub name: String,
    /// k6's name of it.
    pub executor: String,
    pub start_unix_ms: f64,
    pub started: Instant,
    pub extent: Extent,
}

/// How much a scenario is: iterations, or time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Extent {
    Iterations(u64),
    Time(Duration),
}

impl ScenarioFacts {
    /// The part of the scenario that is over, from 0 to 1, in its iteration of that number.
    pub fn progress(&self, iteration: u64) -> f64 {
        let part = match self.extent {
            Extent::Iterations(all) => iteration as f64 / all as f64,
            Extent::Time(all) => self.started.elapsed().as_secs_f64() / all.as_secs_f64(),
        };
        part.clamp(0.0, 1.0)
    }
}

/// The iteration that a VU is in.
#[derive(Clone, Debug, Default)]
pub struct Iteration {
    /// None outside of scenarios: in setup, teardown and handleSummary.
    pub scenario: Option<Rc<ScenarioFacts>>,
    /// Tags of the run and of the scenario, sorted by key.
    pub tags: TagList,
    pub env: TagList,
    /// Number of this iteration in its scenario, from 0.
    pub number_in_scenario: u64,
    /// Number of this iteration on its VU, from 0.
    pub number_on_vu: u64,
    /// How late the iteration began; 0 in closed scenarios.
    pub arrival_lag_ms: f64,
}

/// Tags and group of a moment of the iteration.
pub struct Moment {
    tags: Rc<[(String, String)]>,
    group: String,
}

pub struct VuState {
    pub bundle: Arc<Bundle>,
    pub recorder: SharedRecorder,
    pub builtin: Builtin,
    pub vu: u64,
    pub iteration: RefCell<Iteration>,
    pub group: RefCell<String>,
    known_tags: Rc<RefCell<KnownTags>>,
    /// Whether a request of this iteration has failed.
    pub has_failed: Cell<bool>,
    /// The arrival lag still to be charged to the first request.
    pub lag_to_charge_ms: Cell<f64>,
    /// The tags of run and scenario as the script has changed them; they stay for the VU's later iterations.
    own_tags: RefCell<Option<TagList>>,
    /// What the script has noted for its samples; no output shows it.
    pub metadata: RefCell<Vec<(String, String)>>,
    pub jar: SharedJar,
    pub(crate) yielder: Cell<Option<*const Yielder<Input, Output>>>,
    pub aborted: Cell<bool>,
    /// How long what the VU does may go on.
    term: RefCell<Rc<Term>>,
    /// Set while modules are evaluated: no request, no sleep.
    pub in_init: Cell<bool>,
    /// Whether what the script computed in this iteration had to end; it may still have caught that.
    pub was_stopped: Cell<bool>,
    pub rejections: Rejections,
    /// The event loop, for as long as the VU's context lives.
    events: Cell<*const Events<'static>>,
    /// For each require() of an ES module that is on its way: the files that wait for it.
    pub requiring: RefCell<Vec<HashSet<String>>>,
    pub(crate) runtime: Rc<SharedRuntime>,
    /// The lowest address of the VU's stack.
    pub(crate) stack_end: Cell<usize>,
    /// Those of this VU's context.
    pub(crate) prototypes: RefCell<Option<Prototypes>>,
    /// QuickJS' own JSON.parse of that context.
    pub(crate) plain_parse: RefCell<Option<Held>>,
    /// Which statuses count as success where a request does not say.
    pub(crate) expected: RefCell<Expected>,
    pub resumed: Cell<Instant>,
    pub run_started: Cell<Instant>,
    pub test_aborted: RefCell<Option<String>>,
}

/// Where the VUs of a thread record; cheap to clone.
#[derive(Clone)]
pub struct Recording {
    pub recorder: SharedRecorder,
    pub builtin: Builtin,
    pub tally: Arc<Tally>,
    known_tags: Rc<RefCell<KnownTags>>,
}

impl Recording {
    /// An empty recorder with the builtin metrics, for VUs of that bundle.
    pub fn new(bundle: &Bundle) -> Result<Self, String> {
        let mut recorder = Recorder::new();
        let builtin = Builtin::register(&mut recorder)?;
        Ok(Self {
            recorder: Rc::new(RefCell::new(recorder)),
            builtin,
            tally: bundle.new_tally(),
            known_tags: Rc::default(),
        })
    }
}

/// Tag sets as scripts state them. Scripts repeat a few, and to find one again is cheaper than to merge and sort its tags.
#[derive(Default)]
struct KnownTags {
    hasher: DefaultHashBuilder,
    sets: HashTable<KnownSet>,
    /// The lists of tags that scripts have made, so that equal ones have one address.
    lists: hashbrown::HashSet<TagList>,
}

struct KnownSet {
    /// Tags of run and scenario, told apart by address: each scenario of a thread has one list.
    tags: TagList,
    group: String,
    extra: Vec<(String, String)>,
    id: TagSetId,
}

impl KnownTags {
    const MOST: usize = 1000;

    fn find(&self, tags: &TagList, group: &str, extra: &[(&str, &str)]) -> Option<TagSetId> {
        let same = |known: &KnownSet| {
            Rc::ptr_eq(&known.tags, tags)
                && known.extra.len() == extra.len()
                && known.extra.iter().zip(extra).all(|(a, b)| a.1 == b.1 && a.0 == b.0)
                && known.group == group
        };
        self.sets.find(self.hash(extra), same).map(|known| known.id)
    }

    fn keep(&mut self, tags: &TagList, group: &str, extra: &[(&str, &str)], id: TagSetId) {
        if self.sets.len() >= Self::MOST {
            self.sets.clear();
        }
        let hash = self.hash(extra);
        let extra =
            extra.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let set = KnownSet { tags: tags.clone(), group: group.to_owned(), extra, id };
        let hasher = &self.hasher;
        self.sets.insert_unique(hash, set, |known| {
            hash_of(hasher, known.extra.iter().map(|(_, value)| value.as_str()))
        });
    }

    /// The one list that is equal to this.
    fn list(&mut self, tags: Vec<(String, String)>) -> TagList {
        if let Some(known) = self.lists.get(tags.as_slice()) {
            return known.clone();
        }
        if self.lists.len() >= Self::MOST {
            self.lists.clear();
        }
        let list: TagList = tags.into();
        self.lists.insert(list.clone());
        list
    }

    fn hash(&self, extra: &[(&str, &str)]) -> u64 {
        hash_of(&self.hasher, extra.iter().map(|(_, value)| *value))
    }
}

fn hash_of<'a>(hasher: &DefaultHashBuilder, values: impl Iterator<Item = &'a str>) -> u64 {
    let mut state = hasher.build_hasher();
    values.for_each(|value| state.write(value.as_bytes()));
    state.finish()
}

/// How long a script may compute without a request or sleep before it counts as runaway.
pub const MAX_COMPUTE: Duration = Duration::from_secs(10);

impl VuState {
    /// Fails where there is no memory for another runtime. Loading it has to end as `term` says, and what it does then.
    pub fn new(
        bundle: Arc<Bundle>,
        recording: Recording,
        vu: u64,
        term: Rc<Term>,
    ) -> Result<Self, ScriptError> {
        Ok(Self {
            runtime: SharedRuntime::join().map_err(|error| ScriptError::no_runtime(&error))?,
            stack_end: Cell::new(0),
            prototypes: RefCell::default(),
            plain_parse: RefCell::default(),
            expected: RefCell::default(),
            bundle,
            recorder: recording.recorder,
            builtin: recording.builtin,
            vu,
            iteration: RefCell::default(),
            group: RefCell::default(),
            known_tags: recording.known_tags,
            has_failed: Cell::new(false),
            lag_to_charge_ms: Cell::new(0.0),
            own_tags: RefCell::default(),
            metadata: RefCell::default(),
            jar: SharedJar::default(),
            yielder: Cell::new(None),
            aborted: Cell::new(false),
            term: RefCell::new(term),
            in_init: Cell::new(true),
            was_stopped: Cell::new(false),
            rejections: RefCell::default(),
            events: Cell::new(std::ptr::null()),
            requiring: RefCell::default(),
            resumed: Cell::new(Instant::now()),
            run_started: Cell::new(Instant::now()),
            test_aborted: RefCell::new(None),
        })
    }

    /// The VU whose script calls a function of the host.
    pub fn running(ctx: &Ctx<'_>) -> Result<Rc<Self>, Error> {
        runtime::running()
            .ok_or_else(|| rquickjs::Exception::throw_message(ctx, "the VU has ended"))
    }

    /// Whether what the script computes now has to end.
    pub(crate) fn must_stop(&self) -> bool {
        signs::give();
        let now = Instant::now();
        if self.term.borrow().is_over(&self.bundle.orders, now) {
            self.aborted.set(true);
        }
        let is_runaway = now.saturating_duration_since(self.resumed.get()) > MAX_COMPUTE;
        let stops = is_runaway || self.aborted.get() || self.runtime.memory.is_exhausted();
        self.was_stopped.set(self.was_stopped.get() || stops);
        stops
    }

    /// What the VU does from now on has to end as `term` says.
    pub fn set_term(&self, term: Rc<Term>) {
        *self.term.borrow_mut() = term;
    }

    /// Suspends the VU until the effect is carried out.
    pub fn perform(&self, ctx: &Ctx<'_>, effect: Effect) -> Result<Reply, Error> {
        if self.in_init.get() {
            let message = "requests and sleep() do not work in the init context; move them into the default function or setup()";
            return Err(rquickjs::Exception::throw_message(ctx, message));
        }
        match self.rest(ctx, Output::Effect(effect)) {
            Input::Reply(reply) => Ok(reply),
            _ => Err(self.throw_uncatchable(ctx)),
        }
    }

    /// Has the host begin something beside the script. It does not count as rest: a loop of these may be a runaway one.
    pub fn begin_beside(&self, ctx: &Ctx<'_>, effect: Effect) -> Result<(), Error> {
        let resumed = self.resumed.get();
        self.perform(ctx, effect)?;
        self.resumed.set(resumed);
        Ok(())
    }

    /// What tags depend on now, to be used `at` a later moment.
    pub fn moment(&self) -> Moment {
        Moment { tags: self.iteration.borrow().tags.clone(), group: self.group.borrow().clone() }
    }

    /// Does something as if it were done at that moment.
    pub fn at<T>(&self, moment: &mut Moment, act: impl FnOnce() -> T) -> T {
        self.swap(moment);
        let done = act();
        self.swap(moment);
        done
    }

    fn swap(&self, moment: &mut Moment) {
        std::mem::swap(&mut self.iteration.borrow_mut().tags, &mut moment.tags);
        std::mem::swap(&mut *self.group.borrow_mut(), &mut moment.group);
    }

    /// Suspends the VU without an exception that nobody took: it would be the next VU's.
    pub(crate) fn rest(&self, ctx: &Ctx<'_>, output: Output) -> Input {
        drop(ctx.catch());
        self.suspend(output)
    }

    /// Suspends a VU that has no context, or a tidy one.
    pub(crate) fn suspend(&self, output: Output) -> Input {
        let Some(yielder) = self.yielder.get() else {
            return Input::Abort;
        };
        // SAFETY: the yielder lives on this VU's coroutine stack for as long as its body runs, and only code
        // of that body calls this.
        let yielder = unsafe { &*yielder };
        let away = self.runtime.leave();
        let input = yielder.suspend(output);
        self.runtime.enter(away, self.stack_end.get());
        self.resumed.set(Instant::now());
        if matches!(input, Input::Abort) {
            self.aborted.set(true);
        }
        input
    }

    /// Makes the event loop known to native functions while `act` runs, which is as long as the VU's context lives.
    pub(crate) fn with_events<'js, T>(
        &self,
        events: &Rc<Events<'js>>,
        act: impl FnOnce() -> T,
    ) -> T {
        self.events.set(Rc::as_ptr(events).cast());
        let done = act();
        self.events.set(std::ptr::null());
        done
    }

    /// The event loop of the context that belongs to this VU.
    pub fn events<'js>(&self, ctx: &Ctx<'js>) -> Result<Rc<Events<'js>>, Error> {
        let events = self.events.get().cast::<Events<'js>>();
        if events.is_null() {
            return Err(rquickjs::Exception::throw_message(ctx, "the VU has ended"));
        }
        // SAFETY: `with_events` borrows the counted reference for as long as the pointer stands here. A VU has one
        // context, so that the lifetime is that of `ctx`.
        unsafe {
            Rc::increment_strong_count(events);
            Ok(Rc::from_raw(events))
        }
    }

    /// Keeps a promise that was rejected while nobody listened, until somebody does.
    pub fn note_rejection<'js>(
        &self,
        ctx: &Ctx<'js>,
        promise: Value<'js>,
        reason: Value<'js>,
        is_handled: bool,
    ) {
        let promise = Persistent::save(ctx, promise);
        let mut rejections = self.rejections.borrow_mut();
        match is_handled {
            true => rejections.retain(|(known, _)| *known != promise),
            false => rejections.push((promise, Persistent::save(ctx, reason))),
        }
    }

    /// Throws an error that `try`/`catch` does not stop, so that an aborted VU unwinds.
    pub fn throw_uncatchable(&self, ctx: &Ctx<'_>) -> Error {
        self.was_stopped.set(true);
        let error = rquickjs::Exception::throw_internal(ctx, "interrupted");
        // SAFETY: the context is live; the pending exception is an object just made.
        unsafe {
            let raw = ctx.as_raw().as_ptr();
            let exception = qjs::JS_GetException(raw);
            qjs::JS_SetUncatchableError(raw, exception);
            qjs::JS_Throw(raw, exception);
        }
        error
    }

    /// Gives the VU's samples these tags of run and scenario, in this iteration and its later ones.
    pub fn set_tags(&self, mut tags: Vec<(String, String)>) {
        tags.sort();
        let tags = self.known_tags.borrow_mut().list(tags);
        self.iteration.borrow_mut().tags = tags.clone();
        *self.own_tags.borrow_mut() = Some(tags);
    }

    /// Begins an iteration: the tags that the script has set on this VU stay.
    pub fn begin(&self, mut iteration: Iteration) {
        if let Some(tags) = &*self.own_tags.borrow() {
            iteration.tags = tags.clone();
        }
        *self.iteration.borrow_mut() = iteration;
        self.has_failed.set(false);
    }

    /// Records whether a request failed, unless its script does not say what counts as such.
    pub(crate) fn record_outcome(&self, tags: TagSetId, passed: Option<bool>) {
        let Some(passed) = passed else { return };
        if !passed {
            self.has_failed.set(true);
        }
        let failed = f64::from(u8::from(!passed));
        self.recorder.borrow_mut().add(self.builtin.http_req_failed, tags, failed);
    }

    /// The tag set of the VU's iterations as wholes, if the script has set tags on it.
    pub fn own_tag_set(&self) -> Option<TagSetId> {
        let own_tags = self.own_tags.borrow();
        let tags: Vec<(&str, &str)> =
            own_tags.as_ref()?.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        Some(self.recorder.borrow_mut().tag_set(&tags))
    }

    /// Interns the tags of this moment plus `extra`.
    pub fn tag_set(&self, ctx: &Ctx<'_>, extra: &[(&str, &str)]) -> TagSetId {
        let (iteration, group) = (self.iteration.borrow(), self.group.borrow());
        let known = self.known_tags.borrow().find(&iteration.tags, &group, extra);
        known.unwrap_or_else(|| {
            let id = self.intern(ctx, &iteration, &group, extra);
            self.known_tags.borrow_mut().keep(&iteration.tags, &group, extra, id);
            id
        })
    }

    fn intern(
        &self,
        ctx: &Ctx<'_>,
        iteration: &Iteration,
        group: &str,
        extra: &[(&str, &str)],
    ) -> TagSetId {
        let mut tags: Vec<(&str, &str)> =
            Vec::with_capacity(iteration.tags.len() + extra.len() + 2);
        tags.extend(iteration.tags.iter().map(|(key, value)| (key.as_str(), value.as_str())));
        let shows_group =
            !group.is_empty() && self.bundle.defaults.system_tags.has(SystemTag::Group);
        if shows_group && !tags.iter().any(|(key, _)| *key == "group") {
            tags.push(("group", group));
        }
        for (key, value) in extra {
            match tags.iter_mut().find(|(known, _)| known == key) {
                Some(tag) => tag.1 = value,
                None => tags.push((key, value)),
            }
        }
        tags.sort_unstable();
        let mut recorder = self.recorder.borrow_mut();
        let id = recorder.tag_set(&tags);
        if recorder.overflow() == Some(&Overflow::Unplaced) {
            recorder.place_overflow(place_of_call(ctx, &self.bundle));
        }
        id
    }
}
