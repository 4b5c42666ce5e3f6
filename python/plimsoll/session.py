"""What surrounds every experiment: the target's commands, probes once a second, processors, and what the user is
told."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plimsoll.errors import RunDirectoryError
from plimsoll.experiments.awake import Awake, is_virtual_machine
from plimsoll.experiments.data_volume import DataVolume
from plimsoll.experiments.isolation import target_off
from plimsoll.experiments.result import Status
from plimsoll.experiments.target import TargetControl
from plimsoll.plans import Choices, Plan
from plimsoll.probes import Sampler, probes_for
from plimsoll.probes.local_targets import local_listeners
from plimsoll.probes.probe import Probe
from plimsoll.report.html import write_html
from plimsoll.report.text import answer_lines
from plimsoll.runs.writer import RunWriter
from plimsoll.study import ProcessSelector, Target

AGEING = "The target was not reset before the run: what earlier runs left in it is part of this answer."
UNKNOWN_VOLUME = "How much data it held is not known; target.data_volume of the study tells it."


@dataclass(frozen=True)
class Answer:
    """What an experiment found: findings as plain data (docs/findings), and where the run and its report lie."""

    findings: list[dict[str, Any]]
    run_directory: Path
    report: Path
    status: str


@dataclass
class Session:
    """A target that is ready, and what an experiment needs beside its load source.

    `sample`: the probes' rows of one second; `kept_apart`: how generator and target were separated, in words;
    `notes`: what the user was told and the findings repeat.
    """

    control: TargetControl
    sample: Callable[[int, float], list[dict[str, Any]]]
    data_volume: DataVolume | None
    kept_apart: str | None
    notes: list[str] = field(default_factory=list)


@contextmanager
def session(
    plan: Plan,
    choices: Choices,
    writer: RunWriter,
    on_note: Callable[[str], None],
    probes: Sequence[Probe] = (),
) -> Iterator[Session]:
    """Bring the target up (start, ready, switch, reset) and stop it at the end; `probes` are asked beside the
    study's."""
    notes: list[str] = []

    def note(kind: str, message: str) -> None:
        writer.append_event(kind, message=message)

    def tell(message: str) -> None:
        note("note", message)
        notes.append(message)
        on_note(message)

    control = TargetControl(plan.target, writer.logs, directory=plan.directory, on_event=note)
    with control:
        if choices.variant is not None:
            control.switch(choices.variant)
        control.reset()
        data_volume = _data_volume(plan, control, tell)
        processes = _processes(control.target)
        awake = Awake()
        sample = _sample_with(plan, processes, note, awake, probes)
        apart = target_off(plan.config.cpus, processes, tell) if choices.isolate else nullcontext(choices.kept_apart)
        with apart as kept_apart, on_cpus(plan.config.cpus), ExitStack() as spinning:
            if kept_apart and plan.config.cpus and choices.awake and is_virtual_machine():
                spinning.enter_context(awake.on(plan.config.cpus))
                kept_apart += "; an idle-priority process keeps the generator's from halting"
            yield Session(control, sample, data_volume, kept_apart, notes)


@contextmanager
def on_cpus(cpus: tuple[int, ...]) -> Iterator[None]:
    """Probes and bookkeeping run beside the engine, not on the target's processors."""
    if not cpus or not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _data_volume(plan: Plan, control: TargetControl, tell: Callable[[str], None]) -> DataVolume | None:
    """Reads the target's data volume, and has done so once, so that a mistake in the study is told before any load."""
    if control.target.data_volume is None:
        return None
    read = DataVolume(control.target, control.logs, directory=plan.directory, on_note=tell)
    read()
    return read


def _processes(target: Target) -> list[ProcessSelector]:
    """The study's processes; without any, whoever listens on the target's port of this host."""
    if target.processes or not target.url:
        return list(target.processes)
    return local_listeners([target.url])


def _sample_with(
    plan: Plan,
    processes: list[ProcessSelector],
    note: Callable[[str, str], None],
    awake: Awake,
    more: Sequence[Probe],
) -> Callable[[int, float], list[dict[str, Any]]]:
    """Probes asked once per second of load, so that their rows and the load's seconds are the same seconds."""
    rows: list[dict[str, Any]] = []
    wanted = plan.probes if processes else plan.probes.model_copy(update={"processes": False})
    sampler = Sampler(
        [*probes_for(wanted, processes, awake.cpu_s), *more],
        rows.append,
        lambda kind, _t_unix, source, message: note(kind, f"{source}: {message}"),
        t0_unix=0.0,
    )

    def sample(second: int, _t_unix: float) -> list[dict[str, Any]]:
        rows.clear()
        sampler.sample_once()
        return [{**row, "second": second} for row in rows]

    return sample


def ageing_notes(plan: Plan, control: TargetControl, status: str) -> list[str]:
    """What a reader must know of a target that was not reset, or that ended by itself."""
    notes = []
    if not plan.target.reset and not plan.target.start and status != "failed":
        notes += [AGEING] if plan.target.data_volume else [AGEING, UNKNOWN_VOLUME]
    return [*notes, *([control.early_end] if control.early_end else [])]


def finish(writer: RunWriter, findings: Iterable[dict[str, Any]], status: Status) -> Answer:
    """Write findings and report, and close the run. An answer that cannot be written is told with the error."""
    found = list(findings)
    try:
        writer.write_findings(found)
        writer.finish(status)
        return Answer(found, writer.path, write_html(writer.path), status)
    except RunDirectoryError as error:
        error.add_note(f"The answer, which could not be written:\n{answer_lines(found)}")
        raise
