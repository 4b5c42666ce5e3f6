"""Two sets of finished runs, compared: each run is one trial, whatever made it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plimsoll.errors import InputError, InputErrors
from plimsoll.findings.of_trials import finding_of_trials
from plimsoll.plans.requests import CompareRequest, TrialChoices
from plimsoll.plans.trials import check_compare
from plimsoll.runs.endpoints import METRICS, endpoints_of
from plimsoll.runs.reader import RunReader
from plimsoll.runs.writer import RunFacts, RunWriter
from plimsoll.study.secrets import Redactor
from plimsoll.verbs.session import Answer, finish

FEWEST_RUNS = 2


def compare_runs(request: CompareRequest, choices: TrialChoices) -> Answer:
    """The finding of runs `runs_a` against `runs_b`, in a run directory of its own. Raises InputErrors for runs that
    cannot be compared, RunDirectoryError for folders that are none."""
    if request.source is not None or request.a or request.b or choices.resume is not None:
        raise InputError("finished runs and something to run are given together", "Give --runs-a and --runs-b alone.")
    margin = request.margin if request.margin is not None else 0.05
    check_compare(margin, request.primary)
    readers = {
        arm: sorted(map(RunReader, paths), key=_span) for arm, paths in (("a", request.runs_a), ("b", request.runs_b))
    }
    _check(readers)
    paired = alternate(*([_span(reader) for reader in readers[arm]] for arm in "ab"))
    trials = [
        _trial(reader, arm, number, request.skip_s) for arm in "ab" for number, reader in enumerate(readers[arm], 1)
    ]
    trials = [{**trial, "trial": number} for number, trial in enumerate(trials, 1)]
    _check_seconds(trials)
    open_load = any(trial["times"] == "iteration_response_time" for trial in trials)
    plan = {
        "schema": 1,
        "experiment": "compare",
        "variants": [
            {"name": arm, "label": _label(readers[arm]), "facts": {"runs": [str(one.path) for one in readers[arm]]}}
            for arm in "ab"
        ],
        "levels": [{"level": 0.0, "words": "the runs' load"}],
        "repetitions": min(map(len, readers.values())),
        "open": open_load,
        "unit": "multiple",
        "analysis": {"margin": margin, "primary": list(request.primary), "paired": paired},
    }
    facts = RunFacts("compare", level_unit="multiple", seed=choices.seed)
    with RunWriter.create(choices.runs, facts, redactor=Redactor.for_data(plan)) as writer:
        writer.write_plan(plan)
        for trial in trials:
            writer.append_trial(trial)
        finding = finding_of_trials(RunReader(writer.path), status="finished")
        return finish(writer, [finding], "finished")


def alternate(a: Sequence[tuple[float, float]], b: Sequence[tuple[float, float]]) -> bool:
    """Whether runs with these (start, end) come as pairs: as many of each, each pair before the next."""
    if len(a) != len(b):
        return False
    both = zip(sorted(a), sorted(b), strict=True)
    pairs = [(min(one[0], other[0]), max(one[1], other[1])) for one, other in both]
    return all(first[1] <= second[0] for first, second in itertools.pairwise(pairs))


def _check(readers: dict[str, list[RunReader]]) -> None:
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
    empty = [trial["source"] for trial in trials if not trial["endpoints"][0]["count"]]
    if empty:
        step = "Leave it out, or skip fewer seconds with --skip."
        raise InputErrors([InputError(f"{path} holds no response times that count", step) for path in empty])


def _span(reader: RunReader) -> tuple[float, float]:
    start = float(reader.manifest.get("started_unix") or 0.0)
    return start, float(reader.manifest.get("ended_unix") or start)


def _label(readers: Sequence[RunReader]) -> str:
    """What is the same in all runs of a set: their script, else their first run."""
    scripts = {str((reader.manifest.get("script") or {}).get("path") or "") for reader in readers}
    name = Path(scripts.pop()).name if len(scripts) == 1 else ""
    return f"{len(readers)} runs of {name or readers[0].path.name}"


def _trial(reader: RunReader, arm: str, number: int, skip_s: float) -> dict[str, Any]:
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
        "level": 0.0,
        "load": "the runs' load",
        "source": str(reader.path),
        "started_unix": reader.manifest.get("started_unix"),
        "spoiled_by": spoiled,
        **endpoints_of(reader.snapshots(metrics=METRICS), skip_s).to_json(),
        "resources": {},
    }
