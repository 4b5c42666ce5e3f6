"""How does it depend on its parameters, and where does it stop answering? From the cells of a sweep to the finding."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from plimsoll.findings.evidence import TRIALS, Evidence
from plimsoll.findings.trials.sweep_cells import FLAT, each_words, lines_over, number_of, where_words
from plimsoll.findings.trials.sweep_requests import request_dependencies, request_sentences, times_of_requests
from plimsoll.findings.trials.trials import (
    MOST_FAILED,
    Figure,
    SoundTrials,
    broken_iterations,
    first_steps,
    requests_made,
    sound_trials,
    tells_of_work,
    trials_finding,
)
from plimsoll.runs.readings.failures import (
    BROKE,
    MAKE_REQUESTS,
    Failures,
    is_targets,
    judged_noun,
    nothing_measured_words,
)
from plimsoll.runs.snapshot import Snapshot
from plimsoll.stats.growth.power_law import PowerLaw, power_law
from plimsoll.words import exponent_words, joined, ms_words, number, share_words, size_words, times_words

QUESTION = "How does it depend on {names}?"
FAILS, SILENT = 0.01, 0.0
MOST_SAID = 2
MOST_IN_TABLE = 6
_SILENT = "No request was answered in any cell."
_TOO_FEW = "Fewer than two values of each parameter have trials that count."
FIGURES: tuple[Figure, ...] = ("counts", "middle", "tail")
METRICS = {
    "work": ("duration of an iteration", "work_ms"),
    "p95": ("p95 of the response time", "p95_ms"),
    "memory": ("memory of the target", "memory_bytes"),
}
ANSWERS = "work"
LEVELS = ("users", "rate")  # parameters of the load: nothing is done for each of them
MIB = 2**20
Cell = dict[str, Any]


def sweep_finding(
    plan: Mapping[str, Any],
    trials: Sequence[Mapping[str, Any]],
    snapshots: Iterable[Snapshot] = (),
    rows: Iterable[Mapping[str, Any]] = (),
    *,
    status: str = "finished",
    run_path: str | None = None,
    notes: Iterable[str] = (),
) -> dict[str, Any]:
    """The finding of `plan` (plan.json) and its complete `trials`: a cell for each combination that was tried."""
    over: Mapping[str, Sequence[str]] = plan["analysis"]["over"]
    sound = sound_trials(trials, snapshots, rows, rests_on="middle", silent_count=True)
    cells = _cells(plan, trials, sound)
    dependencies = [found for name in over for metric in METRICS for found in _dependencies(cells, over, name, metric)]
    by_request = request_dependencies(cells, over)
    stops = _stops(cells, over)
    asked = any(map(requests_made, trials))
    broke = sum(map(broken_iterations, trials))
    silent = _SILENT if asked or not trials else nothing_measured_words(0, 0, broke)[0]
    answering = any(cell["state"] in ("answers", "fails") for cell in cells) and (asked or not trials)
    answered = bool(dependencies or stops) and bool(sound.of("counts")) and answering
    labels = {variant["name"]: variant["label"] for variant in plan["variants"]}
    own = {
        "parameters": {name: list(values) for name, values in over.items()},
        "cells": cells,
        "dependencies": dependencies,
        "requests": by_request or [],
        "stops": stops,
        "sentences": [
            *(stop["words"] for stop in stops),
            *_sentences(dependencies, over),
            *request_sentences(by_request, over),
        ],
    }
    return trials_finding(
        "sweep",
        QUESTION.format(names=joined(list(over))),
        _answer(dependencies, stops, answered, over, each_words(cells))
        if answering
        else f"{silent} {_first_words(stops)}".strip(),
        own,
        sound,
        status=status,
        valid=answered,
        invalid_because=(sound.words(labels.get) or [_TOO_FEW]) if answering else [silent],
        notes=[*_notes(cells, plan), *(sound.words(labels.get) if answered else []), *notes],
        next_steps=[
            *first_steps(sound, status, run_path, plan),
            *_next_steps(stops, answering, dependencies, by_request or []),
        ]
        if asked or not trials
        else [_script_step(trials)],
        run_path=run_path,
        level_unit=plan.get("unit", "users"),
        evidence=_evidence(cells),
    )


def _evidence(cells: Sequence[Cell]) -> list[Evidence]:
    """The combinations that were tried, and the requests in them."""
    tried = [cell for cell in cells if cell["state"] != "not tried"]
    about = f"Of {len(cells)} combinations, tried"
    return [
        Evidence(len(tried), "cells", TRIALS, about),
        Evidence(sum(cell["requests"] for cell in tried), "requests", TRIALS, "In these cells"),
    ]


def _cells(plan: Mapping[str, Any], trials: Sequence[Mapping[str, Any]], sound: SoundTrials) -> list[Cell]:
    """Every combination, in the order given. A cell has the figures of those trials of which they count."""
    over, level_name = plan["analysis"]["over"], plan["analysis"]["level_parameter"]
    kept: dict[Figure, set[int]] = {figure: {trial["trial"] for trial in sound.of(figure)} for figure in FIGURES}
    cells = []
    for variant in plan["variants"]:
        for place, level in enumerate(plan["levels"]):
            values = {name: str(variant["facts"]["variables"].get(name)) for name in over if name not in LEVELS}
            if level_name is not None:
                values[level_name] = str(over[level_name][place])
            all_of = [t for t in trials if (t["variant"], t["level"]) == (variant["name"], level["level"])]
            cells.append(_cell({name: values[name] for name in over}, level["words"], all_of, kept))
    return cells


def _cell(
    parameters: dict[str, str], load: str, trials: Sequence[Mapping[str, Any]], kept: Mapping[Figure, set[int]]
) -> Cell:
    counts, middle, tail = ([one for one in trials if one["trial"] in kept[figure]] for figure in FIGURES)
    judged = sum(trial["requests"] for trial in trials)
    failed = sum(trial["failed"] for trial in trials)
    answered = sum(trial["answered"] for trial in trials)
    share = failed / judged if judged else None
    samples = {
        "work": [trial["work"]["mean_ms"] for trial in middle if trial["answered"] and trial["work"]["mean_ms"]],
        "mean": _of_all_requests(middle, "mean_ms"),
        "p95": _of_all_requests(tail, "p95_ms"),
        "memory": [most for trial in counts if (most := _memory(trial)) is not None],
    }
    state = (
        "not tried" if not trials else "silent" if not answered else "fails" if share and share >= FAILS else "answers"
    )
    causes: dict[str, int] = {}
    for trial in trials:
        for cause, count in trial["causes"].items():
            causes[cause] = causes.get(cause, 0) + count
    return {
        "parameters": parameters,
        "load": load,
        "state": state,
        "trials": len(trials),
        "work_ms": _middle(samples["work"]),
        "mean_ms": _middle(samples["mean"]),
        "p95_ms": _middle(samples["p95"]),
        "memory_bytes": _middle(samples["memory"]),
        "done_per_s": _middle([trial["done_per_s"] for trial in counts if trial["done_per_s"]]),
        "failed_share": share,
        "failed": failed,
        "requests": judged,
        "requests_each": sum(map(requests_made, trials)) / done
        if (done := sum(trial["done"] for trial in trials))
        else None,
        "requests_ms": times_of_requests(middle) if state == "answers" else [],
        "causes": causes,
        "restarts": _restarts(trials),
        "samples": samples,
    }


def _of_all_requests(trials: Sequence[Mapping[str, Any]], statistic: str) -> list[float]:
    return [one for trial in trials if trial["answered"] and (one := trial["endpoints"][0][statistic])]


def _memory(trial: Mapping[str, Any]) -> float | None:
    """Resident memory of the target's processes, together, at its highest in the trial; None where one was not read."""
    if trial.get("unseen"):
        return None
    seen = [
        values["rss_bytes"]
        for source, values in trial["resources"].items()
        if "rss_bytes" in values and source not in ("host", "generator")
    ]
    return float(sum(seen)) if seen else None


def _restarts(trials: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How often each process of the target was started again while these trials ran: {label: times}, where it was."""
    found: dict[str, int] = {}
    for trial in trials:
        for source, values in trial["resources"].items():
            if source.startswith("process:") and values.get("restarts"):
                label = source.removeprefix("process:")
                found[label] = found.get(label, 0) + round(values["restarts"])
    return found


def _middle(values: Sequence[float]) -> float | None:
    """Geometric mean of the trials' values."""
    return math.exp(math.fsum(map(math.log, values)) / len(values)) if values else None


def _dependencies(
    cells: Sequence[Cell], over: Mapping[str, Sequence[str]], name: str, metric: str
) -> list[dict[str, Any]]:
    """How a metric depends on one parameter, for each setting of the others."""
    found = []
    for others, cells_of_line in lines_over(cells, name):
        line = [cell for cell in cells_of_line if tells_of_work(cell["failed"], cell["requests"])]
        points = [(cell["parameters"][name], value) for cell in line for value in cell["samples"][metric]]
        if len({text for text, _ in points}) < 2:
            continue
        xs = [number_of(text) for text, _ in points]
        law = None
        if all(x is not None and x > 0 for x in xs):
            law = power_law([x for x in xs if x is not None], [value for _, value in points])
        found.append(_dependency(name, metric, others, line, law))
    return found


def _dependency(
    name: str, metric: str, others: dict[str, str], line: Sequence[Cell], law: PowerLaw | None
) -> dict[str, Any]:
    title, key = METRICS[metric]
    known = [cell for cell in line if cell[key] is not None]
    first, last = known[0], known[-1]
    ends_of = [(cell["parameters"][name], cell[key]) for cell in known]
    shown = (first, last) if law is not None else known[:MOST_IN_TABLE]
    ends = [f"{_amount(metric, cell[key])} at {name}={cell['parameters'][name]}" for cell in shown]
    form, what = _form_words(name, law, len(known))
    words = f"{title}{where_words(others)}{f' {what}' if what else ''}: {', '.join(ends)}."
    return {
        "parameter": name,
        "metric": metric,
        "unit": "bytes" if metric == "memory" else "ms",
        "at": others,
        "least": min(ends_of, key=lambda end: end[1]),
        "most": max(ends_of, key=lambda end: end[1]),
        "form": form,
        "exponent": law.exponent if law is not None else None,
        "interval": [law.low, law.high] if law is not None else None,
        "scale": law.scale if law is not None else None,
        "farthest": law.farthest if law is not None else None,
        "words": f"{words[0].upper()}{words[1:]}",
    }


def _form_words(name: str, law: PowerLaw | None, places: int) -> tuple[str, str]:
    """Which form the dependence has, and what a sentence says of it."""
    if law is None:
        return "table", ""
    if law.form == "none":
        return "none", f"has no simple form in {name}"
    bounds = f"{exponent_words(law.low)} to {exponent_words(law.high)}"
    exponent = f"{name}^{exponent_words(law.exponent)} (95% interval of the exponent {bounds})"
    if law.changes_at_most(FLAT):
        return "flat", f"does not depend on {name} (by less than {share_words(FLAT)} over its range)"
    if law.low <= 0 <= law.high:
        return "unknown", f"may depend on {name} or not: {exponent} cannot be told from none"
    if law.form == "unchecked":
        return "unchecked", f"goes with {exponent}, if that is its form, which two values cannot show"
    return "power", f"goes with {exponent}"


def _sentences(dependencies: Sequence[Mapping[str, Any]], over: Mapping[str, Any]) -> list[str]:
    """Each dependence in a sentence; one for all settings of the others where there are many, or none depends."""
    found = []
    for name in over:
        for metric, (title, _) in METRICS.items():
            mine = [one for one in dependencies if (one["parameter"], one["metric"]) == (name, metric)]
            if len(mine) > 1 and all(one["form"] == "flat" for one in mine):
                words = (
                    f"{title} does not depend on {name} (by less than {share_words(FLAT)}) at any setting of the "
                    "others."
                )
                found.append(f"{words[0].upper()}{words[1:]}")
            elif len(mine) > MOST_SAID:
                found.append(_summed_up(title, name, mine))
            else:
                found += [one["words"] for one in mine]
    return found


def _summed_up(title: str, name: str, mine: Sequence[Mapping[str, Any]]) -> str:
    """One sentence for a dependence that was measured at many settings of the others; the table has them all."""
    factors = [one["most"][1] / one["least"][1] for one in mine]
    if max(factors) <= 1 + FLAT:
        words = f"{title} changes by less than {share_words(FLAT)} over {name}, at every setting of the others."
        return f"{words[0].upper()}{words[1:]}"
    span = " to ".join(dict.fromkeys(number(factor) for factor in (min(factors), max(factors))))
    steepest = mine[factors.index(max(factors))]
    where = joined([f"{key}={value}" for key, value in steepest["at"].items()])
    ends = [f"{_amount(steepest['metric'], value)} at {name}={x}" for x, value in (steepest["least"], steepest["most"])]
    words = f"{title} changes by a factor of {span} over {name}, as the others are set"
    return f"{words[0].upper()}{words[1:]}; most at {where}: {' to '.join(ends)}."


def _amount(metric: str, value: float) -> str:
    return size_words(value) if metric == "memory" else ms_words(value)


def _stops(cells: Sequence[Cell], over: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    """The cells that fail or say nothing while every smaller neighbour answers: the edge of where it works. Words have
    no order, so each of them has an edge of its own."""
    by_place = {_place(cell, over): cell for cell in cells}
    axes = [at for at, values in enumerate(over.values()) if all(number_of(value) is not None for value in values)]
    found = []
    for place, cell in by_place.items():
        if cell["state"] not in ("fails", "silent"):
            continue
        below = [tuple(p - (1 if at == axis else 0) for axis, p in enumerate(place)) for at in axes]
        if all(by_place[one]["state"] == "answers" for one in below if one in by_place):
            where = joined([f"{name}={value}" for name, value in cell["parameters"].items()])
            cause = max(cell["causes"], key=cell["causes"].get, default="no answer in time")
            noun = judged_noun(cell["causes"].get(BROKE, 0), cell["requests"])
            what = f"{share_words(cell['failed_share'])} of the {noun} fail ({cause})"
            if cell["state"] == "silent" and noun == "requests":
                what = f"nothing answers ({cause})"
            restarts = cell["restarts"].items()
            again = "".join(f"; {label} was restarted at least {times_words(count)}" for label, count in restarts)
            words = f"From {where} on {what}{again}."
            found.append(
                {
                    "parameters": cell["parameters"],
                    "state": cell["state"],
                    "cause": cause,
                    "restarts": cell["restarts"],
                    "words": words,
                }
            )
    return found


def _place(cell: Cell, over: Mapping[str, Sequence[str]]) -> tuple[int, ...]:
    return tuple(list(values).index(cell["parameters"][name]) for name, values in over.items())


def _first_words(stops: Sequence[Mapping[str, Any]]) -> str:
    return str(stops[0]["words"]) if stops else ""


def _answer(
    dependencies: Sequence[Mapping[str, Any]],
    stops: Sequence[Mapping[str, Any]],
    answered: bool,
    over: Mapping[str, Any],
    each: str,
) -> str:
    """`each`: how many requests an iteration makes, where that differs."""
    if not answered:
        return "Cannot tell: too few trials are complete, answered, and not limited by the generator."
    parts = []
    for name in over:
        mine = [one for one in dependencies if one["parameter"] == name and one["metric"] == ANSWERS]
        forms = {one["form"] for one in mine}
        if not mine:
            parts.append(f"How it depends on {name} cannot be told: too few of its values have trials that count.")
        elif forms == {"flat"}:
            parts.append(f"The duration of an iteration does not depend on {name}.")
        elif len(mine) == 1:
            parts.append(mine[0]["words"])
        elif forms == {"unknown"}:
            parts.append(f"Whether the duration of an iteration depends on {name} cannot be told from these trials.")
        elif forms <= {"power", "unchecked"}:
            low, high = (f"{name}^{exponent_words(pick(one['exponent'] for one in mine))}" for pick in (min, max))
            span = low if low == high else f"{low} to {high}, depending on the others"
            parts.append(f"The duration of an iteration goes with {span}.")
        else:
            parts.append(_summed_up(METRICS[ANSWERS][0], name, mine))
    edge = " ".join(stop["words"] for stop in stops) if stops else "It answered everywhere that was tried."
    return " ".join(filter(None, [*parts, each, edge]))


def _script_step(trials: Sequence[Mapping[str, Any]]) -> str:
    """What to do about a script that makes no request."""
    causes: Counter[str] = sum((Counter(trial["causes"]) for trial in trials), Counter())
    return Failures(causes).next_step() or MAKE_REQUESTS


def _notes(cells: Sequence[Cell], plan: Mapping[str, Any]) -> list[str]:
    notes = []
    untried = [cell for cell in cells if cell["state"] == "not tried"]
    if untried:
        why = " (a smaller one had no answer)" if plan["analysis"]["stop_at_failure"] else ""
        notes.append(f"{len(untried)} of {len(cells)} combinations were not tried{why}.")
    failing = [cell for cell in cells if cell["state"] == "fails"]
    if failing:
        notes.append("Where requests fail, times are those of all requests, and failed ones are often quick.")
    if not all(tells_of_work(cell["failed"], cell["requests"]) for cell in failing):
        notes.append(
            f"Combinations in which more than {share_words(MOST_FAILED)} of the requests fail are left out of what "
            "depends on what."
        )
    return notes


def _next_steps(
    stops: Sequence[Mapping[str, Any]],
    answering: bool,
    dependencies: Sequence[Mapping[str, Any]],
    by_request: Sequence[Mapping[str, Any]],
) -> list[str]:
    steps = []
    script = [stop["cause"] for stop in stops if not is_targets(stop["cause"])]
    if stops and (script or not answering):
        steps.append(Failures(Counter([*script, stops[0]["cause"]][:1])).next_step())
    elif stops:
        again = joined(list(dict.fromkeys(label for stop in stops for label in stop["restarts"])))
        whose = f"the log and the memory limit of {again}" if again else "the target's log and memory"
        steps.append(f"Look at {whose} at the first combination that fails, and try values between.")
    steep = [
        one
        for one in dependencies
        if one["form"] == "power"
        and one["metric"] == ANSWERS
        and (one["interval"] or [0])[0] > 1.2
        and one["parameter"] not in LEVELS
    ]
    if steep:
        steps.append(
            f"The time grows faster than {steep[0]['parameter']}: look for work that is done for each pair of items."
        )
    growing = [one for one in by_request if one["exponent"] > 0 and one["parameter"] not in LEVELS]
    if growing:
        steps.append(f"Look at what {growing[0]['request']} does once for each of {growing[0]['parameter']}.")
    if any(one["form"] == "unknown" for one in dependencies):
        steps.append("Where it cannot be told, make longer trials or more repeats.")
    if any(one["form"] == "unchecked" for one in dependencies):
        steps.append("Give a third value of each parameter: two points fit any law.")
    return steps
