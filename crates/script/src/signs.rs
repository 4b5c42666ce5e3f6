//! Signs of life of the script that a thread runs. QuickJS asks as a script goes on whether it may (`VuState::must_stop`),
//! but not within a function of its own that works through an array or a text, which nothing can interrupt.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// What a thread tells: 0 while it runs no script, else another number with each sign.
#[derive(Debug, Default)]
pub struct Signs(AtomicU64);

impl Signs {
    pub fn latest(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

thread_local! {
    static OWN: RefCell<Option<Arc<Signs>>> = const { RefCell::new(None) };
    static GIVEN: Cell<u64> = const { Cell::new(0) };
}

/// From now on this thread tells its signs there.
pub fn tell_to(signs: Arc<Signs>) {
    OWN.set(Some(signs));
}

/// The script of this thread goes on.
pub(crate) fn give() {
    let number = GIVEN.get().wrapping_add(1).max(1);
    GIVEN.set(number);
    tell(number);
}

/// This thread runs no script.
pub(crate) fn end() {
    tell(0);
}

fn tell(number: u64) {
    OWN.with_borrow(|own| {
        if let Some(signs) = own {
            signs.0.store(number, Ordering::Relaxed);
        }
    });
}
