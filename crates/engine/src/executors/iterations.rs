//! A fixed number of iterations: shared by the VUs, or the same for each.

use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use futures_util::future::join_all;
use plimsoll_core::options::Executor;

use crate::drive::{Arrival, Context, End};
use crate::executors::backoff::Backoff;
use crate::worker::{Slot, Worker};

pub async fn run(worker: Rc<Worker>, at: usize, slots: Vec<Slot>) {
    let context = Context::new(worker, at);
    let max_duration = match &context.scenario().executor {
        Executor::SharedIterations { max_duration, .. }
        | Executor::PerVuIterations { max_duration, .. } => *max_duration,
        _ => return,
    };
    context.term.begin(max_duration);
    slots.iter().for_each(|slot| context.adopt(slot));
    let tasks =
        slots.into_iter().map(|slot| tokio::task::spawn_local(serve(context.clone(), slot)));
    let all = join_all(tasks);
    tokio::pin!(all);
    tokio::select! {
        _ = &mut all => return,
        () = context.over() => {}
    }
    context.cut_all();
    all.await;
}

async fn serve(context: Rc<Context>, mut slot: Slot) {
    let mut backoff = Backoff::default();
    while context.may_begin() && is_left(&context, &slot) {
        let (began, arrival) = (Instant::now(), Arrival::unplanned(&context.worker));
        if context.iterate(&mut slot, arrival).await == End::Interrupted {
            return;
        }
        // Their number is given, so that they need no pause.
        if backoff.after(&slot.attempts, began.elapsed()).is_some() {
            context.count(context.worker.builtin.unanswered_iterations, arrival.epoch);
        }
        context.give_turn(&slot).await;
    }
}

/// Whether an iteration is left; taking the shared ones' number here keeps their count exact.
fn is_left(context: &Context, slot: &Slot) -> bool {
    let shared = &context.worker.shared;
    match &context.scenario().executor {
        Executor::SharedIterations { .. } => {
            shared.iterations_taken[context.at].fetch_add(1, Ordering::Relaxed)
                < shared.iterations_shared[context.at]
        }
        Executor::PerVuIterations { iterations, .. } => slot.iterations < *iterations,
        _ => false,
    }
}
