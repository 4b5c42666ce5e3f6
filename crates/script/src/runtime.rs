//! One QuickJS runtime for several VUs of a thread. A runtime of its own costs a VU about 110 KiB beside its context:
//! atoms, shapes and half-filled arenas, which are the same for all.
//!
//! QuickJS keeps three things of whoever runs in the runtime: the innermost stack frame, the jobs of promises and the
//! bounds of the stack. A VU that suspends takes them along (`leave`) and brings them back (`enter`). The first two are
//! private fields, found by watching a runtime at work (`Fields::find`); if they are not where a pointer to a frame and a
//! list of jobs can be recognised without doubt, each VU gets a runtime of its own, and `sharing` says so.

pub(crate) mod globals;
pub(crate) mod host;
pub(crate) mod intrinsics;
pub(crate) mod job_list;
pub(crate) mod json;
pub(crate) mod memory;
pub(crate) mod raw;

use std::cell::{Cell, RefCell};
use std::ptr::NonNull;
use std::rc::{Rc, Weak};
use std::sync::LazyLock;

use rquickjs::allocator::Allocator;
use rquickjs::{qjs, Context, Ctx, Function, Runtime};

use crate::modules::ScriptModules;
use crate::runtime::host::HostFunctions;
use crate::runtime::job_list::{Jobs, Link};
use crate::runtime::memory::{Ledger, Limited, Share};
use crate::signs;
use crate::state::VuState;

/// VUs of a runtime. More save little memory, and a collection of garbage walks the objects of all of them.
const MOST_MEMBERS: usize = 32;
/// Kept free below QuickJS's own limit of the stack, for native frames.
const STACK_RESERVE_BYTES: usize = 48 << 10;
/// What a VU may allocate while it is made before garbage is collected: mostly there is none yet.
const INIT_BYTES: usize = 8 << 20;
/// The list of jobs comes within so many words after the frame.
const NEAR_WORDS: usize = 32;
/// Words of a job before its values: two links, its context, its function.
const JOB_WORDS: usize = 4;
/// So many jobs of a stopped iteration are run at most where they cannot be dropped.
const MOST_JOBS: usize = 1_000_000;
/// A frame in use lies within so many bytes of the stack pointer when a runtime is watched.
const NEAR_BYTES: usize = 64 << 10;

/// Set to anything: each VU gets a runtime of its own, as where the private fields are not recognised.
const OWN_RUNTIMES: &str = "PLIMSOLL_OWN_RUNTIMES";

static FIELDS: LazyLock<Option<Fields>> = LazyLock::new(Fields::find);

/// Whether VUs of a thread share runtimes in this process, and if not, why.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sharing {
    Shared,
    /// QuickJS' private fields were not recognised.
    Unrecognised,
    /// The environment asks for it.
    AskedFor,
}

/// Watches a runtime at work if none was yet in this process.
pub fn sharing() -> Sharing {
    match *FIELDS {
        _ if asked_for_own() => Sharing::AskedFor,
        Some(_) => Sharing::Shared,
        None => Sharing::Unrecognised,
    }
}

fn asked_for_own() -> bool {
    std::env::var_os(OWN_RUNTIMES).is_some_and(|value| !value.is_empty())
}

thread_local! {
    static LATEST: RefCell<Weak<SharedRuntime>> = RefCell::default();
    static RUNNING: RefCell<Option<Rc<VuState>>> = const { RefCell::new(None) };
}

/// The VU whose script this thread runs.
pub fn running() -> Option<Rc<VuState>> {
    RUNNING.with_borrow(Clone::clone)
}

pub struct SharedRuntime {
    /// Until the last VU has ended: what outlives a VU's context holds on to VUs, and they to this.
    live: RefCell<Option<Live>>,
    raw: NonNull<qjs::JSRuntime>,
    fields: Option<Fields>,
    members: Cell<usize>,
    pub memory: Rc<Ledger>,
}

/// In the order in which they end.
struct Live {
    functions: HostFunctions,
    runtime: Runtime,
}

/// What a VU keeps of its runtime while it does not run there.
pub struct Away {
    vu: Option<Rc<VuState>>,
    memory: Share,
    frame: usize,
    jobs: Option<Jobs>,
}

impl Away {
    /// A VU that has not run yet.
    pub fn new(vu: Rc<VuState>) -> Self {
        Self { vu: Some(vu), memory: Share::default(), frame: 0, jobs: None }
    }
}

impl SharedRuntime {
    /// The runtime for the thread's next VU, who `part`s when it has ended.
    pub fn join() -> rquickjs::Result<Rc<Self>> {
        let latest = LATEST.with_borrow(Weak::upgrade).filter(|latest| latest.has_room());
        let joined = latest.map_or_else(Self::make, Ok)?;
        joined.members.set(joined.members.get() + 1);
        Ok(joined)
    }

    fn make() -> rquickjs::Result<Rc<Self>> {
        let memory = Ledger::unlimited();
        let runtime = Runtime::new_with_alloc(Limited(memory.clone()))?;
        let functions = HostFunctions::new(&runtime)?;
        // A runtime tells where it is by a context only.
        let raw =
            NonNull::new(functions.base().get_runtime_ptr()).ok_or(rquickjs::Error::Unknown)?;
        runtime.set_interrupt_handler(Some(Box::new(|| {
            RUNNING.with_borrow(|vu| vu.as_ref().is_some_and(|vu| vu.must_stop()))
        })));
        runtime.set_host_promise_rejection_tracker(Some(Box::new(
            |ctx, promise, reason, is_handled| {
                if let Some(vu) = running() {
                    vu.note_rejection(&ctx, promise, reason, is_handled);
                }
            },
        )));
        runtime.set_loader(ScriptModules, ScriptModules);
        let live = RefCell::new(Some(Live { functions, runtime }));
        let made = Rc::new(Self {
            live,
            raw,
            fields: FIELDS.filter(|_| !asked_for_own()),
            members: Cell::new(0),
            memory,
        });
        LATEST.set(Rc::downgrade(&made));
        Ok(made)
    }

    fn has_room(&self) -> bool {
        self.fields.is_some() && self.members.get() < MOST_MEMBERS && self.live.borrow().is_some()
    }

    /// A VU has ended, and its context is gone; the last one ends the runtime.
    pub fn part(&self) {
        self.members.set(self.members.get() - 1);
        if self.members.get() == 0 {
            drop(self.live.take());
        }
    }

    /// A context for the VU that runs.
    pub fn context(&self) -> rquickjs::Result<Context> {
        let live = self.live.borrow();
        // SAFETY: `raw` was asked of this runtime.
        unsafe {
            intrinsics::context(&live.as_ref().ok_or(rquickjs::Error::Unknown)?.runtime, self.raw)
        }
    }

    /// Uses the functions of the host that the VUs of this runtime share.
    pub fn with_functions<T>(
        &self,
        use_them: impl FnOnce(&HostFunctions) -> rquickjs::Result<T>,
    ) -> rquickjs::Result<T> {
        use_them(&self.live.borrow().as_ref().ok_or(rquickjs::Error::Unknown)?.functions)
    }

    /// A VU is about to be made.
    pub fn expect_growth(&self) {
        self.collect_above(self.memory.used_bytes() + INIT_BYTES);
    }

    /// A VU has been made: garbage is collected when the runtime has grown by half, as QuickJS has it.
    pub fn expect_garbage(&self) {
        self.collect_above(self.memory.used_bytes() / 2 * 3);
    }

    /// Frees what nothing refers to any more.
    pub fn collect_garbage(&self) {
        // SAFETY: the runtime lives as long as one of its VUs.
        unsafe { qjs::JS_RunGC(self.raw.as_ptr()) }
    }

    fn collect_above(&self, bytes: usize) {
        // SAFETY: the runtime lives as long as one of its VUs.
        unsafe { qjs::JS_SetGCThreshold(self.raw.as_ptr(), bytes as _) }
    }

    /// The VU that runs begins an iteration.
    pub fn begin(&self) {
        self.memory.begin(self.members.get());
    }

    /// Takes what the running VU has in the runtime out of it.
    pub fn leave(&self) -> Away {
        signs::end();
        let mut away =
            Away { vu: RUNNING.take(), memory: self.memory.leave(), frame: 0, jobs: None };
        let Some(fields) = self.fields else {
            return away;
        };
        // SAFETY: `Fields::find` has seen that these words of a runtime are the frame and the list of jobs.
        unsafe {
            away.frame = self.word(fields.frame).replace(0);
            away.jobs = job_list::take(self.word(fields.jobs).cast::<Link>());
        }
        away
    }

    /// Puts back what a VU took, whose stack ends at the address `stack_end`; called on that stack.
    pub fn enter(&self, away: Away, stack_end: usize) {
        let limit_bytes = away.vu.as_ref().map_or(usize::MAX, |vu| vu.bundle.vu_memory_bytes);
        self.memory.enter(away.memory, limit_bytes, self.members.get());
        RUNNING.set(away.vu);
        signs::give();
        // SAFETY: as in `leave`; the jobs are those it took, and the list is empty, as every other VU has left.
        unsafe {
            if let Some(fields) = self.fields {
                self.word(fields.frame).write(away.frame);
                if let Some(jobs) = &away.jobs {
                    job_list::put_back(self.word(fields.jobs).cast::<Link>(), jobs);
                }
            }
            let here = std::ptr::from_ref(&limit_bytes).addr();
            qjs::JS_UpdateStackTop(self.raw.as_ptr());
            // A size of 0 would mean a stack without bounds.
            qjs::JS_SetMaxStackSize(
                self.raw.as_ptr(),
                here.saturating_sub(stack_end + STACK_RESERVE_BYTES).max(1) as _,
            );
        }
    }

    fn word(&self, at: usize) -> *mut usize {
        // SAFETY: `at` is one of `Fields`, which were found within the runtime's allocation.
        unsafe { self.raw.as_ptr().cast::<usize>().add(at) }
    }
}

/// Whether a promise job waits.
pub fn has_jobs(ctx: &Ctx<'_>) -> bool {
    // SAFETY: the context lives, and with it its runtime.
    unsafe { qjs::JS_IsJobPending(qjs::JS_GetRuntime(ctx.as_raw().as_ptr())) }
}

/// Takes all jobs out of the list and frees what they hold. None runs: one may make the next without end, and interruptions,
/// which come once in 10,000 calls, may always meet it at a place where it has already done so.
pub fn drop_jobs(ctx: &Ctx<'_>) {
    // Without the fields jobs do run. What is left of the last of them is lost in the next iteration.
    for _ in 0..FIELDS.map_or(MOST_JOBS, |_| usize::MAX) {
        if !has_jobs(ctx) {
            return;
        }
        if let Some(fields) = *FIELDS {
            // SAFETY: `Fields::find` has seen that these words are the list of jobs and a job's function; a job waits.
            unsafe {
                let runtime = qjs::JS_GetRuntime(ctx.as_raw().as_ptr()).cast::<usize>();
                job_list::set_word_of_first(
                    runtime.add(fields.jobs).cast::<Link>(),
                    fields.function,
                    no_job as *const () as usize,
                );
            }
        }
        ctx.execute_pending_job();
    }
}

/// Where private fields are, in words from the beginning.
#[derive(Clone, Copy, Debug)]
struct Fields {
    /// `current_stack_frame` of a runtime
    frame: usize,
    /// `job_list` of a runtime
    jobs: usize,
    /// `job_func` of a job
    function: usize,
}

impl Fields {
    /// Watches a runtime: the frame is the one word that is null at rest and points into the stack during a call, the
    /// jobs the one list near it that is empty at rest and not while a job waits. `None` if that leaves a doubt.
    fn find() -> Option<Self> {
        let runtime = Runtime::new_with_alloc(Limited(Ledger::unlimited())).ok()?;
        let context = Context::full(&runtime).ok()?;
        context.with(|ctx| {
            // SAFETY: the context is alive, and so is its runtime, which is as large as its allocation.
            let (first, words) = unsafe {
                let raw = qjs::JS_GetRuntime(ctx.as_raw().as_ptr());
                (raw.cast::<usize>(), Limited::usable_size(raw.cast()) / size_of::<usize>())
            };
            // SAFETY: as above.
            let read = move |at: usize| unsafe { first.add(at).read_volatile() };
            let read_all = move || (0..words).map(read).collect::<Vec<usize>>();
            let at_rest = read_all();
            let during_call = Rc::new(RefCell::new(Vec::new()));
            let kept = during_call.clone();
            let look = Function::new(ctx.clone(), move || *kept.borrow_mut() = read_all()).ok()?;
            ctx.eval::<Function, _>("look => look()").ok()?.call::<_, ()>((look,)).ok()?;
            let here = std::ptr::from_ref(&at_rest).addr();
            let during_call = during_call.borrow();
            let is_frame = |at: &usize| {
                at_rest[*at] == 0 && (here - NEAR_BYTES..here).contains(&during_call[*at])
            };
            let frame = only((0..words).filter(is_frame))?;

            let address = |at: usize| first.wrapping_add(at).addr();
            let is_empty = |at: usize| read(at) == address(at) && read(at + 1) == address(at);
            let near = || frame + 1..(frame + NEAR_WORDS).min(words - 1);
            let empty: Vec<usize> = near().filter(|at| is_empty(*at)).collect();
            // SAFETY: the context is alive; the job takes no values.
            unsafe {
                qjs::JS_EnqueueJob(ctx.as_raw().as_ptr(), Some(no_job), 0, std::ptr::null_mut())
            };
            let jobs = only(empty.into_iter().filter(|at| !is_empty(*at)));
            // SAFETY: the job that was just made; it has that many words.
            let word_of_job = |job: usize, word: usize| unsafe {
                std::ptr::with_exposed_provenance::<usize>(job).add(word).read()
            };
            let function = jobs.and_then(|jobs| {
                only((0..JOB_WORDS).filter(|word| {
                    word_of_job(read(jobs + 1), *word) == no_job as *const () as usize
                }))
            });
            while ctx.execute_pending_job() {}
            let (jobs, function) = (jobs.filter(|at| is_empty(*at))?, function?);
            Some(Self { frame, jobs, function })
        })
    }
}

unsafe extern "C" fn no_job(
    _ctx: *mut qjs::JSContext,
    _count: std::ffi::c_int,
    _values: *mut qjs::JSValue,
) -> qjs::JSValue {
    qjs::JS_UNDEFINED
}

/// The element of a sequence of one.
fn only<T>(mut found: impl Iterator<Item = T>) -> Option<T> {
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_private_fields_of_a_runtime_are_found() {
        let fields =
            FIELDS.expect("neither frame nor jobs were recognised: VUs would not share runtimes");
        assert!(fields.jobs > fields.frame && fields.function >= 2);
    }
}
