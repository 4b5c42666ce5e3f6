"""The load engine as Python sees it: the only module that imports the native one."""

from __future__ import annotations

import json
import math
import os
import re
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

from plimsoll import _engine
from plimsoll.errors import EngineError, InputError, ScriptError
from plimsoll.memory_size import memory_of_environment
from plimsoll.module_download import NotFetchedError
from plimsoll.probes.machine.vu_runtimes import VuRuntimes
from plimsoll.remote_modules import ChangedModuleError, fetch_module, known_modules, without_secrets
from plimsoll.runs.snapshot import Snapshot
from plimsoll.script_mistakes import changed_module, option_warnings, script_mistake
from plimsoll.study.secrets.redactor import Redactor
from plimsoll.study.secrets.sources import values_of_sources

POLL_S = 0.05
END_AT_ONCE_S = 0.7  # teardown() and handleSummary() have 0.3 s of it
BACKGROUND_NICE = 10
_LONE = re.compile("[\ud800-\udfff]")  # a surrogate: no UTF-8
_T = TypeVar("_T")
DEFAULT_VU_MEMORY_BYTES = 512 * 2**20
DEFAULT_MAX_BODY_BYTES = 32 * 2**20
_NOTHING: dict[str, Any] = {
    "summary": {},
    "handled": None,
    "aborted": None,
    "failure": None,
    "marked_failed": False,
    "samples": None,
}


@dataclass(frozen=True)
class EngineConfig:
    """What the engine is told. `options` replaces the script's options of the same name; `level` multiplies the
    declared load; `late_arrivals` is "wait", "drop" or None (drop only if a threshold watches dropped_iterations);
    `cpus` are the processors to pin the threads to, none by default; `secret_sources` are k6's `--secret-source`;
    `console_output` is a file that takes the console's lines in place of stderr;
    `vu_memory_bytes` is what the JavaScript of one VU may allocate; `max_body_bytes` the largest body that is kept of a
    response; `import_map` says which local files stand for remote modules; others are fetched, unless `offline`.

    `options_below` are options that the script replaces; `outputs` the kind and path of each file of raw samples; `url`
    what to request instead of a script, which is None then: {url, method, headers, body, rate}; `home` the folder that
    the script's own paths start from, if not that of its file."""

    script: Path | None
    env: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    threads: int = 1
    level: float = 1.0
    arrival_process: str = "even"
    late_arrivals: str | None = None
    seed: int = 1
    cpus: tuple[int, ...] = ()
    secret_sources: tuple[str, ...] = ()
    console_output: Path | None = None
    vu_memory_bytes: int = field(
        default_factory=partial(memory_of_environment, "PLIMSOLL_VU_MEMORY", DEFAULT_VU_MEMORY_BYTES)
    )
    max_body_bytes: int = field(
        default_factory=partial(memory_of_environment, "PLIMSOLL_MAX_BODY", DEFAULT_MAX_BODY_BYTES)
    )
    import_map: Path | None = None
    options_below: Mapping[str, Any] = field(default_factory=dict)
    outputs: Sequence[tuple[str, str]] = ()
    url: Mapping[str, Any] | None = None
    offline: bool = False
    home: Path | None = None

    @property
    def redactor(self) -> Redactor:
        """A redactor that knows the secrets of what the script is given."""
        url = {**self.url, "headers": dict(self.url.get("headers") or ())} if self.url else {}
        data = {"env": dict(self.env), "options": dict(self.options), **url}
        return Redactor.for_data(data, declared=values_of_sources(self.secret_sources))

    def to_json(self, redactor: Redactor, modules: Mapping[str, Path] | None = None) -> str:
        """The form that the native module reads, with what the script's console must not show; `modules`: the files of
        remote modules, by address."""
        return json.dumps(
            {
                "script": str(self.script or ""),
                "home": None if self.home is None else str(self.home),
                "env": list(self.env.items()),
                "options": dict(self.options),
                "threads": self.threads,
                "level": self.level,
                "arrival_process": self.arrival_process,
                "late_arrivals": self.late_arrivals,
                "seed": self.seed,
                "cpus": list(self.cpus),
                "secret_sources": list(self.secret_sources),
                "hidden": [form for form in redactor.known if not _LONE.search(form)],  # such are in no text of its
                "console_output": None if self.console_output is None else str(self.console_output),
                "vu_memory_bytes": self.vu_memory_bytes,
                "max_body_bytes": self.max_body_bytes,
                "import_map": None if self.import_map is None else str(self.import_map),
                "modules": {url: str(file) for url, file in (modules or {}).items()},
                "options_below": dict(self.options_below),
                "outputs": [{"kind": kind, "path": path} for kind, path in self.outputs],
                "url": dict(self.url) if self.url is not None else None,
            }
        )


def inspect(config: EngineConfig) -> dict[str, Any]:
    """What a script says of itself: options, exports, scenarios, whether it declares a load. Raises InputError."""
    return json.loads(_loaded(config, config.redactor, _engine.inspect))


def _loaded(config: EngineConfig, redactor: Redactor, load: Callable[[str], _T]) -> _T:
    """What `load` makes of the configuration, once the remote modules that the script imports are here."""
    place = config.script if config.script is None or config.home is None else config.home / config.script.name
    modules = known_modules(place) if place is not None else {}
    while True:
        try:
            with _native_errors(config.script):
                return load(config.to_json(redactor, modules))
        except ScriptError as error:
            url = error.missing_module
            if url is None or url in modules or place is None:
                raise
            try:
                modules[url] = fetch_module(url, place, offline=config.offline)
            except NotFetchedError as why:
                error.what, error.next_step = without_secrets(error.what), str(why)
                is_changed = isinstance(why, ChangedModuleError)
                raise (changed_module(error, without_secrets(url)) if is_changed else error) from None


def vu_runtimes() -> VuRuntimes:
    """Whether VUs of a thread share JavaScript runtimes in this process, and if not, why."""
    return cast(VuRuntimes, _engine.vu_runtimes())


@contextmanager
def _native_errors(script: Path | None) -> Iterator[None]:
    """The native module's errors as ours: ValueError(message, end, missing module) is a script's, RuntimeError the
    engine's own."""
    try:
        yield
    except ValueError as error:
        # A mistake in the configuration itself has a message only.
        mistake = script_mistake(*error.args[:2], script=script)
        mistake.missing_module = error.args[2] if len(error.args) > 2 else None
        raise mistake from None
    except RuntimeError as error:
        raise EngineError(str(error), "Check the machine's limits of memory, threads and open files.") from None


class EngineRun:
    """One run of the engine. The constructor loads the script and raises InputError for its mistakes; `begin` starts
    the load, and `snapshots` yields until it ends. The native module asks `redactor`, the configuration's own if it is
    left out, for each name in raw samples and for the messages that it writes itself."""

    def __init__(self, config: EngineConfig, redactor: Redactor | None = None) -> None:
        self._script = config.script
        redactor = redactor or config.redactor
        self._run = _loaded(config, redactor, lambda text: _engine.EngineRun(text, redactor.tag))
        self._begun = False
        self._ended: dict[str, Any] | None = None

    def begin(self) -> EngineRun:
        """Run the script's setup and start the load; returns itself."""
        with _native_errors(self._script):
            self._run.begin()
        self._begun = True
        return self

    @property
    def vu_cap(self) -> tuple[int, str]:
        """The cap of VUs for scenarios without `maxVUs`, and the limits it came from."""
        return self._run.vu_cap()

    @property
    def without_most_vus(self) -> list[str]:
        """The arrival-rate scenarios without `maxVUs`."""
        return self._run.without_most_vus()

    @property
    def late_arrivals(self) -> str:
        """What happens to an arrival beyond the cap: "wait" or "drop"."""
        return self._run.late_arrivals()

    @property
    def fixed_iterations(self) -> list[str]:
        """The scenarios with a fixed number of iterations, which follow no level."""
        return self._run.fixed_iterations()

    @property
    def starts_paused(self) -> bool:
        """Whether the options (`paused`) ask that `begin` is called only when somebody says so."""
        return self._run.starts_paused()

    @property
    def warnings(self) -> list[str]:
        """What of the options has no effect, or another than may be meant, in sentences."""
        return option_warnings(self._run.warnings())

    def elapsed_s(self) -> float | None:
        """Seconds since the load began; None before, as long as setup() runs."""
        return self._run.elapsed_s()

    def connections(self) -> list[tuple[str, int]]:
        """The addresses (IP, port) that the run has connected to so far, unless through a proxy."""
        return self._run.connections()

    def proxies(self) -> list[str]:
        """The proxies that the run has connected through so far, as "proxy.example:3128 of HTTP_PROXY"."""
        return self._run.proxies()

    def set_level(self, level: float) -> None:
        """Multiply the declared load by `level` from now on. Raises InputError for one that no generator could make."""
        try:
            self._run.set_level(level)
        except ValueError as error:
            raise InputError(str(error), "Give a lower level.") from None

    def stop(self, at_once: bool = False) -> None:
        """Stop; running iterations end within their gracefulStop, or are interrupted at once, when teardown() and
        handleSummary() have 0.3 s left."""
        self._run.stop(at_once)

    def cut(self) -> None:
        """Interrupt running iterations; teardown() and handleSummary() run to their end."""
        self._run.cut()

    def next_snapshot(self, timeout_s: float = POLL_S) -> Snapshot | None:
        """The next second, or None after `timeout_s`.

        Raises StopIteration when the run has ended, EngineError before it began.
        """
        self._must_have_begun()
        text = self._run.next_snapshot(timeout_s)
        if text is None:
            raise StopIteration
        return Snapshot.from_json(json.loads(text)) if text else None

    def snapshots(self, within_s: float = math.inf) -> Iterator[Snapshot]:
        """Every second until the run ends; signals are served while waiting. Raises DeafScript after `within_s`."""
        end_s = time.monotonic() + within_s
        while True:
            if time.monotonic() > end_s:
                raise DeafScript
            try:
                snapshot = self.next_snapshot()
            except StopIteration:
                return
            if snapshot is not None:
                yield snapshot

    def result(self) -> dict[str, Any]:
        """Waits for the end: {"summary": k6's data, "handled": handleSummary's files, "aborted": by_script and message,
        "failure": how teardown failed, see `failure`, "marked_failed": whether exec.test.fail() was called, "samples":
        raw samples lost and what stopped their writing}; handled, aborted, failure and samples are None where there is
        nothing to say.

        Raises ScriptError if setup failed, EngineError if the engine did or the run has not begun.
        """
        self._must_have_begun()
        if self._ended is None:
            with _native_errors(self._script):
                text = self._run.join()
            self._ended = json.loads(text) if text else _NOTHING
        return self._ended

    def _must_have_begun(self) -> None:
        if not self._begun:
            raise EngineError("The run has not begun", "Call begin() first: it runs setup and starts the load.")

    def failure(self) -> ScriptError | None:
        """How teardown failed, if it did: what was measured before is in the result all the same."""
        failed = self.result()["failure"]
        return script_mistake(failed["message"], failed["kind"], script=self._script) if failed else None


class DeafScript(EngineError):
    """The run was told to end at once and did not: its thread is left behind, and its summary is lost."""

    def __init__(self) -> None:
        super().__init__(
            "The script did not end when it was told to: it is in a function that cannot be interrupted",
            "See what it computes; the run is kept without its last seconds.",
        )


class _PauseClock:
    """Sets a run's level to 0 at a moment of its time, on a thread of its own: the one that gave the moment may be busy
    with probes then, or be kept from its core."""

    def __init__(self, run: EngineRun) -> None:
        self._run = run
        self._at_s = math.inf
        self._has_come = self._is_over = False
        self._changed = threading.Condition()
        threading.Thread(target=self._wait, name="plimsoll-pause", daemon=True).start()

    def at(self, at_s: float) -> bool:
        """Pause then and not when it was said before; whether a pause has come since the last call."""
        with self._changed:
            came, self._has_come = self._has_come, False
            self._at_s = at_s
            self._changed.notify()
        return came

    def end(self) -> None:
        """Pause no more."""
        with self._changed:
            self._is_over = True
            self._changed.notify()

    def _wait(self) -> None:
        with self._changed:
            while not self._is_over:
                left_s = self._at_s - (self._run.elapsed_s() or 0.0)
                if left_s > 0:
                    self._changed.wait(min(left_s, threading.TIMEOUT_MAX))
                    continue
                self._run.set_level(0.0)
                self._has_come, self._at_s = True, math.inf


class EngineSource:
    """The engine as the LoadSource of an experiment (experiments/load.py).

    `background`: once the load runs, the calling thread steps back behind the engine's threads (nice 10 on Linux), so
    that bookkeeping and probes on the engine's processor do not delay arrivals. It cannot be undone without privilege,
    so it is for programs whose main thread does nothing else.
    """

    def __init__(self, config: EngineConfig, *, unit: str, is_open: bool, background: bool = False) -> None:
        self.unit = unit
        self.open = is_open
        self._config = config
        self._background = background
        self._run: EngineRun | None = None
        self._is_deaf = False
        self._pause: _PauseClock | None = None
        self._unread: deque[Snapshot] = deque()
        self._read = -1

    def start(self) -> None:
        """Load the script, run its setup, begin at the configured level (0 for experiments)."""
        self._run = EngineRun(self._config).begin()
        while self._run.elapsed_s() is None:
            self._take(self._run)
        self._pause = _PauseClock(self._run)  # its thread does not step back
        if self._background and sys.platform == "linux":
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), BACKGROUND_NICE)

    def set_level(self, level: float) -> None:
        self._running().set_level(level)

    def pause_at(self, at_s: float) -> bool:
        self._running()
        assert self._pause is not None, "it begins with the run"
        return self._pause.at(at_s)

    def snapshots(self, until_s: float) -> Iterator[Snapshot]:
        run = self._running()
        last_second = int(until_s) - 1
        while True:
            while self._unread and self._unread[0].second <= last_second:
                snapshot = self._unread.popleft()
                self._read = snapshot.second
                yield snapshot
            if self._read >= last_second:
                return
            self._take(run)

    def drain(self, limit_s: float) -> float:
        run = self._running()
        run.set_level(0.0)
        began_s = self.now()
        seen = len(self._unread)
        while self.now() < began_s + limit_s:
            self._take(run)
            for snapshot in list(self._unread)[seen:]:
                if snapshot.second + 1 > began_s and snapshot.backlog == 0 and snapshot.in_flight == 0:
                    return max(0.0, snapshot.second + 1 - began_s)
            seen = len(self._unread)
        return float("inf")

    def stop(self, graceful: bool = True) -> None:
        """End the load. Ctrl-C while it ends cuts off what still runs, teardown() included, and is raised then."""
        run = self._run
        if self._pause is not None:
            self._pause.end()
        if run is None or self._is_deaf:
            return
        try:
            if graceful:
                run.stop()
            else:
                run.cut()
            self._read_to_the_end(run)
        except KeyboardInterrupt:
            run.stop(at_once=True)
            try:
                self._read_to_the_end(run, END_AT_ONCE_S)
            except DeafScript as error:
                self._is_deaf = True
                print(f"warning: {error}", file=sys.stderr)
            raise

    def _read_to_the_end(self, run: EngineRun, within_s: float = math.inf) -> None:
        for snapshot in run.snapshots(within_s):
            self._unread.append(snapshot)
        run.result()

    def rest(self) -> Iterator[Snapshot]:
        """The seconds that were not read when the load was stopped, each once."""
        while self._unread:
            yield self._unread.popleft()

    def connections(self) -> list[tuple[str, int]]:
        """The addresses (IP, port) that the load has connected to so far, unless through a proxy; empty before it
        starts."""
        return self._run.connections() if self._run is not None else []

    def proxies(self) -> list[str]:
        """The proxies that the load has connected through so far; empty before it starts."""
        return self._run.proxies() if self._run is not None else []

    def now(self) -> float:
        return self._running().elapsed_s() or 0.0

    def _running(self) -> EngineRun:
        if self._run is None:
            raise EngineError("the load has not been started", "Call start() first.")
        return self._run

    def _take(self, run: EngineRun) -> None:
        try:
            snapshot = run.next_snapshot()
        except StopIteration:
            run.result()
            raise EngineError(
                "the load ended before the experiment did", "Look at the messages of the script above."
            ) from None
        if snapshot is not None:
            self._unread.append(snapshot)


def available_cpus() -> list[int]:
    """The processors this process may use."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count() or 1))
