//! What a thread of the engine sees of itself: how long the turns of its loop and its scripts take, the processor time
//! it used, and how long it was ready and had no processor. A turn costs two readings of the clock; of each second the
//! first iterations are timed, so that neither costs anything per request.

use std::cell::{Cell, RefCell};
use std::fs;
use std::future::{poll_fn, Future};
use std::io;
use std::pin::pin;
use std::time::{Duration, Instant};

use plimsoll_core::histogram::Histogram;
use serde_json::{json, Map, Value};

/// A turn of the loop that is longer is a stall: what came meanwhile was read that much late.
const STALL: Duration = Duration::from_millis(5);
/// Iterations of a second whose script is timed, on each thread.
const TIMED_ITERATIONS: u32 = 100;
/// What is left of a second at a run's end says nothing about shares.
const LEAST_WALL_S: f64 = 0.25;

/// Connections that the generator could not open for want of something of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    /// No file descriptor was left (EMFILE, ENFILE).
    pub files: u64,
    /// No local port was left (EADDRNOTAVAIL).
    pub ports: u64,
}

/// Counts them where they happen.
#[derive(Default)]
pub struct Refusals(Cell<Refused>);

impl Refusals {
    pub fn note(&self, error: &io::Error) {
        let mut refused = self.0.get();
        match error.raw_os_error() {
            Some(libc::EMFILE | libc::ENFILE) => refused.files += 1,
            Some(libc::EADDRNOTAVAIL) => refused.ports += 1,
            _ => return,
        }
        self.0.set(refused);
    }

    pub fn take(&self) -> Refused {
        self.0.take()
    }
}

/// One second of one thread; merged, the worst of several, and the counts and times of all.
#[derive(Clone, Debug, Default)]
pub struct Health {
    /// Processor time ÷ time.
    pub busy_share: Option<f64>,
    /// Share of the time in which the thread could have run and had no processor.
    pub waiting_share: Option<f64>,
    /// Share of the time that went by in stalls.
    pub stalled_share: Option<f64>,
    pub longest_turn_ms: f64,
    /// The longest time between two pulses that touches the second, time in which the machine slept included.
    pub gap_ms: f64,
    /// Time in which the machine slept, which no timer sees.
    pub slept_ms: f64,
    /// By how much the wall clock went on more than time did.
    pub clock_jump_ms: f64,
    /// Milliseconds of processor time in the script, of each iteration that was timed.
    pub script: Histogram,
    pub refused: Refused,
    /// VUs that the script asks for and the machine's limits do not allow.
    pub denied_vus: u64,
}

impl Health {
    pub fn merge(&mut self, other: &Health) {
        for (mine, theirs) in [
            (&mut self.busy_share, other.busy_share),
            (&mut self.waiting_share, other.waiting_share),
            (&mut self.stalled_share, other.stalled_share),
        ] {
            *mine =
                mine.map_or(theirs, |mine| Some(theirs.map_or(mine, |theirs| mine.max(theirs))));
        }
        self.longest_turn_ms = self.longest_turn_ms.max(other.longest_turn_ms);
        self.gap_ms = self.gap_ms.max(other.gap_ms);
        self.slept_ms = self.slept_ms.max(other.slept_ms);
        if other.clock_jump_ms.abs() > self.clock_jump_ms.abs() {
            self.clock_jump_ms = other.clock_jump_ms;
        }
        self.script.merge(&other.script);
        self.refused.files += other.refused.files;
        self.refused.ports += other.refused.ports;
        self.denied_vus = self.denied_vus.max(other.denied_vus);
    }

    /// What is known, for a snapshot's `generator`.
    pub fn to_json(&self) -> Map<String, Value> {
        let script = |quantile: f64| self.script.quantile(quantile);
        let mean_ms =
            (self.script.count() > 0).then(|| self.script.sum() / self.script.count() as f64);
        let shares = [
            ("busiest_thread_share", self.busy_share),
            ("waiting_share", self.waiting_share),
            ("stalled_share", self.stalled_share),
            ("script_mean_ms", mean_ms),
            ("script_p99_ms", script(0.99)),
            ("script_max_ms", script(1.0)),
        ];
        let mut known: Map<String, Value> = shares
            .into_iter()
            .filter_map(|(name, value)| value.map(|value| (name.to_owned(), json!(value))))
            .collect();
        known.insert("longest_turn_ms".into(), json!(self.longest_turn_ms));
        known.insert("gap_ms".into(), json!(self.gap_ms));
        known.insert("slept_ms".into(), json!(self.slept_ms));
        known.insert("clock_jump_ms".into(), json!(self.clock_jump_ms));
        known.insert("script_timed".into(), json!(self.script.count()));
        known.insert("refused_files".into(), json!(self.refused.files));
        known.insert("denied_vus".into(), json!(self.denied_vus));
        known.insert("refused_ports".into(), json!(self.refused.ports));
        known
    }
}

/// Where the clocks of a thread stood.
#[derive(Clone, Copy)]
struct Reading {
    at: Instant,
    cpu_s: f64,
    waited_s: Option<f64>,
}

impl Reading {
    fn now() -> Self {
        Self { at: Instant::now(), cpu_s: thread_cpu_s(), waited_s: thread_waited_s() }
    }
}

pub struct SelfWatch {
    last: Cell<Reading>,
    longest_turn: Cell<Duration>,
    /// At the last pulse.
    pulsed: Cell<Clocks>,
    gap_s: Cell<f64>,
    slept_s: Cell<f64>,
    jumped_s: Cell<f64>,
    stalled: Cell<Duration>,
    to_time: Cell<u32>,
    script: RefCell<Histogram>,
    denied_vus: Cell<u64>,
}

impl SelfWatch {
    /// Of the thread that calls it.
    pub fn new() -> Self {
        Self {
            last: Cell::new(Reading::now()),
            longest_turn: Cell::default(),
            pulsed: Cell::new(Clocks::now()),
            gap_s: Cell::default(),
            slept_s: Cell::default(),
            jumped_s: Cell::default(),
            stalled: Cell::default(),
            to_time: Cell::new(TIMED_ITERATIONS),
            script: RefCell::default(),
            denied_vus: Cell::default(),
        }
    }

    /// Begins to measure.
    pub fn begin(&self) {
        self.last.set(Reading::now());
        self.pulsed.set(Clocks::now());
    }

    /// The thread lives; seconds since it did so before. A stopped process and a suspended machine show here.
    pub fn pulse(&self) -> f64 {
        self.note(Clocks::now())
    }

    fn note(&self, now: Clocks) -> f64 {
        let before = self.pulsed.replace(now);
        let (slept_s, jumped_s) = now.apart_from(&before);
        self.slept_s.set(self.slept_s.get() + slept_s);
        self.jumped_s.set(self.jumped_s.get() + jumped_s);
        let gap_s = now.boot_s - before.boot_s;
        self.note_gap(gap_s);
        gap_s
    }

    /// A time between two pulses touches the second that is next reported.
    pub fn note_gap(&self, gap_s: f64) {
        self.gap_s.set(self.gap_s.get().max(gap_s));
    }

    /// The work, each of whose turns is timed; it must be what the thread's loop polls.
    pub async fn turns_of<Output>(&self, work: impl Future<Output = Output>) -> Output {
        let mut work = pin!(work);
        poll_fn(|context| {
            let began = Instant::now();
            let polled = work.as_mut().poll(context);
            self.add_turn(began.elapsed());
            polled
        })
        .await
    }

    fn add_turn(&self, took: Duration) {
        if took > self.longest_turn.get() {
            self.longest_turn.set(took);
        }
        if took > STALL {
            self.stalled.set(self.stalled.get() + took);
        }
    }

    /// Notes how many VUs of a scenario may not run.
    pub fn deny(&self, vus: u64) {
        self.denied_vus.set(self.denied_vus.get().max(vus));
    }

    /// For an iteration that begins: measures its script if it is among those that are timed.
    pub fn script_time(&self) -> ScriptTime {
        let left = self.to_time.get();
        self.to_time.set(left.saturating_sub(1));
        ScriptTime { is_timed: left > 0, began_s: 0.0, spent_s: 0.0 }
    }

    /// Records the script's time of an iteration that has ended.
    pub fn record(&self, script: &ScriptTime) {
        if script.is_timed {
            self.script.borrow_mut().record(script.spent_s * 1000.0);
        }
    }

    /// What was seen since the last time, which then counts as told.
    pub fn take(&self, refused: Refused) -> Health {
        let now = Reading::now();
        let last = self.last.replace(now);
        let wall_s = (now.at - last.at).as_secs_f64();
        let share =
            |seconds: f64| (wall_s >= LEAST_WALL_S).then(|| (seconds / wall_s).clamp(0.0, 1.0));
        let waited_s = now.waited_s.zip(last.waited_s).map(|(now, before)| now - before);
        self.to_time.set(TIMED_ITERATIONS);
        Health {
            busy_share: share(now.cpu_s - last.cpu_s),
            waiting_share: waited_s.and_then(share),
            stalled_share: share(self.stalled.take().as_secs_f64()),
            longest_turn_ms: self.longest_turn.take().as_secs_f64() * 1000.0,
            gap_ms: self.gap_s.take() * 1000.0,
            slept_ms: self.slept_s.take() * 1000.0,
            clock_jump_ms: self.jumped_s.take() * 1000.0,
            script: self.script.take(),
            refused,
            denied_vus: self.denied_vus.take(),
        }
    }
}

/// The processor time that one iteration spends in its script, if it is timed.
pub struct ScriptTime {
    is_timed: bool,
    began_s: f64,
    spent_s: f64,
}

impl ScriptTime {
    /// The script is about to be resumed.
    #[inline]
    pub fn goes_on(&mut self) {
        if self.is_timed {
            self.began_s = thread_cpu_s();
        }
    }

    /// The script waits or has ended.
    #[inline]
    pub fn stands(&mut self) {
        if self.is_timed {
            self.spent_s += thread_cpu_s() - self.began_s;
        }
    }
}

#[cold]
fn thread_cpu_s() -> f64 {
    clock_s(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Clocks that differ in what they go on for, read at one moment, in s.
#[derive(Clone, Copy, Debug)]
struct Clocks {
    /// Stands still while the machine is suspended.
    awake_s: f64,
    /// Goes on meanwhile, where the system has such a clock.
    boot_s: f64,
    /// May be set.
    wall_s: f64,
}

impl Clocks {
    /// Goes on while the machine is suspended, where the system has such a clock.
    #[cfg(target_os = "linux")]
    const BOOT: libc::clockid_t = libc::CLOCK_BOOTTIME;
    #[cfg(not(target_os = "linux"))]
    const BOOT: libc::clockid_t = libc::CLOCK_MONOTONIC;
    /// The kernel steers clocks by less than a thousandth; between two pulses that is nothing.
    const LEAST_APART_S: f64 = 0.1;
    const AT_ONE_MOMENT_S: f64 = 0.01;

    /// Reads again where the thread did not live between the readings.
    fn now() -> Self {
        let read = || {
            let [awake_s, boot_s, wall_s] =
                [libc::CLOCK_MONOTONIC, Self::BOOT, libc::CLOCK_REALTIME].map(clock_s);
            Self { awake_s, boot_s, wall_s }
        };
        let mut clocks = read();
        for _ in 0..2 {
            if clock_s(libc::CLOCK_MONOTONIC) - clocks.awake_s < Self::AT_ONE_MOMENT_S {
                break;
            }
            clocks = read();
        }
        clocks
    }

    /// Time that was slept since then, and by how much the wall clock was set; 0 where it is too little to tell.
    fn apart_from(&self, before: &Self) -> (f64, f64) {
        let told = |seconds: f64| {
            if seconds.abs() >= Self::LEAST_APART_S {
                seconds
            } else {
                0.0
            }
        };
        let passed_s = self.boot_s - before.boot_s;
        (
            told(passed_s - (self.awake_s - before.awake_s)),
            told(self.wall_s - before.wall_s - passed_s),
        )
    }
}

fn clock_s(clock: libc::clockid_t) -> f64 {
    // SAFETY: an all-zero timespec is valid, and the call fills it.
    let time = unsafe {
        let mut time: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(clock, &mut time);
        time
    };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// How long this thread was ready and had no processor, so far; `None` where the kernel does not say (proc(5), schedstat).
fn thread_waited_s() -> Option<f64> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let waited_ns: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(waited_ns as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_over_the_limit_are_stalls_and_are_told_once() {
        let watch = SelfWatch::new();
        for milliseconds in [1, 20, 4, 30] {
            watch.add_turn(Duration::from_millis(milliseconds));
        }
        assert_eq!(
            (watch.longest_turn.get(), watch.stalled.get()),
            (Duration::from_millis(30), Duration::from_millis(50))
        );
        assert_eq!(watch.take(Refused::default()).longest_turn_ms, 30.0);
        assert_eq!(watch.take(Refused::default()).longest_turn_ms, 0.0);
    }

    #[test]
    fn a_time_without_a_pulse_is_told_of_each_second_that_it_touches() {
        let watch = SelfWatch::new();
        watch.begin();
        assert!(watch.pulse() < 1.0);
        let pulsed = watch.pulsed.get();
        watch.pulsed.set(Clocks {
            awake_s: pulsed.awake_s - 5.0,
            boot_s: pulsed.boot_s - 5.0,
            wall_s: pulsed.wall_s - 5.0,
        });
        let gap_s = watch.pulse();
        assert!((5000.0..6000.0).contains(&watch.take(Refused::default()).gap_ms));
        watch.note_gap(gap_s);
        assert!((5000.0..6000.0).contains(&watch.take(Refused::default()).gap_ms));
        assert!(watch.take(Refused::default()).gap_ms < 1000.0);
    }

    #[test]
    fn sleep_of_the_machine_and_a_clock_that_is_set_are_told_once() {
        let watch = SelfWatch::new();
        let began = watch.pulsed.get();
        let later = |awake_s, boot_s, wall_s| Clocks {
            awake_s: began.awake_s + awake_s,
            boot_s: began.boot_s + boot_s,
            wall_s: began.wall_s + wall_s,
        };
        watch.note(later(0.01, 30.01, 30.01));
        watch.note(later(0.02, 30.02, 25.02));
        let seen = watch.take(Refused::default());
        assert!(
            (seen.slept_ms - 30_000.0).abs() < 1.0 && (seen.clock_jump_ms + 5_000.0).abs() < 1.0,
            "{seen:?}"
        );
        watch.note(later(3.02, 33.02, 28.05));
        let seen = watch.take(Refused::default());
        assert_eq!(
            (seen.slept_ms, seen.clock_jump_ms),
            (0.0, 0.0),
            "a stop of the process is neither"
        );
        assert!((seen.gap_ms - 3_000.0).abs() < 1.0);
    }

    #[test]
    fn the_first_iterations_of_a_second_are_timed() {
        let watch = SelfWatch::new();
        for _ in 0..TIMED_ITERATIONS + 50 {
            let mut script = watch.script_time();
            script.goes_on();
            script.stands();
            watch.record(&script);
        }
        assert_eq!(watch.take(Refused::default()).script.count(), u64::from(TIMED_ITERATIONS));
        watch.record(&watch.script_time());
        assert_eq!(watch.take(Refused::default()).script.count(), 1);
    }

    #[test]
    fn of_threads_the_worst_counts_and_what_is_not_known_is_left_out() {
        let known = |busy_share, turn, files| Health {
            busy_share: Some(busy_share),
            longest_turn_ms: turn,
            refused: Refused { files, ports: 1 },
            ..Health::default()
        };
        let mut merged = Health::default();
        merged.merge(&known(0.4, 3.0, 1));
        merged.merge(&known(0.9, 1.0, 2));
        merged.merge(&Health::default());
        let json = merged.to_json();
        assert_eq!((merged.busy_share, merged.longest_turn_ms), (Some(0.9), 3.0));
        assert_eq!(
            (json["refused_files"].clone(), json["refused_ports"].clone()),
            (json!(3), json!(2))
        );
        assert!(!json.contains_key("waiting_share") && !json.contains_key("script_p99_ms"));
    }

    #[test]
    fn only_what_the_generator_lacks_is_a_refusal() {
        let refusals = Refusals::default();
        for code in [libc::EMFILE, libc::ENFILE, libc::EADDRNOTAVAIL, libc::ECONNREFUSED] {
            refusals.note(&io::Error::from_raw_os_error(code));
        }
        refusals.note(&io::Error::other("no code"));
        assert_eq!(refusals.take(), Refused { files: 2, ports: 1 });
        assert_eq!(refusals.take(), Refused::default());
    }

    #[test]
    fn a_thread_that_computes_is_busy() {
        let before = thread_cpu_s();
        let sum: u64 = (0..3_000_000u64).map(std::hint::black_box).sum();
        assert!(sum > 0 && thread_cpu_s() > before);
    }
}
