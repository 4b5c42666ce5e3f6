"""A step table → its findings: one answer for each test in it that ran apart, each with what limits it and its
demands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from plimsoll.errors import InputError
from plimsoll.findings.capacity.demand import demand_findings
from plimsoll.findings.capacity.words import what_stops_it
from plimsoll.findings.imported.resources import imported_steps
from plimsoll.findings.imported.table_levels import levels_finding
from plimsoll.findings.imported.table_limit import limit_of_table
from plimsoll.listed_names import listed
from plimsoll.runs.readings.step_table import StepTable

APART = (
    "Each of {names} is taken for a test of its own. If they ran at the same time as one load, --together adds their "
    "throughputs."
)
MOST_TESTS = 200  # each has an answer and a part of the report; nobody reads more
MOST_NAMED = 12

Tests = Sequence[tuple[str | None, StepTable]]  # those of a table, as its `tests` makes them


def table_findings(
    table: StepTable,
    tests: Tests,
    objectives: Sequence[Mapping[str, Any]],
    budgets: Mapping[str, float],
    expected: float | None,
    model: Literal["open", "closed"],
    path: str,
) -> list[dict[str, Any]]:
    """The findings, the answer of each test first and then what its requests cost."""
    found, costs = [], []
    for place, (name, part) in enumerate(tests):
        asked = [one for one in objectives if _is_of(one, part, table, is_first=place == 0)]
        levels = levels_finding(part, asked, expected=expected, run_path=path, model=model, test=name)
        at = limited_at(levels["capacity"], part)
        found.append(with_limit(levels, limit_of_table(part.totals(), at, part.level_unit), at))
        costs += [_named(one, name) for one in demand_findings(part, budgets, path)]
    return [*found, *costs]


def check_tests(tests: Tests, file: Path) -> None:
    """InputError for a table of more tests than anybody reads answers of."""
    count = len(tests)
    if count > MOST_TESTS:
        what = f"its rows are {count:,} tests apart; at most {MOST_TESTS} are answered at once"
        step = "Give --together if they ran at the same time as one load, or give a part of the table."
        raise InputError(what, step, file=file)


def apart_words(table: StepTable, tests: Tests) -> list[str]:
    """That tests of one table are not added up, where there are several."""
    names = [str(name) for name, _ in tests if name is not None]
    if len(names) < 2 or len(table.operations) < 2:
        return []
    if len(names) > MOST_NAMED:
        return [APART.format(names=listed(names, MOST_NAMED))]
    return [APART.format(names=f"{', '.join(names[:-1])} and {names[-1]}")]


def _is_of(objective: Mapping[str, Any], part: StepTable, table: StepTable, *, is_first: bool) -> bool:
    """Whether a test is asked that objective: its own, one of all requests, or, of the first, one of no test."""
    subject = objective.get("request") or objective.get("operation")
    return subject is None or subject in part.operations or (is_first and subject not in table.operations)


def _named(finding: dict[str, Any], test: str | None) -> dict[str, Any]:
    return finding if test is None else finding | {"question": f"{finding['question'][:-1]} in {test}?"}


def limited_at(capacity: Mapping[str, Any] | None, table: StepTable) -> float | None:
    """The level whose resources tell the limit: the lowest that is not carried, else the highest if throughput has
    begun to flatten there."""
    bad: float | None = (capacity or {}).get("bad")
    if bad is not None or not (capacity or {}).get("flattens_between"):
        return bad
    return max(row.level for row in table.totals() if row.level is not None and row.throughput_per_s is not None)


def with_limit(finding: dict[str, Any], limit: Mapping[str, Any] | None, level: float | None) -> dict[str, Any]:
    """The finding of levels with what stops it at `level` and what to do about that, where it was asked of anything."""
    if limit is None:
        return finding
    words = [finding["answer"], *what_stops_it(limit, level)]
    todo = imported_steps(limit) if level is not None or limit["kind"] != "unknown" else []
    return finding | {"answer": " ".join(words), "limited_by": limit, "next": [*finding["next"], *todo]}
