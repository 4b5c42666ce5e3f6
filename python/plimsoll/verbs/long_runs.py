"""The verbs hold, grow and drain as functions: plan, run, judge, write findings and report."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import Any

from plimsoll.engine import EngineSource
from plimsoll.errors import InputError
from plimsoll.experiments.long_runs.drain import DrainSettings, run_drain
from plimsoll.experiments.long_runs.grow import GrowSettings, earlier_load, run_grow
from plimsoll.experiments.long_runs.hold import HoldSettings, run_hold
from plimsoll.experiments.long_runs.kept_load import kept_objectives
from plimsoll.experiments.steps.record import Progress
from plimsoll.findings.hold.keep import FEWEST_KEPT_S, SETTLE_S
from plimsoll.findings.of_run import Facts, doubts_of
from plimsoll.plans.load import Choices, as_entry_says, source_of
from plimsoll.plans.long_runs import (
    alone_config,
    check_drain,
    grow_plan,
    held_level,
    kept_start,
    load_plan,
    load_times,
)
from plimsoll.plans.options import options_of
from plimsoll.runs.reader import RunReader
from plimsoll.study import Study
from plimsoll.study.experiments import DrainOptions, GrowOptions, HoldOptions
from plimsoll.verbs.consumer import FollowedConsumer
from plimsoll.verbs.listeners import Listeners
from plimsoll.verbs.session import (
    Answer,
    ending_of,
    finish,
    judge,
    load_of,
    objectives_as_data,
    record,
    session,
    writer_of,
)
from plimsoll.words import counted_words

MIB = 2**20
LEAST_HELD_S = 10.0  # of a held load, below which nothing is said of it
LEAST_KEPT_S = SETTLE_S + FEWEST_KEPT_S + 30.0  # of a steered one, which has to climb to its level before
LEAST_LEFT = 0.9  # of the items of a run that is gone on with: a target that holds fewer was reset


def hold(
    source: str | Path | Study,
    choices: Choices | None = None,
    listeners: Listeners[Progress] | None = None,
    **options: Any,
) -> Answer:
    """Hold a load and say whether the target is stable and meets its objectives, from a study file, a Study or a k6
    script.

    `options`: those of study.experiments.HoldOptions (users, keep, max_users, duration_s, warm_up_s, baseline_s,
    memory_limit_mb), in place of the study's; with `keep`, one objective or several, the load is steered so that they
    just hold. Raises InputError, TargetError and RunDirectoryError as `capacity` does; Ctrl-C ends with
    what was measured.
    """
    choices, listeners, given = choices or Choices(), listeners or Listeners(), source_of(source, "hold")
    wanted = options_of(HoldOptions, "hold", given, options)
    choices = as_entry_says(choices, wanted)
    plan = load_plan(given, choices)
    keep = kept_objectives(wanted.keep) if wanted.keep else ()
    if wanted.max_users is not None and not keep:
        raise InputError(
            "--max-users bounds a load that is steered, and this one is held", "Add --keep, or leave it out."
        )
    level = kept_start(plan, given, wanted.users) if keep else held_level(plan, given, wanted.users)
    most = wanted.max_users / (plan.users_per_level or 1.0) if wanted.max_users is not None else None
    times = load_times(wanted, options, LEAST_KEPT_S if keep else LEAST_HELD_S, plan)
    settings = HoldSettings(level, times.duration_s, times.warm_up_s, times.baseline_s, keep, most, plan.settings.caps)
    with writer_of("hold", plan, choices, planned_s=sum(times)) as writer, ending_of(writer, listeners) as ending:
        with session(plan, choices, writer, listeners.note, told=plan.notes) as around:
            facts = Facts(
                objectives=objectives_as_data(plan.objectives),
                memory_limit_bytes=wanted.memory_limit_mb * MIB if wanted.memory_limit_mb else None,
                same_host=around.same_host,
                **around.apart,
            )
            record(writer, facts)
            load = around.follow(load_of(plan, choices))
            alone = (
                EngineSource(alone_config(plan, settings.baseline_s, level), unit="users", is_open=False)
                if settings.baseline_s
                else None
            )
            result = run_hold(
                load,
                settings,
                alone,
                writer,
                around.sample,
                listeners.progress,
                around.data_volume,
                listeners.message,
                around.on_step,
            )
            ending.begin(result.status)
            listeners.load_ended()
        facts = replace(facts, same_host=around.same_host, **around.apart)
        notes = around.all_notes(plan, result.status)
        return finish(writer, judge(writer, facts, notes), result.status, listeners.message, ending)


def grow(
    source: str | Path | Study,
    choices: Choices | None = None,
    listeners: Listeners[Progress] | None = None,
    resume: str | Path | None = None,
    **options: Any,
) -> Answer:
    """Load items as fast as the target takes them without failing, and say how long that takes and how it ages.

    `options`: those of study.experiments.GrowOptions (items, exec, min_users, max_users, counter, allowed_failures);
    `resume`: an earlier run directory, whose items count as loaded; the target is not reset then, and where it holds
    them no more, loading begins anew. Raises as `capacity` does; Ctrl-C ends with what was loaded.
    """
    choices, listeners, given = choices or Choices(), listeners or Listeners(), source_of(source, "grow")
    wanted = options_of(GrowOptions, "grow", given, options)
    choices = as_entry_says(choices, wanted)
    plan = grow_plan(given, wanted, choices)
    loaded, windows, before = _resumed(resume)
    doubts = doubts_of(RunReader(resume)) if resume is not None else ()
    if loaded >= wanted.items:
        raise InputError(
            f"{resume}: its {loaded:,} items are all of the {wanted.items:,}", "Ask for more with --items."
        )
    with writer_of("grow", plan, choices, planned_s=wanted.for_s) as writer, ending_of(writer, listeners) as ending:
        with session(plan, choices, writer, listeners.note, reset=resume is None) as around:
            volume = around.data_volume() if around.data_volume is not None else None
            if volume is not None and before is not None and volume < before + LEAST_LEFT * loaded:
                gone = f"those of {resume} are gone, so loading begins anew"
                around.tell(f"The target holds {counted_words(volume, 'item')}: {gone}.")
                loaded, windows, before, resume, doubts = 0, (), None, None, ()
            if volume is not None and before is None:
                before = volume - loaded
            settings = GrowSettings(
                wanted.items, wanted.min_users, wanted.max_users, wanted.counter, wanted.allowed_failures,
                loaded=loaded, windows=windows, volume_before=before, resumed=None if resume is None else str(resume),
                doubts=doubts, longest_s=wanted.for_s,
            )  # fmt: skip
            writer.append_event("grow_settings", second=0.0, counter=wanted.counter, volume_before=before)
            facts = Facts(same_host=around.same_host, **around.apart)
            record(writer, facts)
            result = run_grow(
                around.follow(load_of(plan, choices)),
                settings,
                writer,
                around.sample,
                listeners.progress,
                around.data_volume,
                listeners.message,
            )
            ending.begin(result.status)
            listeners.load_ended()
        facts = replace(facts, same_host=around.same_host, **around.apart)
        notes = [*around.notes, *([around.control.early_end] if around.control.early_end else [])]
        return finish(writer, judge(writer, facts, notes), result.status, listeners.message, ending)


def drain(
    source: str | Path | Study,
    choices: Choices | None = None,
    listeners: Listeners[Progress] | None = None,
    **options: Any,
) -> Answer:
    """Load a target and say whether the asynchronous consumer behind it keeps up, and how long its backlog takes.

    `options`: those of study.experiments.DrainOptions (backlog, produced, consumed, index, …). Raises as `capacity`
    does.
    """
    choices, listeners, given = choices or Choices(), listeners or Listeners(), source_of(source, "drain")
    wanted = options_of(DrainOptions, "drain", given, options)
    choices = as_entry_says(choices, wanted)
    check_drain(wanted)
    plan = load_plan(given, choices)
    level = held_level(plan, given, wanted.users)
    consumer = FollowedConsumer(wanted, plan.target.url, plan.directory)
    times = load_times(wanted, options, LEAST_HELD_S)
    settings = DrainSettings(
        level,
        times.duration_s,
        times.warm_up_s,
        wanted.drain_s,
        wanted.items_per_operation,
        wanted.operation,
    )
    planned_s = sum(times) + wanted.drain_s
    with (
        writer_of("drain", plan, choices, wanted.model_dump(), planned_s=planned_s) as writer,
        ending_of(writer, listeners) as ending,
    ):
        with (
            contextlib.closing(consumer.probe),
            session(plan, choices, writer, listeners.note, [consumer.probe]) as around,
        ):
            before = consumer.first_look(writer.redactor)
            writer.append_event(
                "drain_settings",
                second=0.0,
                items_per_operation=wanted.items_per_operation,
                operation=wanted.operation,
            )
            facts = Facts(
                index_budget_bytes=wanted.index_budget_mb * MIB if wanted.index_budget_mb else None,
                memory_budget_bytes=wanted.memory_budget_mb * MIB if wanted.memory_budget_mb else None,
                same_host=around.same_host,
                **around.apart,
            )
            record(writer, facts)
            with consumer.polls_kept(writer):
                result = run_drain(
                    around.follow(load_of(plan, choices)),
                    settings,
                    writer,
                    around.sample,
                    listeners.progress,
                    listeners.message,
                    before,
                )
                ending.begin(result.status)
                listeners.load_ended()
        facts = replace(facts, same_host=around.same_host, **around.apart)
        notes = around.all_notes(plan, result.status)
        return finish(writer, judge(writer, facts, notes), result.status, listeners.message, ending)


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
