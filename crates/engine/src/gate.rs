//! Where the threads of a run wait until all of them are ready, so that the load begins on all at once, or on none.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

#[derive(Default)]
pub struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    ready: usize,
    refused: bool,
    is_open: bool,
}

impl Gate {
    /// A thread is ready, or it failed; whether the load begins is told when it is known.
    pub fn pass(&self, is_ready: bool) -> bool {
        let mut state = self.lock();
        state.ready += usize::from(is_ready);
        state.refused |= !is_ready;
        self.changed.notify_all();
        let state = self.wait_while(state, |state| !state.is_open && !state.refused);
        !state.refused
    }

    /// Opens when that many threads are ready; false, with all of them sent away, if one of them failed.
    pub fn open_for(&self, threads: usize) -> bool {
        let state = self.lock();
        let mut state = self.wait_while(state, |state| state.ready < threads && !state.refused);
        state.is_open = !state.refused;
        self.changed.notify_all();
        state.is_open
    }

    /// Sends away the threads that wait and those that will come: there are not enough of them.
    pub fn refuse(&self) {
        self.lock().refused = true;
        self.changed.notify_all();
    }

    /// Refuses if the thread that holds it ends by a panic, so that nobody waits for it.
    pub fn unless_panicked(&self) -> OnPanic<'_> {
        OnPanic(self)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_while<'a>(
        &self,
        state: MutexGuard<'a, State>,
        condition: impl Fn(&State) -> bool,
    ) -> MutexGuard<'a, State> {
        self.changed
            .wait_while(state, |state| condition(state))
            .unwrap_or_else(PoisonError::into_inner)
    }
}

pub struct OnPanic<'a>(&'a Gate);

impl Drop for OnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.refuse();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn outcomes(ready: &[bool], expected: usize, refuse: bool) -> (Option<bool>, Vec<bool>) {
        let gate = Arc::new(Gate::default());
        let threads: Vec<_> = ready
            .iter()
            .map(|is_ready| {
                let (gate, is_ready) = (gate.clone(), *is_ready);
                std::thread::spawn(move || gate.pass(is_ready))
            })
            .collect();
        let opened = if refuse {
            gate.refuse();
            None
        } else {
            Some(gate.open_for(expected))
        };
        (opened, threads.into_iter().map(|thread| thread.join().unwrap()).collect())
    }

    #[test]
    fn all_threads_begin_or_none() {
        assert_eq!(outcomes(&[true; 3], 3, false), (Some(true), vec![true; 3]));
        assert_eq!(outcomes(&[true, false, true], 3, false), (Some(false), vec![false; 3]));
        assert_eq!(
            outcomes(&[true, true], 3, true),
            (None, vec![false; 2]),
            "a third thread could not be made"
        );
    }

    #[test]
    fn nobody_waits_for_a_thread_that_panicked() {
        let gate = Arc::new(Gate::default());
        let panicked = gate.clone();
        let thread = std::thread::spawn(move || {
            let _held = panicked.unless_panicked();
            panic!("as it happens");
        });
        assert!(!gate.open_for(2) && thread.join().is_err());
    }
}
