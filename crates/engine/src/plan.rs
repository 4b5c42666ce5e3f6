//! Carries a run out: setup, the threads and their seconds, teardown, the summary.

use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{channel, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use plimsoll_core::options::{Executor, Options, Scenario};
use plimsoll_core::schedule::Spacing;
use plimsoll_core::segment::Segment;
use serde_json::Value;
use tokio::sync::watch;

use crate::bounds::Machine;
use crate::collector::{unix_now_s, Collector, Totals, VusSamples};
use crate::deaf::{self, Deaf};
use crate::epochs::Level;
use crate::gate::Gate;
use crate::loading::{Config, EngineError, Loaded};
use crate::samples::Samples;
use crate::stop::{Phase, Stop};
use crate::worker::{LateArrivals, Shared};
use crate::{limits, summary, threads};

/// A run ended before its plan, by exec.test.abort() or by a threshold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Abort {
    pub by_script: bool,
    pub message: String,
}

/// What is known when a run has ended.
#[derive(Debug)]
pub struct Ended {
    /// k6's summary data.
    pub summary: Value,
    /// What `handleSummary` returned: file names to contents; `None` when the script has none.
    pub handled: Option<Value>,
    /// Why the run was aborted, if it was.
    pub aborted: Option<Abort>,
    /// How teardown failed, if it did.
    pub failure: Option<EngineError>,
    /// Whether the script marked the run as failed with exec.test.fail().
    pub marked_failed: bool,
    /// Of raw samples, where any were wanted: `{lost, failure}`.
    pub samples: Option<Value>,
}

/// All that carrying out a run needs.
pub(crate) struct Plan {
    pub(crate) loaded: Loaded,
    pub(crate) config: Config,
    pub(crate) spacing: Spacing,
    pub(crate) late_arrivals: LateArrivals,
    pub(crate) vu_cap: u64,
    pub(crate) level: watch::Receiver<Level>,
    pub(crate) stop: Arc<Stop>,
    pub(crate) output: Sender<String>,
    pub(crate) began: Arc<Mutex<Option<Instant>>>,
    pub(crate) samples: Option<Arc<Samples>>,
}

impl Plan {
    pub(crate) fn carry_out(mut self) -> Result<Ended, EngineError> {
        let ended = self.load_and_summarise();
        // Every thread that is not left behind has told all: what is left is written, whatever came before.
        let samples = self.samples.take().map(|samples| samples.finish());
        ended.map(|ended| Ended { samples, ..ended })
    }

    fn load_and_summarise(&self) -> Result<Ended, EngineError> {
        let _small_pages = limits::SmallPages::only();
        let options = self.loaded.options.clone();
        let mut totals = Totals::beginning(&options);
        let has = |name: &str| self.loaded.info.exports.iter().any(|export| export == name);
        let mut setup_json: Option<Arc<str>> = None;
        if has("setup") && !options.no_setup {
            setup_json =
                self.call_once("setup", None, options.setup_timeout, &mut totals)?.map(Arc::from);
        }
        let aborted = Arc::new(Mutex::new(None));
        self.run_threads(&options, setup_json.clone(), &aborted, &mut totals)?;
        let mut failure = None;
        if has("teardown") && !options.no_teardown {
            failure = self
                .call_once("teardown", setup_json.clone(), options.teardown_timeout, &mut totals)
                .err();
        }
        let setup_data =
            setup_json.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or(Value::Null);
        let summary = summary::data(&totals, &options, &self.loaded.kinds, setup_data);
        let mut handled = None;
        if has("handleSummary") && !options.no_summary {
            handled = self.handle_summary(&summary);
        }
        let aborted = locked(&aborted).take();
        let marked_failed = self.loaded.bundle.is_marked_failed();
        Ok(Ended { summary, handled, aborted, failure, marked_failed, samples: None })
    }

    /// What handleSummary makes of the summary; without a usable answer, which is said, the usual summary will do.
    fn handle_summary(&self, summary: &Value) -> Option<Value> {
        let limit = self.loaded.options.handle_summary_timeout;
        let answer = self.call_once(
            "handleSummary",
            Some(summary.to_string().into()),
            limit,
            &mut Totals::default(),
        );
        match answer.map(|json| json.and_then(|json| serde_json::from_str(&json).ok())) {
            Ok(Some(Value::Object(files))) => return Some(Value::Object(files)),
            // It was cut off, which is said.
            Ok(None) if self.stop.orders().last_moment().is_some() => {}
            Ok(_) => plimsoll_script::tell!("ERROR handleSummary() must return an object of file names and their contents, as in {{stdout: 'text'}}"),
            Err(error) => plimsoll_script::tell!("ERROR {}", self.loaded.bundle.secrets.clean(&error.to_string())),
        }
        None
    }

    fn run_threads(
        &self,
        options: &Options,
        setup_json: Option<Arc<str>>,
        aborted: &Arc<Mutex<Option<Abort>>>,
        totals: &mut Totals,
    ) -> Result<(), EngineError> {
        let count = self.config.threads.max(1);
        let abort = {
            let (stop, aborted, secrets) =
                (self.stop.clone(), aborted.clone(), self.loaded.bundle.secrets.clone());
            move |by_script: bool, message: String| {
                plimsoll_script::tell!("ERROR test aborted: {}", secrets.clean(&message));
                locked(&aborted).get_or_insert(Abort { by_script, message });
                stop.advance(Phase::Aborting);
            }
        };
        let abort = Arc::new(abort);
        let abort_test = abort.clone();
        let numbers = || options.scenarios.iter().map(|_| AtomicU64::new(0)).collect();
        let shared = Arc::new(Shared {
            options: options.clone(),
            bundle: self.loaded.bundle.clone(),
            threads: count,
            spacing: self.spacing,
            seed: self.config.seed,
            late_arrivals: self.late_arrivals,
            vu_cap: self.vu_cap,
            most_vus: Machine::here()
                .most_vus(self.config.url.is_none())
                .map_or(u64::MAX, |(most, _)| most),
            setup_json,
            level: self.level.clone(),
            phase: self.stop.subscribe(),
            abort_test: Arc::new(move |message| abort_test(true, message)),
            vu_numbers: AtomicU64::new(0),
            iteration_numbers: numbers(),
            iterations_taken: numbers(),
            iterations_shared: options
                .scenarios
                .iter()
                .map(|scenario| shared_iterations(scenario, &options.segment))
                .collect(),
            start: Gate::default(),
            signs: (0..count).map(|_| Arc::default()).collect(),
            cpus: self.config.cpus.clone(),
            samples: self.samples.clone(),
            errors_told: Default::default(),
            plain: self.config.url.clone(),
            rules: self.loaded.rules.clone(),
        });
        let (parts, incoming) = channel();
        let handles = threads::start(&shared, &parts)?;
        // Of the threads alone, so that they are known to have ended however they did.
        drop(parts);
        if !shared.start.open_for(count) {
            return threads::join(handles, |_| false);
        }
        let began = Instant::now();
        *locked(&self.began) = Some(began);
        let (planned, grace) = longest(options);
        let orders = self.stop.orders();
        let is_over = || {
            let stopped = orders.stopped_at().is_some_and(|stopped| stopped.elapsed() >= grace);
            orders.is_aborted() || stopped || began.elapsed() >= planned
        };
        let mut deaf = Deaf::among(&shared.signs);
        let abort_deaf = || {
            // Who told it to end knows why it does.
            if orders.is_stopped() {
                plimsoll_script::tell!("ERROR {}", deaf::WORDS);
                self.stop.advance(Phase::Aborting);
            } else {
                abort(true, deaf::WORDS.to_owned());
            }
        };
        let abort_by_threshold = |message: String| abort(false, message);
        let collector = Collector {
            threads: count,
            thresholds: &options.thresholds,
            level: self.level.clone(),
            output: self.output.clone(),
            abort: &abort_by_threshold,
            abort_deaf: &abort_deaf,
            is_over: &is_over,
            t0_unix_s: unix_now_s(),
            script_metrics: &self.loaded.script_metrics,
            vus: self.samples.as_deref().map(VusSamples::new),
        };
        collector.gather(&incoming, totals, &mut deaf);
        threads::join(handles, |index| deaf.is_deaf(index))
    }
}

/// When the last iteration has to have ended, and how long after a stop.
fn longest(options: &Options) -> (Duration, Duration) {
    let grace =
        options.scenarios.iter().map(|scenario| scenario.graceful_stop).max().unwrap_or_default();
    let end = |scenario: &Scenario| {
        scenario
            .start_time
            .saturating_add(scenario.duration())
            .saturating_add(scenario.graceful_stop)
    };
    (options.scenarios.iter().map(end).max().unwrap_or_default(), grace)
}

fn shared_iterations(scenario: &Scenario, segment: &Segment) -> u64 {
    match &scenario.executor {
        Executor::SharedIterations { vus, iterations, .. } => {
            segment.of_work(*vus).share(*iterations)
        }
        _ => 0,
    }
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
