"""A profile of each step: started when the step begins, ended when it ends, and read beside the run.

Reading a profile may take seconds, so it is done in a thread; the event is there with the next step, or at the end.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import psutil

from plimsoll.errors import InputError, InputErrors
from plimsoll.probes.probe import ProbeUnavailable
from plimsoll.probes.processes.family import Family
from plimsoll.probes.processes.finding_processes import find_roots
from plimsoll.probes.profiling.pprof import GoProfiler
from plimsoll.probes.profiling.profile import Profiler
from plimsoll.probes.profiling.tools import Perf, PySpy
from plimsoll.study.models import ProcessSelector
from plimsoll.study.probes.profile import ProfileOptions

Event = tuple[str, dict[str, Any]]
END_LIMIT_S = 60.0


@dataclass
class _Watched:
    """One that is profiled; `profiler`: of the step that is under way."""

    options: ProfileOptions
    selector: ProcessSelector | None
    profiler: Profiler | None = None
    told: set[str] = field(default_factory=set)

    @property
    def source(self) -> str:
        return f"profile:{self.options.shown}"


class StepProfiles:
    """`step_started` and `step_ended` frame a step; `take` gives the events that are there: profile_step, with the
    second at which its step ended, or note for what cannot be profiled and why."""

    def __init__(self, wanted: Sequence[ProfileOptions], processes: Sequence[ProcessSelector]) -> None:
        """Raises InputErrors for labels that no process has."""
        by_label = {one.label: one for one in processes}
        mistakes = [
            _unknown_process(place, one.process, list(by_label))
            for place, one in enumerate(wanted)
            if one.url is None and one.process not in by_label
        ]
        if mistakes:
            raise InputErrors(mistakes)
        self._watched = [_Watched(one, by_label.get(one.process or "")) for one in wanted]
        self._events: list[Event] = []
        self._lock = threading.Lock()
        self._reading: list[threading.Thread] = []

    def step_started(self) -> None:
        """Begin to sample."""
        for one in self._watched:
            try:
                one.profiler = _profiler(one.options, one.selector)
                one.profiler.start()
            except ProbeUnavailable as error:
                one.profiler = None
                self._tell(one, str(error))

    def step_ended(self, second: float) -> None:
        """End it; what was seen is read in threads."""
        for one in self._watched:
            profiler, one.profiler = one.profiler, None
            if profiler is not None:
                read = threading.Thread(
                    target=self._read, args=(one, profiler, second), name="plimsoll-profile", daemon=True
                )
                read.start()
                self._reading.append(read)

    def take(self) -> list[Event]:
        """The events that came since the last call."""
        with self._lock:
            events, self._events = self._events, []
        return events

    def finish(self) -> list[Event]:
        """Wait for what is being read; the events that are left."""
        for read in self._reading:
            read.join(END_LIMIT_S)
        self._reading = []
        return self.take()

    def close(self) -> None:
        """End what still samples."""
        for one in self._watched:
            if one.profiler is not None:
                one.profiler.close()
                one.profiler = None

    def _read(self, one: _Watched, profiler: Profiler, second: float) -> None:
        try:
            profile = profiler.stop()
        except ProbeUnavailable as error:
            self._tell(one, str(error))
            return
        details = {"source": one.source, "profile_kind": profiler.kind, "ended_s": second, **profile.to_json()}
        with self._lock:
            self._events.append(("profile_step", details))

    def _tell(self, one: _Watched, words: str) -> None:
        """A note, once for each reason."""
        with self._lock:
            if words not in one.told:
                one.told.add(words)
                self._events.append(("note", {"message": f"{one.source}: {words}"}))


def _unknown_process(place: int, label: str | None, known: Sequence[str]) -> InputError:
    there = f"Use one of {', '.join(known)}." if known else "Name it in target.processes."
    return InputError(f"no process of the target is called {label!r}", there, key=f"probes.profile[{place}].process")


def _profiler(options: ProfileOptions, selector: ProcessSelector | None) -> Profiler:
    """The one for that process, which has to be there."""
    if options.url is not None:
        return GoProfiler(options.url)
    assert selector is not None
    roots = find_roots(selector)
    kind = options.kind or kind_of(roots[0].pid)
    if kind == "python":
        return PySpy([root.pid for root in roots], options.samples_per_s)
    return Perf([one.pid for one in Family().members(roots)], options.samples_per_s)


def kind_of(pid: int, exe: Callable[[str], str] = os.readlink) -> str:
    """ "python" where its program is called so, else "native". ProbeUnavailable for a Java virtual machine, of whose
    functions perf knows no names."""
    try:
        name = os.path.basename(exe(f"/proc/{pid}/exe"))
    except OSError:
        try:
            name = psutil.Process(pid).name()
        except psutil.Error:
            raise ProbeUnavailable(f"process {pid} is gone, or may not be read.") from None
    if name == "java":
        raise ProbeUnavailable("a Java virtual machine is not profiled; use async-profiler or JFR beside the run.")
    return "python" if name.startswith(("python", "pypy")) else "native"
