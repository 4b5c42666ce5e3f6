//! What one VU knows of itself while its script runs, shared by all native functions.

use std::cell::{Cell, RefCell};
use std::hash::{BuildHasher, Hasher};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use corosensei::Yielder;
use hashbrown::{DefaultHashBuilder, HashTable};
use plimsoll_core::record::{Kind, MetricId, Overflow, Recorder, TagSetId};
use rquickjs::{qjs, Ctx, Error};

use crate::bundle::Bundle;
use crate::cookies::SharedJar;
use crate::effect::{Effect, Reply};
use crate::places::place_of_call;
use crate::vu::{Input, Output};

pub type SharedRecorder = Rc<RefCell<Recorder>>;

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
    pub late_iterations: MetricId,
    pub dropped_iterations: MetricId,
}

impl Builtin {
    /// Registers them; they cannot clash, because they come first.
    pub fn register(recorder: &mut Recorder) -> Result<Self, String> {
        let mut trend = |name: &str| recorder.metric(name, Kind::Trend, true);
        let (http_req_duration, http_req_response_time) = (trend("http_req_duration")?, trend("http_req_response_time")?);
        let (http_req_blocked, http_req_connecting) = (trend("http_req_blocked")?, trend("http_req_connecting")?);
        let (http_req_tls_handshaking, http_req_sending) = (trend("http_req_tls_handshaking")?, trend("http_req_sending")?);
        let (http_req_waiting, http_req_receiving) = (trend("http_req_waiting")?, trend("http_req_receiving")?);
        let (group_duration, iteration_duration) = (trend("group_duration")?, trend("iteration_duration")?);
        let (arrival_lag, iteration_response_time) = (trend("arrival_lag")?, trend("iteration_response_time")?);
        let mut counter = |name: &str| recorder.metric(name, Kind::Counter, false);
        let (http_reqs, iterations) = (counter("http_reqs")?, counter("iterations")?);
        let (data_sent, data_received) = (counter("data_sent")?, counter("data_received")?);
        let (late_iterations, dropped_iterations) = (counter("late_iterations")?, counter("dropped_iterations")?);
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
            late_iterations,
            dropped_iterations,
        })
    }
}

/// The iteration that a VU is in.
#[derive(Clone, Debug, Default)]
pub struct Iteration {
    pub scenario: Rc<str>,
    pub executor: Rc<str>,
    /// Tags of the run and of the scenario, sorted by key.
    pub tags: Rc<[(String, String)]>,
    pub env: Rc<[(String, String)]>,
    /// Number of this iteration in its scenario, from 0.
    pub number_in_scenario: u64,
    /// Number of this iteration on its VU, from 0.
    pub number_on_vu: u64,
    /// How late the iteration began; 0 in closed scenarios.
    pub arrival_lag_ms: f64,
}

pub struct VuState {
    pub bundle: Arc<Bundle>,
    pub recorder: SharedRecorder,
    pub builtin: Builtin,
    pub vu: u64,
    pub iteration: RefCell<Iteration>,
    pub group: RefCell<String>,
    known_tags: Rc<RefCell<KnownTags>>,
    /// The arrival lag still to be charged to the first request.
    pub lag_to_charge_ms: Cell<f64>,
    pub jar: SharedJar,
    pub(crate) yielder: Cell<Option<*const Yielder<Input, Output>>>,
    pub aborted: Cell<bool>,
    /// Set while modules are evaluated: no request, no sleep.
    pub in_init: Cell<bool>,
    pub resumed: Cell<Instant>,
    pub run_started: Cell<Instant>,
    pub test_aborted: RefCell<Option<String>>,
}

/// Where the VUs of a thread record; cheap to clone.
#[derive(Clone)]
pub struct Recording {
    pub recorder: SharedRecorder,
    pub builtin: Builtin,
    known_tags: Rc<RefCell<KnownTags>>,
}

impl Recording {
    /// An empty recorder with the builtin metrics.
    pub fn new() -> Result<Self, String> {
        let mut recorder = Recorder::new();
        let builtin = Builtin::register(&mut recorder)?;
        Ok(Self { recorder: Rc::new(RefCell::new(recorder)), builtin, known_tags: Rc::default() })
    }
}

/// Tag sets as scripts state them. Scripts repeat a few, and to find one again is cheaper than to merge and sort its tags.
#[derive(Default)]
struct KnownTags {
    hasher: DefaultHashBuilder,
    sets: HashTable<KnownSet>,
}

struct KnownSet {
    /// Tags of run and scenario, told apart by address: each scenario of a thread has one list.
    tags: Rc<[(String, String)]>,
    group: String,
    extra: Vec<(String, String)>,
    id: TagSetId,
}

impl KnownTags {
    const MOST: usize = 1000;

    fn find(&self, tags: &Rc<[(String, String)]>, group: &str, extra: &[(&str, &str)]) -> Option<TagSetId> {
        let same = |known: &KnownSet| {
            Rc::ptr_eq(&known.tags, tags)
                && known.extra.len() == extra.len()
                && known.extra.iter().zip(extra).all(|(a, b)| a.1 == b.1 && a.0 == b.0)
                && known.group == group
        };
        self.sets.find(self.hash(extra), same).map(|known| known.id)
    }

    fn keep(&mut self, tags: &Rc<[(String, String)]>, group: &str, extra: &[(&str, &str)], id: TagSetId) {
        if self.sets.len() >= Self::MOST {
            self.sets.clear();
        }
        let hash = self.hash(extra);
        let extra = extra.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let set = KnownSet { tags: tags.clone(), group: group.to_owned(), extra, id };
        let hasher = &self.hasher;
        self.sets.insert_unique(hash, set, |known| hash_of(hasher, known.extra.iter().map(|(_, value)| value.as_str())));
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
    pub fn new(bundle: Arc<Bundle>, recording: Recording, vu: u64) -> Self {
        Self {
            bundle,
            recorder: recording.recorder,
            builtin: recording.builtin,
            vu,
            iteration: RefCell::default(),
            group: RefCell::default(),
            known_tags: recording.known_tags,
            lag_to_charge_ms: Cell::new(0.0),
            jar: SharedJar::default(),
            yielder: Cell::new(None),
            aborted: Cell::new(false),
            in_init: Cell::new(true),
            resumed: Cell::new(Instant::now()),
            run_started: Cell::new(Instant::now()),
            test_aborted: RefCell::new(None),
        }
    }

    /// Suspends the VU until the effect is carried out.
    pub fn perform(&self, ctx: &Ctx<'_>, effect: Effect) -> Result<Reply, Error> {
        if self.in_init.get() {
            let message = "requests and sleep() do not work in the init context; move them into the default function or setup()";
            return Err(rquickjs::Exception::throw_message(ctx, message));
        }
        match self.suspend(Output::Effect(effect)) {
            Input::Reply(reply) => Ok(reply),
            _ => Err(self.throw_uncatchable(ctx)),
        }
    }

    pub(crate) fn suspend(&self, output: Output) -> Input {
        let Some(yielder) = self.yielder.get() else { return Input::Abort };
        // SAFETY: the yielder lives on this VU's coroutine stack for as long as its body runs, and only code
        // of that body calls this.
        let input = unsafe { &*yielder }.suspend(output);
        self.resumed.set(Instant::now());
        if matches!(input, Input::Abort) {
            self.aborted.set(true);
        }
        input
    }

    /// Throws an error that `try`/`catch` does not stop, so that an aborted VU unwinds.
    pub fn throw_uncatchable(&self, ctx: &Ctx<'_>) -> Error {
        let error = rquickjs::Exception::throw_message(ctx, "the iteration was interrupted");
        // SAFETY: the context is live; the pending exception is an object just made.
        unsafe {
            let raw = ctx.as_raw().as_ptr();
            let exception = qjs::JS_GetException(raw);
            qjs::JS_SetUncatchableError(raw, exception);
            qjs::JS_Throw(raw, exception);
        }
        error
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

    fn intern(&self, ctx: &Ctx<'_>, iteration: &Iteration, group: &str, extra: &[(&str, &str)]) -> TagSetId {
        let mut tags: Vec<(&str, &str)> = Vec::with_capacity(iteration.tags.len() + extra.len() + 2);
        tags.extend(iteration.tags.iter().map(|(key, value)| (key.as_str(), value.as_str())));
        if !group.is_empty() {
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
