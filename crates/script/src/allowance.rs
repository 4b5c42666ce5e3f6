//! What bodies of responses may take of memory while they are on their way to a script: one of them, all of a VU
//! together, and all of a run. What a script then holds counts against its VU's memory (`memory.rs`).

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use bytes::Bytes;
use thiserror::Error;

/// More than what test scripts read as text by two orders of magnitude, and little enough that hostile answers to a few
/// VUs at once fit into a small machine (docs/k6.md, "Bodies without end"). k6 has no limit.
pub const DEFAULT_MAX_BODY_BYTES: usize = 32 << 20;
/// A longer head of a response, or trailer, is refused.
pub const MOST_HEAD_BYTES: usize = 64 << 10;
/// Bodies up to this do not count against the run's limit, which all threads share.
const SMALL_BYTES: usize = 1 << 20;

/// How large the bodies are that may be kept.
#[derive(Clone, Debug)]
pub struct BodyLimits {
    /// One body, as it came and decoded.
    pub one_bytes: usize,
    /// All bodies of a VU's requests under way.
    pub vu_bytes: usize,
    pub run: Arc<RunLimit>,
}

/// What the large bodies of all VUs may take together.
#[derive(Debug)]
pub struct RunLimit {
    most_bytes: usize,
    held_bytes: AtomicUsize,
}

impl RunLimit {
    pub fn new(most_bytes: usize) -> Arc<Self> {
        Arc::new(Self { most_bytes, held_bytes: AtomicUsize::new(0) })
    }

    /// Exchanges what a body holds.
    fn exchange(&self, held: usize, wanted: usize) -> Result<(), TooLarge> {
        if wanted <= held {
            self.held_bytes.fetch_sub(held - wanted, Ordering::Relaxed);
            return Ok(());
        }
        let more = wanted - held;
        if self.held_bytes.fetch_add(more, Ordering::Relaxed) + more > self.most_bytes {
            self.held_bytes.fetch_sub(more, Ordering::Relaxed);
            return Err(TooLarge::OfRun(self.most_bytes));
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum TooLarge {
    #[error("the response's body is over the limit of {}; raise --max-body, or do not keep it: responseType 'none', discardResponseBodies", mebibytes(.0))]
    One(usize),
    #[error("the bodies of this VU's responses are over {} together; raise --vu-memory, request fewer at once, or do not keep them: responseType 'none', discardResponseBodies", mebibytes(.0))]
    Together(usize),
    #[error("the bodies of all VUs' responses are over {} together, half of the memory that was free; use fewer VUs, lower --max-body, or do not keep them: responseType 'none', discardResponseBodies", mebibytes(.0))]
    OfRun(usize),
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
    /// The VU's memory counts the body by now, so that the allowance does no more; the run does, as long as it is held.
    is_handed_over: bool,
}

impl Claim {
    pub fn on(allowance: &Rc<Allowance>) -> Self {
        Self { of: Some(allowance.clone()), bytes: 0, is_handed_over: false }
    }

    /// Whether one body may have this length.
    ///
    /// # Errors
    /// The limit that it would be over.
    pub fn admits(&self, bytes: usize) -> Result<(), TooLarge> {
        match &self.of {
            Some(allowance) if bytes > allowance.limits.one_bytes => {
                Err(TooLarge::One(allowance.limits.one_bytes))
            }
            _ => Ok(()),
        }
    }

    /// The body has this length now.
    ///
    /// # Errors
    /// The limit that it is over; the claim is then as it was.
    pub fn grow_to(&mut self, bytes: usize) -> Result<(), TooLarge> {
        let Some(allowance) = &self.of else {
            return Ok(());
        };
        self.admits(bytes)?;
        let large = |bytes: usize| if bytes > SMALL_BYTES { bytes } else { 0 };
        let together = allowance.held_bytes.get() - self.bytes + bytes;
        if together > allowance.limits.vu_bytes {
            return Err(TooLarge::Together(allowance.limits.vu_bytes));
        }
        if large(bytes) != large(self.bytes) {
            allowance.limits.run.exchange(large(self.bytes), large(bytes))?;
        }
        allowance.held_bytes.set(together);
        self.bytes = bytes;
        Ok(())
    }

    /// The script has the body, and its VU's memory counts it.
    pub fn hand_over(&mut self) {
        if let Some(allowance) = self.of.as_ref().filter(|_| !self.is_handed_over) {
            allowance.held_bytes.set(allowance.held_bytes.get() - self.bytes);
            self.is_handed_over = true;
        }
    }

    /// Adds a part to the body.
    ///
    /// # Errors
    /// The limit that it would be over.
    pub fn add(&mut self, body: &mut Gathered, part: &[u8]) -> Result<(), TooLarge> {
        self.grow_to(body.length() + part.len())?;
        body.room(part.len()).extend_from_slice(part);
        Ok(())
    }
}

/// A body as it comes, in pieces: one buffer that doubles would be copied each time, and for that moment be there twice.
#[derive(Debug, Default)]
pub struct Gathered {
    full: Vec<Vec<u8>>,
    full_bytes: usize,
    last: Vec<u8>,
}

impl Gathered {
    const PIECE_BYTES: usize = 1 << 20;

    pub fn with_capacity(bytes: usize) -> Self {
        Self { last: Vec::with_capacity(bytes), ..Self::default() }
    }

    pub fn length(&self) -> usize {
        self.full_bytes + self.last.len()
    }

    /// The piece to which that many bytes may be added.
    pub fn room(&mut self, more_bytes: usize) -> &mut Vec<u8> {
        if self.last.len() >= Self::PIECE_BYTES {
            let full = std::mem::replace(
                &mut self.last,
                Vec::with_capacity(Self::PIECE_BYTES * 9 / 8 + more_bytes),
            );
            self.full_bytes += full.len();
            self.full.push(full);
        }
        self.last.reserve(more_bytes);
        &mut self.last
    }

    pub fn whole(mut self) -> Bytes {
        if self.full.is_empty() {
            return self.last.into();
        }
        let mut whole = Vec::with_capacity(self.length());
        self.full.into_iter().for_each(|piece| whole.extend_from_slice(&piece));
        whole.append(&mut self.last);
        whole.into()
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if let Some(allowance) = &self.of {
            if !self.is_handed_over {
                allowance.held_bytes.set(allowance.held_bytes.get() - self.bytes);
            }
            if self.bytes > SMALL_BYTES {
                let _ = allowance.limits.run.exchange(self.bytes, 0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(one_bytes: usize, vu_bytes: usize) -> BodyLimits {
        BodyLimits { one_bytes, vu_bytes, run: RunLimit::new(usize::MAX) }
    }

    #[test]
    fn large_bodies_of_all_vus_share_a_limit_and_small_ones_do_not_count() {
        let run = RunLimit::new(5 << 20);
        let vus = [0, 1].map(|_| {
            Allowance::new(BodyLimits { run: run.clone(), ..limits(usize::MAX, usize::MAX) })
        });
        let [mut first, mut second] = [0, 1].map(|vu| Claim::on(&vus[vu]));
        assert_eq!((first.grow_to(SMALL_BYTES), first.grow_to(3 << 20)), (Ok(()), Ok(())));
        assert_eq!(
            (second.grow_to(SMALL_BYTES), second.grow_to(3 << 20)),
            (Ok(()), Err(TooLarge::OfRun(5 << 20)))
        );
        assert_eq!((second.grow_to(2 << 20), first.grow_to(10)), (Ok(()), Ok(())));
        assert_eq!(second.grow_to(5 << 20), Ok(()));
        second.hand_over();
        assert_eq!(
            (vus[1].held_bytes(), first.grow_to(2 << 20)),
            (0, Err(TooLarge::OfRun(5 << 20)))
        );
        drop((first, second));
        assert_eq!(run.held_bytes.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn one_body_and_all_together_have_limits_and_what_is_gone_is_given_back() {
        let allowance = Allowance::new(limits(100, 150));
        let (mut first, mut second) = (Claim::on(&allowance), Claim::on(&allowance));
        assert_eq!((first.grow_to(60), first.grow_to(101)), (Ok(()), Err(TooLarge::One(100))));
        assert_eq!(
            (second.grow_to(90), second.grow_to(91)),
            (Ok(()), Err(TooLarge::Together(150)))
        );
        assert_eq!(allowance.held_bytes(), 150);
        drop(second);
        assert_eq!((allowance.held_bytes(), first.grow_to(100)), (60, Ok(())));
        drop(first);
        assert_eq!(allowance.held_bytes(), 0);
    }

    #[test]
    fn a_body_is_whole_again_and_takes_little_more_than_it_is_while_it_grows() {
        let allowance = Allowance::new(limits(5 << 20, 5 << 20));
        for (parts, bytes) in [(0, 10), (3, 10), (70, 30_000), (50, 100_000), (2, 2 << 20)] {
            let (mut claim, mut body, mut wanted) =
                (Claim::on(&allowance), Gathered::default(), Vec::new());
            for part in 0..parts {
                let part = vec![part as u8; bytes];
                claim.add(&mut body, &part).unwrap();
                wanted.extend(part);
            }
            let capacity: usize =
                body.full.iter().map(Vec::capacity).sum::<usize>() + body.last.capacity();
            assert!(capacity <= 2 * body.length() + (2 << 20), "{parts} of {bytes}: {capacity}");
            assert_eq!((body.length(), allowance.held_bytes()), (wanted.len(), wanted.len()));
            assert_eq!(body.whole(), wanted);
        }
        let (mut claim, mut body) = (Claim::on(&allowance), Gathered::default());
        while claim.add(&mut body, &[0; 65_000]).is_ok() {}
        assert_eq!(body.length(), (5 << 20) / 65_000 * 65_000);
    }

    #[test]
    fn a_message_names_limit_and_remedy() {
        let message = TooLarge::One(DEFAULT_MAX_BODY_BYTES).to_string();
        assert!(
            message.contains("32 MiB")
                && message.contains("--max-body")
                && message.contains("responseType 'none'"),
            "{message}"
        );
        assert!(TooLarge::Together(10)
            .to_string()
            .contains("over 10 bytes together; raise --vu-memory"));
    }
}
