//! Functions outside of iterations: setup(), teardown() and handleSummary(), each on a VU of its own and within its time
//! limit. What the run is told ends them too: an abort ends setup(), and an end at once, soon afterwards, the others.

use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use plimsoll_script::state::Iteration;
use plimsoll_script::term::Term;
use plimsoll_script::vu::{Job, Outcome, Vu};

use crate::client::Client;
use crate::collector::{add_deltas, Totals};
use crate::dial::Network;
use crate::drive;
use crate::run::{state_outside, EngineError, Plan};
use crate::stop::{self, Phase};

impl Plan {
    /// Calls setup, teardown or handleSummary on a VU of its own.
    pub(crate) fn call_once(
        &self,
        function: &'static str,
        argument_json: Option<Arc<str>>,
        limit: Duration,
        totals: &mut Totals,
    ) -> Result<Option<String>, EngineError> {
        let is_setup = function == "setup";
        let orders = self.stop.orders();
        let is_told_to_end = || if is_setup { orders.is_aborted() } else { orders.last_moment().is_some_and(|last| Instant::now() >= last) };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| EngineError::System(error.to_string()))?;
        let term = Rc::new(if is_setup { Term::UntilAbort } else { Term::PastAbort(None) });
        let mut vu = match state_outside(&self.loaded.bundle, term).and_then(Vu::load) {
            Ok(vu) => vu,
            Err(_) if is_told_to_end() => return Ok(cut_off(function)),
            Err(error) => return Err(error.into()),
        };
        let due = Instant::now() + limit;
        vu.state.set_term(Rc::new(if is_setup { Term::Until(due) } else { Term::PastAbort(Some(due)) }));
        let recorder = vu.state.recorder.clone();
        if let Some(samples) = &self.samples {
            recorder.borrow_mut().attach(samples.tap(Rc::default()));
        }
        vu.state.group.borrow_mut().push_str(&format!("::{function}"));
        let network = Network::new(self.loaded.rules.clone());
        let client = Client::new(network.clone(), 1);
        let mut tags = self.loaded.options.tags.clone();
        tags.sort();
        let job =
            Job { function: function.into(), iteration: Iteration { tags: tags.into(), ..Iteration::default() }, argument_json, wants_result: true };
        let outcome = tokio::task::LocalSet::new().block_on(&runtime, async {
            // A graceful stop lets them end, an abort lets teardown() and handleSummary() begin and end.
            let told_to_end = async {
                stop::reached(self.stop.subscribe(), if is_setup { Phase::Aborting } else { Phase::Ending }).await;
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
        add_deltas(totals, &recorder.borrow_mut().take());
        match outcome {
            Outcome::Returned(result) => Ok(result),
            Outcome::Threw(error) => Err(EngineError::Threw { function, error }),
            Outcome::Aborted => match vu.state.test_aborted.borrow_mut().take() {
                Some(message) => Err(EngineError::Aborted { function, message }),
                None if is_told_to_end() => Ok(cut_off(function)),
                None => Err(EngineError::TimedOut { function, limit }),
            },
        }
    }
}

/// Says that a function did not come to its end, and so has no result. Nothing follows a setup() that was cut off.
fn cut_off(function: &str) -> Option<String> {
    if function != "setup" {
        plimsoll_script::tell!("WARN {function}() was interrupted before its end: the run was told to end at once");
    }
    None
}
