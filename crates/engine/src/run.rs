//! A run from outside: loaded, begun, steered, read and joined, from any thread.

use std::net::SocketAddr;
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use plimsoll_core::options::{Executor, Scenario};
use plimsoll_core::schedule::Spacing;
use tokio::sync::watch;

use crate::epochs::Level;
use crate::loading::{load, Config, EngineError};
use crate::network::rules::Rules;
use crate::plan::{locked, Ended, Plan};
use crate::samples::Samples;
use crate::stop::{Phase, Stop};
use crate::worker::LateArrivals;
use crate::{bounds, limits};

/// A load that is ready or runs; dropped, it aborts.
pub struct Run {
    /// Until the load begins.
    plan: Mutex<Option<Plan>>,
    level: watch::Sender<Level>,
    stop: Arc<Stop>,
    snapshots: Mutex<Receiver<String>>,
    thread: Mutex<Option<JoinHandle<Result<Ended, EngineError>>>>,
    began: Arc<Mutex<Option<Instant>>>,
    rules: Arc<Rules>,
    most_level: f64,
    pub vu_cap: limits::VuCap,
    pub late_arrivals: &'static str,
    /// The scenarios with a fixed number of iterations, which follow no level.
    pub fixed_iterations: Vec<String>,
    /// The open scenarios that state no maxVUs, so that `vu_cap` bounds them.
    pub without_most_vus: Vec<String>,
    /// Whether the options ask that `begin` waits for a word.
    pub starts_paused: bool,
    /// What of the options has no effect, or another than may be meant.
    pub warnings: Vec<String>,
}

impl Run {
    /// Loads the script; its mistakes and those of options are returned before any load is sent.
    pub fn load(config: Config) -> Result<Self, EngineError> {
        let loaded = load(&config)?;
        let spacing = match config.arrival_process.as_str() {
            "even" => Spacing::Even,
            "poisson" => Spacing::Poisson,
            other => {
                return Err(EngineError::Options(vec![format!(
                    "arrival process '{other}': use even or poisson"
                )]))
            }
        };
        let (late_arrivals, late_name) = match config.late_arrivals.as_deref() {
            Some("wait") => (LateArrivals::Wait, "wait"),
            Some("drop") => (LateArrivals::Drop, "drop"),
            None if loaded.options.watches_dropped_iterations() => (LateArrivals::Drop, "drop"),
            None => (LateArrivals::Wait, "wait"),
            Some(other) => {
                return Err(EngineError::Options(vec![format!(
                    "late arrivals '{other}': use wait or drop"
                )]))
            }
        };
        let samples = Samples::start(&config.outputs, &loaded.options, &config.cleaner)
            .map_err(EngineError::Output)?;
        let vu_cap = limits::vu_cap();
        let (level, level_seen) = watch::channel(Level::first(config.level));
        let stop = Arc::new(Stop::new(loaded.bundle.orders.clone()));
        let (output, snapshots) = channel();
        let began = Arc::new(Mutex::new(None));
        let plan = Plan {
            loaded,
            config,
            spacing,
            late_arrivals,
            vu_cap: vu_cap.vus,
            level: level_seen,
            stop: stop.clone(),
            output,
            began: began.clone(),
            samples: samples.map(Arc::new),
        };
        let is_unbounded = |scenario: &&Scenario| {
            matches!(scenario.executor, Executor::Open { max_vus: None, .. })
        };
        let without_most_vus = plan
            .loaded
            .options
            .scenarios
            .iter()
            .filter(is_unbounded)
            .map(|scenario| scenario.name.clone())
            .collect();
        let is_fixed = |scenario: &&Scenario| {
            matches!(
                scenario.executor,
                Executor::SharedIterations { .. } | Executor::PerVuIterations { .. }
            )
        };
        let fixed_iterations = plan
            .loaded
            .options
            .scenarios
            .iter()
            .filter(is_fixed)
            .map(|scenario| scenario.name.clone())
            .collect();
        let starts_paused = plan.loaded.options.paused;
        let warnings = plan.loaded.options.warnings.clone();
        let rules = plan.loaded.rules.clone();
        let most_level = bounds::most_level(&plan.loaded.options);
        let (plan, snapshots) = (Mutex::new(Some(plan)), Mutex::new(snapshots));
        Ok(Self {
            plan,
            level,
            stop,
            snapshots,
            thread: Mutex::default(),
            began,
            rules,
            most_level,
            vu_cap,
            late_arrivals: late_name,
            fixed_iterations,
            without_most_vus,
            starts_paused,
            warnings,
        })
    }

    /// Runs setup and begins the load; a second call does nothing.
    pub fn begin(&self) -> Result<(), EngineError> {
        let Some(plan) = locked(&self.plan).take() else {
            return Ok(());
        };
        let thread =
            std::thread::Builder::new().name("plimsoll-run".into()).spawn(move || plan.carry_out());
        *locked(&self.thread) =
            Some(thread.map_err(|error| EngineError::System(error.to_string()))?);
        Ok(())
    }

    /// Multiplies the declared load from now on; refused where no generator could make that.
    pub fn set_level(&self, level: f64) -> Result<(), String> {
        bounds::check_level(level, self.most_level)?;
        self.level.send_modify(|known| known.change(level));
        Ok(())
    }

    /// Stops: gracefully (running iterations end), or at once, when teardown() and handleSummary() have 0.3 s left.
    pub fn stop(&self, at_once: bool) {
        self.stop.advance(if at_once { Phase::Ending } else { Phase::Stopping });
    }

    /// Interrupts iterations and setup(); teardown() and handleSummary() have their time.
    pub fn cut(&self) {
        self.stop.advance(Phase::Aborting);
    }

    /// Seconds since the first arrival could be planned; `None` before (setup).
    pub fn elapsed_s(&self) -> Option<f64> {
        locked(&self.began).map(|began| began.elapsed().as_secs_f64())
    }

    /// The addresses to which connections were made so far, in order.
    pub fn connections(&self) -> Vec<SocketAddr> {
        self.rules.reached.all()
    }

    /// The proxies through which connections were made so far, each with the variable that names it.
    pub fn proxies(&self) -> Vec<String> {
        self.rules.proxies.used()
    }

    /// The next snapshot as JSON; `Ok(None)` on a timeout, `Err(())` when the run has ended.
    #[allow(clippy::result_unit_err)]
    pub fn next_snapshot(&self, timeout: Duration) -> Result<Option<String>, ()> {
        match locked(&self.snapshots).recv_timeout(timeout) {
            Ok(snapshot) => Ok(Some(snapshot)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(()),
        }
    }

    /// Whether waiting for its end takes no time.
    pub fn has_ended(&self) -> bool {
        locked(&self.thread).as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for the end, once.
    pub fn join(&self) -> Result<Option<Ended>, EngineError> {
        let Some(thread) = locked(&self.thread).take() else {
            return Ok(None);
        };
        thread
            .join()
            .map_err(|_| EngineError::System("the engine stopped unexpectedly".into()))?
            .map(Some)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.stop(true);
    }
}
