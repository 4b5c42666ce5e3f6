"""Validity of a conclusion: what an answer rests on, and whether the generator and its host let it be said.

A run is not valid or invalid; a conclusion is. A generator that is 1 ms late adds 1 ms to response times, and leaves a
throughput, a count of failures, a growth of memory or the CPU time of an operation as they are. So each conclusion
names what it rests on and is valid, valid within ± an error with a unit, or invalid with the reason
(docs/decisions/0015-validity-of-a-conclusion.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from plimsoll.study.objectives import parse_objective
from plimsoll.words import joined, ms_words, share_words

# What a conclusion rests on. "throughput": what was completed at the load that was asked for; "response_time": at a
# percentile; "mean_time": mean times and how they change; "counts": items second by second; "failures": how many
# requests failed; "memory": how it grows; "cpu_per_operation".
RestsOn = Literal["throughput", "response_time", "mean_time", "counts", "failures", "memory", "cpu_per_operation"]
Verdict = Literal["valid", "within", "invalid"]
ALL: tuple[RestsOn, ...] = get_args(RestsOn)
NAMES: dict[RestsOn, str] = {
    "throughput": "throughput",
    "response_time": "response times",
    "mean_time": "mean times",
    "counts": "counts by second",
    "failures": "counts of failures",
    "memory": "growth of memory",
    "cpu_per_operation": "CPU per operation",
}

LEAST_ERROR_MS = 1.0  # what an idle virtual processor needs to wake (docs/measurement.md): never a void
TOO_MUCH = 0.5  # of a value: with a greater error it is the generator's as much as the target's
SMALL = 0.01  # of a value: an error below it is not told


@dataclass(frozen=True)
class Validity:
    """What one conclusion is worth. `error`: ± in `unit` ("ms", or "ratio" of the value itself); `quantile` in [0, 1]
    of a response time; `because`: sentences, the gravest first."""

    rests_on: RestsOn
    verdict: Verdict = "valid"
    error: float | None = None
    unit: Literal["ms", "ratio"] | None = None
    quantile: float | None = None
    because: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """ "response times at p99: valid within ± 1.5 ms"."""
        at = f" at p{100 * self.quantile:g}" if self.quantile is not None else ""
        name = f"{NAMES[self.rests_on]}{at}"
        if self.verdict != "within" or self.error is None:
            return f"{name}: {self.verdict}"
        size = ms_words(self.error) if self.unit == "ms" else share_words(self.error)
        return f"{name}: valid within ± {size}"

    def to_json(self) -> dict[str, Any]:
        """As a finding holds it; what does not apply is left out."""
        found = {
            "rests_on": self.rests_on,
            "verdict": self.verdict,
            "words": self.words,
            "error": None if self.error is None else round(self.error, 4),
            "error_unit": self.unit,
            "quantile": self.quantile,
            "because": list(self.because) or None,
        }
        return {key: value for key, value in found.items() if value is not None}


def of_time(error_ms: float, value_ms: float | None, rests_on: RestsOn, quantile: float | None = None) -> Validity:
    """Validity of a time of `value_ms` that may be too long by `error_ms`: within that error, unless it is most of the
    value; a value that is not known bears any error."""
    if value_ms is not None and error_ms > max(LEAST_ERROR_MS, TOO_MUCH * value_ms):
        late = f"The generator was late by {ms_words(error_ms)}, more than half of the {ms_words(value_ms)} measured."
        return Validity(rests_on, "invalid", error_ms, "ms", quantile, (late,))
    if error_ms <= SMALL * (value_ms or 0.0) or error_ms <= 0:
        return Validity(rests_on, quantile=quantile)
    return Validity(rests_on, "within", error_ms, "ms", quantile)


def conclusions(
    health: Mapping[str, Any], rests_on: Iterable[RestsOn], *, answered: bool = True, because: Sequence[str] = ()
) -> dict[str, Any]:
    """The fields `valid`, `invalid_because` and `validity` of a finding that answers with what rests on these, in the
    JSON of its generator's `health` (findings/validity/generator.py).

    `valid`: whether the question has a valid answer: it was `answered`, and what the first of these rests on is valid.
    `because`: why it was not answered.
    """
    wanted = list(rests_on)
    known = [one for one in health.get("validity") or () if one["rests_on"] in wanted]
    first = wanted[0] if wanted else None
    void = [one for one in known if one["rests_on"] == first and one["verdict"] == "invalid"]
    # Of a time it is invalid where it is so at each percentile: the others still tell.
    of_first = [one for one in known if one["rests_on"] == first]
    gone = bool(void) and (first != "response_time" or len(void) == len(of_first))
    reasons = list(dict.fromkeys(text for one in void for text in one.get("because") or ())) if gone else []
    return {
        "valid": answered and not gone,
        "invalid_because": [*because, *reasons],
        "validity": sorted(known, key=lambda one: wanted.index(one["rests_on"])),
    }


def invalid_for(validity: Any) -> str:
    """What is invalid, in words: "throughput and response times at p90 and p99"; empty where nothing is, or is not
    known."""
    if not isinstance(validity, list | tuple):
        return ""
    told = [str(one.get("words", "")).partition(":")[0].partition(" at ") for one in _invalid(validity)]
    places: dict[str, list[str]] = {}
    for name, _, place in told:
        places.setdefault(name, []).extend([place] if place else [])
    return joined([f"{name} at {joined(found)}" if found else name for name, found in places.items()])


def invalid_because(validity: Any) -> list[str]:
    """Why, each reason once."""
    found = validity if isinstance(validity, list | tuple) else ()
    return list(dict.fromkeys(str(text) for one in _invalid(found) for text in one.get("because") or ()))


def _invalid(validity: Iterable[Any]) -> list[Mapping[str, Any]]:
    return [one for one in validity if isinstance(one, Mapping) and one.get("verdict") == "invalid"]


def error_at(figures: Mapping[str, Any], quantile: float | None) -> float:
    """By how many ms a response time at `quantile` (None: the mean, or the longest) may be too long, from the lag of
    the step's `figures`; lag that is not known there is that at p99."""
    rare = max(float(figures.get(name) or 0.0) for name in ("lag_p99_ms", "lag_of_spells_ms"))
    if quantile is None:
        mean = figures.get("lag_mean_ms")
        return rare if mean is None else float(mean)
    name = "lag_p50_ms" if quantile <= 0.5 else "lag_p90_ms" if quantile <= 0.9 else None
    known = None if name is None else figures.get(name)
    return rare if known is None else min(rare, max(float(known), float(figures.get("lag_p50_ms") or 0.0)))


def objectives_within(
    judged: Iterable[Mapping[str, Any]], figures: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Judged objectives, of which one that failed is undecided where the generator's lag alone may be what failed it:
    value − lag ≤ limit < value. Lag makes a time longer, so what was met stays met; failures of requests bear lag.

    `figures`: of the steps, with their `level` and lags.
    """
    return [_objective_within(dict(one), figures) for one in judged]


def _objective_within(entry: dict[str, Any], figures: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    if entry.get("verdict") != "failed" or entry.get("unit") != "ms":
        return entry
    limit = parse_objective(str(entry["objective"]))
    failed = [one for one in entry.get("verdicts") or () if one.get("verdict") == "failed"]
    at = entry.get("at_level")
    deciding = [one for one in failed if at is None or one.get("level") is None or one["level"] <= at]
    errors = {id(one): _error_of(one, figures, limit.quantile) for one in deciding}
    within = [one for one in deciding if one.get("value") is not None and one["value"] - errors[id(one)] <= limit.limit]
    if not deciding or len(within) < len(deciding):
        return entry
    worst = max(within, key=lambda one: errors[id(one)])
    error = errors[id(worst)]
    words = (
        f"The generator was late by {ms_words(error)}, and the objective is missed by "
        f"{ms_words(worst['value'] - limit.limit)}: which of the two missed it is not known."
    )
    above = [one["level"] for one in failed if one not in within and one.get("level") is not None]
    entry |= {"verdict": "undecided", "failed_from": min(above, default=None), "reason": words}
    entry["needs"] = f"{words} Give the generator cores of its own (--isolate), or another host."
    entry["validity"] = Validity("response_time", "invalid", error, "ms", limit.quantile, (words,)).to_json()
    return entry


def _error_of(verdict: Mapping[str, Any], figures: Sequence[Mapping[str, Any]], quantile: float | None) -> float:
    level = verdict.get("level")
    there = [one for one in figures if level is None or one.get("level") == level]
    return max((error_at(one, quantile) for one in there), default=0.0)
