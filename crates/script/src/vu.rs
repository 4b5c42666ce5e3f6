//! A virtual user: a QuickJS context on a coroutine of its own, so that k6's blocking calls suspend the VU
//! and not the thread. The host resumes it with what it asked for; nothing here waits.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, CoroutineResult};
use rquickjs::{CatchResultExt, CaughtError, Ctx, Exception, Function, Object, Value};

use crate::api::events::Events;
use crate::effect::{Effect, Reply};
use crate::modules;
use crate::modules::bundle::ScriptError;
use crate::modules::commonjs;
use crate::modules::places::{missing_export, place_in_script};
use crate::modules::unit::Kind;
use crate::runtime::globals;
use crate::runtime::json;
use crate::runtime::Away;
use crate::state::{Iteration, VuState, MAX_COMPUTE};
use crate::values::text_of_string;

/// Virtual size of a VU's stack; only touched pages cost memory.
const STACK_BYTES: usize = 1 << 20;
/// Left in place below the frame of a VU that gives its stack back, for the calls under way.
const STACK_IN_USE_BYTES: usize = 4 << 10;
const PAGE_BYTES: usize = 4 << 10;

/// What a script says of itself when it is loaded.
#[derive(Clone, Debug)]
pub struct InitInfo {
    pub options_json: String,
    pub exports: Vec<String>,
}

/// One call of an exported function.
#[derive(Debug)]
pub struct Job {
    pub function: Rc<str>,
    pub iteration: Iteration,
    /// The argument as JSON: setup data, or the summary's data.
    pub argument_json: Option<Arc<str>>,
    /// Whether the result is wanted (setup, handleSummary).
    pub wants_result: bool,
}

#[derive(Debug)]
pub enum Outcome {
    /// The function returned; its result as JSON if it was wanted and is not undefined.
    Returned(Option<String>),
    /// It threw; the message with file and line.
    Threw(ScriptError),
    /// It was interrupted by the host.
    Aborted,
}

pub(crate) enum Input {
    Begin,
    Run(Box<Job>),
    Reply(Reply),
    Abort,
}

pub(crate) enum Output {
    /// With what the script says of itself, if that was asked for.
    Loaded(Result<Option<InitInfo>, ScriptError>),
    Effect(Effect),
    Finished(Outcome),
}

pub enum Step {
    Effect(Effect),
    Finished(Outcome),
}

pub struct Vu {
    coroutine: Coroutine<Input, Output, (), DefaultStack>,
    pub state: Rc<VuState>,
}

impl Vu {
    /// Loads the script into a new VU.
    pub fn load(state: VuState) -> Result<Self, ScriptError> {
        Ok(Self::begin(state, false)?.0)
    }

    /// Likewise, with what the script says of itself.
    pub fn describe(state: VuState) -> Result<(Self, InitInfo), ScriptError> {
        let (vu, info) = Self::begin(state, true)?;
        Ok((vu, info.ok_or_else(Self::no_memory)?))
    }

    fn no_memory() -> ScriptError {
        ScriptError::new(
            "the script could not be started: out of memory for its runtime; use fewer VUs",
        )
    }

    fn begin(state: VuState, describes: bool) -> Result<(Self, Option<InitInfo>), ScriptError> {
        let stack = DefaultStack::new(STACK_BYTES)
            .map_err(|error| ScriptError::new(format!("no memory map for another VU's stack: {error}; raise vm.max_map_count or use fewer VUs")))?;
        state.stack_end.set(stack.limit().get());
        let state = Rc::new(state);
        let inner = state.clone();
        let coroutine = Coroutine::with_stack(stack, move |yielder, _begin: Input| {
            inner.yielder.set(Some(std::ptr::from_ref(yielder)));
            body(&inner, describes);
        });
        let mut vu = Self { coroutine, state };
        match vu.coroutine.resume(Input::Begin) {
            CoroutineResult::Yield(Output::Loaded(Ok(info))) => Ok((vu, info)),
            CoroutineResult::Yield(Output::Loaded(Err(error))) => Err(error),
            _ => Err(Self::no_memory()),
        }
    }

    pub fn start(&mut self, job: Job) -> Step {
        self.resume(Input::Run(Box::new(job)))
    }

    pub fn reply(&mut self, reply: Reply) -> Step {
        self.resume(Input::Reply(reply))
    }

    /// Interrupts the iteration; the script cannot catch it.
    pub fn abort(&mut self) {
        self.resume(Input::Abort);
        self.state.aborted.set(false);
    }

    fn resume(&mut self, input: Input) -> Step {
        if self.coroutine.done() {
            return Step::Finished(Outcome::Aborted);
        }
        match self.coroutine.resume(input) {
            CoroutineResult::Yield(Output::Effect(effect)) => Step::Effect(effect),
            CoroutineResult::Yield(Output::Finished(outcome)) => Step::Finished(outcome),
            CoroutineResult::Yield(Output::Loaded(_)) | CoroutineResult::Return(()) => {
                Step::Finished(Outcome::Aborted)
            }
        }
    }
}

impl Drop for Vu {
    fn drop(&mut self) {
        // A suspended coroutine holds live JavaScript frames; it must run to its end, never be dropped.
        while !self.coroutine.done() {
            self.coroutine.resume(Input::Abort);
        }
    }
}

fn body(state: &Rc<VuState>, describes: bool) {
    state.runtime.enter(Away::new(state.clone()), state.stack_end.get());
    state.runtime.expect_growth();
    match state.runtime.context() {
        Ok(context) => {
            // SAFETY: this coroutine alone uses the context, and while it runs nobody else is in the runtime: the others
            // have left it. The safe way would lock the runtime for as long as the VU is suspended.
            serve(&unsafe { Ctx::from_raw(context.as_raw()) }, state, describes);
            drop((state.prototypes.take(), state.plain_parse.take()));
        }
        Err(error) => drop(state.suspend(Output::Loaded(Err(ScriptError::no_runtime(&error))))),
    }
    state.yielder.set(None);
    state.runtime.leave();
    state.runtime.part();
}

/// Gives the pages of the stack below the caller's frames back to the system: the init context goes deeper than most
/// iterations. They come back empty when they are used again.
fn give_back_stack(stack_end: usize) {
    let here = std::ptr::from_ref(&stack_end).addr();
    let Some(unused) = here.checked_sub(stack_end + STACK_IN_USE_BYTES) else {
        return;
    };
    // SAFETY: this coroutine runs on the stack that ends there; nothing below its frames is read before it is written.
    unsafe {
        libc::madvise(
            std::ptr::without_provenance_mut(stack_end),
            unused & !(PAGE_BYTES - 1),
            libc::MADV_DONTNEED,
        )
    };
}

/// Loads the script, then serves one job after the other until the host ends the VU.
fn serve(ctx: &Ctx<'_>, state: &Rc<VuState>, describes: bool) {
    state.resumed.set(Instant::now());
    let events = Events::new(state);
    state.with_events(&events, || serve_with(ctx, state, &events, describes));
}

fn serve_with<'js>(ctx: &Ctx<'js>, state: &Rc<VuState>, events: &Rc<Events<'js>>, describes: bool) {
    let loaded = load(ctx, state, events).and_then(|namespace| {
        let info = describes.then(|| described(ctx, state, &namespace)).transpose()?;
        Ok((namespace, info))
    });
    let (namespace, info) = match loaded {
        Ok(loaded) => loaded,
        Err(error) => {
            events.clear(ctx);
            state.rest(ctx, Output::Loaded(Err(error)));
            return;
        }
    };
    state.in_init.set(false);
    state.runtime.expect_garbage();
    give_back_stack(state.stack_end.get());
    let mut input = state.rest(ctx, Output::Loaded(Ok(info)));
    while let Input::Run(job) = input {
        let outcome = run(ctx, state, events, &namespace, *job);
        input = state.rest(ctx, Output::Finished(outcome));
        // An abort that came while the VU was suspended inside the job has been served by its outcome.
        if !matches!(input, Input::Abort) {
            state.aborted.set(false);
        }
    }
    // Nothing of JavaScript may outlive its context.
    events.clear(ctx);
}

fn load<'js>(
    ctx: &Ctx<'js>,
    state: &Rc<VuState>,
    events: &Rc<Events<'js>>,
) -> Result<Object<'js>, ScriptError> {
    let main = state.bundle.main.to_string_lossy().into_owned();
    globals::install(ctx, state).catch(ctx).map_err(|error| describe(state, &error))?;
    let evaluated = (|| {
        if modules::unit(ctx, &state.bundle, &main)?.kind == Kind::CommonJs {
            let exports = commonjs::run(ctx, state, &main)?;
            return Ok(exports.into_object().unwrap_or(Object::new(ctx.clone())?));
        }
        let (module, promise) = modules::file(ctx, &state.bundle, &main)?.eval()?;
        if events.settle(ctx, promise.into_value())?.is_none() {
            return Err(Exception::throw_message(
                ctx,
                "the top level of the script awaits a promise that nothing can resolve",
            ));
        }
        module.namespace()
    })();
    let evaluated = evaluated.catch(ctx);
    if let Some(message) = state.test_aborted.borrow_mut().take() {
        return Err(ScriptError {
            aborts_test: true,
            ..ScriptError::new(format!("test aborted: {message}"))
        });
    }
    evaluated.map_err(|error| describe(state, &error))
}

fn described<'js>(
    ctx: &Ctx<'js>,
    state: &VuState,
    namespace: &Object<'js>,
) -> Result<InitInfo, ScriptError> {
    let options: Value =
        namespace.get("options").unwrap_or_else(|_| Value::new_undefined(ctx.clone()));
    let options_json =
        stringified(ctx, options).catch(ctx).map_err(|error| describe(state, &error))?;
    let options_json =
        options_json.and_then(|text| text.to_string().ok()).unwrap_or_else(|| "null".into());
    let exports = namespace
        .own_keys::<String>(rquickjs::Filter::default())
        .flatten()
        .filter(|name| {
            namespace.get::<_, Value>(name.as_str()).is_ok_and(|value| value.is_function())
        })
        .collect();
    Ok(InitInfo { options_json, exports })
}

fn run<'js>(
    ctx: &Ctx<'js>,
    state: &VuState,
    events: &Events<'js>,
    namespace: &Object<'js>,
    job: Job,
) -> Outcome {
    let function = job.function.clone();
    state.runtime.begin();
    state.was_stopped.set(false);
    let result = call(ctx, state, events, namespace, job).catch(ctx);
    if result.is_err() && events.has_leftovers(ctx) {
        events.clear(ctx);
    }
    state.group.borrow_mut().clear();
    let outcome = match result {
        Ok(result) => Outcome::Returned(result),
        Err(_) if state.aborted.get() => Outcome::Aborted,
        Err(_) if state.test_aborted.borrow().is_some() => Outcome::Aborted,
        Err(error) => {
            let mut described = describe(state, &error);
            if described.line.is_none() && !described.message.starts_with("the script threw") {
                place_at_function(&mut described, state, namespace, &function);
            }
            Outcome::Threw(described)
        }
    };
    if state.runtime.memory.is_exhausted() {
        state.runtime.collect_garbage();
    }
    outcome
}

fn call<'js>(
    ctx: &Ctx<'js>,
    state: &VuState,
    events: &Events<'js>,
    namespace: &Object<'js>,
    job: Job,
) -> rquickjs::Result<Option<String>> {
    let globals = ctx.globals();
    globals.set("__ITER", job.iteration.number_on_vu)?;
    if !job.iteration.env.is_empty() {
        let env: Object = globals.get("__ENV")?;
        for (key, value) in job.iteration.env.iter() {
            env.set(key.as_str(), value.as_str())?;
        }
    }
    if !state.bundle.defaults.no_cookies_reset {
        state.jar.borrow_mut().clear();
    }
    state.lag_to_charge_ms.set(job.iteration.arrival_lag_ms);
    state.begin(job.iteration);
    let argument = match &job.argument_json {
        Some(text) => json::parse(ctx, text.as_bytes())?,
        None => Value::new_undefined(ctx.clone()),
    };
    let function: Function = namespace.get(&*job.function)?;
    let settled = events.settle(ctx, function.call((argument,))?)?;
    if !job.wants_result {
        return Ok(None);
    }
    let result = settled.ok_or_else(|| {
        let message = format!(
            "{}() awaits a promise that nothing can resolve: no timer and no request is left",
            job.function
        );
        Exception::throw_message(ctx, &message)
    })?;
    ctx.json_stringify(result)?.map(|text| text.to_string()).transpose()
}

/// Names the function that was called as the place: an interruption between two promise jobs has no other.
fn place_at_function(
    error: &mut ScriptError,
    state: &VuState,
    namespace: &Object<'_>,
    function: &str,
) {
    let place = (|| {
        let function: Object = namespace.get(function)?;
        let (file, line, column): (String, usize, usize) =
            (function.get("fileName")?, function.get("lineNumber")?, function.get("columnNumber")?);
        Ok::<_, rquickjs::Error>((state.bundle.source_line(&file, line, column), file))
    })();
    if let Ok((line, file)) = place {
        error.snippet = state.bundle.snippet(&file, line);
        (error.file, error.line) = (Some(file), Some(line));
    }
}

/// JSON of options, in which a number that is none is a text: JSON.stringify() makes it null, as if nothing had been said.
fn stringified<'js>(
    ctx: &Ctx<'js>,
    options: Value<'js>,
) -> rquickjs::Result<Option<rquickjs::String<'js>>> {
    let kept: Function = ctx.eval("(key, value) => typeof value === 'number' && !Number.isFinite(value) ? String(value) : value")?;
    ctx.json_stringify_replacer_space(options, kept, Value::new_undefined(ctx.clone()))
}

/// A thrown value that is no Error: a text as it is, of others the JSON, else the type (undefined, a function).
fn in_words(value: &Value<'_>) -> String {
    if let Some(text) = value.as_string() {
        return text_of_string(text);
    }
    let ctx = value.ctx();
    match ctx.json_stringify(value.clone()) {
        Ok(Some(text)) => text_of_string(&text),
        Ok(None) => value.type_name().to_owned(),
        Err(_) => {
            ctx.catch(); // circular, or a toJSON() that throws: what was thrown here is nobody's
            value.type_name().to_owned()
        }
    }
}

/// Turns what JavaScript threw into a message with file, line and the line itself.
fn describe(state: &VuState, error: &CaughtError<'_>) -> ScriptError {
    let (message, stack) = match error {
        CaughtError::Exception(exception) => {
            let name = exception.as_object().get::<_, Option<String>>("name").ok().flatten();
            let message =
                exception.as_object().get::<_, Option<rquickjs::String>>("message").ok().flatten();
            let message = message.map_or_else(String::new, |text| text_of_string(&text));
            let message = match name.filter(|name| name != "Error") {
                Some(name) => format!("{name}: {message}"),
                None => message,
            };
            (message, exception.stack().unwrap_or_default())
        }
        CaughtError::Value(value) => {
            (format!("the script threw: {}", in_words(value)), String::new())
        }
        CaughtError::Error(error) => (error.to_string(), String::new()),
    };
    let message = match message.as_str() {
        _ if state.runtime.memory.is_exhausted() => {
            format!(
                "the script used over {} MiB of memory and was stopped; look for a text or list that grows without end, or raise --vu-memory",
                state.bundle.vu_memory_bytes >> 20
            )
        }
        "InternalError: interrupted" if state.aborted.get() => {
            "the script was interrupted, because the run had to end".to_owned()
        }
        "InternalError: interrupted" => {
            format!(
                "the script computed for over {} s without a request or sleep and was stopped; look for a loop that never ends",
                MAX_COMPUTE.as_secs()
            )
        }
        "InternalError: stack overflow" | "RangeError: Maximum call stack size exceeded" => {
            format!("{message}: a function calls itself too deeply")
        }
        _ => message,
    };
    let (message, place) = match missing_export(&message, &state.bundle) {
        Some((message, file, line)) => (message, Some((file, line))),
        None => (message, place_in_script(&stack, &state.bundle)),
    };
    let mut described = ScriptError::new(state.bundle.secrets.redact(&message));
    if let Some((file, line)) = place {
        described.snippet = state.bundle.snippet(&file, line);
        described.file = Some(file);
        described.line = Some(line);
    }
    described
}
