"""The verbs as functions: what the command line does, for Python.

import plimsoll
answer = plimsoll.capacity("study.yaml")
print(answer.findings[0]["answer"], answer.run_directory)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plimsoll.engine import EngineSource
from plimsoll.errors import RunDirectoryError
from plimsoll.experiments.awake import Awake, is_virtual_machine
from plimsoll.experiments.capacity import run_capacity
from plimsoll.experiments.data_volume import DataVolume
from plimsoll.experiments.isolation import target_off
from plimsoll.experiments.result import Progress
from plimsoll.experiments.target import TargetControl
from plimsoll.findings.capacity import capacity_findings
from plimsoll.plans import Choices, Plan, plan_of
from plimsoll.probes import Sampler, probes_for
from plimsoll.probes.local_targets import is_local, local_listeners
from plimsoll.report.html import write_html
from plimsoll.report.text import answer_lines
from plimsoll.runs.reader import RunReader
from plimsoll.runs.writer import RunFacts, RunWriter
from plimsoll.study import (
    ProcessSelector,
    Redactor,
    Study,
    Target,
)


@dataclass(frozen=True)
class Answer:
    """What an experiment found: findings as plain data (docs/findings), and where the run and its report lie."""

    findings: list[dict[str, Any]]
    run_directory: Path
    report: Path
    status: str


def capacity(
    source: str | Path | Study,
    choices: Choices | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    on_note: Callable[[str], None] | None = None,
    on_message: Callable[[str], None] | None = None,
) -> Answer:
    """Find how much load a target carries and what stops it, from a study file, a Study or a k6 script.

    `on_note` gets what the user should know or do while it runs, as a sentence; the finding repeats it. `on_message`
    gets what only matters while it runs.
    Raises InputError for mistakes in study or script, TargetError if the target does not come up,
    RunDirectoryError if the run cannot be written. Ctrl-C ends with what was measured.
    """
    choices = choices or Choices()
    plan = plan_of(source, choices)
    redactor = Redactor.for_data({"study": plan.study_data, "env": dict(choices.env)})
    facts = RunFacts(
        "capacity",
        script=plan.config.script,
        options=dict(plan.config.options),
        study=plan.study_data,
        seed=choices.seed,
        level_unit=plan.unit,
    )
    with RunWriter.create(choices.runs, facts, redactor=redactor) as writer:
        return _measure(plan, choices, writer, on_progress, on_note or (lambda text: None), on_message)


def _measure(
    plan: Plan,
    choices: Choices,
    writer: RunWriter,
    on_progress: Callable[[Progress], None] | None,
    on_note: Callable[[str], None],
    on_message: Callable[[str], None] | None,
) -> Answer:
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
        source = EngineSource(plan.config, unit=plan.unit, is_open=plan.is_open, background=choices.background)
        awake = Awake()
        sample = _sample_with(plan, processes, note, awake)
        apart = target_off(plan.config.cpus, processes, tell) if choices.isolate else nullcontext(choices.kept_apart)
        with apart as kept_apart, on_cpus(plan.config.cpus), ExitStack() as spinning:
            if kept_apart and plan.config.cpus and choices.awake and is_virtual_machine():
                spinning.enter_context(awake.on(plan.config.cpus))
                kept_apart += "; an idle-priority process keeps the generator's from halting"
            result = run_capacity(source, plan.settings, writer, sample, on_progress, data_volume, on_message)
    if not plan.target.reset and not plan.target.start and result.status != "failed":
        notes += [_AGEING] if plan.target.data_volume else [_AGEING, _UNKNOWN_VOLUME]
    notes += [control.early_end] if control.early_end else []
    findings = capacity_findings(
        result,
        RunReader(writer.path),
        expected_users=plan.expected_users,
        objectives=plan.objectives,
        users_per_level=plan.users_per_level,
        same_host=is_local(control.target.url),
        kept_apart=kept_apart,
        run_path=str(writer.path),
        notes=notes,
    )
    if choices.variant is not None:
        findings = [finding | {"variant": choices.variant} for finding in findings]
    try:
        writer.write_findings(findings)
        writer.finish(result.status)
        return Answer(findings, writer.path, write_html(writer.path), result.status)
    except RunDirectoryError as error:
        error.add_note(f"The answer, which could not be written:\n{answer_lines(findings)}")
        raise


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


_AGEING = "The target was not reset before the run: what earlier runs left in it is part of this answer."
_UNKNOWN_VOLUME = "How much data it held is not known; target.data_volume of the study tells it."


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
    plan: Plan, processes: list[ProcessSelector], note: Callable[[str, str], None], awake: Awake
) -> Callable[[int, float], Iterable[Mapping[str, Any]]]:
    """Probes asked once per second of load, so that their rows and the load's seconds are the same seconds."""
    rows: list[dict[str, Any]] = []
    sampler = Sampler(
        probes_for(
            plan.probes if processes else plan.probes.model_copy(update={"processes": False}), processes, awake.cpu_s
        ),
        rows.append,
        lambda kind, _t_unix, source, message: note(kind, f"{source}: {message}"),
        t0_unix=0.0,
    )

    def sample(second: int, _t_unix: float) -> list[dict[str, Any]]:
        rows.clear()
        sampler.sample_once()
        return [{**row, "second": second} for row in rows]

    return sample
