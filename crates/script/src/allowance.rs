//! What bodies of responses may take of memory while they are on their way to a script: one of them, and all of a VU
//! together. What a script then holds counts against its VU's memory (`memory.rs`).

use std::cell::Cell;
use std::rc::Rc;

use thiserror::Error;

/// More than what test scripts read as text by two orders of magnitude, and little enough that hostile answers to a few
/// VUs at once fit into a small machine (docs/k6.md, "Bodies without end"). k6 has no limit.
pub const DEFAULT_MAX_BODY_BYTES: usize = 64 << 20;

/// How large the bodies are that may be kept.
#[derive(Clone, Copy, Debug)]
pub struct BodyLimits {
    /// One body, as it came and decoded.
    pub one_bytes: usize,
    /// All bodies of a VU's requests under way.
    pub vu_bytes: usize,
}

#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum TooLarge {
    #[error("the response's body is over the limit of {}; raise --max-body, or do not keep it: responseType 'none', discardResponseBodies", mebibytes(.0))]
    One(usize),
    #[error("the bodies of this VU's responses are over {} together; raise --vu-memory, request fewer at once, or do not keep them: responseType 'none', discardResponseBodies", mebibytes(.0))]
    Together(usize),
}

fn mebibytes(bytes: &usize) -> String {
    match bytes >> 20 {
        0 => format!("{bytes} bytes"),
        mebibytes => format!("{mebibytes} MiB"),
    }
}

/// What a VU's bodies hold of their limits.
#[derive(Debug)]
pub struct Allowance {
    limits: BodyLimits,
    held_bytes: Cell<usize>,
}

impl Allowance {
    pub fn new(limits: BodyLimits) -> Rc<Self> {
        Rc::new(Self { limits, held_bytes: Cell::new(0) })
    }

    pub fn held_bytes(&self) -> usize {
        self.held_bytes.get()
    }
}

/// One body's part of an allowance; dropped, it is given back.
#[derive(Debug, Default)]
pub struct Claim {
    of: Option<Rc<Allowance>>,
    bytes: usize,
}

impl Claim {
    pub fn on(allowance: &Rc<Allowance>) -> Self {
        Self { of: Some(allowance.clone()), bytes: 0 }
    }

    /// Whether one body may have this length.
    ///
    /// # Errors
    /// The limit that it would be over.
    pub fn admits(&self, bytes: usize) -> Result<(), TooLarge> {
        match &self.of {
            Some(allowance) if bytes > allowance.limits.one_bytes => Err(TooLarge::One(allowance.limits.one_bytes)),
            _ => Ok(()),
        }
    }

    /// The body has this length now.
    ///
    /// # Errors
    /// The limit that it is over; the claim is then as it was.
    pub fn grow_to(&mut self, bytes: usize) -> Result<(), TooLarge> {
        let Some(allowance) = &self.of else { return Ok(()) };
        self.admits(bytes)?;
        let together = allowance.held_bytes.get() - self.bytes + bytes;
        if together > allowance.limits.vu_bytes {
            return Err(TooLarge::Together(allowance.limits.vu_bytes));
        }
        allowance.held_bytes.set(together);
        self.bytes = bytes;
        Ok(())
    }

    /// Makes room for that many more bytes of the body. It doubles as a vector does, but not past the limits: the bytes
    /// between the limit and twice of it would be copied for nothing.
    pub fn make_room(&self, body: &mut Vec<u8>, more_bytes: usize) {
        let wanted = body.len() + more_bytes;
        if wanted <= body.capacity() {
            return;
        }
        let limit = self.of.as_ref().map_or(usize::MAX, |allowance| allowance.limits.one_bytes.min(allowance.limits.vu_bytes));
        let doubled = body.capacity().saturating_mul(2).min(limit);
        body.reserve_exact(wanted.max(doubled) - body.len());
    }

    /// Adds a part to the body.
    ///
    /// # Errors
    /// The limit that it would be over.
    pub fn add(&mut self, body: &mut Vec<u8>, part: &[u8]) -> Result<(), TooLarge> {
        self.grow_to(body.len() + part.len())?;
        self.make_room(body, part.len());
        body.extend_from_slice(part);
        Ok(())
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if let Some(allowance) = &self.of {
            allowance.held_bytes.set(allowance.held_bytes.get() - self.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_body_and_all_together_have_limits_and_what_is_gone_is_given_back() {
        let allowance = Allowance::new(BodyLimits { one_bytes: 100, vu_bytes: 150 });
        let (mut first, mut second) = (Claim::on(&allowance), Claim::on(&allowance));
        assert_eq!((first.grow_to(60), first.grow_to(101)), (Ok(()), Err(TooLarge::One(100))));
        assert_eq!((second.grow_to(90), second.grow_to(91)), (Ok(()), Err(TooLarge::Together(150))));
        assert_eq!(allowance.held_bytes(), 150);
        drop(second);
        assert_eq!((allowance.held_bytes(), first.grow_to(100)), (60, Ok(())));
        drop(first);
        assert_eq!(allowance.held_bytes(), 0);
    }

    #[test]
    fn a_body_that_grows_to_its_limit_takes_no_more_than_that() {
        let allowance = Allowance::new(BodyLimits { one_bytes: 1000, vu_bytes: 5000 });
        let (mut claim, mut body) = (Claim::on(&allowance), Vec::new());
        while claim.add(&mut body, &[0; 30]).is_ok() {}
        assert_eq!((body.len(), allowance.held_bytes()), (990, 990));
        assert!(body.capacity() <= 1000, "{}", body.capacity());
    }

    #[test]
    fn a_message_names_limit_and_remedy() {
        let message = TooLarge::One(DEFAULT_MAX_BODY_BYTES).to_string();
        assert!(message.contains("64 MiB") && message.contains("--max-body") && message.contains("responseType 'none'"), "{message}");
        assert!(TooLarge::Together(10).to_string().contains("over 10 bytes together; raise --vu-memory"));
    }
}
