//! PyO3 only: converts, releases the GIL, refuses after a fork, maps errors.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_engine::deaf::{Come, Work};
use plimsoll_engine::{Cleaner, Config, EngineError, Orders, Run, Sharing};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde_json::json;

/// glibc grows a thread's heap page by page with a system call each, which made a new VU cost milliseconds.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How often a caller that waits for a script to be loaded serves signals.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// How often a caller that waits for a run's end does so; mostly it has just ended.
const LOOK_AT_END_AGAIN: Duration = Duration::from_millis(2);
/// Left to a script that is loaded when a signal comes; what does not end by then is left behind.
const LAST: Duration = Duration::from_millis(500);

/// A mistake in a script or its options as ValueError of its message, how it ended the run, and the address of the remote
/// module that is missing, if that is the mistake.
fn error(error: EngineError) -> PyErr {
    match &error {
        EngineError::System(_) => PyRuntimeError::new_err(error.to_string()),
        EngineError::MissingModule { url, .. } => {
            PyValueError::new_err((error.to_string(), error.kind(), url.clone()))
        }
        _ => PyValueError::new_err((error.to_string(), error.kind())),
    }
}

fn parse(config_json: &str) -> PyResult<Config> {
    serde_json::from_str(config_json)
        .map_err(|error| PyValueError::new_err(format!("engine configuration: {error}")))
}

/// A text that cannot be asked about, as the interpreter ends, is not shown.
fn cleaner(clean: Py<PyAny>) -> Cleaner {
    Cleaner::new(move |name, text| {
        let asked = Python::try_attach(|py| {
            clean.call1(py, (name, text)).and_then(|found| found.extract::<String>(py)).ok()
        });
        asked.flatten().unwrap_or_else(|| "***".to_owned())
    })
}

/// What a script says of itself, as JSON.
#[pyfunction]
fn inspect(py: Python<'_>, config_json: &str) -> PyResult<String> {
    let config = parse(config_json)?;
    let orders = config.orders.clone();
    serving_signals(py, &orders, move || plimsoll_engine::inspect(&config))
        .map(|value| value.to_string())
}

/// The work's result. It is done in a thread of its own: a script that is loaded may compute for long, and signals are
/// served meanwhile. One that interrupts is raised, and the work is told to end. A script that is deaf is left behind.
fn serving_signals<T: Send + 'static>(
    py: Python<'_>,
    orders: &Arc<Orders>,
    work: impl FnOnce() -> Result<T, EngineError> + Send + 'static,
) -> PyResult<T> {
    let mut work = Work::begin("plimsoll-load", work).map_err(|error| {
        PyRuntimeError::new_err(format!("cannot start a thread to load the script: {error}"))
    })?;
    loop {
        let come;
        (work, come) = py.detach(move || {
            let come = work.wait(LOOK_AGAIN, false);
            (work, come)
        });
        match come {
            Come::Done(result) => return result.map_err(error),
            Come::Panicked => {
                return Err(PyRuntimeError::new_err(
                    "the engine stopped unexpectedly while it loaded the script",
                ))
            }
            Come::Deaf => {
                return Err(error(EngineError::Deaf {
                    place: "the code outside of functions".into(),
                }))
            }
            Come::GoesOn => {}
        }
        if let Err(interruption) = py.check_signals() {
            orders.end(Duration::ZERO);
            py.detach(move || drop(work.wait(LAST, true)));
            return Err(interruption);
        }
    }
}

/// Whether VUs share JavaScript runtimes: `shared`, `unrecognised` or `asked_for`.
#[pyfunction]
fn vu_runtimes(py: Python<'_>) -> &'static str {
    match py.detach(plimsoll_engine::sharing) {
        Sharing::Shared => "shared",
        Sharing::Unrecognised => "unrecognised",
        Sharing::AskedFor => "asked_for",
    }
}

/// A load that is ready or runs. Threads do not survive a fork, so neither does this object.
#[pyclass(frozen)]
struct EngineRun {
    run: Run,
    process: u32,
}

impl EngineRun {
    fn run(&self) -> PyResult<&Run> {
        if std::process::id() == self.process {
            Ok(&self.run)
        } else {
            Err(PyRuntimeError::new_err(
                "the engine was started in another process; start it after the fork",
            ))
        }
    }
}

#[pymethods]
impl EngineRun {
    /// `clean(name of a tag or "", text)` is asked by the engine's threads: none of them is waited for with the GIL held.
    #[new]
    #[pyo3(signature = (config_json, clean=None))]
    fn new(py: Python<'_>, config_json: &str, clean: Option<Py<PyAny>>) -> PyResult<Self> {
        let mut config = parse(config_json)?;
        config.cleaner = clean.map(cleaner).unwrap_or_default();
        let orders = config.orders.clone();
        let run = serving_signals(py, &orders, move || Run::load(config))?;
        Ok(Self { run, process: std::process::id() })
    }

    /// Runs setup and begins the load.
    fn begin(&self, py: Python<'_>) -> PyResult<()> {
        let run = self.run()?;
        py.detach(|| run.begin()).map_err(error)
    }

    /// The next snapshot as JSON; an empty text after `timeout_s` without one; None when the run has ended.
    fn next_snapshot(&self, py: Python<'_>, timeout_s: f64) -> PyResult<Option<String>> {
        let timeout = Duration::try_from_secs_f64(timeout_s)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        let run = self.run()?;
        Ok(py.detach(|| run.next_snapshot(timeout)).map(Option::unwrap_or_default).ok())
    }

    fn set_level(&self, level: f64) -> PyResult<()> {
        self.run()?.set_level(level).map_err(PyValueError::new_err)
    }

    fn stop(&self, at_once: bool) -> PyResult<()> {
        self.run()?.stop(at_once);
        Ok(())
    }

    fn cut(&self) -> PyResult<()> {
        self.run()?.cut();
        Ok(())
    }

    /// Seconds since the load began; None while the script loads and sets up.
    fn elapsed_s(&self) -> PyResult<Option<f64>> {
        Ok(self.run()?.elapsed_s())
    }

    /// The addresses to which connections were made so far, as (ip, port).
    fn connections(&self) -> PyResult<Vec<(String, u16)>> {
        Ok(self
            .run()?
            .connections()
            .iter()
            .map(|remote| (remote.ip().to_string(), remote.port()))
            .collect())
    }

    /// The proxies through which connections were made so far, as "proxy.example:3128 of HTTP_PROXY".
    fn proxies(&self) -> PyResult<Vec<String>> {
        Ok(self.run()?.proxies())
    }

    /// Waits for the end, and serves signals meanwhile: JSON of {summary, handled, aborted, failure, marked_failed, samples}; None at a second call.
    fn join(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let run = self.run()?;
        while !run.has_ended() {
            py.detach(|| std::thread::sleep(LOOK_AT_END_AGAIN));
            py.check_signals()?;
        }
        let ended = py.detach(|| run.join()).map_err(error)?;
        Ok(ended.map(|ended| {
            let aborted = ended
                .aborted
                .map(|abort| json!({"by_script": abort.by_script, "message": abort.message}));
            let failure = ended
                .failure
                .map(|error| json!({"kind": error.kind(), "message": error.to_string()}));
            let (summary, handled, samples, marked_failed) =
                (ended.summary, ended.handled, ended.samples, ended.marked_failed);
            json!({
                "summary": summary,
                "handled": handled,
                "aborted": aborted,
                "failure": failure,
                "marked_failed": marked_failed,
                "samples": samples,
            })
            .to_string()
        }))
    }

    /// The cap of VUs for scenarios that state none, and where it comes from.
    fn vu_cap(&self) -> (u64, String) {
        (self.run.vu_cap.vus, self.run.vu_cap.reason.clone())
    }

    /// The scenarios that the cap bounds.
    fn without_most_vus(&self) -> Vec<String> {
        self.run.without_most_vus.clone()
    }

    /// The scenarios with a fixed number of iterations, which follow no level.
    fn fixed_iterations(&self) -> Vec<String> {
        self.run.fixed_iterations.clone()
    }

    /// Whether the options ask that the load waits for a word to begin.
    fn starts_paused(&self) -> bool {
        self.run.starts_paused
    }

    /// What of the options has no effect, or another than may be meant.
    fn warnings(&self) -> Vec<String> {
        self.run.warnings.clone()
    }

    /// `wait` or `drop`.
    fn late_arrivals(&self) -> &'static str {
        self.run.late_arrivals
    }
}

#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(inspect, module)?)?;
    module.add_function(wrap_pyfunction!(vu_runtimes, module)?)?;
    module.add_class::<EngineRun>()
}
