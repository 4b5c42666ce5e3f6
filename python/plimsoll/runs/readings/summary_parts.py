"""The metrics of a plain run apart by scenario and group, as a full summary has them: sums of its seconds, each sample
counted once, in memory that grows with scenarios, groups and the spread of values.

What setup() and teardown() recorded is in no second: of their groups the engine's tree knows the checks alone.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from plimsoll.runs.readings.failures import METRIC as FAILED
from plimsoll.runs.readings.failures import is_unanswered
from plimsoll.runs.readings.thresholds import settled
from plimsoll.runs.snapshot import Kind, Series, Snapshot

DEFAULT_SCENARIO = "default"  # as in k6 its groups stand beside the scenarios
SEPARATOR = "::"
OUTSIDE = ("::setup::", "::teardown::")  # the groups inside these functions; their own samples are in no group
CHECKS, BYTES = "checks", ("data_received", "data_sent")
# The tags that the engine keeps of samples beyond its limit of series, all named "other" (crates/core/src/record.rs).
_KEPT_BEYOND = frozenset(("scenario", "method", "expected_response", "status", "name"))


@dataclass
class _Sum:
    """The samples of one metric: a counter's `total`, a rate's `passes` of `count`, a gauge's `last`, a trend."""

    kind: Kind
    count: int = 0
    total: float = 0.0
    passes: int = 0
    last: float = 0.0
    least: float = math.inf
    most: float = -math.inf
    buckets: dict[int, int] = field(default_factory=dict)

    def add(self, series: Series) -> None:
        match series.kind:
            case "counter":
                self.total += series.value or 0.0
            case "rate":
                self.passes += series.passes or 0
                self.count += series.total or 0
            case "gauge" if series.value is not None:
                self.last = series.value
                self._widen(series.min, series.max)
            case "trend" if series.count:
                self.count += series.count
                self.total += series.sum
                self._widen(series.min, series.max)
                self._add_buckets(series.buckets)

    def merge(self, other: _Sum) -> None:
        """Add what another one saw, a gauge's last value included."""
        self.count += other.count
        self.total += other.total
        self.passes += other.passes
        if other.least <= other.most:
            self.last = other.last
            self._widen(other.least, other.most)
        self._add_buckets(other.buckets.items())

    def _widen(self, least: float | None, most: float | None) -> None:
        self.least = self.least if least is None else min(self.least, least)
        self.most = self.most if most is None else max(self.most, most)

    def _add_buckets(self, pairs: Iterable[tuple[int, int]]) -> None:
        known = self.buckets
        for index, count in pairs:
            known[index] = known.get(index, 0) + count

    def values(self, names: Iterable[str], seconds: float) -> dict[str, float]:
        """As the totals have them; `names`: of a trend's statistics."""
        total = _finite(self.total)
        match self.kind:
            case "counter":
                return {"count": total, "rate": _finite(total / seconds) if seconds else 0.0}
            case "rate":
                share = self.passes / self.count if self.count else 0.0
                return {"rate": share, "passes": self.passes, "fails": self.count - self.passes}
            case "gauge" if self.least > self.most:
                return {"value": 0.0, "min": 0.0, "max": 0.0}
            case "gauge":
                return {"value": self.last, "min": self.least, "max": self.most}
            case _:
                return {name: self._statistic(name) if self.count else 0.0 for name in names}

    def _statistic(self, name: str) -> float:
        match name:
            case "avg":
                return _finite(self.total) / self.count
            case "min":
                return self.least
            case "max":
                return self.most
            case "count":
                return self.count
            case "med":
                return self._quantile(0.5)
            case _:
                return self._quantile(float(name.removeprefix("p(").removesuffix(")")) / 100)

    def _quantile(self, quantile: float) -> float:
        """The middle of the smallest bucket that holds that share, as in crates/core/src/histogram.rs."""
        from plimsoll.runs.histogram import bucket_middle  # numpy, which a run without such a summary need not load

        if quantile <= 0:
            return self.least
        rank, seen = max(1, math.ceil(quantile * self.count)), 0
        for index in sorted(self.buckets):
            seen += self.buckets[index]
            if seen >= rank and quantile < 1:
                return min(max(float(bucket_middle(index)), self.least), self.most)
        return self.most


def _finite(value: float) -> float:
    """The number, or the largest that there is, as the engine has it."""
    return max(-sys.float_info.max, min(sys.float_info.max, value))


@dataclass
class _Part:
    """What was recorded in one place; checks by name as [passes, fails]."""

    sums: dict[str, _Sum] = field(default_factory=dict)
    checks: dict[str, list[int]] = field(default_factory=dict)
    requests: int = 0
    unanswered: int = 0

    def add(self, series: Series) -> None:
        self.sum_of(series.metric, series.kind).add(series)
        if series.metric == CHECKS and "check" in series.tags:
            passes, total = series.passes or 0, series.total or 0
            self._count(series.tags["check"], passes, total - passes)
        if series.metric == FAILED:
            self.requests += series.total or 0
            self.unanswered += (series.total or 0) if is_unanswered(series) else 0

    def merge(self, other: _Part) -> None:
        for name, one in other.sums.items():
            self.sum_of(name, one.kind).merge(one)
        for name, (passes, fails) in other.checks.items():
            self._count(name, passes, fails)
        self.requests += other.requests
        self.unanswered += other.unanswered

    def sum_of(self, metric: str, kind: Kind) -> _Sum:
        return self.sums.setdefault(metric, _Sum(kind))

    def _count(self, check: str, passes: int, fails: int) -> None:
        counts = self.checks.setdefault(check, [0, 0])
        counts[0] += passes
        counts[1] += fails


@dataclass
class SummaryParts:
    """What every scenario and group recorded so far."""

    _parts: dict[tuple[str, str], _Part] = field(default_factory=dict)  # by scenario and the group's path
    _is_incomplete: bool = False

    def add(self, snapshot: Snapshot) -> None:
        """Add one second."""
        for series in snapshot.series:
            tags = series.tags
            place = tags.get("scenario", ""), tags.get("group", "")
            if (part := self._parts.get(place)) is None:
                part = self._parts[place] = _Part()
            part.add(series)
            if tags.get("name") == "other" and _KEPT_BEYOND.issuperset(tags):
                self._is_incomplete = True

    def of(self, summary: Mapping[str, Any]) -> dict[str, Any]:
        """`groups` of no scenario but the default one, and the other `scenarios`, by name; each as a group of
        `summary`'s root_group is, with its `metrics` beside. `summary` is of the whole run: it says of which kind the
        metrics are, in which order the script came to groups and checks, and which checks are in no second."""
        whole = _Whole.of(summary)
        names = {scenario for scenario, _ in self._parts} - {"", DEFAULT_SCENARIO}
        outside = self._outside(whole)
        beside = self._groups(("", DEFAULT_SCENARIO))
        for path, part in outside.items():
            beside.setdefault(path, _Part()).merge(part)
        return {
            "groups": whole.tree(beside, outside),
            "scenarios": [self._scenario(name, whole) for name in sorted(names)],
            "is_incomplete": self._is_incomplete,
        }

    def _groups(self, scenarios: Collection[str] | None = None) -> dict[str, _Part]:
        """The parts of these scenarios, all by default, by the path of their group, "" for none."""
        found: dict[str, _Part] = {}
        for (scenario, path), part in self._parts.items():
            if scenarios is None or scenario in scenarios:
                found.setdefault(path, _Part()).merge(part)
        return found

    def _scenario(self, name: str, whole: _Whole) -> dict[str, Any]:
        every, groups = _Part(), self._groups((name,))
        for one in BYTES:  # which say 0 where nothing was counted, as in the totals
            every.sum_of(one, "counter")
        for part in groups.values():
            every.merge(part)
        own = groups.get("", _Part())
        return {
            "name": name,
            "metrics": whole.metrics(every),
            "checks": whole.checks("", own),
            "groups": whole.tree(groups),
        }

    def _outside(self, whole: _Whole) -> dict[str, _Part]:
        """The groups inside setup() and teardown() by their path, with the checks that are in no second."""
        inside, found = self._groups(), {}
        for path, checks in whole.counted.items():
            known = inside.get(path, _Part()).checks
            left = {name: _less(counts, known.get(name, (0, 0))) for name, counts in checks.items()}
            left = {name: counts for name, counts in left.items() if any(counts)}
            if path.startswith(OUTSIDE) and (left or path not in inside):
                found[path] = _Part(checks=left)
        return found


def _less(counts: tuple[int, int], known: Iterable[int]) -> list[int]:
    return [max(0, one - other) for one, other in zip(counts, known, strict=True)]


@dataclass(frozen=True)
class _Whole:
    """The whole run's summary: its metrics, its seconds, and the paths of its groups in the order in which the script
    came to them, each with its checks as (passes, fails); and the place of each check among all."""

    known: Mapping[str, Any]
    seconds: float
    counted: Mapping[str, Mapping[str, tuple[int, int]]]
    order: Mapping[tuple[str, str], int]

    @classmethod
    def of(cls, summary: Mapping[str, Any]) -> _Whole:
        groups = list(_walk(summary.get("root_group", {})))
        counted = {
            group["path"]: {one["name"]: (one["passes"], one["fails"]) for one in group["checks"]} for group in groups
        }
        order = {(group["path"], one["name"]): one.get("order", 0) for group in groups for one in group["checks"]}
        seconds = summary.get("state", {}).get("testRunDurationMs", 0.0) / 1000
        return cls(summary.get("metrics", {}), seconds, counted, order)

    def tree(self, parts: Mapping[str, _Part], outside: Collection[str] = ()) -> list[dict[str, Any]]:
        """The groups by their paths, each inside the one that it is in; `is_partial`: of one at the top that holds some
        of `outside`."""
        places = {path: place for place, path in enumerate(self.counted)}
        top: list[dict[str, Any]] = []
        for path in sorted(filter(None, parts), key=lambda path: places.get(path, len(places))):
            groups, walked = top, ""
            for name in filter(None, path.split(SEPARATOR)):
                walked = f"{walked}{SEPARATOR}{name}"
                group = next((one for one in groups if one["name"] == name), None)
                if group is None:
                    group = self._group(name, walked, parts.get(walked, _Part()))
                    groups.append(group)
                groups = group["groups"]
        for group in top:
            group["is_partial"] = any(
                f"{path}{SEPARATOR}".startswith(f"{group['path']}{SEPARATOR}") for path in outside
            )
        return top

    def _group(self, name: str, path: str, part: _Part) -> dict[str, Any]:
        about = {"name": name, "path": path, "groups": []}
        return about | {"metrics": self.metrics(part), "checks": self.checks(path, part)}

    def metrics(self, part: _Part) -> dict[str, Any]:
        """As in the totals; times of responses say why they are none where no request was answered."""
        found = {}
        for name, one in part.sums.items():
            about = self.known.get(name, {})
            values = one.values(about.get("values", ()), self.seconds)
            found[name] = {"type": one.kind, "contains": about.get("contains", "default"), "values": values}
        return settled(found, nothing_answered=0 < part.requests <= part.unanswered, strict=False)

    def checks(self, path: str, part: _Part) -> list[dict[str, Any]]:
        """In the order in which the script made them."""
        found = [
            {"name": name, "passes": passes, "fails": fails, "order": self.order.get((path, name), len(self.order))}
            for name, (passes, fails) in part.checks.items()
        ]
        return sorted(found, key=lambda one: one["order"])


def _walk(group: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if "path" in group:
        yield group
    for child in group.get("groups", ()):
        yield from _walk(child)
