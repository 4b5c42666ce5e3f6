"""The verb capacity as a function: plan, run, judge, write findings and report.

import plimsoll
answer = plimsoll.capacity("study.yaml")
print(answer.findings[0]["answer"], answer.run_directory)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from plimsoll.experiments.capacity.experiment import run_capacity
from plimsoll.experiments.capacity.time_plan import promise
from plimsoll.experiments.steps.record import Progress
from plimsoll.findings.capacity.remedy import applied, not_run
from plimsoll.findings.of_run import Facts
from plimsoll.interruptions import Ending
from plimsoll.plans.budgets import check_budgets
from plimsoll.plans.load import Choices, Plan, as_entry_says, plan_of, source_of
from plimsoll.plans.load_time import check_search_time
from plimsoll.plans.negligible import check_negligible
from plimsoll.plans.options import options_of
from plimsoll.runs.writer import RunWriter
from plimsoll.study import Study
from plimsoll.study.experiments import CapacityOptions
from plimsoll.study.secrets.redactor import redact
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


def capacity(
    source: str | Path | Study,
    choices: Choices | None = None,
    listeners: Listeners[Progress] | None = None,
    **options: Any,
) -> Answer:
    """Find how much load a target carries and what stops it, from a study file, a Study or a k6 script.

    `options`: those of study.experiments.CapacityOptions (width, step_s, for_, min_users, max_users, max_rate, budgets,
    cores, negligible_below, recovery, verify), in place of the study's. With `verify` the answer is the second one of
    the function of that name. Raises InputError for mistakes in study or script, TargetError if the target does not
    come up, RunDirectoryError if the run cannot be written. Ctrl-C ends with what was measured.
    """
    given = source_of(source, "capacity")
    wanted = options_of(CapacityOptions, "capacity", given, options)
    if wanted.verify is not None:
        return verify(given, wanted.verify, choices, listeners, **options)[1]
    return _found(given, wanted, choices or Choices(), listeners or Listeners())


def verify(
    source: str | Path | Study,
    remedy: str,
    choices: Choices | None = None,
    listeners: Listeners[Progress] | None = None,
    **options: Any,
) -> tuple[Answer, Answer]:
    """Find the capacity, apply a remedy (a command, run when the target is up and reset), and find it again.

    The second answer's last finding says what changed. Where the first run is interrupted or has no capacity, the
    remedy is not run and both answers are the first, whose first next step says so, as the listeners are told. Takes
    the `options` of `capacity` and raises as it does, and TargetError if the remedy fails.
    """
    choices, listeners, given = choices or Choices(), listeners or Listeners(), source_of(source, "capacity")
    wanted = options_of(CapacityOptions, "capacity", given, options)
    shown = redact({"remedy": remedy})["remedy"]
    before = _found(given, wanted, choices, listeners, to_follow=shown)
    status = {"status": "interrupted"} if before.interrupted else {}
    why = not_run(shown, before.findings[0] | status)
    if why is not None:
        listeners.note(why)
        return before, before
    return before, _found(given, wanted, choices, listeners, remedy, before)


def _found(
    given: Study | Path,
    options: CapacityOptions,
    choices: Choices,
    listeners: Listeners[Progress],
    remedy: str | None = None,
    before: Answer | None = None,
    to_follow: str | None = None,
) -> Answer:
    """`before`: the answer without the remedy; `to_follow`: the remedy that is to follow this one, as it may be
    shown."""
    choices = as_entry_says(choices, options)
    plan = replace(plan_of(given, choices, options=options), remedy=remedy)
    check_budgets(plan)
    check_negligible(plan)
    check_search_time(plan.settings)
    planned_s = plan.settings.load_budget_s
    with writer_of("capacity", plan, choices, planned_s=planned_s) as writer, ending_of(writer, listeners) as ending:
        told = applied(remedy, before.findings[0]) if before is not None and remedy else None
        return _measure(plan, choices, writer, ending, listeners, {"remedy": told, "remedy_wanted": to_follow})


def _measure(
    plan: Plan,
    choices: Choices,
    writer: RunWriter,
    ending: Ending,
    listeners: Listeners[Progress],
    remedies: Mapping[str, Any],
) -> Answer:
    planned = [promise(plan.settings, plan.is_open)] if plan.settings.budget_s is not None else []
    with session(plan, choices, writer, listeners.note, told=[*plan.notes, *planned]) as around:
        facts = Facts(
            objectives=objectives_as_data(plan.objectives),
            objectives_level=plan.objectives_level,
            expected_users=plan.expected_users,
            users_per_level=plan.users_per_level,
            budgets=plan.budgets,
            cores=plan.cores,
            negligible_below=plan.negligible_below,
            same_host=around.same_host,
            **around.apart,
            variant=choices.variant,
            **remedies,
        )
        record(writer, facts)
        result = run_capacity(
            around.follow(load_of(plan, choices)),
            plan.settings,
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
