"""Two sets of finished runs, compared: each run is one trial, whatever made it.

Runs of the same load are a level; every level needs two runs or more of each set, as times at different loads differ
by the load alone.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from plimsoll.errors import InputError, InputErrors
from plimsoll.findings.of_run import Facts, findings_of_run
from plimsoll.findings.trials.trials import DAMAGE
from plimsoll.findings.validity.self_diagnosis import unread_words
from plimsoll.listed_names import listed
from plimsoll.plans.load import LevelUnit
from plimsoll.plans.requests import CompareRequest, TrialChoices
from plimsoll.plans.trials import decides
from plimsoll.runs.format.damaged import understood
from plimsoll.runs.reader import RunReader
from plimsoll.runs.readings.endpoints import METRICS, endpoints_of
from plimsoll.runs.readings.generator_seconds import generator_seconds_of
from plimsoll.runs.readings.held_load import HeldLoad, by_load, held_load
from plimsoll.runs.writer import RunFacts, RunWriter
from plimsoll.study.secrets.redactor import Redactor
from plimsoll.verbs.session import Answer, finish, record

FEWEST_RUNS = 2
UNKNOWN = "the runs' load"
Readers = dict[str, list[RunReader]]


@dataclass(frozen=True)
class Level:
    """The runs of each arm that held one load (None: not known), in order of time; `level` as in plan.json."""

    load: HeldLoad | None
    readers: Readers
    level: float = 0.0

    @property
    def words(self) -> str:
        """ "20 VUs"."""
        return self.load.words if self.load is not None else UNKNOWN

    @property
    def paired(self) -> bool:
        """Whether the arms' runs alternate in time."""
        return alternate(*([_span(reader) for reader in self.readers[arm]] for arm in "ab"))


def compare_runs(request: CompareRequest, choices: TrialChoices) -> Answer:
    """The finding of runs `runs_a` against `runs_b`, in a run directory of its own. Raises InputErrors for runs that
    cannot be compared, RunDirectoryError for folders that are none."""
    if request.source is not None or request.a or request.b or choices.resume is not None:
        raise InputError("finished runs and something to run are given together", "Give --runs-a and --runs-b alone.")
    with understood(next(iter([*request.runs_a, *request.runs_b]), Path("the runs"))):
        return _compared(request, choices)


def _compared(request: CompareRequest, choices: TrialChoices) -> Answer:
    margin, primary = decides(request, None)
    skip_s = request.skip_s or 0.0
    readers = {
        arm: sorted(map(RunReader, paths), key=_span) for arm, paths in (("a", request.runs_a), ("b", request.runs_b))
    }
    _check(readers)
    loads = {
        reader.path: load
        for runs in readers.values()
        for reader in runs
        if (load := held_load(reader, skip_s)) is not None
    }
    levels = _levels(readers, loads)
    trials = [
        _trial(reader, arm, number, level, skip_s)
        for arm in "ab"
        for level in levels
        for number, reader in enumerate(level.readers[arm], 1)
    ]
    trials = [{**trial, "trial": number} for number, trial in enumerate(trials, 1)]
    _check_seconds(trials)
    kinds = {load.kind for load in loads.values()}
    unit: LevelUnit = "vus" if kinds == {"vus"} else "multiple"
    plan = {
        "schema": 1,
        "experiment": "compare",
        "variants": [
            {"name": arm, "label": _label(readers[arm]), "facts": {"runs": [str(one.path) for one in readers[arm]]}}
            for arm in "ab"
        ],
        "levels": [{"level": level.level, "words": level.words} for level in levels],
        "repetitions": min(len(level.readers[arm]) for level in levels for arm in "ab"),
        "open": "arrivals" in kinds or "mixed" in kinds,
        "unit": unit,
        "analysis": {
            "margin": margin,
            "primary": list(primary),
            "paired": all(level.paired for level in levels),
        },
    }
    facts = RunFacts("compare", level_unit=unit, seed=choices.seed)
    with RunWriter.create(choices.runs, facts, redactor=Redactor.for_data(plan)) as writer:
        writer.write_plan(plan)
        for trial in trials:
            writer.append_trial(trial)
        notes = _notes(readers, loads)
        record(writer, Facts(notes=tuple(notes)))
        return finish(writer, findings_of_run(RunReader(writer.path), status="finished"), "finished")


def alternate(a: Sequence[tuple[float, float]], b: Sequence[tuple[float, float]]) -> bool:
    """Whether runs with these (start, end) come as pairs: as many of each, each pair before the next."""
    if len(a) != len(b):
        return False
    both = zip(sorted(a), sorted(b), strict=True)
    pairs = [(min(one[0], other[0]), max(one[1], other[1])) for one, other in both]
    return all(first[1] <= second[0] for first, second in itertools.pairwise(pairs))


def _levels(readers: Readers, loads: Mapping[Path, HeldLoad]) -> list[Level]:
    """The runs by their load, smallest first; one level for runs whose load is not known. Raises InputError where a
    load has not two runs of each arm."""
    known = [[one for runs in readers.values() for one in runs if one.path in group] for group in by_load(loads)]
    if len(known) <= 1:
        known = [[reader for runs in readers.values() for reader in runs]]
    levels = []
    for runs in known:
        here = [loads[reader.path] for reader in runs if reader.path in loads]
        load = HeldLoad(here[0].kind, fmean(one.size for one in here)) if here else None
        levels.append(Level(load, {arm: [reader for reader in readers[arm] if reader in runs] for arm in "ab"}))
    unknown = [reader for runs in readers.values() for reader in runs if reader.path not in loads]
    kinds = {level.load.kind for level in levels if level.load is not None}
    unmatched = any(len(level.readers[arm]) < FEWEST_RUNS for level in levels for arm in "ab")
    if unmatched or len(kinds) > 1 or (len(levels) > 1 and unknown):
        raise _different(levels, unknown)
    least = levels[0].load
    return [
        dataclasses.replace(level, level=level.load.size / (1.0 if kinds == {"vus"} else least.size))
        if level.load is not None and least is not None
        else level
        for level in levels
    ]


def _different(levels: Sequence[Level], unknown: Sequence[RunReader]) -> InputError:
    """What to say of runs whose loads do not match."""
    parts = [
        f"{level.words}: " + ", ".join(f"{arm.upper()} {_paths(level.readers[arm])}" for arm in "ab")
        for level in levels
    ]
    if unknown:
        parts.append(f"a load that is not known: {_paths(unknown)}")
    return InputError(
        f"the runs of A and B do not hold the same loads ({'; '.join(parts)})",
        "Times at different loads differ by the load alone: give two or more runs of A and of B at each load, all with "
        "arrival rates or all with VUs, and leave the others out.",
    )


def _paths(readers: Sequence[RunReader]) -> str:
    return " and ".join(str(reader.path) for reader in readers) or "none"


def _notes(readers: Readers, loads: Mapping[Path, HeldLoad]) -> list[str]:
    unknown = [reader for runs in readers.values() for reader in runs if reader.path not in loads]
    notes = []
    if unknown:
        many = f"{_paths(unknown[:3])}{f' and {len(unknown) - 3} more' if len(unknown) > 3 else ''}"
        notes.append(f"Whether A and B held the same load is not known: {many} do not tell theirs.")
    ended = [
        f"{reader.path} ({reader.state})" for runs in readers.values() for reader in runs if reader.state != "finished"
    ]
    if ended:
        notes.append(f"Not all runs came to their end: {listed(ended, 3)}. What they measured until then counts.")
    if any(load.kind == "mixed" for load in loads.values()):
        notes.append("The runs have VUs beside their arrivals: that these were as many in A as in B is not checked.")
    return notes


def _check(readers: Readers) -> None:
    problems = []
    for arm, runs in readers.items():
        if len(runs) < FEWEST_RUNS:
            what = f"--runs-{arm} has {len(runs)} run{'' if len(runs) == 1 else 's'}, and needs two or more"
            problems.append(InputError(what, "One run says nothing of the scatter between runs: make more of each."))
        for reader in runs:
            if reader.state == "running":
                problems.append(InputError(f"{reader.path} is still running", "Wait until it has ended."))
            if reader.plan():
                what = f"{reader.path} is a run of {reader.manifest.get('experiment')}, which compares by itself"
                problems.append(InputError(what, "Give runs that hold one load, such as those of plimsoll run."))
    paths = [reader.path.resolve() for runs in readers.values() for reader in runs]
    for path in dict.fromkeys(paths):
        if paths.count(path) > 1:
            problems.append(InputError(f"{path} is given {paths.count(path)} times", "Give each run once."))
    if problems:
        raise InputErrors(problems)


def _check_seconds(trials: Sequence[dict[str, Any]]) -> None:
    problems = []
    for trial in trials:
        if not trial["endpoints"][0]["count"]:
            what = f"{trial['source']} holds no response times that count"
            other = "take it from a copy" if trial[DAMAGE] else "skip fewer seconds with --skip"
            problems.append(InputError(". ".join([what, *trial[DAMAGE]]).rstrip("."), f"Leave it out, or {other}."))
    if problems:
        raise InputErrors(problems)


def _span(reader: RunReader) -> tuple[float, float]:
    start = float(reader.manifest.get("started_unix") or 0.0)
    return start, float(reader.manifest.get("ended_unix") or start)


def _label(readers: Sequence[RunReader]) -> str:
    """What is the same in all runs of a set: their script, else their first run."""
    scripts = {str((reader.manifest.get("script") or {}).get("path") or "") for reader in readers}
    name = Path(scripts.pop()).name if len(scripts) == 1 else ""
    return f"{len(readers)} runs of {name or readers[0].path.name}"


def _trial(reader: RunReader, arm: str, number: int, level: Level, skip_s: float) -> dict[str, Any]:
    spoiled = [
        text
        for finding in reader.findings()
        if not finding.get("valid", True)
        for text in finding.get("invalid_because", ())
    ]
    return {
        "trial": number,
        "repetition": number,
        "variant": arm,
        "level": level.level,
        "load": level.words,
        "source": str(reader.path),
        "started_unix": reader.manifest.get("started_unix"),
        "spoiled_by": spoiled,
        DAMAGE: unread_words(generator_seconds_of(reader), "it"),
        **endpoints_of(reader.snapshots(metrics=METRICS), skip_s).to_json(),
        "resources": {},
    }
