"""Which trials need not be made: in a sweep those that are larger in every parameter than a cell in which nothing
answered; else all that are left once a variant does not answer any more, as there is nothing to compare it by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.experiments.trials.making import Skip
from plimsoll.experiments.trials.plan import Trial, TrialPlan

SILENT_IN_A_ROW = 2  # trials of a variant: one alone may have met a restart


def unanswered(plan: TrialPlan) -> Skip:
    """A function that says why no further trial is made: the last two of a variant had no answer at all."""

    def skip(trial: Trial, records: Sequence[Mapping[str, Any]]) -> str | None:
        for variant in plan.variants:
            last = [one for one in records if one["variant"] == variant.name][-SILENT_IN_A_ROW:]
            if len(last) == SILENT_IN_A_ROW and not any(one["answered"] for one in last):
                which = " and ".join(str(one["trial"]) for one in last)
                return f"nothing of {plan.label(variant.name)} answered in trials {which}"
        return None

    return skip


def dominated(plan: TrialPlan) -> Skip:
    """A function that says why a trial is not made: one with the same or smaller values had no answer at all.

    Values are compared by their place in the order given, which the user gives ascending.
    """
    over: Mapping[str, Sequence[str]] = plan.analysis["over"]
    level_of = {level.level: place for place, level in enumerate(plan.levels)}
    variables = {variant.name: variant.facts["variables"] for variant in plan.variants}

    def places(variant: str, level: float) -> tuple[int, ...]:
        names = [name for name in over if name != plan.analysis["level_parameter"]]
        return (*(list(over[name]).index(str(variables[variant][name])) for name in names), level_of[level])

    def skip(trial: Trial, records: Sequence[Mapping[str, Any]]) -> str | None:
        here = places(trial.variant, trial.level.level)
        for record in records:
            silent = places(record["variant"], record["level"])
            if record["answered"] == 0 and all(small <= large for small, large in zip(silent, here, strict=True)):
                return (
                    f"nothing answered in trial {record['trial']} ({plan.label(record['variant'])}, {record['load']})"
                )
        return None

    return skip
