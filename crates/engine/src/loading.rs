//! A script and its options, loaded: what is asked for, and all mistakes in it before any load is sent.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use plimsoll_core::options::layers::{lost_scenarios, overlaid, with_own_names};
use plimsoll_core::options::Options;
use plimsoll_core::record::{Kind, Recorder};
use plimsoll_script::allowance::{BodyLimits, RunLimit, DEFAULT_MAX_BODY_BYTES};
use plimsoll_script::modules::bundle::{
    Bundle, RequestDefaults, ScriptError, DEFAULT_VU_MEMORY_BYTES,
};
use plimsoll_script::secrets::{Cleaner, Secrets};
use plimsoll_script::state::{Builtin, Recording, VuState};
use plimsoll_script::term::{Orders, Term};
use plimsoll_script::vu::{InitInfo, Vu};
use serde::Deserialize;
use serde_json::{json, Value};
use thiserror::Error;

use crate::bounds::{self, Machine};
use crate::deaf;
use crate::network::rules::Rules;
use crate::network::tls;
use crate::plain::PlainUrl;
use crate::samples::OutputFile;

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
    pub info: InitInfo,
    pub options: Options,
    pub options_json: Value,
    pub rules: Arc<Rules>,
    pub script_metrics: Vec<Value>,
    /// Of every metric that the init context knows: its kind, and whether it holds times.
    pub kinds: BTreeMap<String, (Kind, bool)>,
}

fn console_file(path: &Path) -> Result<Arc<Mutex<File>>, EngineError> {
    let file = File::options().create(true).append(true).open(path);
    let file = file.map_err(|error| {
        EngineError::Options(vec![format!(
            "consoleOutput: cannot write {}: {error}",
            path.display()
        )])
    })?;
    Ok(Arc::new(Mutex::new(file)))
}

pub(crate) fn load(config: &Config) -> Result<Loaded, EngineError> {
    let (bundle, info, recorder) = match &config.url {
        Some(_) => {
            let secrets = Secrets::default().hiding(config.hidden.clone(), config.cleaner.clone());
            let mut bundle = Bundle::without_script(config.env.clone()).with_secrets(secrets);
            bundle.orders = config.orders.clone();
            let recorder = Recording::new(&bundle).map_err(ScriptError::new)?.recorder;
            (
                Arc::new(bundle),
                InitInfo { options_json: "null".into(), exports: vec!["default".into()] },
                recorder,
            )
        }
        None => {
            let secrets = Secrets::from_flags(&config.secret_sources)
                .map_err(|mistake| EngineError::Options(vec![mistake]))?;
            let secrets = secrets.hiding(config.hidden.clone(), config.cleaner.clone());
            let modules = config.modules.clone();
            let mut bundle = Bundle::new(
                &config.script,
                config.home.as_deref(),
                config.env.clone(),
                config.import_map.as_deref(),
                modules,
            )?
            .with_secrets(secrets);
            bundle.vu_memory_bytes = config.vu_memory_bytes;
            bundle.orders = config.orders.clone();
            bundle.console = config.console_output.as_deref().map(console_file).transpose()?;
            let bundle = Arc::new(bundle);
            let (vu, info) =
                state_outside(&bundle, Rc::default()).and_then(Vu::describe).map_err(|error| {
                    match bundle.missing() {
                        Some(url) => EngineError::MissingModule { url, error },
                        None => EngineError::Script(error),
                    }
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
    let lost =
        declared.as_ref().ok().and_then(|declared| lost_scenarios(declared, &config.options));
    let options_json = declared
        .map_or_else(|other| other, |declared| Value::Object(overlaid(declared, &config.options)));
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
    let too_much =
        bounds::mistakes(&options, &options_json, config.level, config.url.is_none(), &machine);
    let mistakes = [
        missing_exports(&options, &info),
        wrong_thresholds(&options, &recorder.borrow()),
        too_many_threads(config.threads),
        too_much,
    ]
    .concat();
    if !mistakes.is_empty() {
        return Err(EngineError::Options(mistakes));
    }
    let of_run = machine.free_bytes.map_or(usize::MAX, |bytes| (bytes / 2) as usize);
    let bodies = BodyLimits {
        one_bytes: config.max_body_bytes,
        vu_bytes: config.vu_memory_bytes,
        run: RunLimit::new(of_run),
    };
    let rules =
        Rules::new(&options, bodies, bundle.secrets.clone()).map_err(EngineError::Options)?;
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
    let bundle = Arc::new(
        bundle.with_options(defaults, seen_by_script(&options_json, &options).to_string()),
    );
    let script_metrics = metrics_of_script(&recorder.borrow()).map_err(ScriptError::new)?;
    let kinds = recorder
        .borrow()
        .metrics()
        .iter()
        .map(|metric| (metric.name.clone(), (metric.kind, metric.is_time)))
        .chain(["vus", "vus_max"].map(|name| (name.to_owned(), (Kind::Gauge, false))))
        .collect();
    Ok(Loaded { bundle, info, options, options_json, rules, script_metrics, kinds })
}

/// The metrics that the init context has made beside those of every run, as the first second of a run tells them.
fn metrics_of_script(recorder: &Recorder) -> Result<Vec<Value>, String> {
    let mut of_every_run = Recorder::new();
    Builtin::register(&mut of_every_run)?;
    let own =
        recorder.metrics().iter().filter(|metric| of_every_run.kind_of(&metric.name).is_none());
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
            let mut fields = serde_json::Map::from_iter([
                ("executor".into(), json!(scenario.executor_name)),
                ("exec".into(), json!(scenario.exec)),
            ]);
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
    let missing =
        options.scenarios.iter().filter(|scenario| !info.exports.contains(&scenario.exec));
    missing
        .map(|scenario| {
            format!(
                "scenario '{}': the script exports no function '{}'; it exports: {exports}",
                scenario.name, scenario.exec
            )
        })
        .collect()
}

/// Thresholds may watch what the run records anyway, and the metrics that the init context has made.
fn wrong_thresholds(options: &Options, recorder: &Recorder) -> Vec<String> {
    let kind = |name: &str| match name {
        "vus" | "vus_max" => Some(Kind::Gauge),
        _ => recorder.kind_of(name),
    };
    options
        .thresholds
        .iter()
        .filter_map(|threshold| threshold.check(kind(&threshold.metric)).err())
        .collect()
}

fn too_many_threads(threads: usize) -> Vec<String> {
    let is_too_many = threads > bounds::MOST_THREADS;
    let what = || {
        format!("--threads {threads}: more than {} only take turns; give at most as many as there are cores", bounds::MOST_THREADS)
    };
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
