"""The profiles that a study wants of its steps: started and ended with them, and written into the run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

from plimsoll.experiments.steps.holding import OnStep
from plimsoll.runs.writer import RunWriter
from plimsoll.study import Probes, ProcessSelector


@contextmanager
def profiled(
    wanted: Probes, processes: Sequence[ProcessSelector], writer: RunWriter, tell: Callable[[str], None]
) -> Iterator[OnStep | None]:
    """Who is to be told of steps; None where nothing is profiled. `tell` gets what cannot be profiled, and why; the run
    goes on. Raises InputErrors for processes that the study does not have."""
    if not wanted.profile:
        yield None
        return
    from plimsoll.probes.profiling import StepProfiles
    from plimsoll.probes.profiling.steps import Event

    profiles = StepProfiles(wanted.profile, processes)

    def write(events: Sequence[Event]) -> None:
        for kind, details in events:
            if kind == "note":
                tell(details["message"])
            else:
                writer.append_event(kind, second=details["ended_s"], **details)

    def on_step(what: Literal["started", "ended"], second: float) -> None:
        if what == "started":
            profiles.step_started()
        else:
            profiles.step_ended(second)
        write(profiles.take())

    try:
        yield on_step
        write(profiles.finish())
    finally:
        profiles.close()
