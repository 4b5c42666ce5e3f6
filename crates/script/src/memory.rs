//! What the JavaScript of a VU may allocate. The allocation that goes over the limit fails; from then on the script is
//! stopped at its next step, with a reserve for what it takes to unwind it.

use std::cell::Cell;
use std::rc::Rc;

use rquickjs::allocator::{Allocator, RustAllocator};

/// What an exhausted script may still take until it has ended.
const RESERVE_BYTES: usize = 16 << 20;

#[derive(Debug)]
pub struct Allowance {
    pub limit_bytes: usize,
    used_bytes: Cell<usize>,
    exhausted: Cell<bool>,
}

impl Allowance {
    pub fn new(limit_bytes: usize) -> Rc<Self> {
        Rc::new(Self { limit_bytes, used_bytes: Cell::new(0), exhausted: Cell::new(false) })
    }

    /// Whether an allocation was refused since the last `renew`.
    pub fn is_exhausted(&self) -> bool {
        self.exhausted.get()
    }

    /// As if an allocation had been refused.
    pub fn exhaust(&self) {
        self.exhausted.set(true);
    }

    /// Begins anew with what is in use now.
    pub fn renew(&self) {
        self.exhausted.set(false);
    }

    #[inline]
    fn grants(&self, more_bytes: usize) -> bool {
        let wanted = self.used_bytes.get().saturating_add(more_bytes);
        wanted <= self.limit_bytes || self.grants_reserve(wanted)
    }

    #[cold]
    fn grants_reserve(&self, wanted_bytes: usize) -> bool {
        self.exhausted.replace(true) && wanted_bytes <= self.limit_bytes.saturating_add(RESERVE_BYTES)
    }

    #[inline]
    fn took(&self, place: *mut u8) -> *mut u8 {
        if !place.is_null() {
            // SAFETY: the place comes from RustAllocator and is alive.
            self.used_bytes.set(self.used_bytes.get() + unsafe { RustAllocator::usable_size(place) });
        }
        place
    }

    #[inline]
    fn gave(&self, bytes: usize) {
        self.used_bytes.set(self.used_bytes.get().saturating_sub(bytes));
    }
}

/// The allocator of one VU's JavaScript.
pub struct Limited(pub Rc<Allowance>);

// SAFETY: all memory comes from RustAllocator; a refused allocation is a null pointer, which the trait allows.
unsafe impl Allocator for Limited {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        match self.0.grants(size) {
            true => self.0.took(RustAllocator.alloc(size)),
            false => std::ptr::null_mut(),
        }
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        match count.checked_mul(size).is_some_and(|bytes| self.0.grants(bytes)) {
            true => self.0.took(RustAllocator.calloc(count, size)),
            false => std::ptr::null_mut(),
        }
    }

    unsafe fn dealloc(&mut self, place: *mut u8) {
        // SAFETY: by the contract of the trait the place is one of ours.
        unsafe {
            self.0.gave(RustAllocator::usable_size(place));
            RustAllocator.dealloc(place);
        }
    }

    unsafe fn realloc(&mut self, place: *mut u8, new_size: usize) -> *mut u8 {
        // SAFETY: as in `dealloc`; a place that could not be moved stays as it was.
        unsafe {
            let old_size = RustAllocator::usable_size(place);
            if new_size > old_size && !self.0.grants(new_size - old_size) {
                return std::ptr::null_mut();
            }
            let moved = RustAllocator.realloc(place, new_size);
            if !moved.is_null() {
                self.0.gave(old_size);
            }
            self.0.took(moved)
        }
    }

    unsafe fn usable_size(place: *mut u8) -> usize {
        // SAFETY: as in `dealloc`.
        unsafe { RustAllocator::usable_size(place) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_allocation_fails_and_the_reserve_serves_what_follows() {
        let allowance = Allowance::new(1000);
        let mut allocator = Limited(allowance.clone());
        let first = allocator.alloc(800);
        assert!(!first.is_null() && !allowance.is_exhausted());
        assert!(allocator.alloc(400).is_null() && allowance.is_exhausted());
        let second = allocator.alloc(400);
        assert!(!second.is_null());
        assert!(allocator.calloc(2, RESERVE_BYTES).is_null() && allocator.calloc(usize::MAX, 2).is_null());
        // SAFETY: both are allocator's own, and not used afterwards.
        unsafe {
            let second = allocator.realloc(second, 600);
            assert!(!second.is_null() && allocator.realloc(second, 2 * RESERVE_BYTES).is_null());
            allocator.dealloc(second);
            allocator.dealloc(first);
        }
        allowance.renew();
        assert_eq!(allowance.used_bytes.get(), 0);
        assert!(!allowance.is_exhausted());
    }
}
