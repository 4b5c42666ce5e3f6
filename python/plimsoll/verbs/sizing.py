"""What hardware a finished run says is needed: `plimsoll size` as a function.

import plimsoll
sized = plimsoll.size(["runs/…-capacity-…", "runs/…-grow-…"], plimsoll.SizeChoices(expected=500, reserve=0.3))
print(sized.findings[0]["answer"])
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from plimsoll.errors import InputError, InputErrors
from plimsoll.findings.of_run import Facts, expected_level, findings_of_run
from plimsoll.findings.shape.units_of import with_units
from plimsoll.findings.sizing.facts import Grown, SizingFacts, grown_by_windows, sizing_facts
from plimsoll.findings.sizing.finding import QUESTION, common_of_sizing, sizing_finding
from plimsoll.findings.sizing.needs import RESERVE, Wanted, known_per_level_s, wanted_of
from plimsoll.findings.sizing.of_drain import HELD, sizing_facts_of_drain
from plimsoll.findings.validity.self_diagnosis import damage_words, unread_words
from plimsoll.report.html import write_html
from plimsoll.runs import directory
from plimsoll.runs.directory import write_json
from plimsoll.runs.format.damaged import understood
from plimsoll.runs.reader import RunReader
from plimsoll.runs.readings.ended_steps import ended_steps
from plimsoll.runs.readings.generator_seconds import generator_seconds_of
from plimsoll.verbs.own_runs import is_own_run
from plimsoll.verbs.told import Told
from plimsoll.words import share_words

OF_LOAD, OF_ITEMS = ("capacity", "hold", "drain"), ("grow",)
MOST_RESERVE = 0.9


@dataclass(frozen=True)
class SizeChoices:
    """What to size for. `expected`: load in the run's unit (users), else the run's expected users, else what it
    carried; `per_s`: operations (of a run of drain items) per second instead; `items`: data that it shall hold;
    `reserve`: share of the hardware that is to be left unused; `cores`: sizes, of which it says what they would carry;
    `processes`: labels of those that count, all if empty."""

    expected: float | None = None
    per_s: float | None = None
    items: float | None = None
    reserve: float = RESERVE
    cores: tuple[float, ...] = ()
    processes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sized(Told):
    """The finding, alone in a list, and where the run that it was added to and its report lie."""


def size(runs: str | Path | Iterable[str | Path], choices: SizeChoices | None = None) -> Sized:
    """The hardware by a run of capacity, hold or drain; runs of grow beside it tell memory and disk by items.

    The finding is written into that run, in place of an earlier one, and its report is written again. Raises
    InputErrors with all that is wrong, RunDirectoryError for a folder that cannot be read or written.
    """
    choices = choices or SizeChoices()
    paths = [Path(runs)] if isinstance(runs, str | Path) else [Path(run) for run in runs]
    with understood(next(filter(is_own_run, paths), Path("the run"))):
        return _sized(paths, choices)


def _sized(paths: Sequence[Path], choices: SizeChoices) -> Sized:
    main, others = _checked(paths, choices)
    findings = findings_of_run(main)
    if not findings:
        raise InputError(f"{main.path}: nothing was measured that says anything", "Make the run again.")
    first = findings[0]
    if main.manifest.get("experiment") == "drain":
        steps, facts = [], sizing_facts_of_drain(main)
    else:
        steps = _steps(main, first)
        facts = sizing_facts(main, steps)
    damage = [*unread_words(generator_seconds_of(main)), *damage_words(main.damaged_files())]
    facts = replace(_of_processes(facts, choices.processes), notes=[*damage, *facts.notes])
    facts = replace(facts, grown=_latest([*facts.grown, *(one for run in others for one in _grown(run))]))
    unit = str((first.get("capacity") or {}).get("unit") or main.manifest.get("level_unit") or "users")
    wanted = replace(_wanted(main, first, steps, facts, choices), cores=choices.cores)
    common = common_of_sizing(str(main.manifest.get("experiment")), first, unit, str(main.path))
    finding = with_units(common | sizing_finding(first, facts, wanted, unit))
    _write(main.path, finding)
    return Sized([finding], main.path, write_html(main.path))


def _checked(paths: Sequence[Path], choices: SizeChoices) -> tuple[RunReader, list[RunReader]]:
    """(the run of the load, runs of grow); raises InputErrors."""
    problems = [
        InputError(f"{name} {value:g} is not above 0", "Give a number above 0.")
        for name, value in (("--expected", choices.expected), ("--rate", choices.per_s), ("--items", choices.items))
        if value is not None and not (value > 0 and math.isfinite(value))
    ]
    problems += [
        InputError(f"--cores {value:g} is not above 0", "Give cores, as in --cores 0.5.")
        for value in choices.cores
        if not (value > 0 and math.isfinite(value))
    ]
    if not 0 <= choices.reserve <= MOST_RESERVE:
        what = f"a reserve of {share_words(choices.reserve)} is none"
        problems.append(InputError(what, f"Give a share from 0% to {share_words(MOST_RESERVE)}, as in --reserve 30%."))
    if choices.expected is not None and choices.per_s is not None:
        problems.append(InputError("--expected and --rate are given together", "Give one of them."))
    main, others = [], []
    for path in paths:
        if not is_own_run(path):
            problems.append(
                InputError(f"{path} is no run directory", "Give runs/… of plimsoll capacity, hold, drain or grow.")
            )
            continue
        run = RunReader(path)
        experiment = str(run.manifest.get("experiment"))
        if run.state == "running":
            problems.append(InputError(f"{path} is still running", "Wait for its end."))
        elif experiment in OF_LOAD:
            main.append(run)
        elif experiment in OF_ITEMS:
            others.append(run)
        else:
            what = f"{path} is a run of {experiment}, which does not tell hardware"
            problems.append(InputError(what, "Give a run of capacity, hold or drain, and runs of grow beside it."))
    if len(main) != 1 and not problems:
        listed = ", ".join(str(run.path) for run in main) or "none"
        what = f"one run of capacity, hold or drain is needed, given: {listed}"
        problems.append(InputError(what, "Give the one whose demand counts; runs of grow may be given beside it."))
    if problems:
        raise InputErrors(problems)
    return main[0], others


def _of_processes(facts: SizingFacts, labels: Sequence[str]) -> SizingFacts:
    """With these processes alone; raises InputErrors for labels that the run does not have."""
    if not labels:
        return facts
    known = [part.label for part in facts.parts]
    problems = [
        InputError(f"--process {label}: the run saw no process of that label", f"It saw {', '.join(known) or 'none'}.")
        for label in labels
        if label not in known
    ]
    if problems:
        raise InputErrors(problems)
    others = set(known) - set(labels)
    return replace(
        facts,
        parts=[part for part in facts.parts if part.label in labels],
        grown=[one for one in facts.grown if one.where not in others],
    )


def _steps(run: RunReader, first: Mapping[str, Any]) -> list[dict[str, Any]]:
    if run.manifest.get("experiment") == "capacity":
        return list(first["steps"])
    ended = run.events("hold_result")
    steps = ended[-1]["result"]["steps"] if ended else ended_steps(run)
    return [dict(step) for step in steps if "measured_from_s" in step]


def _wanted(
    run: RunReader,
    first: Mapping[str, Any],
    steps: Sequence[Mapping[str, Any]],
    facts: SizingFacts,
    choices: SizeChoices,
) -> Wanted:
    if choices.per_s is not None:
        return Wanted(choices.per_s, None, "as asked", choices.items, choices.reserve)
    per_level_s = None
    if run.manifest.get("experiment") == "drain":
        level, chosen, is_open = (facts.rates[-1][0] if facts.rates else None), HELD, True
    elif run.manifest.get("experiment") == "hold":
        held = [step for step in steps if step.get("step_kind") != "baseline"]
        facts = replace(facts, rates=[(float(one["level"]), float(one["done_per_s"])) for one in held])
        level, chosen, is_open = (facts.rates[-1][0] if facts.rates else None), HELD, True
    else:
        capacity = first["capacity"]
        level, chosen, is_open = capacity["good"], "what it carried", capacity["model"] == "open"
        per_level_s = known_per_level_s(capacity)
        expected = expected_level(Facts.of(run), first)
        if expected is not None:
            level, chosen = expected, "the expected load"
    if choices.expected is not None:
        level, chosen = choices.expected, "as asked"
    wanted = None
    if level is not None:
        wanted = wanted_of(
            facts,
            is_open=is_open,
            level=level,
            chosen=chosen,
            items=choices.items,
            reserve=choices.reserve,
            per_level_s=per_level_s,
        )
    if wanted is None:
        raise InputError(f"{run.path} carried no load that counts", "Give a run with a level that was carried.")
    return wanted


def _grown(run: RunReader) -> list[Grown]:
    windows = [event for event in run.events("grow_window") if not event.get("draining")]
    before = (run.events("grow_settings") or [{}])[-1].get("volume_before") or 0.0
    return grown_by_windows(run, windows, float(before))


def _latest(found: Iterable[Grown]) -> list[Grown]:
    """One of each kind and place, the last given."""
    return list({(one.kind, one.where): one for one in found}.values())


def _write(path: Path, finding: Mapping[str, Any]) -> None:
    """Into the run's findings, in place of an earlier one."""
    kept = [one for one in RunReader(path).findings() if one.get("question") != QUESTION]
    write_json(path / directory.FINDINGS, [*kept, dict(finding)])
