//! Functions outside of iterations: setup(), teardown() and handleSummary(), each on a VU of its own and within its time
//! limit. What the run is told ends them too: an abort ends setup(), and an end at once, soon afterwards, the others.

use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use plimsoll_core::record::Delta;
use plimsoll_script::modules::bundle::Bundle;
use plimsoll_script::state::Iteration;
use plimsoll_script::term::Term;
use plimsoll_script::vu::{Job, Outcome, Vu};

use crate::collector::{add_deltas, Totals};
use crate::deaf::{self, Come, Work};
use crate::drive;
use crate::loading::{state_outside, EngineError};
use crate::network::client::Client;
use crate::network::dial::Network;
use crate::network::rules::Rules;
use crate::plan::Plan;
use crate::samples::Samples;
use crate::stop::{self, Phase, Stop};

impl Plan {
    /// Calls setup, teardown or handleSummary on a VU of its own, in a thread that is left behind if it is deaf.
    pub(crate) fn call_once(
        &self,
        function: &'static str,
        argument_json: Option<Arc<str>>,
        limit: Duration,
        totals: &mut Totals,
    ) -> Result<Option<String>, EngineError> {
        let mut tags = self.loaded.options.tags.clone();
        tags.sort();
        let call = Call {
            function,
            limit,
            due: Arc::default(),
            tags,
            bundle: self.loaded.bundle.clone(),
            rules: self.loaded.rules.clone(),
            stop: self.stop.clone(),
            samples: self.samples.clone(),
        };
        let of_thread = call.clone();
        let begun = Work::begin(&format!("plimsoll-{function}"), move || {
            of_thread.carry_out(argument_json)
        });
        let mut work = begun.map_err(|error| {
            EngineError::System(format!("cannot start a thread for {function}(): {error}"))
        })?;
        loop {
            let is_late = call.due.get().is_some_and(|due| Instant::now() >= *due);
            match work.wait(deaf::LOOK, is_late || call.is_told_to_end()) {
                Come::GoesOn => {}
                Come::Done((result, deltas)) => {
                    add_deltas(totals, &deltas);
                    return result;
                }
                Come::Panicked => {
                    return Err(EngineError::System(format!(
                        "{function}() ended the engine's thread unexpectedly"
                    )))
                }
                Come::Deaf if call.is_told_to_end() => return Ok(cut_off(function)),
                Come::Deaf if is_late => return Err(EngineError::TimedOut { function, limit }),
                Come::Deaf => return Err(EngineError::Deaf { place: format!("{function}()") }),
            }
        }
    }
}

/// A call of such a function. `due`: when it has to have ended, from its beginning on.
#[derive(Clone)]
struct Call {
    function: &'static str,
    limit: Duration,
    due: Arc<OnceLock<Instant>>,
    tags: Vec<(String, String)>,
    bundle: Arc<Bundle>,
    rules: Arc<Rules>,
    stop: Arc<Stop>,
    samples: Option<Arc<Samples>>,
}

impl Call {
    fn is_setup(&self) -> bool {
        self.function == "setup"
    }

    fn is_told_to_end(&self) -> bool {
        let orders = self.stop.orders();
        if self.is_setup() {
            orders.is_aborted()
        } else {
            orders.last_moment().is_some_and(|last| Instant::now() >= last)
        }
    }

    /// What it returns, and its measurements.
    fn carry_out(
        self,
        argument_json: Option<Arc<str>>,
    ) -> (Result<Option<String>, EngineError>, Vec<Delta>) {
        let (is_setup, orders) = (self.is_setup(), self.stop.orders());
        let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => return (Err(EngineError::System(error.to_string())), Vec::new()),
        };
        let term = Rc::new(if is_setup { Term::UntilAbort } else { Term::PastAbort(None) });
        let mut vu = match state_outside(&self.bundle, term).and_then(Vu::load) {
            Ok(vu) => vu,
            Err(_) if self.is_told_to_end() => return (Ok(cut_off(self.function)), Vec::new()),
            Err(error) => return (Err(error.into()), Vec::new()),
        };
        let due = *self.due.get_or_init(|| Instant::now() + self.limit);
        vu.state.set_term(Rc::new(if is_setup {
            Term::Until(due)
        } else {
            Term::PastAbort(Some(due))
        }));
        let recorder = vu.state.recorder.clone();
        if let Some(samples) = &self.samples {
            recorder.borrow_mut().attach(samples.tap(Rc::default()));
        }
        vu.state.group.borrow_mut().push_str(&format!("::{}", self.function));
        let network = Network::new(self.rules.clone());
        let client = Client::new(network.clone(), 1);
        let iteration = Iteration { tags: self.tags.clone().into(), ..Iteration::default() };
        let job =
            Job { function: self.function.into(), iteration, argument_json, wants_result: true };
        let outcome = tokio::task::LocalSet::new().block_on(&runtime, async {
            // A graceful stop lets them end, an abort lets teardown() and handleSummary() begin and end.
            let told_to_end = async {
                stop::reached(
                    self.stop.subscribe(),
                    if is_setup { Phase::Aborting } else { Phase::Ending },
                )
                .await;
                if let Some(moment) = orders.last_moment().filter(|_| !is_setup) {
                    tokio::time::sleep_until(moment.into()).await;
                }
            };
            tokio::select! {
                outcome = drive::call(&mut vu, &client, job) => outcome,
                () = network.deadlines.watch() => Outcome::Aborted,
                () = tokio::time::sleep_until(due.into()) => Outcome::Aborted,
                () = told_to_end => Outcome::Aborted,
            }
        });
        let deltas = recorder.borrow_mut().take();
        let result = match outcome {
            Outcome::Returned(result) => Ok(result),
            Outcome::Threw(error) => Err(EngineError::Threw { function: self.function, error }),
            Outcome::Aborted => match vu.state.test_aborted.borrow_mut().take() {
                Some(message) => Err(EngineError::Aborted { function: self.function, message }),
                None if self.is_told_to_end() => Ok(cut_off(self.function)),
                None => Err(EngineError::TimedOut { function: self.function, limit: self.limit }),
            },
        };
        (result, deltas)
    }
}

/// Says that a function did not come to its end, and so has no result. Nothing follows a setup() that was cut off.
fn cut_off(function: &str) -> Option<String> {
    if function != "setup" {
        plimsoll_script::tell!(
            "WARN {function}() was interrupted before its end: the run was told to end at once"
        );
    }
    None
}
