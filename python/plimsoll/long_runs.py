"""The verbs hold, grow and drain as functions: plan, run, judge, write findings and report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from plimsoll.engine import EngineSource
from plimsoll.errors import InputError
from plimsoll.experiments.drain import DrainSettings, run_drain
from plimsoll.experiments.grow import GrowSettings, earlier_load, run_grow
from plimsoll.experiments.hold import HoldSettings, run_hold
from plimsoll.experiments.result import Progress
from plimsoll.findings.drain import drain_findings
from plimsoll.findings.grow import grow_findings
from plimsoll.findings.hold import hold_findings
from plimsoll.long_plans import (
    alone_config,
    alone_s,
    check_drain,
    grow_plan,
    held_level,
    load_plan,
    options_of,
    source_of,
)
from plimsoll.plans import Choices, Plan
from plimsoll.probes.consumer import ConsumerProbe
from plimsoll.probes.local_targets import is_local
from plimsoll.probes.reading import reading
from plimsoll.runs.reader import RunReader
from plimsoll.runs.writer import RunFacts, RunWriter
from plimsoll.session import Answer, ageing_notes, finish, session
from plimsoll.study import Redactor, Study
from plimsoll.study.experiments import DrainOptions, GrowOptions, HoldOptions

MIB = 2**20


@dataclass(frozen=True)
class Listeners:
    """Who is told while it runs: progress once a second, notes that findings repeat, messages that only matter now."""

    progress: Callable[[Progress], None] | None = None
    note: Callable[[str], None] = lambda text: None
    message: Callable[[str], None] | None = None


def hold(
    source: str | Path | Study, choices: Choices | None = None, listeners: Listeners | None = None, **options: Any
) -> Answer:
    """Hold a load and say whether the target is stable and meets its objectives, from a study file, a Study or a k6
    script.

    `options`: those of study.experiments.HoldOptions (users, duration_s, warm_up_s, baseline_s, memory_limit_mb), in
    place of the study's. Raises InputError, TargetError and RunDirectoryError as `capacity` does; Ctrl-C ends with
    what was measured.
    """
    choices, listeners, given = choices or Choices(), listeners or Listeners(), source_of(source)
    wanted = options_of(HoldOptions, "hold", given, options)
    plan = load_plan(given, choices)
    level = held_level(plan, given, wanted.users)
    settings = HoldSettings(level, wanted.duration_s, wanted.warm_up_s, wanted.baseline_s)
    if settings.baseline_s:
        settings = replace(settings, baseline_s=alone_s(plan, settings.baseline_s))
    with _writer("hold", plan, choices) as writer:
        with session(plan, choices, writer, listeners.note) as around:
            load = EngineSource(plan.config, unit=plan.unit, is_open=plan.is_open, background=choices.background)
            alone = (
                EngineSource(alone_config(plan, settings.baseline_s), unit="users", is_open=False)
                if settings.baseline_s
                else None
            )
            result = run_hold(
                load, settings, alone, writer, around.sample, listeners.progress, around.data_volume, listeners.message
            )
        findings = hold_findings(
            RunReader(writer.path),
            objectives=plan.objectives,
            memory_limit_bytes=wanted.memory_limit_mb * MIB if wanted.memory_limit_mb else None,
            same_host=is_local(around.control.target.url),
            kept_apart=around.kept_apart,
            run_path=str(writer.path),
            notes=[*around.notes, *ageing_notes(plan, around.control, result.status)],
        )
        return finish(writer, findings, result.status)


def grow(
    source: str | Path | Study,
    choices: Choices | None = None,
    listeners: Listeners | None = None,
    resume: str | Path | None = None,
    **options: Any,
) -> Answer:
    """Load items as fast as the target takes them without failing, and say how long that takes and how it ages.

    `options`: those of study.experiments.GrowOptions (items, exec, min_users, max_users, counter, allowed_failures);
    `resume`: an earlier run directory, whose items count as loaded. Raises as `capacity` does; Ctrl-C ends with what
    was loaded.
    """
    choices, listeners, given = choices or Choices(), listeners or Listeners(), source_of(source)
    wanted = options_of(GrowOptions, "grow", given, options)
    plan = grow_plan(given, wanted, choices)
    loaded, windows, before = _resumed(resume)
    if loaded >= wanted.items:
        raise InputError(
            f"{resume}: its {loaded:,} items are all of the {wanted.items:,}", "Ask for more with --items."
        )
    with _writer("grow", plan, choices) as writer:
        with session(plan, choices, writer, listeners.note) as around:
            if before is None and around.data_volume is not None:
                before = around.data_volume()
                before = None if before is None else before - loaded
            settings = GrowSettings(
                wanted.items, wanted.min_users, wanted.max_users, wanted.counter, wanted.allowed_failures,
                loaded=loaded, windows=windows, volume_before=before, resumed=None if resume is None else str(resume),
            )  # fmt: skip
            writer.append_event("grow_settings", second=0.0, counter=wanted.counter, volume_before=before)
            load = EngineSource(plan.config, unit="vus", is_open=False, background=choices.background)
            result = run_grow(
                load, settings, writer, around.sample, listeners.progress, around.data_volume, listeners.message
            )
        findings = grow_findings(
            RunReader(writer.path),
            run_path=str(writer.path),
            notes=[*around.notes, *([around.control.early_end] if around.control.early_end else [])],
            kept_apart=around.kept_apart,
        )
        return finish(writer, findings, result.status)


def drain(
    source: str | Path | Study, choices: Choices | None = None, listeners: Listeners | None = None, **options: Any
) -> Answer:
    """Load a target and say whether the asynchronous consumer behind it keeps up, and how long its backlog takes.

    `options`: those of study.experiments.DrainOptions (backlog, produced, consumed, index, …). Raises as `capacity`
    does.
    """
    choices, listeners, given = choices or Choices(), listeners or Listeners(), source_of(source)
    wanted = options_of(DrainOptions, "drain", given, options)
    check_drain(wanted)
    plan = load_plan(given, choices)
    level = held_level(plan, given, wanted.users)
    places = {
        "waiting": wanted.backlog, "put_in": wanted.produced, "taken_out": wanted.consumed, "index_bytes": wanted.index,
    }  # fmt: skip
    probe = ConsumerProbe(
        {
            name: reading(text, url=plan.target.url, directory=plan.directory, key=f"drain.{name}")
            for name, text in places.items()
            if text is not None
        }
    )
    settings = DrainSettings(
        level, wanted.duration_s, wanted.warm_up_s, wanted.drain_s, wanted.items_per_operation, wanted.operation
    )
    with _writer("drain", plan, choices) as writer:
        with session(plan, choices, writer, listeners.note, [probe]) as around:
            writer.append_event(
                "drain_settings",
                second=0.0,
                items_per_operation=wanted.items_per_operation,
                operation=wanted.operation,
            )
            load = EngineSource(plan.config, unit=plan.unit, is_open=plan.is_open, background=choices.background)
            result = run_drain(load, settings, writer, around.sample, listeners.progress, listeners.message)
        findings = drain_findings(
            RunReader(writer.path),
            index_budget_bytes=wanted.index_budget_mb * MIB if wanted.index_budget_mb else None,
            memory_budget_bytes=wanted.memory_budget_mb * MIB if wanted.memory_budget_mb else None,
            run_path=str(writer.path),
            notes=[*around.notes, *ageing_notes(plan, around.control, result.status)],
        )
        return finish(writer, findings, result.status)


def _writer(experiment: str, plan: Plan, choices: Choices) -> RunWriter:
    facts = RunFacts(
        experiment,
        script=plan.config.script,
        options=dict(plan.config.options),
        study=plan.study_data,
        seed=choices.seed,
        level_unit=plan.unit,
    )
    redactor = Redactor.for_data({"study": plan.study_data, "env": dict(choices.env)})
    return RunWriter.create(choices.runs, facts, redactor=redactor)


def _resumed(resume: str | Path | None) -> tuple[int, tuple[dict[str, Any], ...], float | None]:
    if resume is None:
        return 0, (), None
    reader = RunReader(resume)
    if reader.manifest.get("experiment") != "grow":
        raise InputError(
            f"{resume} is a run of {reader.manifest.get('experiment')}, not of grow", "Give --resume a run of grow."
        )
    if reader.state == "running":
        raise InputError(f"{resume} is still running", "Wait for its end, or stop it.")
    return earlier_load(reader)
