"""A run directory of our own, judged again from what it holds: `plimsoll analyze runs/…`.

The findings are made anew, with this version's formulas and with other objectives, budgets or cores if they are given,
and take the place of the earlier ones in the run directory; the report is written again. Nothing is measured.

A run of `plimsoll run` is besides analysed as another tool's samples are: totals, unfinished work, levels (VUs).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from plimsoll.errors import InputError, InputErrors, RunDirectoryError
from plimsoll.findings.beside.further import findings_beside
from plimsoll.findings.imported.levels import Levels, levels_of
from plimsoll.findings.imported.open_growth import growth_finding
from plimsoll.findings.imported.run import (
    as_steps,
    overview_finding,
    repeats_of,
    table_of,
    table_of_whole,
    whole_of,
)
from plimsoll.findings.imported.table_curve import Model, curve_of
from plimsoll.findings.imported.table_levels import levels_finding
from plimsoll.findings.of_run import Facts, findings_of_run
from plimsoll.findings.shape.units_of import with_units
from plimsoll.report.html import write_html
from plimsoll.report.text import answer_lines
from plimsoll.runs import directory
from plimsoll.runs.directory import write_json
from plimsoll.runs.format.damaged import understood
from plimsoll.runs.reader import RunReader
from plimsoll.runs.snapshot import Snapshot
from plimsoll.study.secrets.redactor import Redactor

OF_ARRIVALS = "iteration_response_time"
JUDGES_OBJECTIVES = ("capacity", "hold", "run")


@dataclass(frozen=True)
class Again:
    """What may be asked of a run anew, each in place of what it was asked for first; empty or None leaves that."""

    objectives: tuple[Mapping[str, Any], ...] = ()
    budgets: Mapping[str, float] | None = None
    cores: int | None = None
    expected: float | None = None


def is_own_run(path: Path) -> bool:
    """Whether that is a run directory; a name that no file can have is none."""
    try:
        return (path / directory.MANIFEST).is_file()
    except OSError:
        return False


def judge_again(path: Path, again: Again, *, report: bool = True) -> tuple[list[dict[str, Any]], Path | None]:
    """The findings of the run, written into it with its report, and where that is.

    Raises InputErrors for what the run cannot be asked, RunDirectoryError if it cannot be read or takes no findings.
    """
    with understood(path):
        run = RunReader(path)
        _check(run, again)
        _check_seconds(run)
        findings = findings_of_run(run, _facts(run, again))
        if run.manifest.get("experiment") == "run" and findings:
            findings += _as_samples(run, again)
        findings += findings_beside(run, findings)
        findings = Redactor.for_data(list(again.objectives)).data(findings)
    if not findings:
        raise InputError(f"{path}: nothing was measured that says anything", "Make the run again.")
    try:
        write_json(path / directory.FINDINGS, findings)
        with understood(path):
            return findings, write_html(path) if report else None
    except RunDirectoryError as error:
        error.add_note(f"The answer, which could not be written:\n{answer_lines(findings)}")
        raise


def _check(run: RunReader, again: Again) -> None:
    experiment, problems = str(run.manifest.get("experiment")), []
    if run.state == "running":
        problems.append(InputError(f"{run.path} is still running", "Wait for its end, or watch it in its report."))
    if again.objectives and experiment not in JUDGES_OBJECTIVES:
        what = f"--objective: a run of {experiment} judges none"
        problems.append(InputError(what, f"Leave it out; runs of {', '.join(JUDGES_OBJECTIVES)} do."))
    asked = [("--budget", again.budgets), ("--cores", again.cores)]
    for flag, value in asked:
        if value and experiment != "capacity":
            problems.append(
                InputError(f"{flag} asks how far it would go, which {experiment} cannot tell", "Leave it out.")
            )
    if again.expected is not None and experiment not in ("capacity", "run"):
        problems.append(InputError(f"--expected: a run of {experiment} has no headroom", "Leave it out."))
    if problems:
        raise InputErrors(problems)


def _check_seconds(run: RunReader) -> None:
    """RunDirectoryError if no second of a run that had some can be read: nothing that was found may be overwritten."""
    last = run.manifest.get(directory.LAST_SECOND)
    if isinstance(last, int) and last >= 0 and next(iter(run.snapshots(metrics=())), None) is None:
        raise RunDirectoryError(
            f"{run.path}: none of its {last + 1:,} seconds can be read: {directory.SERIES} is empty or damaged",
            "Restore it from a copy. What was found before stands in findings.json, and in its report.",
        )


def _facts(run: RunReader, again: Again) -> Facts:
    facts = Facts.of(run)
    if again.objectives:
        operations = set((run.manifest.get("options") or {}).get("scenarios") or ())
        facts = replace(facts, objectives=tuple(_subject(one, operations) for one in again.objectives))
    if again.budgets:
        facts = replace(facts, budgets=dict(again.budgets))
    if again.cores is not None:
        facts = replace(facts, cores=again.cores)
    if again.expected is not None:
        facts = replace(facts, expected_users=again.expected)
    return facts


def _subject(objective: Mapping[str, Any], operations: set[str]) -> dict[str, Any]:
    """The command line names an operation or a request; an operation is a scenario of the run."""
    name = objective.get("request")
    return {"operation": name, "objective": objective["objective"]} if name in operations else dict(objective)


class _ByVus:
    """A run's seconds with the VUs as the level, as those of other tools have them."""

    def __init__(self, run: RunReader) -> None:
        self._run = run

    def snapshots(self, *, metrics: Iterable[str] | None = None) -> Iterator[Snapshot]:
        for snapshot in self._run.snapshots(metrics=metrics):
            yield replace(snapshot, level=float(snapshot.vus))

    def resources(self) -> Iterator[dict[str, Any]]:
        return self._run.resources()


def _as_samples(run: RunReader, again: Again) -> list[dict[str, Any]]:
    """What other tools' samples are asked: totals, whether unfinished work grew, levels, objectives."""
    path, whole = str(run.path), whole_of(run)
    found = [overview_finding("plimsoll run", whole, float(whole.end_s), (), (), path)]
    seen = _ByVus(run)
    is_open = run.first_metric((OF_ARRIVALS,)) is not None
    if is_open:
        found.append(growth_finding(whole.started, whole.done, path))
    levels = Levels() if is_open else levels_of(seen)
    table = table_of(levels.all, seen, "vus")
    table = table if table.rows else table_of_whole(whole, "vus")
    model: Model = "open" if is_open else "closed"
    curve = curve_of(table, model, again.objectives, repeats_of(levels.held))
    verdicts = {row.level: curve.verdict(row.level) for row in curve.rows if row.level is not None}
    steps = as_steps(levels.all, verdicts)
    finding = levels_finding(
        table, again.objectives, expected=again.expected, steps=steps, run_path=path, notes=levels.notes, model=model,
        curve=curve,
    )  # fmt: skip
    return [with_units(one) for one in (*found, finding)]
