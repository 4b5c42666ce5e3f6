"""Which process does the work? CPU that each process of the target uses for an operation, in each cell of trials.

CPU an operation = cores used ÷ iterations/s, the demand of the utilisation law (Denning and Buzen 1978), one value a
trial; what a process does by itself (jobs, keeping awake) is in it. Trials in which one was restarted, or more
than a tenth of the requests failed, are left out, as are those of a variant whose process was not read
(unread_processes.py).
Intervals of 95%: Student's t over the trials of a cell, from three on; of two arms, over the logarithms of the ratios
of its pairs (stats/comparison/log_ratio.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import geometric_mean
from typing import TYPE_CHECKING, Any

from plimsoll.findings.beside.held_windows import cell_words
from plimsoll.findings.evidence import TRIALS, Evidence, as_data
from plimsoll.findings.resources import cpu_ms_of_processes
from plimsoll.findings.trials.trials import left_out, tells_of_work
from plimsoll.findings.trials.unread_processes import Unread, followed_words, idle_cells, whole
from plimsoll.listed_names import listed
from plimsoll.stats.comparison.log_ratio import paired_log_ratio
from plimsoll.stats.estimates.mean_interval import mean_interval
from plimsoll.words import interval_words, ms_words, ratio_words, share_words

if TYPE_CHECKING:
    from plimsoll.runs.reader import RunReader

QUESTION = "Which process does the work?"
EXPERIMENTS = ("compare", "decompose", "sweep")
ALPHA, FEWEST_TRIALS, FEWEST_PAIRS = 0.05, 3, 3
LEAST_SAID, LEAST_COMPARED = 0.02, 0.05  # of a cell's CPU; a smaller share is mostly what runs without any load
EVERY = "all processes"
_CANNOT = "Cannot tell: no process of the target was read."
ASSUMED = (
    "CPU an operation is a process's cores ÷ operations/s. What it does without any load is in it, which weighs where "
    "operations are few; waiting is not."
)
Trial = Mapping[str, Any]
Cell = dict[str, Any]


def process_work_findings(run: RunReader, main: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the finding has of its own, alone in a list; none for other experiments, or where no process of the target
    was probed. `run`: a RunReader; `main`: its main finding."""
    if main.get("experiment") not in EXPERIMENTS:
        return []
    plan, without = run.plan(), left_out(main.get("excluded") or (), "counts")
    made = [one for one in run.trials() if one["trial"] not in without and _counts(one) and one.get("done_per_s")]
    trials, unread = whole(made, _work_of)
    names = {variant["name"]: variant["label"] for variant in plan["variants"]}
    idle_cells(trials, _work_of, lambda name: names.get(name, name), unread)
    trials = [one for one in trials if (one["variant"], one["level"]) not in unread.places]
    cells = list(_cells(plan, trials))
    unknown = list(_unknown(plan, unread))
    if not cells and not unread.notes:
        return []
    changes = list(_changes(plan, trials)) if main["experiment"] == "compare" else []
    words = [f"Not known at {one['load']}. {one['because']}" for one in unknown]
    cannot = {"valid": False, "invalid_because": unread.notes} if not cells else {}
    return [
        {
            "question": QUESTION,
            "answer": " ".join([_answer(cells, changes, bool(unknown)), *words]) if cells else _CANNOT,
            "process_work": cells,
            "work_changes": changes,
            "work_unknown": unknown,
            "tables": [*([_table(cells)] if cells else []), *([_table_of_changes(changes)] if changes else [])],
            "evidence": as_data(
                [Evidence(len(trials), "trials", TRIALS, f"CPU an operation of {_cells_words(cells)}")]
            ),
            "notes": [ASSUMED, *followed_words(trials, lambda name: names.get(name, name)), *unread.notes],
            **cannot,
        }
    ]


def _cells_words(cells: Sequence[Cell]) -> str:
    return f"{len(cells)} {'cell' if len(cells) == 1 else 'cells'}"


def _unknown(plan: Mapping[str, Any], unread: Unread) -> Iterator[dict[str, Any]]:
    """The cells of which it is not known, in the order of the plan, each with why."""
    for variant in plan["variants"]:
        for level in plan["levels"]:
            because = unread.places.get((variant["name"], level["level"]))
            if because is not None:
                words = cell_words(plan, variant, level)
                yield {"load": words, "level": level["level"], "variant": variant["name"], "because": because}


def _counts(trial: Trial) -> bool:
    """Not where a process was started again: what the one before it used is not known to the end; nor where many
    requests failed."""
    is_restarted = any(values.get("restarts") for values in trial.get("resources", {}).values())
    return not is_restarted and tells_of_work(trial["failed"], trial["requests"])


def _work_of(trial: Trial) -> dict[str, float]:
    """CPU in ms of each process for an operation; empty where nothing was done or no process was seen."""
    per_s = trial.get("done_per_s")
    if not per_s:
        return {}
    return cpu_ms_of_processes(trial.get("resources", {}), per_s)


def _cells(plan: Mapping[str, Any], trials: Sequence[Trial]) -> Iterator[Cell]:
    """Each combination of variant and level of which trials count, in the order of the plan."""
    for variant in plan["variants"]:
        for level in plan["levels"]:
            here = [t for t in trials if (t["variant"], t["level"]) == (variant["name"], level["level"])]
            if not here:
                continue
            yield _cell(
                cell_words(plan, variant, level), variant["name"], level["level"], [_work_of(one) for one in here]
            )


def _cell(words: str, variant: str, level: float, works: Sequence[Mapping[str, float]]) -> Cell:
    """Means over the trials, the process with most CPU first."""
    labels = dict.fromkeys(label for work in works for label in work)
    values = {label: [work.get(label, 0.0) for work in works] for label in labels}
    together = [sum(work.values()) for work in works]
    whole = sum(together) / len(works)
    found: list[dict[str, Any]] = [
        {
            "process": label,
            "cpu_ms": sum(seen) / len(seen),
            "interval_ms": _interval(seen),
            "share": sum(seen) / len(seen) / whole if whole else 0.0,
        }
        for label, seen in values.items()
    ]
    found.sort(key=lambda one: -float(one["cpu_ms"]))
    return {
        "load": words,
        "level": level,
        "variant": variant,
        "trials": len(works),
        "cpu_ms": whole,
        "interval_ms": _interval(together),
        "processes": found,
    }


def _interval(values: Sequence[float]) -> list[float] | None:
    return mean_interval(values, ALPHA) if len(values) >= FEWEST_TRIALS else None


def _changes(plan: Mapping[str, Any], trials: Sequence[Trial]) -> Iterator[dict[str, Any]]:
    """B ÷ A at each level: of all processes together, and of each that has a part of the work in both arms."""
    if not plan["analysis"].get("paired", True):
        return
    works = {(t["variant"], t["level"], t["repetition"]): _work_of(t) for t in trials}
    for level in plan["levels"]:
        at = level["level"]
        both = [
            (works["a", at, repetition], works["b", at, repetition])
            for name, of, repetition in works
            if (name, of) == ("a", at) and ("b", at, repetition) in works
        ]
        labels = [label for label in dict.fromkeys(name for a, _ in both for name in a) if _takes_part(label, both)]
        pairs = {EVERY: [(sum(a.values()), sum(b.values())) for a, b in both]}
        pairs |= {label: [(a.get(label, 0.0), b.get(label, 0.0)) for a, b in both] for label in labels}
        for label, of_label in pairs.items():
            if change := _change(of_label):
                yield {"load": level["words"], "level": at, "process": label, **change}


def _takes_part(label: str, both: Sequence[tuple[Mapping[str, float], Mapping[str, float]]]) -> bool:
    arms = ([a for a, _ in both], [b for _, b in both])
    return all(
        sum(work.get(label, 0.0) for work in arm) >= LEAST_COMPARED * sum(sum(work.values()) for work in arm)
        for arm in arms
    )


def _change(pairs: Sequence[tuple[float, float]]) -> dict[str, Any] | None:
    kept = [(a, b) for a, b in pairs if a > 0 and b > 0]
    if len(kept) < FEWEST_PAIRS:
        return None
    first, second = [a for a, _ in kept], [b for _, b in kept]
    ratio = paired_log_ratio(first, second)
    assert ratio is not None
    return {
        "a_ms": geometric_mean(first),  # b_ms ÷ a_ms is the ratio
        "b_ms": geometric_mean(second),
        "ratio": ratio.ratio,
        "interval": list(ratio.interval(ALPHA)),
        "pairs": len(kept),
    }


def _answer(cells: Sequence[Cell], changes: Sequence[Mapping[str, Any]], is_part: bool) -> str:
    """`is_part`: other cells are not known, which may cost more."""
    most = max(cells, key=lambda one: float(one["cpu_ms"]))
    shown = [one for one in most["processes"] if one["share"] >= LEAST_SAID]
    told = ", ".join(f"{one['process']} {ms_words(one['cpu_ms'])} ({share_words(one['share'])})" for one in shown)
    costs = "costs most of what is known" if is_part else "costs most"
    others = [one for one in cells if one is not most]
    as_dear = [one for one in others if not _is_below(one, most)]
    is_sure = bool(others) and not as_dear
    where = f"At {most['load']}, where an operation {costs}, it" if is_sure else f"At {most['load']} an operation"
    text = f"{where} takes {ms_words(most['cpu_ms'])} of the target's CPU: {told}."
    if as_dear:
        text += f" Within chance it costs as much at {listed([one['load'] for one in as_dear], 3)}."
    if not changes:
        return text
    top = max(changes, key=lambda one: float(one["level"]))["level"]
    here = [one for one in changes if one["level"] == top]
    return f"{text} B beside A at {here[0]['load']}: {'; '.join(map(_change_words, here))}."


def _is_below(cell: Cell, other: Cell) -> bool:
    """Whether an operation costs less there, their intervals being apart."""
    return bool(cell["interval_ms"] and other["interval_ms"] and cell["interval_ms"][1] < other["interval_ms"][0])


def _change_words(one: Mapping[str, Any]) -> str:
    """ "forum 2.1 to 3.4 ms, +62% (95%: +58% to +66%)"."""
    low, high = one["interval"]
    change = f"{ratio_words(one['ratio'])} (95%: {interval_words(low, high)})"
    return f"{one['process']} {ms_words(one['a_ms'])} to {ms_words(one['b_ms'])}, {change}"


def _table(cells: Sequence[Cell]) -> dict[str, Any]:
    """A column for each process that has a part of the work anywhere."""
    names = dict.fromkeys(one["process"] for cell in cells for one in cell["processes"] if one["share"] >= LEAST_SAID)
    rows = []
    for cell in cells:
        found = {one["process"]: _ms(one) for one in cell["processes"] if one["share"] >= LEAST_SAID}
        rows.append([cell["load"], *(found.get(name, "–") for name in names), ms_words(cell["cpu_ms"])])
    return {
        "title": "CPU an operation, by process",
        "note": f"Means over the trials, with intervals of 95% from {FEWEST_TRIALS} trials on. –: below "
        f"{share_words(LEAST_SAID)} of the cell's CPU.",
        "columns": ["At", *names, "Together"],
        "words": ["At"],
        "rows": rows,
    }


def _ms(one: Mapping[str, Any]) -> str:
    interval = one["interval_ms"]
    return ms_words(one["cpu_ms"]) + (f" ({ms_words(interval[0])} to {ms_words(interval[1])})" if interval else "")


def _table_of_changes(changes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "title": "CPU an operation, B beside A",
        "note": "Geometric means; ratios of pairs with intervals of 95%. Exploratory: no verdict rests on them.",
        "columns": ["At", "Process", "A", "B", "Change", "95%", "Pairs"],
        "words": ["At", "Process"],
        "rows": [
            [
                one["load"],
                one["process"],
                ms_words(one["a_ms"]),
                ms_words(one["b_ms"]),
                ratio_words(one["ratio"]),
                interval_words(*one["interval"]),
                str(one["pairs"]),
            ]
            for one in changes
        ],
    }
