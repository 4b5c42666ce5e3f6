"""Where does the CPU time go, and what takes more of it under load? Profiles of steps, from the run directory alone.

The events profile_step are read: samples of each function that was at work. The step at the knee is compared with the
one at half of its level (in a hold: the load with one user alone). Shares of samples differ by chance: a difference
counts where a two-sided test of two proportions (normal approximation, pooled) has p below ALPHA ÷ the number of
functions compared (Bonferroni).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from plimsoll.findings.database.loads import Load, Loads, compared_of
from plimsoll.findings.evidence import EVENTS, Evidence, as_data
from plimsoll.words import change_words, confidence_words, ms_words, number, share_words, time_words

if TYPE_CHECKING:
    from plimsoll.runs.reader import RunReader

QUESTION = "Where does the CPU time go?"
FEWEST_SAMPLES = 50
MOST_FUNCTIONS = 15
MOST_SAID = 3
ALPHA = 0.01
SLACK_S = 1.5
_TOOLS = {
    "python": "py-spy: what held the interpreter",
    "native": "perf: what was on a processor",
    "go": "pprof: what was on a processor",
}


@dataclass(frozen=True)
class Function:
    """Own time of a function at both loads: samples, shares of 1, and milliseconds per operation (None where the
    step's throughput is not known). `p`: of the difference of the shares, None without a comparison."""

    name: str
    where: str
    top: float
    half: float | None
    top_ms: float | None
    half_ms: float | None
    p: float | None

    @property
    def words(self) -> str:
        """ "json_encode (encoder.py:12)"."""
        return f"{self.name} ({self.where})" if self.where else self.name

    @property
    def change(self) -> float:
        """Points of share that it gained."""
        return self.top - (self.half or 0.0)

    def to_json(self, is_beyond: bool) -> dict[str, Any]:
        """As the finding holds it."""
        return {
            "name": self.name, "where": self.where, "share": self.top, "share_half": self.half,
            "ms_per_operation": self.top_ms, "ms_per_operation_half": self.half_ms, "p": self.p,
            "beyond_chance": is_beyond,
        }  # fmt: skip


def profile_findings(run: RunReader, main: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What a finding for each process that was profiled has of its own. `run`: a RunReader; `main`: its main finding,
    which tells the knee."""
    events = run.events()
    profiles = [event for event in events if event.get("kind") == "profile_step"]
    sources = list(dict.fromkeys(str(one["source"]) for one in profiles))
    found = []
    for source in sources:
        own = [one for one in profiles if one["source"] == source]
        question = QUESTION.replace("?", f" of {source.partition(':')[2]}?")
        found.append({"question": question} | _finding(own, events, main))
    return found


def _finding(
    own: Sequence[Mapping[str, Any]], events: Iterable[Mapping[str, Any]], main: Mapping[str, Any]
) -> dict[str, Any]:
    steps, unit, rates = _steps(own, events)
    loads = compared_of(steps, unit, main)
    top = loads.top or max(steps, key=lambda step: step.level, default=None)
    if top is None:
        most = max(int(one["samples"]) for one in own)
        return {
            "answer": f"Cannot tell: no step has {FEWEST_SAMPLES} samples or more, the most are {most}.",
            "profile": None,
            "evidence": as_data([_samples_of(one, float(one["ended_s"]), float(one["seconds"])) for one in own]),
            "next": ["Profile longer steps (--step), or more samples (samples_per_s), of a process that works."],
        }
    half = loads.half if loads.top is not None else None
    functions = _functions(top, half, rates)
    limit = ALPHA / max(1, len(functions))
    beyond = [one for one in functions if one.p is not None and one.p < limit]
    kind = str(top.found["profile_kind"])
    return {
        "answer": _answer(loads, top, half, functions, beyond),
        "facts": _facts(loads, top, half),
        "sentences": [_sentence(one) for one in sorted(beyond, key=lambda one: -abs(one.change))[:MOST_SAID]],
        "tables": [_table(functions, beyond, loads, top, half)],
        "notes": _notes(kind, top, half),
        "evidence": as_data([_of_load(load, unit) for load in (top, half) if load is not None]),
        "profile": {
            "tool": kind,
            "samples": top.found["samples"],
            "samples_half": half.found["samples"] if half is not None else None,
            "functions": [one.to_json(one in beyond) for one in functions],
        },
        "next": _next(functions, beyond),
    }


def _samples_of(found: Mapping[str, Any], to_s: float, seconds: float) -> Evidence:
    return Evidence(int(found["samples"]), "samples", EVENTS, f"In {number(seconds)} s", to_s - seconds, to_s)


def _of_load(load: Load, unit: str) -> Evidence:
    """The samples of one step."""
    found = _samples_of(load.found, float(load.found["ended_s"]), load.seconds)
    return replace(found, levels=(load.level, load.level), level_unit=unit)


def _steps(
    own: Sequence[Mapping[str, Any]], events: Iterable[Mapping[str, Any]]
) -> tuple[list[Load], str, dict[float, float]]:
    """Steps with enough samples, the unit of their levels, and throughput by the second at which each ended."""
    unit, steps, rates = "users", [], {}
    profiles = sorted(own, key=lambda one: float(one["ended_s"]))
    ended: list[Mapping[str, Any]] = []
    for event in events:
        if event.get("kind") == "experiment_started":
            unit = str(event.get("unit") or unit)
        elif event.get("kind") == "step_ended" and "level" in event:
            ended.append(event)
    for profile in profiles:
        if int(profile["samples"]) < FEWEST_SAMPLES:
            continue
        before = [one for one in ended if _end_of(one) <= float(profile["ended_s"]) + SLACK_S]
        if not before:
            continue
        step = max(before, key=_end_of)
        alone = step.get("step_kind") == "baseline"
        level, verdict = float(step.get("level") or 0.0), str(step.get("verdict"))
        steps.append(Load(level, float(profile["seconds"]), verdict, alone, profile))
        if step.get("done_per_s"):
            rates[float(profile["ended_s"])] = float(step["done_per_s"])
    return steps, unit, rates


def _end_of(step: Mapping[str, Any]) -> float:
    return float(step.get("end_s", step.get("second", 0.0)))


def _functions(top: Load, half: Load | None, rates: Mapping[float, float]) -> list[Function]:
    """Those of both loads, the most own time at the higher one first."""
    here, there = _samples(top), _samples(half) if half is not None else {}
    whole, other = top.found["samples"], half.found["samples"] if half is not None else 0
    found = []
    for key in dict.fromkeys([*here, *there]):
        count, before = here.get(key, 0), there.get(key, 0)
        found.append(
            Function(
                key[0],
                key[1],
                count / whole,
                before / other if half is not None else None,
                _ms(top, count, rates),
                _ms(half, before, rates) if half is not None else None,
                _p(count, whole, before, other) if half is not None else None,
            )
        )
    return sorted(found, key=lambda one: (-one.top, -(one.half or 0.0)))


def _samples(load: Load) -> dict[tuple[str, str], int]:
    return {(one["name"], one["where"]): int(one["samples"]) for one in load.found["functions"]}


def _ms(load: Load, count: int, rates: Mapping[float, float]) -> float | None:
    """Own time of an operation."""
    rate, seconds = rates.get(float(load.found["ended_s"])), float(load.found["seconds"])
    return 1000 * count * float(load.found["sample_s"]) / seconds / rate if rate and seconds else None


def _p(count: int, whole: int, before: int, other: int) -> float:
    pooled = (count + before) / (whole + other)
    spread = math.sqrt(pooled * (1 - pooled) * (1 / whole + 1 / other))
    if spread == 0:
        return 1.0
    return math.erfc(abs(count / whole - before / other) / spread / math.sqrt(2))


def _answer(
    loads: Loads, top: Load, half: Load | None, functions: Sequence[Function], beyond: Sequence[Function]
) -> str:
    first = functions[0]
    words = f"At {loads.words(top)} {share_words(first.top)} of it is {first.words} itself"
    if first.half is not None:
        words += f", {share_words(first.half)} at {loads.words(half)}"
    words += "."
    if half is None:
        return f"{words} No step at about half of that level has {FEWEST_SAMPLES} samples, so nothing is compared."
    grown = max(beyond, key=lambda one: one.change, default=None)
    if grown is None or grown.change <= 0:
        return f"{words} No function's share grew with load beyond chance."
    if grown is first:
        return f"{words} That is the growth that is largest beyond chance."
    return (
        f"{words} What grew most beyond chance is {grown.words}: from {share_words(grown.half or 0.0)} to "
        f"{share_words(grown.top)}."
    )


def _facts(loads: Loads, top: Load, half: Load | None) -> list[list[str]]:
    rows = [["Sampled by", _TOOLS[str(top.found["profile_kind"])]]]
    rows.append([f"At {loads.words(top)}", _work_words(top)])
    if half is not None:
        rows.append([f"At {loads.words(half)}", _work_words(half)])
    return rows


def _work_words(load: Load) -> str:
    found = load.found
    busy = found["samples"] * found["sample_s"] / found["seconds"] if found["seconds"] else 0.0
    return f"{found['samples']:,} samples in {time_words(found['seconds'])}: {number(busy)} threads at work on average"


def _sentence(one: Function) -> str:
    words = f"{one.words}: {share_words(one.half or 0.0)} → {share_words(one.top)}"
    if one.half_ms is not None and one.top_ms is not None:
        words += f", {ms_words(one.half_ms)} → {ms_words(one.top_ms)} an operation"
    return f"{words}."


def _table(
    functions: Sequence[Function], beyond: Sequence[Function], loads: Loads, top: Load, half: Load | None
) -> dict[str, Any]:
    columns = ["Function", "Where", f"Own time at {loads.words(top)}", "an operation"]
    if half is not None:
        columns = [*columns, f"at {loads.words(half)}", "an operation there", "Difference, points"]
    rows = []
    for one in functions[:MOST_FUNCTIONS]:
        row = [one.name, one.where, share_words(one.top), _ms_or_none(one.top_ms)]
        if half is not None:
            sure = "" if one in beyond else " (chance)"
            row += [share_words(one.half or 0.0), _ms_or_none(one.half_ms), f"{change_words(100 * one.change)}{sure}"]
        rows.append(row)
    rest = 1 - sum(one.top for one in functions[:MOST_FUNCTIONS])
    note = "Own time: samples in the function itself, not in what it calls."
    if rest > 0.005:
        note += f" Others: {share_words(rest)}."
    if half is not None:
        chance = confidence_words(1 - ALPHA)
        note += f" (chance): within what samples of this number scatter by ({chance}, all functions together)."
    return {"title": "Functions by own time", "note": note, "columns": columns, "rows": rows,
            "words": ["Function", "Where"], "codes": ["Function"]}  # fmt: skip


def _ms_or_none(value: float | None) -> str:
    return "–" if value is None else ms_words(value)


def _notes(kind: str, top: Load, half: Load | None) -> list[str]:
    notes = [
        "Sampling takes some of the target's time: compare loads of this run with each other, not with other runs."
    ]
    if kind == "python":
        notes.append(
            "What holds Python's interpreter is sampled: time in C code that lets go of it (compression, numpy) is not "
            "seen; kind: native samples that. Python is read without stopping it, so that some samples are torn."
        )
        torn = sum(int(load.found.get("errors") or 0) for load in (top, half) if load is not None)
        if torn:
            notes.append(f"{torn:,} samples could not be read.")
    if kind == "native":
        notes.append("Functions without a name are those of a program without symbols: install its debug symbols.")
    return notes


def _next(functions: Sequence[Function], beyond: Sequence[Function]) -> list[str]:
    grown = [one for one in beyond if one.change > 0]
    first = max(grown, key=lambda one: one.change) if grown else functions[0]
    return [
        f"Look at what calls {first.words}, change it, and run it again: plimsoll capacity --verify shows the effect."
    ]
