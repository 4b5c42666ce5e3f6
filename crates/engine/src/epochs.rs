//! To which level an arrival belongs. Each change of level begins an epoch, numbered from 1; an arrival keeps its own
//! until it has ended, so that what an overload left behind is never counted for the level at which it happens to end.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use plimsoll_script::effect::{Effect, HttpRequest};
use serde_json::{json, Value};

/// Names of requests that are told of an epoch.
const MOST_NAMES: usize = 3;

/// What multiplies the declared load, and the number of its epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    pub value: f64,
    pub epoch: u32,
}

impl Level {
    pub fn first(value: f64) -> Self {
        Self { value, epoch: 1 }
    }

    pub fn change(&mut self, value: f64) {
        *self = Self { value, epoch: self.epoch + 1 };
    }
}

/// How an arrival ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Done,
    /// Done, by an exception of the script although no request of it had failed.
    Broke,
    Interrupted,
    /// It waited and was never started.
    Dropped,
}

/// The arrivals of one epoch: those that ended in a second, and those that had not at its end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arrivals {
    pub done: u64,
    /// Of those done: how many broke.
    pub broke: u64,
    pub interrupted: u64,
    pub dropped: u64,
    pub unfinished: u64,
    /// How long ago the oldest that is inside the target arrived.
    pub oldest_s: f64,
    /// Requests without an answer so far, by name.
    pub waiting_for: BTreeMap<String, u64>,
}

impl Arrivals {
    pub fn merge(&mut self, other: Arrivals) {
        self.done += other.done;
        self.broke += other.broke;
        self.interrupted += other.interrupted;
        self.dropped += other.dropped;
        self.unfinished += other.unfinished;
        self.oldest_s = self.oldest_s.max(other.oldest_s);
        for (name, times) in other.waiting_for {
            *self.waiting_for.entry(name).or_default() += times;
        }
    }

    fn is_nothing(&self) -> bool {
        self.done + self.interrupted + self.dropped + self.unfinished == 0
    }

    /// As a snapshot's `earlier` holds it; None if nothing ended and nothing is left.
    pub fn to_json(&self, epoch: u32) -> Option<Value> {
        let mut names: Vec<(&String, &u64)> = self.waiting_for.iter().collect();
        names.sort_by(|a, b| b.1.cmp(a.1));
        let waiting_for: serde_json::Map<String, Value> = names
            .into_iter()
            .take(MOST_NAMES)
            .map(|(name, times)| (name.clone(), json!(times)))
            .collect();
        (!self.is_nothing()).then(|| {
            json!({
                "epoch": epoch, "done": self.done, "broke": self.broke, "interrupted": self.interrupted, "dropped": self.dropped,
                "unfinished": self.unfinished, "oldest_s": self.oldest_s, "waiting_for": waiting_for,
            })
        })
    }
}

/// The arrivals of one thread by epoch, ascending.
#[derive(Default)]
pub struct Ledger(RefCell<Vec<(u32, Arrivals)>>);

impl Ledger {
    pub fn arrived(&self, epoch: u32) {
        self.with(epoch, |arrivals| arrivals.unfinished += 1);
    }

    /// An arrival that was noted before has ended.
    pub fn ended(&self, epoch: u32, how: Ending) {
        self.with(epoch, |arrivals| {
            arrivals.unfinished = arrivals.unfinished.saturating_sub(1);
            match how {
                Ending::Done => arrivals.done += 1,
                Ending::Broke => {
                    arrivals.done += 1;
                    arrivals.broke += 1;
                }
                Ending::Interrupted => arrivals.interrupted += 1,
                Ending::Dropped => arrivals.dropped += 1,
            }
        });
    }

    fn with(&self, epoch: u32, change: impl FnOnce(&mut Arrivals)) {
        let mut known = self.0.borrow_mut();
        // Nearly always the last one.
        let at = known.iter().rposition(|(number, _)| *number <= epoch);
        let at = match at {
            Some(at) if known[at].0 == epoch => at,
            before => {
                let at = before.map_or(0, |at| at + 1);
                known.insert(at, (epoch, Arrivals::default()));
                at
            }
        };
        change(&mut known[at].1);
    }

    /// Whether arrivals of an epoch before that one have not ended.
    pub fn is_behind(&self, epoch: u32) -> bool {
        self.0.borrow().iter().any(|(number, arrivals)| *number < epoch && arrivals.unfinished > 0)
    }

    /// What ended since the last call, and what is left; epochs with neither are forgotten.
    pub fn take(&self) -> Vec<(u32, Arrivals)> {
        let mut known = self.0.borrow_mut();
        let taken = known.clone();
        known.retain(|(_, arrivals)| arrivals.unfinished > 0);
        for (_, arrivals) in known.iter_mut() {
            *arrivals = Arrivals { unfinished: arrivals.unfinished, ..Arrivals::default() };
        }
        taken
    }
}

/// What a VU is at: its arrival, and the request that it waits for.
#[derive(Default)]
pub struct Doing {
    /// Epoch of the arrival, and elapsed seconds at which it was planned, or started in a closed model.
    pub arrival: Cell<Option<(u32, f64)>>,
    request: RefCell<Option<Rc<HttpRequest>>>,
}

impl Doing {
    /// The VU waits for this.
    pub fn waits_for(&self, effect: &Effect) {
        let request = match effect {
            Effect::Http(request) | Effect::Start(_, request) => Some(request.clone()),
            Effect::Batch(requests) => requests.first().cloned(),
            Effect::Open(line) => Some(Rc::new(line.request.clone())),
            // What runs beside the script goes on meanwhile.
            Effect::Next(_) => return,
            Effect::Sleep(_) => None,
        };
        self.request.replace(request);
    }

    pub fn nothing(&self) {
        self.arrival.set(None);
        self.request.replace(None);
    }

    fn name(&self, plain: Option<&HttpRequest>) -> Option<String> {
        let request = self.request.borrow();
        let request = request.as_deref().or(plain)?;
        let address = request.address.masked();
        let path = address.split(['?', '#']).next().unwrap_or_default();
        Some(format!("{} {path}", request.method))
    }
}

/// Adds to the arrivals of epochs before `epoch` how old they are and what they wait for.
pub fn describe<'a>(
    doings: impl Iterator<Item = &'a Rc<Doing>>,
    plain: Option<&HttpRequest>,
    epoch: u32,
    now_s: f64,
    arrivals: &mut [(u32, Arrivals)],
) {
    for doing in doings {
        let Some((own, since_s)) = doing.arrival.get().filter(|(own, _)| *own < epoch) else {
            continue;
        };
        let Some((_, arrivals)) = arrivals.iter_mut().find(|(number, _)| *number == own) else {
            continue;
        };
        arrivals.oldest_s = arrivals.oldest_s.max(now_s - since_s);
        if let Some(name) = doing.name(plain) {
            *arrivals.waiting_for.entry(name).or_default() += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arrival_ends_in_its_own_epoch_however_many_levels_came_since() {
        let ledger = Ledger::default();
        [1, 1, 1, 2, 4].into_iter().for_each(|epoch| ledger.arrived(epoch));
        ledger.ended(1, Ending::Done);
        ledger.ended(2, Ending::Interrupted);
        assert!(ledger.is_behind(4) && ledger.is_behind(2) && !ledger.is_behind(1));
        let of = |done, interrupted, unfinished| Arrivals {
            done,
            interrupted,
            unfinished,
            ..Arrivals::default()
        };
        assert_eq!(ledger.take(), [(1, of(1, 0, 2)), (2, of(0, 1, 0)), (4, of(0, 0, 1))]);
        ledger.ended(1, Ending::Broke);
        ledger.ended(1, Ending::Dropped);
        let dropped = Arrivals { broke: 1, dropped: 1, ..of(1, 0, 0) };
        assert_eq!(ledger.take(), [(1, dropped), (4, of(0, 0, 1))]);
        assert_eq!(ledger.take(), [(4, of(0, 0, 1))]);
        assert!(!ledger.is_behind(4));
    }

    #[test]
    fn a_change_of_level_begins_an_epoch_even_if_the_level_is_the_same() {
        let mut level = Level::first(1.0);
        level.change(1.0);
        level.change(0.0);
        assert_eq!(level, Level { value: 0.0, epoch: 3 });
    }

    #[test]
    fn of_what_is_left_the_age_and_the_requests_are_told() {
        let doings: Vec<Rc<Doing>> = (0..4).map(|_| Rc::default()).collect();
        for (doing, at) in doings.iter().zip([Some((1, 2.0)), Some((1, 5.0)), Some((2, 9.0)), None])
        {
            doing.arrival.set(at);
        }
        let mut arrivals =
            vec![(1, Arrivals { unfinished: 2, ..Arrivals::default() }), (2, Arrivals::default())];
        describe(doings.iter(), None, 2, 10.0, &mut arrivals);
        assert_eq!((arrivals[0].1.oldest_s, arrivals[1].1.oldest_s), (8.0, 0.0));
        let mut merged =
            Arrivals { waiting_for: [("GET /a".to_owned(), 3)].into(), ..Arrivals::default() };
        merged.merge(Arrivals {
            unfinished: 4,
            waiting_for: [("GET /a".to_owned(), 1), ("GET /b".to_owned(), 9)].into(),
            ..Arrivals::default()
        });
        let json = merged.to_json(1).unwrap();
        assert_eq!(json["waiting_for"], json!({"GET /a": 4, "GET /b": 9}));
        assert_eq!(Arrivals::default().to_json(1), None);
    }
}
