"""Objectives, judged per level and apart from saturation: met, failed, or undecided for want of samples.

A percentile q is judged from 20 / (1 − q) samples over all steps at a level (200 for p90); fewer are *undecided*.
An error rate is judged by its Wilson interval. A target may miss its objectives for one idle user and yet carry many.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from plimsoll.findings.capacity_words import level_words
from plimsoll.findings.resources import Step
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.snapshot import Series, Snapshot
from plimsoll.stats.quantile import samples_needed
from plimsoll.stats.wilson import wilson_interval
from plimsoll.study.objectives import Limit, parse_objective

TIMES = ("http_req_response_time", "http_req_duration")
FEWEST_SAMPLES = 20
_HOLD_IT = "plimsoll hold"


@dataclass(frozen=True)
class Wanted:
    """An objective on an operation (tag scenario), a request (tag name), or, with neither, on all requests; with
    `tags`, on the series that carry them, and `request` is what they are called."""

    limit: Limit
    text: str
    operation: str | None = None
    request: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Any) -> Wanted:
        """From a study's Objective or a plain mapping with the same keys."""
        value = given.get if isinstance(given, Mapping) else lambda key, default=None: getattr(given, key, default)
        text = str(value("objective"))
        tags = value("tags") if isinstance(given, Mapping) else None
        return cls(parse_objective(text), text, value("operation"), value("request"), dict(tags or {}))

    def matches(self, series: Series) -> bool:
        """Whether that series counts for this objective."""
        tags = series.tags
        if self.tags:
            return all(tags.get(name) == wanted for name, wanted in self.tags.items())
        fits = self.operation is None or tags.get("scenario") == self.operation
        return fits and (self.request is None or tags.get("name") == self.request)


@dataclass
class Samples:
    """What one objective saw at one level."""

    seconds: int = 0
    times: Histogram = field(default_factory=Histogram)
    failed: int = 0
    requests: int = 0


def judge_objectives(
    objectives: Iterable[Any],
    steps: Sequence[Step],
    snapshots: Iterable[Snapshot],
    reference: float | None,
    unit: str = "users",
) -> list[dict[str, Any]]:
    """One entry per objective; `reference`: the level that decides (expected load, else the capacity).

    Each entry: operation or request, objective, unit ("ms" or "ratio", of the values and intervals in verdicts),
    verdict ("met", "failed", "undecided"), met_up_to (also as met_up_to_users if that is the unit), failed_from, needs
    (what would settle an undecided one), verdicts per level.
    """
    wanted = [Wanted.of(objective) for objective in objectives]
    if not wanted:
        return []
    samples = _collect(wanted, steps, snapshots)
    return [_entry(objective, samples[place], reference, unit) for place, objective in enumerate(wanted)]


def _collect(
    wanted: Sequence[Wanted], steps: Sequence[Step], snapshots: Iterable[Snapshot]
) -> list[dict[float, Samples]]:
    found: list[dict[float, Samples]] = [{} for _ in wanted]
    metric: str | None = None
    for snapshot in snapshots:
        level = _level_at(steps, snapshot.second)
        if level is None:
            continue
        if metric is None:
            present = {series.metric for series in snapshot.series}
            metric = next((name for name in TIMES if name in present), None)
        for place, objective in enumerate(wanted):
            samples = found[place].setdefault(level, Samples())
            samples.seconds += 1
            for series in snapshot.series:
                if not objective.matches(series):
                    continue
                if series.metric == metric:
                    samples.times.add_series(series)
                elif series.metric == "http_req_failed":
                    samples.failed += int(series.passes or 0)
                    samples.requests += int(series.total or 0)
    return found


def _level_at(steps: Sequence[Step], second: int) -> float | None:
    for step in steps:
        if step["measured_from_s"] <= second < step["end_s"]:
            return float(step["level"])
    return None


def _entry(objective: Wanted, levels: Mapping[float, Samples], reference: float | None, unit: str) -> dict[str, Any]:
    verdicts = [_verdict(objective.limit, level, levels[level]) for level in sorted(levels)]
    failed_from = min((item["level"] for item in verdicts if item["verdict"] == "failed"), default=None)
    below = [
        i["level"] for i in verdicts if i["verdict"] == "met" and (failed_from is None or i["level"] < failed_from)
    ]
    met_up_to = max(below, default=None)
    subject = {"request": objective.request} if objective.request else {"operation": objective.operation}
    entry: dict[str, Any] = {**subject, "objective": objective.text, "unit": objective.limit.unit}
    entry |= {"met_up_to": met_up_to, "failed_from": failed_from}
    if unit == "users":
        entry["met_up_to_users"] = met_up_to
    verdict = _at_reference(met_up_to, failed_from, reference)
    entry |= {"verdict": verdict, "at_level": reference, "verdicts": verdicts}
    entry["needs"] = _needs(objective.limit, levels, reference, unit) if verdict == "undecided" else None
    return entry


def _at_reference(met_up_to: float | None, failed_from: float | None, reference: float | None) -> str:
    """More load is never faster: met above means met here, failed below means failed here."""
    if reference is None:
        return (
            "failed"
            if failed_from is not None and met_up_to is None
            else "met"
            if met_up_to is not None
            else "undecided"
        )
    if failed_from is not None and failed_from <= reference:
        return "failed"
    return "met" if met_up_to is not None and met_up_to >= reference else "undecided"


def _verdict(limit: Limit, level: float, samples: Samples) -> dict[str, Any]:
    if limit.statistic == "error_rate":
        return {"level": level, **_error_verdict(limit, samples)}
    count, needed = samples.times.count, needed_samples(limit)
    value = statistic(limit, samples.times)
    found: dict[str, Any] = {"level": level, "value": value, "samples": count, "needed": needed}
    if count < needed or value is None:
        return found | {"verdict": "undecided"}
    return found | {"verdict": "met" if limit.is_met_by(value) else "failed"}


def _error_verdict(limit: Limit, samples: Samples) -> dict[str, Any]:
    interval = wilson_interval(samples.failed, samples.requests)
    verdict = "met" if interval.high <= limit.limit else "failed" if interval.low > limit.limit else "undecided"
    value = samples.failed / samples.requests if samples.requests else None
    found = {"value": value, "samples": samples.requests, "needed": needed_samples(limit)}
    return found | {"verdict": verdict, "interval": [interval.low, interval.high]}


def needed_samples(limit: Limit) -> int:
    """Fewest samples that let the objective be judged."""
    if limit.quantile is not None:
        return samples_needed(limit.quantile)
    if limit.statistic == "error_rate" and limit.limit > 0:
        return math.ceil(4 / limit.limit)
    return FEWEST_SAMPLES


def statistic(limit: Limit, times: Histogram) -> float | None:
    """The value in ms that the objective compares; None without samples."""
    if not times.count:
        return None
    if limit.quantile is not None:
        return times.percentile(limit.quantile)
    return times.max if limit.statistic == "max" else times.mean


def _needs(limit: Limit, levels: Mapping[float, Samples], reference: float | None, unit: str) -> str:
    """What would settle it, from the rate of samples seen at the level nearest to the reference."""
    needed = needed_samples(limit)
    rates = {
        level: (samples.requests if limit.unit == "ratio" else samples.times.count) / samples.seconds
        for level, samples in levels.items()
        if samples.seconds
    }
    rates = {level: rate for level, rate in rates.items() if rate > 0 and level > 0}
    if not rates:
        return "No request of it was seen; check its name and the workload."
    if reference is None:
        return f"It takes {needed} samples at one level."
    near = min(rates, key=lambda level: abs(math.log(level / reference)))
    seconds = needed / (rates[near] * reference / near)
    long = f"{max(1, math.ceil(seconds / 60))} min there"
    return f"It takes {needed:,} samples at {level_words(reference, unit)}, which is about {long}: {_HOLD_IT}."
