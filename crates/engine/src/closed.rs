//! Closed model: VUs that rest and iterate in turns; their number follows the profile times the level.

use std::rc::Rc;
use std::time::Duration;

use futures_util::future::{select, Either};
use plimsoll_core::options::Executor;
use plimsoll_core::think::Thinking;
use tokio::sync::watch;

use crate::drive::{Context, End};
use crate::worker::{Slot, Worker};

const TICK: Duration = Duration::from_millis(50);

pub async fn run(worker: Rc<Worker>, at: usize, slots: Vec<Slot>) {
    let context = Context::new(worker.clone(), at);
    let Executor::Closed { vus, graceful_ramp_down, think_time } = &context.scenario().executor else { return };
    let (target, wanted) = watch::channel(0u64);
    let mut slots = slots.into_iter();
    let mut running: Vec<tokio::task::JoinHandle<()>> = Vec::new();
    let start_s = worker.elapsed_s();
    let level = worker.shared.level.clone();
    let stopping = context.stopping();
    tokio::pin!(stopping);
    loop {
        let elapsed_s = worker.elapsed_s() - start_s;
        if elapsed_s >= vus.duration_s() {
            break;
        }
        let total = (vus.value_at(elapsed_s) * *level.borrow()).round() as u64;
        let mine = worker.share_of(total.min(worker.shared.vu_cap));
        while (running.len() as u64) < mine {
            let slot = match slots.next().map_or_else(|| worker.new_slot(), Ok) {
                Ok(slot) => slot,
                Err(error) => {
                    worker.show_error(&error);
                    break;
                }
            };
            let number = running.len() as u64;
            let stream = ((at as u64) << 48) + number * worker.shared.threads as u64 + worker.index as u64;
            let vu = Vu { slot, number, thinking: Thinking::new(*think_time, worker.shared.seed, stream) };
            running.push(tokio::task::spawn_local(serve(context.clone(), vu, wanted.clone(), *graceful_ramp_down)));
        }
        if *target.borrow() != mine {
            target.send_replace(mine);
        }
        let left = Duration::from_secs_f64((vus.duration_s() - elapsed_s).max(0.0)).min(TICK);
        tokio::select! {
            () = tokio::time::sleep(left) => {}
            () = &mut stopping => break,
        }
    }
    finish(&context, target, running).await;
}

async fn finish(context: &Context, target: watch::Sender<u64>, running: Vec<tokio::task::JoinHandle<()>>) {
    // No VU is wanted any more, and never will be: idle ones end, the ones in an iteration have `gracefulStop`.
    target.send_replace(0);
    drop(target);
    let all = futures_util::future::join_all(running);
    tokio::pin!(all);
    tokio::select! {
        _ = &mut all => return,
        () = tokio::time::sleep(context.scenario().graceful_stop) => {}
        () = context.cut() => {}
    }
    context.cut_all();
    all.await;
}

/// A VU and its number on this thread, from 0.
struct Vu {
    slot: Slot,
    number: u64,
    thinking: Thinking,
}

/// Lets a VU rest and iterate in turns while it is among the wanted ones.
async fn serve(context: Rc<Context>, mut vu: Vu, mut wanted: watch::Receiver<u64>, grace: Duration) {
    let number = vu.number;
    let mut joined = false;
    while wanted.wait_for(|target| number < *target).await.is_ok() {
        let rest = if joined { vu.thinking.between() } else { vu.thinking.first() };
        joined = context.think(rest, unwanted(wanted.clone(), number)).await;
        if !joined {
            continue;
        }
        let retired = retired(wanted.clone(), number, grace);
        let cut = async {
            let (cut, retired) = (context.cut(), retired);
            tokio::pin!(cut, retired);
            match select(cut, retired).await {
                Either::Left(_) | Either::Right(_) => {}
            }
        };
        if context.iterate(&mut vu.slot, None, cut).await == End::Interrupted {
            joined = false;
            tokio::task::yield_now().await;
        }
        // A script that waits for nothing must not starve the thread's other VUs.
        tokio::task::consume_budget().await;
    }
}

/// Ends when the VU is not wanted any more, or never will be.
async fn unwanted(mut wanted: watch::Receiver<u64>, number: u64) {
    let _ = wanted.wait_for(|target| number >= *target).await;
}

/// Ends when the VU has been unwanted for the whole grace.
async fn retired(mut wanted: watch::Receiver<u64>, number: u64, grace: Duration) {
    loop {
        if wanted.wait_for(|target| number >= *target).await.is_err() {
            // The scenario ended: `gracefulStop` counts now, which the executor watches.
            return std::future::pending().await;
        }
        tokio::select! {
            () = tokio::time::sleep(grace) => return,
            again = wanted.wait_for(|target| number < *target) => {
                if again.is_err() {
                    return std::future::pending().await;
                }
            }
        }
    }
}
