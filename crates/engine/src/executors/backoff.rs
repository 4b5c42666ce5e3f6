//! The pause of a VU in a closed loop whose attempts fail at once, as on a port that nobody listens on. Without one it
//! would attempt tens of thousands of times a second, which is no load on any target.

use std::cell::Cell;
use std::time::Duration;

use plimsoll_script::effect::{HttpResponse, News, Reply};
use plimsoll_script::socket::Event;

/// An iteration that lasts longer paces itself.
const AT_ONCE: Duration = Duration::from_millis(50);
const FIRST: Duration = Duration::from_millis(10);
const LONGEST: Duration = Duration::from_secs(1);

/// Requests of one iteration, and how many of them got an answer.
#[derive(Debug, Default)]
pub struct Attempts {
    made: Cell<u32>,
    answered: Cell<u32>,
}

impl Attempts {
    pub fn begin(&self) {
        self.made.set(0);
        self.answered.set(0);
    }

    /// A request has ended, with an answer or without.
    pub fn note(&self, response: &HttpResponse) {
        self.made.set(self.made.get().saturating_add(1));
        self.answered.set(self.answered.get().saturating_add(u32::from(response.status != 0)));
    }

    /// What a script got for its effect.
    pub fn note_reply(&self, reply: &Reply) {
        match reply {
            Reply::Http(response) => self.note(response),
            Reply::Batch(responses) => responses.iter().for_each(|response| self.note(response)),
            Reply::Next(Some((_, News::Answer(response)))) => self.note(response),
            Reply::Next(Some((_, News::Socket(Event::Opened(handshake))))) => {
                self.note(&handshake.response);
            }
            _ => {}
        }
    }

    fn are_in_vain(&self) -> bool {
        self.made.get() > 0 && self.answered.get() == 0
    }
}

/// How often a VU's iterations failed at once, one after the other.
#[derive(Debug, Default)]
pub struct Backoff {
    in_vain: u32,
}

impl Backoff {
    /// The pause after an iteration with those attempts that took so long; none unless it failed at once: 10 ms, then
    /// twice as long each time, up to a second.
    pub fn after(&mut self, attempts: &Attempts, took: Duration) -> Option<Duration> {
        if !attempts.are_in_vain() || took > AT_ONCE {
            self.in_vain = 0;
            return None;
        }
        let pause = FIRST.saturating_mul(1 << self.in_vain.min(16));
        self.in_vain = self.in_vain.saturating_add(1);
        Some(pause.min(LONGEST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempts(made: u32, answered: u32) -> Attempts {
        Attempts { made: made.into(), answered: answered.into() }
    }

    fn pauses_ms(given: &[(u32, u32, u64)]) -> Vec<Option<u128>> {
        let mut backoff = Backoff::default();
        let after = |(made, answered, took_ms): &(u32, u32, u64)| {
            backoff.after(&attempts(*made, *answered), Duration::from_millis(*took_ms))
        };
        given.iter().map(after).map(|pause| pause.map(|pause| pause.as_millis())).collect()
    }

    #[test]
    fn attempts_that_fail_at_once_are_made_less_and_less_often() {
        let pauses: Vec<u128> = pauses_ms(&[(1, 0, 0); 40]).into_iter().flatten().collect();
        assert_eq!(pauses[..8], [10, 20, 40, 80, 160, 320, 640, 1000]);
        assert!(pauses.len() == 40 && pauses[8..].iter().all(|pause| *pause == 1000));
    }

    #[test]
    fn an_answer_begins_anew_and_iterations_that_wait_or_ask_nothing_are_left_alone() {
        assert_eq!(
            pauses_ms(&[(1, 0, 1), (1, 0, 1), (2, 1, 1), (1, 0, 1)]),
            [Some(10), Some(20), None, Some(10)]
        );
        assert_eq!(pauses_ms(&[(1, 0, 51), (0, 0, 0), (3, 3, 0)]), [None, None, None]);
    }
}
