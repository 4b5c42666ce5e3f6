//! A VU's event loop, with k6's rules: an iteration ends when its function has returned and nothing is left to run; a
//! rejection that nobody handles fails it. Scripts without timers and promises pay three comparisons for it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rquickjs::function::{Opt, Rest};
use rquickjs::promise::PromiseState;
use rquickjs::{qjs, Coerced, Ctx, Error, Exception, Function, Persistent, Result, Value};

use crate::api::sockets::Socket;
use crate::effect::{Effect, HttpResponse, News, Reply, Wanted};
use crate::runtime::host::Natives;
use crate::runtime::{self, has_jobs};
use crate::state::VuState;

/// Promises that were rejected while nobody listened, with their reasons.
pub type Rejections = RefCell<Vec<(Persistent<Value<'static>>, Persistent<Value<'static>>)>>;

/// What takes the answer of a request that was started beside the script.
pub type Taker<'js> = Box<dyn FnOnce(&Ctx<'js>, Box<HttpResponse>) -> Result<()> + 'js>;

pub struct Events<'js> {
    state: Rc<VuState>,
    /// By the time they are due, then by number.
    timers: RefCell<BTreeMap<(Instant, u32), Timer<'js>>>,
    last_timer: Cell<u32>,
    started: RefCell<Vec<(u32, Taker<'js>)>>,
    last_started: Cell<u32>,
    /// Those that are open or being opened.
    pub(super) sockets: RefCell<Vec<Socket<'js>>>,
    /// Whether the last turn was a timer's: a socket that never rests must not keep the timers from theirs, nor they it.
    was_timer: Cell<bool>,
    /// Whether a timer, a request or a socket was made since the loop was empty.
    is_busy: Cell<bool>,
}

struct Timer<'js> {
    callback: Function<'js>,
    arguments: Vec<Value<'js>>,
    /// For an interval: the time between two calls.
    every: Option<Duration>,
}

/// Makes the functions of `k6/timers`.
pub fn install<'js>(natives: &Natives<'js>) -> Result<()> {
    for (name, repeats) in [("setTimeout", false), ("setInterval", true)] {
        let set = move |ctx: Ctx<'js>,
                        callback: Opt<Value<'js>>,
                        delay_ms: Opt<Coerced<f64>>,
                        arguments: Rest<Value<'js>>| {
            let Some(callback) = callback.0.and_then(Value::into_function) else {
                return Err(Exception::throw_type(
                    &ctx,
                    &format!(
                        "{name}() wants a function to call; give it first, then the milliseconds"
                    ),
                ));
            };
            let delay_ms = delay_ms.0.map_or(0.0, |delay| delay.0).max(0.0);
            let delay = Duration::try_from_secs_f64(delay_ms / 1000.0).unwrap_or(Duration::MAX);
            let events = VuState::running(&ctx)?.events(&ctx)?;
            Ok(events.add_timer(
                delay,
                Timer { callback, arguments: arguments.0, every: repeats.then_some(delay) },
            ))
        };
        natives.add(name, set)?;
    }
    for name in ["clearTimeout", "clearInterval"] {
        let clear = |ctx: Ctx<'js>, number: Opt<Coerced<f64>>| -> Result<()> {
            let number = number.0.map_or(0.0, |number| number.0);
            let events = VuState::running(&ctx)?.events(&ctx)?;
            events.timers.borrow_mut().retain(|(_, known), _| f64::from(*known) != number);
            Ok(())
        };
        natives.add(name, clear)?;
    }
    Ok(())
}

impl<'js> Events<'js> {
    pub fn new(state: &Rc<VuState>) -> Rc<Self> {
        Rc::new(Self {
            state: state.clone(),
            timers: RefCell::default(),
            last_timer: Cell::new(0),
            started: RefCell::default(),
            last_started: Cell::new(0),
            sockets: RefCell::default(),
            was_timer: Cell::new(false),
            is_busy: Cell::new(false),
        })
    }

    fn add_timer(&self, delay: Duration, timer: Timer<'js>) -> u32 {
        let number = self.last_timer.get() + 1;
        self.last_timer.set(number);
        self.schedule(Instant::now(), delay, number, timer);
        number
    }

    fn schedule(&self, from: Instant, delay: Duration, number: u32, timer: Timer<'js>) {
        // A century from now is never, for a load test.
        let due =
            from.checked_add(delay).unwrap_or_else(|| from + Duration::from_secs(3_153_600_000));
        self.timers.borrow_mut().insert((due, number), timer);
        self.is_busy.set(true);
    }

    /// Notes that the answer to the returned number goes to `taker`.
    pub fn expect(&self, taker: Taker<'js>) -> u32 {
        let number = self.next_number();
        self.started.borrow_mut().push((number, taker));
        self.is_busy.set(true);
        number
    }

    /// A number for something that runs beside the script.
    pub(super) fn next_number(&self) -> u32 {
        let number = self.last_started.get().wrapping_add(1);
        self.last_started.set(number);
        number
    }

    /// The loop goes on until the socket has closed.
    pub(super) fn add_socket(&self, socket: Socket<'js>) {
        self.sockets.borrow_mut().push(socket);
        self.is_busy.set(true);
    }

    /// Runs all that a call left behind, then gives the call's own value: that of its promise, if it returned one.
    /// `None` is a promise that nothing can resolve any more.
    pub fn settle(&self, ctx: &Ctx<'js>, returned: Value<'js>) -> Result<Option<Value<'js>>> {
        if returned.is_promise() || self.has_leftovers(ctx) {
            self.run(ctx)?;
        }
        let Some(promise) = returned.as_promise() else {
            return Ok(Some(returned));
        };
        match promise.state() {
            PromiseState::Pending => Ok(None),
            _ => promise.result().transpose(),
        }
    }

    fn run(&self, ctx: &Ctx<'js>) -> Result<()> {
        self.run_jobs(ctx)?;
        while self.is_busy.get() {
            let due = self.timers.borrow().first_key_value().map(|(key, _)| key.0);
            let news = if self.state.in_init.get() { None } else { self.wait(ctx, due)? };
            self.was_timer.set(news.is_none());
            match news {
                Some((number, News::Answer(response))) => self.take(ctx, number, response)?,
                Some((number, News::Socket(event))) => self.tell(ctx, number, event)?,
                None if self.state.in_init.get() => self.call_timer_of_init(ctx)?,
                None => {
                    self.record_traffic();
                    self.call_timer()?;
                }
            }
            self.run_jobs(ctx)?;
            self.is_busy.set(
                !self.timers.borrow().is_empty()
                    || !self.started.borrow().is_empty()
                    || !self.sockets.borrow().is_empty(),
            );
        }
        Ok(())
    }

    /// Gives the answer of a request to who takes it.
    fn take(&self, ctx: &Ctx<'js>, number: u32, response: Box<HttpResponse>) -> Result<()> {
        let at = self.started.borrow().iter().position(|(known, _)| *known == number);
        let taker = at.map(|at| self.started.borrow_mut().swap_remove(at).1);
        taker.map_or(Ok(()), |taker| taker(ctx, response))
    }

    /// Waits for news or until `due`, whichever comes first.
    fn wait(&self, ctx: &Ctx<'js>, due: Option<Instant>) -> Result<Option<(u32, News)>> {
        let has_sockets = !self.sockets.borrow().is_empty();
        if !has_sockets && self.started.borrow().is_empty() {
            let left =
                due.map_or(Duration::ZERO, |due| due.saturating_duration_since(Instant::now()));
            return self.state.perform(ctx, Effect::Sleep(left)).map(|_| None);
        }
        if has_sockets && !self.was_timer.get() && due.is_some_and(|due| due <= Instant::now()) {
            return Ok(None);
        }
        match self.state.perform(ctx, Effect::Next(Wanted { until: due, of: None }))? {
            Reply::Next(news) => Ok(news),
            _ => Err(self.state.throw_uncatchable(ctx)),
        }
    }

    /// Calls the timer that is due first.
    fn call_timer(&self) -> Result<()> {
        let first = self.timers.borrow_mut().pop_first();
        let Some(((due, number), timer)) = first else {
            return Ok(());
        };
        let (callback, arguments) = (timer.callback.clone(), timer.arguments.clone());
        if let Some(every) = timer.every {
            self.schedule(due.max(Instant::now() - every), every, number, timer);
        }
        callback.call::<_, Value>((Rest(arguments),)).map(|_| ())
    }

    /// In the init context time does not pass, as nothing may wait there: timers run at once, in their order.
    fn call_timer_of_init(&self, ctx: &Ctx<'js>) -> Result<()> {
        if self.state.must_stop() {
            if self.state.aborted.get() {
                return Err(self.state.throw_uncatchable(ctx));
            }
            let message = "timers of the init context have no end; clear the interval, or set it in the default function";
            return Err(Exception::throw_message(ctx, message));
        }
        self.call_timer()
    }

    /// Runs promise jobs until there are none, then throws the reason of a rejection that nobody handled.
    fn run_jobs(&self, ctx: &Ctx<'js>) -> Result<()> {
        // An interruption within a job may have become a rejection, which code may handle; the rest must not run all the same.
        while !self.state.was_stopped.get() && run_job(ctx)? {}
        let rejected = std::mem::take(&mut *self.state.rejections.borrow_mut());
        match rejected.into_iter().next() {
            Some((_, reason)) => {
                let reason = reason.restore(ctx)?;
                Err(ctx.throw(reason))
            }
            None if self.state.was_stopped.get() => Err(self.state.throw_uncatchable(ctx)),
            None => Ok(()),
        }
    }

    /// Whether a call left anything that `clear` should forget.
    pub fn has_leftovers(&self, ctx: &Ctx<'js>) -> bool {
        self.is_busy.get() || has_jobs(ctx) || !self.state.rejections.borrow().is_empty()
    }

    /// Forgets what a failed or interrupted iteration left: no code of it may run in a later one.
    pub fn clear(&self, ctx: &Ctx<'js>) {
        self.timers.borrow_mut().clear();
        self.started.borrow_mut().clear();
        self.leave_sockets(&self.state);
        runtime::drop_jobs(ctx);
        self.state.rejections.borrow_mut().clear();
        self.is_busy.set(false);
    }
}

/// Runs one promise job, if there is one. What it throws (an interruption, mostly) stays pending in the context.
fn run_job(ctx: &Ctx<'_>) -> Result<bool> {
    let mut context = MaybeUninit::uninit();
    // SAFETY: the context lives, and with it its runtime; QuickJS only writes to `context`.
    match unsafe {
        qjs::JS_ExecutePendingJob(qjs::JS_GetRuntime(ctx.as_raw().as_ptr()), context.as_mut_ptr())
    } {
        0 => Ok(false),
        ran if ran > 0 => Ok(true),
        _ => Err(Error::Exception),
    }
}
