"""Objectives while the load goes on: what each has been so far, at the level that is held or, of a plain run, in all.

It is a value beside a limit and no judgement: the answer tests the same requests at its end (docs/decisions/0014).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from plimsoll.errors import InputError
from plimsoll.runs.format.read_numbers import plausible
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.metric_names import RESPONSE_METRICS
from plimsoll.runs.snapshot import Series, Snapshot
from plimsoll.study.objectives import Limit, parse_objective
from plimsoll.words import ms_words, share_words

MOST_SHOWN = 30
FAILED = "http_req_failed"


@dataclass
class Watched:
    """An objective, with the samples so far. `tags`: which requests it is about; all without any."""

    subject: str
    limit: Limit
    tags: Mapping[str, str]
    times: Histogram = field(default_factory=Histogram)
    failed: int = 0
    requests: int = 0

    def take(self, series: Series, metric: str | None) -> None:
        """A series of a second, if it is about its requests."""
        if any(series.tags.get(name) != value for name, value in self.tags.items()):
            return
        if series.metric == FAILED:
            self.failed += int(series.passes or 0)
            self.requests += int(series.total or 0)
        elif series.metric == metric:
            self.times.add_series(series)

    @property
    def value(self) -> float | None:
        """What it has been so far; None without a sample."""
        if self.limit.unit == "ratio":
            return self.failed / self.requests if self.requests else None
        if not self.times.count:
            return None
        if self.limit.quantile is not None:
            return self.times.percentile(self.limit.quantile)
        return float(self.times.mean if self.limit.statistic == "mean" else self.times.max)

    def to_json(self) -> dict[str, str]:
        """As the page shows it."""
        value = self.value
        name = f"{self.limit.statistic.replace('_', ' ')} {'at most' if self.limit.inclusive else 'below'}"
        limit = f"{name} {self._words(self.limit.limit)}"
        if value is None:
            return {"subject": self.subject, "limit": limit, "value": "no sample yet", "key": ""}
        key = "good" if self.limit.is_met_by(value) else "bad"
        sign = "✓" if key == "good" else "✗"
        return {"subject": self.subject, "limit": limit, "value": f"{sign} {self._words(value)}", "key": key}

    def _words(self, value: float) -> str:
        return share_words(value) if self.limit.unit == "ratio" else ms_words(value)


class Limits:
    """The objectives of a run. `begin_level` forgets the samples so far."""

    def __init__(self) -> None:
        self._declared: list[Mapping[str, Any]] = []
        self._watched: list[Watched] = []

    def declare(self, objectives: Iterable[Any]) -> None:
        """Those of an event, in place of what an earlier one declared: mappings with `objective` and `request`,
        `operation` or `tags`. What cannot be read is left out."""
        found = [one for one in objectives if isinstance(one, Mapping)]
        if found == self._declared:
            return
        self._declared = found
        self._watched.clear()
        for one in found:
            with suppress(InputError):
                self._watched.append(Watched(_subject(one), parse_objective(str(one.get("objective"))), _tags(one)))
        del self._watched[MOST_SHOWN:]

    def begin_level(self) -> None:
        """Another level is held: what was before is not of it."""
        for one in self._watched:
            one.times, one.failed, one.requests = Histogram(), 0, 0

    def take(self, snapshot: Snapshot) -> None:
        """A second, but for what arrived at an earlier level."""
        if not self._watched:
            return
        present = {series.metric for series in snapshot.series if series.count}
        metric = next((name for name in RESPONSE_METRICS if name in present), None)
        for series in snapshot.series:
            if series.epoch is None:
                for one in self._watched:
                    one.take(series, metric)

    def rows(self) -> list[dict[str, str]]:
        """A row for each, those that are not met first."""
        return sorted((one.to_json() for one in self._watched), key=lambda row: row["key"] != "bad")


def _subject(one: Mapping[str, Any]) -> str:
    return str(one.get("request") or one.get("operation") or "all requests")


def _tags(one: Mapping[str, Any]) -> dict[str, str]:
    if isinstance(one.get("tags"), Mapping):
        return {str(name): str(value) for name, value in one["tags"].items()}
    names = {"name": one.get("request"), "scenario": one.get("operation")}
    return {name: str(value) for name, value in names.items() if value}


def declared_of(event: Mapping[str, Any]) -> tuple[Iterable[Any], float | None]:
    """The objectives of an event `judgement` or `declared`, and the seconds of load that it plans, if it says so."""
    facts = event.get("facts") if event.get("kind") == "judgement" else event
    facts = facts if isinstance(facts, Mapping) else {}
    objectives = facts.get("objectives")
    return objectives if isinstance(objectives, list) else (), plausible(facts.get("planned_s"))
