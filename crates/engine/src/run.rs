//! A whole run: load the script, set up, start the threads, collect, tear down, summarise.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use plimsoll_core::options::layers::{lost_scenarios, overlaid, with_own_names};
use plimsoll_core::options::{Executor, Options, Scenario};
use plimsoll_core::record::{Kind, Recorder};
use plimsoll_core::schedule::Spacing;
use plimsoll_core::segment::Segment;
use plimsoll_script::allowance::{BodyLimits, RunLimit, DEFAULT_MAX_BODY_BYTES};
use plimsoll_script::bundle::{Bundle, RequestDefaults, ScriptError, DEFAULT_VU_MEMORY_BYTES};
use plimsoll_script::secrets::{Cleaner, Secrets};
use plimsoll_script::state::{Builtin, Recording, VuState};
use plimsoll_script::term::{Orders, Term};
use plimsoll_script::vu::{InitInfo, Vu};
use serde::Deserialize;
use serde_json::{json, Value};
use thiserror::Error;
use tokio::sync::watch;

use crate::bounds::{self, Machine};
use crate::collector::{unix_now_s, Collector, Totals, VusSamples};
use crate::deaf::{self, Deaf};
use crate::epochs::Level;
use crate::gate::Gate;
use crate::plain::PlainUrl;
use crate::rules::Rules;
use crate::samples::{OutputFile, Samples};
use crate::stop::{Phase, Stop};
use crate::worker::{LateArrivals, Shared};
use crate::{limits, summary, threads, tls};

/// What a caller asks for; `options` replaces the script's option of the same name.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    pub script: PathBuf,
    /// The folder that the script's own paths start from, where it is not that of its file.
    pub home: Option<PathBuf>,
    pub env: Vec<(String, String)>,
    pub options: serde_json::Map<String, Value>,
    pub threads: usize,
    /// Multiplies the declared load.
    pub level: f64,
    /// `even` or `poisson`.
    pub arrival_process: String,
    /// `wait`, `drop`, or nothing for the default.
    pub late_arrivals: Option<String>,
    pub seed: u64,
    /// Processors to pin the threads to.
    pub cpus: Vec<usize>,
    /// Where secrets come from, as k6's `--secret-source` states it.
    pub secret_sources: Vec<String>,
    /// Texts that no log shows, the longest first.
    pub hidden: Vec<String>,
    /// Takes secrets out of the names in raw samples and of messages.
    #[serde(skip)]
    pub cleaner: Cleaner,
    /// Where the console's lines go in place of stderr; lines are added at the file's end.
    pub console_output: Option<PathBuf>,
    /// What the JavaScript of one VU may allocate.
    pub vu_memory_bytes: usize,
    /// The largest body of a response that is kept.
    pub max_body_bytes: usize,
    /// Which local files stand for remote modules; without it, a file of the usual name beside the script.
    pub import_map: Option<PathBuf>,
    /// The files of remote modules that were fetched, by address.
    pub modules: HashMap<String, PathBuf>,
    /// Options that the script's replace, as of a configuration file.
    pub options_below: serde_json::Map<String, Value>,
    /// Files of raw samples.
    pub outputs: Vec<OutputFile>,
    /// An address to request instead of a script.
    pub url: Option<PlainUrl>,
    /// By which whoever loads the script may interrupt it.
    #[serde(skip)]
    pub orders: Arc<Orders>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            script: PathBuf::new(),
            home: None,
            env: Vec::new(),
            options: serde_json::Map::new(),
            threads: 1,
            level: 1.0,
            arrival_process: "even".into(),
            late_arrivals: None,
            seed: 1,
            cpus: Vec::new(),
            secret_sources: Vec::new(),
            hidden: Vec::new(),
            cleaner: Cleaner::default(),
            console_output: None,
            vu_memory_bytes: DEFAULT_VU_MEMORY_BYTES,
            max_body_bytes: DEFAULT_MAX_BODY_BYTES,
            import_map: None,
            modules: HashMap::new(),
            options_below: serde_json::Map::new(),
            outputs: Vec::new(),
            url: None,
            orders: Arc::default(),
        }
    }
}

#[derive(Debug, Error)]
pub enum EngineError {
    #[error("{0}")]
    Script(#[from] ScriptError),
    /// The script imports a remote module for which there is no file.
    #[error("{error}")]
    MissingModule { url: String, error: ScriptError },
    #[error("{}", .0.join("\n"))]
    Options(Vec<String>),
    #[error("{function}() failed: {error}")]
    Threw { function: &'static str, error: ScriptError },
    #[error("{function}() took over {} s; raise options.{function}Timeout or make it shorter", .limit.as_secs_f64())]
    TimedOut { function: &'static str, limit: Duration },
    #[error("{function}() aborted the test: {message}")]
    Aborted { function: &'static str, message: String },
    #[error("{place}: {}", deaf::WORDS)]
    Deaf { place: String },
    #[error("{0}")]
    Output(String),
    #[error("{0}; check the machine's limits of threads and open files")]
    System(String),
}

impl EngineError {
    /// How it ended the run, for exit codes.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Script(error) if error.aborts_test => "abort",
            Self::Script(_) | Self::Threw { .. } | Self::MissingModule { .. } => "exception",
            Self::Options(_) => "options",
            Self::TimedOut { function: "setup", .. } => "setup_timeout",
            Self::TimedOut { .. } => "teardown_timeout",
            Self::Aborted { .. } | Self::Deaf { .. } => "abort",
            Self::Output(_) => "output",
            Self::System(_) => "system",
        }
    }
}

/// A loaded script with its consolidated options.
pub(crate) struct Loaded {
    pub bundle: Arc<Bundle>,
    info: InitInfo,
    pub options: Options,
    options_json: Value,
    pub rules: Arc<Rules>,
    script_metrics: Vec<Value>,
    /// Of every metric that the init context knows: its kind, and whether it holds times.
    kinds: BTreeMap<String, (Kind, bool)>,
}

fn console_file(path: &Path) -> Result<Arc<Mutex<File>>, EngineError> {
    let file = File::options().create(true).append(true).open(path);
    let file = file.map_err(|error| EngineError::Options(vec![format!("consoleOutput: cannot write {}: {error}", path.display())]))?;
    Ok(Arc::new(Mutex::new(file)))
}

fn load(config: &Config) -> Result<Loaded, EngineError> {
    let (bundle, info, recorder) = match &config.url {
        Some(_) => {
            let secrets = Secrets::default().hiding(config.hidden.clone(), config.cleaner.clone());
            let mut bundle = Bundle::without_script(config.env.clone()).with_secrets(secrets);
            bundle.orders = config.orders.clone();
            let recorder = Recording::new(&bundle).map_err(ScriptError::new)?.recorder;
            (Arc::new(bundle), InitInfo { options_json: "null".into(), exports: vec!["default".into()] }, recorder)
        }
        None => {
            let secrets = Secrets::from_flags(&config.secret_sources).map_err(|mistake| EngineError::Options(vec![mistake]))?;
            let secrets = secrets.hiding(config.hidden.clone(), config.cleaner.clone());
            let modules = config.modules.clone();
            let mut bundle =
                Bundle::new(&config.script, config.home.as_deref(), config.env.clone(), config.import_map.as_deref(), modules)?.with_secrets(secrets);
            bundle.vu_memory_bytes = config.vu_memory_bytes;
            bundle.orders = config.orders.clone();
            bundle.console = config.console_output.as_deref().map(console_file).transpose()?;
            let bundle = Arc::new(bundle);
            let (vu, info) = state_outside(&bundle, Rc::default()).and_then(Vu::describe).map_err(|error| match bundle.missing() {
                Some(url) => EngineError::MissingModule { url, error },
                None => EngineError::Script(error),
            })?;
            let recorder = vu.state.recorder.clone();
            (bundle, info, recorder)
        }
    };
    let of_script: Value = serde_json::from_str(&info.options_json).unwrap_or(Value::Null);
    let below = with_own_names(config.options_below.clone());
    let declared = match of_script {
        Value::Object(fields) => Ok(overlaid(below, &with_own_names(fields))),
        Value::Null => Ok(below),
        // Not an object: said by what reads it.
        _ => Err(of_script),
    };
    let lost = declared.as_ref().ok().and_then(|declared| lost_scenarios(declared, &config.options));
    let options_json = declared.map_or_else(|other| other, |declared| Value::Object(overlaid(declared, &config.options)));
    let options_json = match config.url.as_ref().and_then(|url| url.rate) {
        Some(rate) => arrivals_at(rate, &options_json),
        None => options_json,
    };
    let mut options = Options::from_json(&options_json).map_err(EngineError::Options)?;
    options.warnings.extend(tls::lacking(&options.network.tls_cipher_suites));
    options.warnings.extend(lost);
    if let Some(url) = &config.url {
        url.request(&options).map_err(|mistake| EngineError::Options(vec![mistake]))?;
    }
    let machine = Machine::here();
    let too_much = bounds::mistakes(&options, &options_json, config.level, config.url.is_none(), &machine);
    let mistakes =
        [missing_exports(&options, &info), wrong_thresholds(&options, &recorder.borrow()), too_many_threads(config.threads), too_much].concat();
    if !mistakes.is_empty() {
        return Err(EngineError::Options(mistakes));
    }
    let of_run = machine.free_bytes.map_or(usize::MAX, |bytes| (bytes / 2) as usize);
    let bodies = BodyLimits { one_bytes: config.max_body_bytes, vu_bytes: config.vu_memory_bytes, run: RunLimit::new(of_run) };
    let rules = Rules::new(&options, bodies, bundle.secrets.clone()).map_err(EngineError::Options)?;
    let defaults = RequestDefaults {
        max_redirects: options.max_redirects,
        user_agent: options.user_agent.as_str().into(),
        discard_response_bodies: options.discard_response_bodies,
        throw: options.throw,
        batch: options.batch,
        batch_per_host: options.batch_per_host,
        no_cookies_reset: options.no_cookies_reset,
        system_tags: options.system_tags,
    };
    let bundle = Arc::new(bundle.with_options(defaults, seen_by_script(&options_json, &options).to_string()));
    let script_metrics = metrics_of_script(&recorder.borrow()).map_err(ScriptError::new)?;
    let kinds = recorder.borrow().metrics().iter().map(|metric| (metric.name.clone(), (metric.kind, metric.is_time))).collect();
    Ok(Loaded { bundle, info, options, options_json, rules, script_metrics, kinds })
}

/// The metrics that the init context has made beside those of every run, as the first second of a run tells them.
fn metrics_of_script(recorder: &Recorder) -> Result<Vec<Value>, String> {
    let mut of_every_run = Recorder::new();
    Builtin::register(&mut of_every_run)?;
    let own = recorder.metrics().iter().filter(|metric| of_every_run.kind_of(&metric.name).is_none());
    Ok(own.map(|metric| json!({"name": metric.name, "kind": metric.kind.name(), "is_time": metric.is_time})).collect())
}

/// The options of a run of one URL with its shortcut for a load in place of arrivals at `rate` per second.
fn arrivals_at(rate: f64, options: &Value) -> Value {
    let mut options = options.clone();
    if let Some(fields) = options.as_object_mut() {
        let (vus, duration) = (fields.remove("vus"), fields.remove("duration"));
        let mut scenario = json!({"executor": "constant-arrival-rate", "rate": rate, "duration": duration.unwrap_or_else(|| json!("10s"))});
        if let Some(vus) = vus {
            scenario["preAllocatedVUs"] = vus;
        }
        fields.insert("scenarios".into(), json!({"default": scenario}));
    }
    options
}

/// The options as `exec.test.options` shows them: the load as scenarios, also where the script states it by k6's shortcuts.
fn seen_by_script(options_json: &Value, options: &Options) -> Value {
    let mut seen = options_json.as_object().cloned().unwrap_or_default();
    let is_empty = |value: Option<&Value>| value.is_none_or(Value::is_null);
    if is_empty(seen.get("scenarios")) {
        let mut shortcuts = serde_json::Map::new();
        for key in ["vus", "duration", "iterations", "stages"] {
            if let Some(value) = seen.remove(key).filter(|value| !value.is_null()) {
                shortcuts.insert(key.into(), value);
            }
        }
        let scenarios = options.scenarios.iter().map(|scenario| {
            let mut fields = serde_json::Map::from_iter([("executor".into(), json!(scenario.executor_name)), ("exec".into(), json!(scenario.exec))]);
            fields.extend(shortcuts.clone());
            (scenario.name.clone(), Value::Object(fields))
        });
        let scenarios: serde_json::Map<String, Value> = scenarios.collect();
        seen.insert("scenarios".into(), scenarios.into());
    }
    seen.into()
}

/// Of a VU outside of scenarios, whose number is 0.
pub(crate) fn state_outside(bundle: &Arc<Bundle>, term: Rc<Term>) -> Result<VuState, ScriptError> {
    let recording = Recording::new(bundle).map_err(ScriptError::new)?;
    VuState::new(bundle.clone(), recording, 0, term)
}

fn missing_exports(options: &Options, info: &InitInfo) -> Vec<String> {
    let exports = info.exports.join(", ");
    let missing = options.scenarios.iter().filter(|scenario| !info.exports.contains(&scenario.exec));
    missing
        .map(|scenario| format!("scenario '{}': the script exports no function '{}'; it exports: {exports}", scenario.name, scenario.exec))
        .collect()
}

/// Thresholds may watch what the run records anyway, and the metrics that the init context has made.
fn wrong_thresholds(options: &Options, recorder: &Recorder) -> Vec<String> {
    let kind = |name: &str| match name {
        "vus" | "vus_max" => Some(Kind::Gauge),
        _ => recorder.kind_of(name),
    };
    options.thresholds.iter().filter_map(|threshold| threshold.check(kind(&threshold.metric)).err()).collect()
}

/// When the last iteration has to have ended, and how long after a stop.
fn longest(options: &Options) -> (Duration, Duration) {
    let grace = options.scenarios.iter().map(|scenario| scenario.graceful_stop).max().unwrap_or_default();
    let end = |scenario: &Scenario| scenario.start_time.saturating_add(scenario.duration()).saturating_add(scenario.graceful_stop);
    (options.scenarios.iter().map(end).max().unwrap_or_default(), grace)
}

fn too_many_threads(threads: usize) -> Vec<String> {
    let is_too_many = threads > bounds::MOST_THREADS;
    let what = || format!("--threads {threads}: more than {} only take turns; give at most as many as there are cores", bounds::MOST_THREADS);
    is_too_many.then(what).into_iter().collect()
}

/// What a script says of itself, as JSON: `{options, exports, scenarios, declares_load, ignored, warnings}`.
pub fn inspect(config: &Config) -> Result<Value, EngineError> {
    let loaded = load(config)?;
    let scenarios: Vec<Value> = loaded
        .options
        .scenarios
        .iter()
        .map(|scenario| json!({"name": scenario.name, "executor": scenario.executor_name, "exec": scenario.exec, "open": scenario.is_open(), "end_s": scenario.end().as_secs_f64()}))
        .collect();
    Ok(json!({
        "options": loaded.options_json, "exports": loaded.info.exports, "scenarios": scenarios,
        "declares_load": loaded.options.declares_load, "ignored": loaded.options.ignored, "warnings": loaded.options.warnings,
        "drops_late_arrivals": loaded.options.watches_dropped_iterations(),
    }))
}

fn shared_iterations(scenario: &Scenario, segment: &Segment) -> u64 {
    match &scenario.executor {
        Executor::SharedIterations { vus, iterations, .. } => segment.of_work(*vus).share(*iterations),
        _ => 0,
    }
}

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

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Run {
    /// Loads the script; its mistakes and those of options are returned before any load is sent.
    pub fn load(config: Config) -> Result<Self, EngineError> {
        let loaded = load(&config)?;
        let spacing = match config.arrival_process.as_str() {
            "even" => Spacing::Even,
            "poisson" => Spacing::Poisson,
            other => return Err(EngineError::Options(vec![format!("arrival process '{other}': use even or poisson")])),
        };
        let (late_arrivals, late_name) = match config.late_arrivals.as_deref() {
            Some("wait") => (LateArrivals::Wait, "wait"),
            Some("drop") => (LateArrivals::Drop, "drop"),
            None if loaded.options.watches_dropped_iterations() => (LateArrivals::Drop, "drop"),
            None => (LateArrivals::Wait, "wait"),
            Some(other) => return Err(EngineError::Options(vec![format!("late arrivals '{other}': use wait or drop")])),
        };
        let samples = Samples::start(&config.outputs, &loaded.options, &config.cleaner).map_err(EngineError::Output)?;
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
        let is_unbounded = |scenario: &&Scenario| matches!(scenario.executor, Executor::Open { max_vus: None, .. });
        let without_most_vus = plan.loaded.options.scenarios.iter().filter(is_unbounded).map(|scenario| scenario.name.clone()).collect();
        let is_fixed = |scenario: &&Scenario| matches!(scenario.executor, Executor::SharedIterations { .. } | Executor::PerVuIterations { .. });
        let fixed_iterations = plan.loaded.options.scenarios.iter().filter(is_fixed).map(|scenario| scenario.name.clone()).collect();
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
        let Some(plan) = locked(&self.plan).take() else { return Ok(()) };
        let thread = std::thread::Builder::new().name("plimsoll-run".into()).spawn(move || plan.carry_out());
        *locked(&self.thread) = Some(thread.map_err(|error| EngineError::System(error.to_string()))?);
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
        let Some(thread) = locked(&self.thread).take() else { return Ok(None) };
        thread.join().map_err(|_| EngineError::System("the engine stopped unexpectedly".into()))?.map(Some)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.stop(true);
    }
}

/// All that carrying out a run needs.
pub(crate) struct Plan {
    pub(crate) loaded: Loaded,
    config: Config,
    spacing: Spacing,
    late_arrivals: LateArrivals,
    vu_cap: u64,
    level: watch::Receiver<Level>,
    pub(crate) stop: Arc<Stop>,
    output: Sender<String>,
    began: Arc<Mutex<Option<Instant>>>,
    pub(crate) samples: Option<Arc<Samples>>,
}

impl Plan {
    fn carry_out(mut self) -> Result<Ended, EngineError> {
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
            setup_json = self.call_once("setup", None, options.setup_timeout, &mut totals)?.map(Arc::from);
        }
        let aborted = Arc::new(Mutex::new(None));
        self.run_threads(&options, setup_json.clone(), &aborted, &mut totals)?;
        let mut failure = None;
        if has("teardown") && !options.no_teardown {
            failure = self.call_once("teardown", setup_json.clone(), options.teardown_timeout, &mut totals).err();
        }
        let setup_data = setup_json.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or(Value::Null);
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
        let answer = self.call_once("handleSummary", Some(summary.to_string().into()), limit, &mut Totals::default());
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
            let (stop, aborted, secrets) = (self.stop.clone(), aborted.clone(), self.loaded.bundle.secrets.clone());
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
            most_vus: Machine::here().most_vus(self.config.url.is_none()).map_or(u64::MAX, |(most, _)| most),
            setup_json,
            level: self.level.clone(),
            phase: self.stop.subscribe(),
            abort_test: Arc::new(move |message| abort_test(true, message)),
            vu_numbers: AtomicU64::new(0),
            iteration_numbers: numbers(),
            iterations_taken: numbers(),
            iterations_shared: options.scenarios.iter().map(|scenario| shared_iterations(scenario, &options.segment)).collect(),
            start: Gate::default(),
            signs: (0..count).map(|_| Arc::default()).collect(),
            cpus: self.config.cpus.clone(),
            samples: self.samples.clone(),
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
