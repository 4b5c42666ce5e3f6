//! The threads of a run: they are started together or not at all, and their first error is the run's. One that is deaf is
//! left behind.

use std::sync::mpsc::Sender;
use std::sync::Arc;
use std::thread::JoinHandle;

use plimsoll_script::modules::bundle::ScriptError;

use crate::collector::Part;
use crate::loading::EngineError;
use crate::worker::{self, Shared};

pub type Threads = Vec<JoinHandle<Result<(), ScriptError>>>;

/// Starts the threads, which wait at the gate; if one cannot be made, those before it are sent away.
pub fn start(shared: &Arc<Shared>, parts: &Sender<Part>) -> Result<Threads, EngineError> {
    let mut handles = Vec::new();
    for index in 0..shared.threads {
        let (of_thread, parts) = (shared.clone(), parts.clone());
        let body = move || {
            let _held = of_thread.start.unless_panicked();
            let result = worker::run(of_thread.clone(), index, &parts);
            let _ = parts.send(Part::Ended(index));
            result
        };
        match std::thread::Builder::new().name(format!("plimsoll-{index}")).spawn(body) {
            Ok(handle) => handles.push(handle),
            Err(error) => {
                shared.start.refuse();
                join(handles, |_| false)?;
                return Err(EngineError::System(format!(
                    "cannot start thread {} of {}: {error}",
                    index + 1,
                    shared.threads
                )));
            }
        }
    }
    Ok(handles)
}

/// Waits for the threads that are not left behind, by their index; the first error of one of them.
pub fn join(handles: Threads, is_left: impl Fn(usize) -> bool) -> Result<(), EngineError> {
    let waited = handles.into_iter().enumerate().filter(|(index, _)| !is_left(*index));
    let ended: Vec<_> = waited.map(|(_, handle)| handle.join()).collect();
    for result in ended {
        result.map_err(|_| {
            EngineError::System("a thread of the engine stopped unexpectedly".into())
        })??;
    }
    Ok(())
}
