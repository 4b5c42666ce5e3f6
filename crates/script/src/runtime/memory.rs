//! What the JavaScript of a VU may allocate. The allocation that goes over the limit fails; from then on the script is
//! stopped at its next step, with a reserve for what it takes to unwind it.
//!
//! VUs that share a runtime share its memory: what one has made another's collection of garbage may free. So two things are
//! limited, and neither drifts: what a VU adds in one iteration, and what all of a runtime hold together.

use std::cell::Cell;
use std::ffi::c_void;
use std::rc::Rc;

use rquickjs::allocator::Allocator;

/// What an exhausted script may still take until it has ended.
const RESERVE_BYTES: usize = 16 << 20;

/// What a runtime has allocated, and how far the VU that runs in it may go.
#[derive(Debug, Default)]
pub struct Ledger {
    used_bytes: Cell<usize>,
    /// No allocation may bring `used_bytes` above it.
    ceiling_bytes: Cell<usize>,
    /// The limit of the VU that runs.
    pub limit_bytes: Cell<usize>,
    /// `used_bytes` less what that VU has added in its iteration.
    from_bytes: Cell<isize>,
    exhausted: Cell<bool>,
}

/// What a VU that does not run keeps of its ledger.
#[derive(Clone, Copy, Debug, Default)]
pub struct Share {
    /// Added in this iteration; negative where more was freed.
    added_bytes: isize,
    exhausted: bool,
}

impl Ledger {
    /// For a runtime in which no VU runs yet.
    pub fn unlimited() -> Rc<Self> {
        let ledger = Self::default();
        ledger.enter(Share::default(), usize::MAX, 1);
        Rc::new(ledger)
    }

    /// The share of the VU that runs.
    pub fn leave(&self) -> Share {
        Share {
            added_bytes: self.used_bytes.get() as isize - self.from_bytes.get(),
            exhausted: self.exhausted.get(),
        }
    }

    /// A VU with that limit begins to run, in a runtime of so many.
    pub fn enter(&self, share: Share, limit_bytes: usize, members: usize) {
        self.limit_bytes.set(limit_bytes);
        self.from_bytes.set(self.used_bytes.get() as isize - share.added_bytes);
        let own = self.from_bytes.get().saturating_add_unsigned(limit_bytes);
        self.ceiling_bytes.set((own.max(0) as usize).min(limit_bytes.saturating_mul(members)));
        self.exhausted.set(share.exhausted);
    }

    /// The VU that runs begins an iteration, in a runtime of so many.
    pub fn begin(&self, members: usize) {
        self.enter(Share::default(), self.limit_bytes.get(), members);
    }

    /// What the runtime holds.
    pub fn used_bytes(&self) -> usize {
        self.used_bytes.get()
    }

    /// Whether an allocation was refused in this iteration.
    pub fn is_exhausted(&self) -> bool {
        self.exhausted.get()
    }

    /// As if an allocation had been refused.
    pub fn exhaust(&self) {
        self.exhausted.set(true);
    }

    /// Whether that much more would be granted.
    pub fn has_room(&self, more_bytes: usize) -> bool {
        self.used_bytes.get().saturating_add(more_bytes) <= self.ceiling_bytes.get()
    }

    /// Counts bytes outside of the allocator that a script holds on to; `None` where that is too much, as an allocation fails.
    pub fn charge(self: &Rc<Self>, bytes: usize) -> Option<Charge> {
        if !self.grants(bytes) {
            return None;
        }
        self.used_bytes.set(self.used_bytes.get() + bytes);
        Some(Charge { ledger: self.clone(), bytes })
    }

    #[inline]
    fn grants(&self, more_bytes: usize) -> bool {
        let wanted = self.used_bytes.get().saturating_add(more_bytes);
        wanted <= self.ceiling_bytes.get() || self.grants_reserve(wanted)
    }

    #[cold]
    fn grants_reserve(&self, wanted_bytes: usize) -> bool {
        self.exhausted.replace(true)
            && wanted_bytes <= self.ceiling_bytes.get().saturating_add(RESERVE_BYTES)
    }

    #[inline]
    fn took(&self, place: *mut c_void) -> *mut u8 {
        let place = place.cast();
        self.used_bytes.set(self.used_bytes.get() + size_of_place(place));
        place
    }

    #[inline]
    fn gave(&self, bytes: usize) {
        self.used_bytes.set(self.used_bytes.get().saturating_sub(bytes));
    }
}

/// Bytes outside of the allocator that count until this is dropped.
#[derive(Debug)]
pub struct Charge {
    ledger: Rc<Ledger>,
    bytes: usize,
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.ledger.gave(self.bytes);
    }
}

/// The allocator of a runtime.
pub struct Limited(pub Rc<Ledger>);
// SAFETY: all memory comes from the system's allocator; a refused allocation is a null pointer, which the trait allows.
unsafe impl Allocator for Limited {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        match self.0.grants(size) {
            // SAFETY: any size may be asked for.
            true => self.0.took(unsafe { libc::malloc(size) }),
            false => std::ptr::null_mut(),
        }
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        match count.checked_mul(size).is_some_and(|bytes| self.0.grants(bytes)) {
            // SAFETY: as in `alloc`.
            true => self.0.took(unsafe { libc::calloc(count, size) }),
            false => std::ptr::null_mut(),
        }
    }

    unsafe fn dealloc(&mut self, place: *mut u8) {
        self.0.gave(size_of_place(place));
        // SAFETY: by the contract of the trait the place is one of ours.
        unsafe { libc::free(place.cast()) };
    }

    unsafe fn realloc(&mut self, place: *mut u8, new_size: usize) -> *mut u8 {
        let old_size = size_of_place(place);
        if new_size > old_size && !self.0.grants(new_size - old_size) {
            return std::ptr::null_mut();
        }
        // SAFETY: as in `dealloc`; a place that could not be moved stays as it was.
        let moved = unsafe { libc::realloc(place.cast(), new_size) };
        if !moved.is_null() {
            self.0.gave(old_size);
        }
        self.0.took(moved)
    }

    unsafe fn usable_size(place: *mut u8) -> usize {
        size_of_place(place)
    }
}

/// What the system's allocator has given there. It keeps that itself: a head of our own on each allocation would cost a
/// VU 20 KiB.
fn size_of_place(place: *mut u8) -> usize {
    #[cfg(target_os = "macos")]
    // SAFETY: the place is one of ours, or null.
    return unsafe { libc::malloc_size(place.cast()) };
    #[cfg(not(target_os = "macos"))]
    // SAFETY: the place is one of ours, or null.
    return unsafe { libc::malloc_usable_size(place.cast()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger(limit_bytes: usize, members: usize) -> (Rc<Ledger>, Limited) {
        let ledger = Rc::new(Ledger::default());
        ledger.enter(Share::default(), limit_bytes, members);
        (ledger.clone(), Limited(ledger))
    }

    #[test]
    fn one_allocation_fails_and_the_reserve_serves_what_follows() {
        let (ledger, mut allocator) = ledger(1000, 1);
        let first = allocator.alloc(800);
        assert!(!first.is_null() && !ledger.is_exhausted());
        assert!(allocator.alloc(400).is_null() && ledger.is_exhausted());
        let second = allocator.alloc(400);
        assert!(!second.is_null());
        assert!(
            allocator.calloc(2, RESERVE_BYTES).is_null()
                && allocator.calloc(usize::MAX, 2).is_null()
        );
        // SAFETY: both are allocator's own, and not used afterwards.
        unsafe {
            let second = allocator.realloc(second, 600);
            assert!(!second.is_null() && allocator.realloc(second, 2 * RESERVE_BYTES).is_null());
            allocator.dealloc(second);
            allocator.dealloc(first);
        }
        ledger.begin(1);
        assert_eq!(ledger.used_bytes.get(), 0);
        assert!(!ledger.is_exhausted());
    }

    #[test]
    fn what_is_charged_counts_until_it_is_dropped() {
        let (ledger, mut allocator) = ledger(1000, 1);
        let charge = ledger.charge(800).unwrap();
        assert!(ledger.has_room(200) && !ledger.has_room(201) && !ledger.is_exhausted());
        assert!(
            allocator.alloc(400).is_null() && ledger.is_exhausted(),
            "the allocator is limited by it"
        );
        ledger.begin(1);
        drop(charge);
        assert!(ledger.has_room(1000) && ledger.charge(1001).is_none() && ledger.is_exhausted());
    }

    #[test]
    fn a_vu_may_add_its_limit_in_an_iteration_and_all_together_no_more_than_theirs() {
        let (ledger, mut allocator) = ledger(1000, 2);
        let mut places = vec![allocator.alloc(700)];
        let first = ledger.leave();
        ledger.enter(Share::default(), 1000, 2);
        places.push(allocator.alloc(700));
        let second = ledger.leave();
        ledger.enter(first, 1000, 2);
        assert!(
            allocator.alloc(400).is_null() && ledger.leave().exhausted,
            "the first adds more than its limit"
        );
        ledger.enter(second, 1000, 2);
        assert!(!ledger.is_exhausted(), "that the first is exhausted is nothing of the second's");
        ledger.begin(2);
        places.push(allocator.alloc(400));
        assert!(!places[2].is_null(), "what an earlier iteration added does not count");
        assert!(allocator.alloc(400).is_null(), "the two hold more than twice the limit");
        for place in places {
            // SAFETY: the allocator's own, and not used afterwards.
            unsafe { allocator.dealloc(place) };
        }
    }
}
