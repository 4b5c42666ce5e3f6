"""The samples of one scrape beside those of the one before: gauges as they are, counters as rates of each series.

Rates are taken of each series and only then summed, so that a series that appears (a core, a disk, a container) adds no
jump. A counter that fell gives no rate once. What a scrape leaves out is remembered for some minutes: cAdvisor's
containers have times of their own, and not each has new values in each scrape.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from plimsoll.runs.importers.resources.exposition import Sample

_KEPT_S = 300.0  # after which Prometheus too holds a series for gone
_COUNTER_NAME = re.compile(r"(_total|_sum|_count|_bucket)$")
Labelled = list[tuple[dict[str, str], float]]
Key = tuple[str, tuple[tuple[str, str], ...]]


@dataclass
class Seen:
    """One scrape, as `Scrapes` made it. `stamp`: the latest time that its samples had of their own, by the remote
    clock; None where not all had one. `counters`: which of the metrics only grow."""

    samples: dict[str, list[Sample]]
    types: Mapping[str, str] = field(default_factory=dict)
    rates_of_series: dict[str, Labelled] = field(default_factory=dict)
    stamp: float | None = None
    counters: frozenset[str] = frozenset()

    def has(self, name: str) -> bool:
        """Whether it has such a metric."""
        return name in self.samples

    def gauges(self, name: str) -> Labelled:
        """Labels and value of each series; those that are no number are left out."""
        return [(one.labels, one.value) for one in self.samples.get(name, ()) if math.isfinite(one.value)]

    def gauge(self, *names: str) -> float | None:
        """The sum over all series of the first of these metrics that is there."""
        for name in names:
            values = [value for _, value in self.gauges(name)]
            if values:
                return sum(values)
        return None

    def rates(self, name: str) -> Labelled:
        """Labels and rate per second of each series of a counter."""
        return self.rates_of_series.get(name, [])

    def rate(self, *names: str) -> float | None:
        """The sum of the rates of the first of these counters that is there; None where none has a rate yet."""
        for name in names:
            rates = self.rates(name)
            if rates:
                return sum(rate for _, rate in rates)
        return None

    def of(self, chosen: Callable[[dict[str, str]], bool]) -> Seen:
        """Only the series whose labels are chosen."""
        samples = {name: [one for one in many if chosen(one.labels)] for name, many in self.samples.items()}
        rates = {name: [one for one in many if chosen(one[0])] for name, many in self.rates_of_series.items()}
        return Seen({name: many for name, many in samples.items() if many}, self.types, rates, None, self.counters)

    def by(self, key: Callable[[dict[str, str]], str | None]) -> dict[str, Seen]:
        """The series parted by what `key` says of their labels; those of None are left out. A part's stamp is that of
        its counters, as rates end there."""
        parts: dict[str, Seen] = {}
        counted: dict[str, float] = {}
        for name, samples in self.samples.items():
            for sample in samples:
                part = key(sample.labels)
                if part is None:
                    continue
                one = parts.setdefault(part, Seen({}, self.types, {}, None, self.counters))
                one.samples.setdefault(name, []).append(sample)
                if sample.at_unix is not None:
                    one.stamp = max(one.stamp or sample.at_unix, sample.at_unix)
                    if name in self.counters:
                        counted[part] = max(counted.get(part, sample.at_unix), sample.at_unix)
        for part, stamp in counted.items():
            parts[part].stamp = stamp
        for name, rates in self.rates_of_series.items():
            for labels, rate in rates:
                part = key(labels)
                if part is not None and part in parts:
                    parts[part].rates_of_series.setdefault(name, []).append((labels, rate))
        return parts


def is_counter(name: str, types: Mapping[str, str]) -> bool:
    """Whether it only grows: by its declared type, else by its name."""
    declared = types.get(name) or types.get(name.removesuffix("_total"))
    if declared in ("gauge", "info", "stateset"):
        return False
    return declared == "counter" or bool(_COUNTER_NAME.search(name))


class Scrapes:
    """Scrapes of one page, one after another. `counters`: metrics known to be counters, whatever the page says."""

    def __init__(self, counters: Iterable[str]) -> None:
        self._counters = frozenset(counters)
        self._before: dict[Key, tuple[float, float]] = {}

    def forget(self, chosen: Callable[[dict[str, str]], bool]) -> None:
        """What was seen with these labels is of another process: in the next scrape it has no rates."""
        self._before = {key: before for key, before in self._before.items() if not chosen(dict(key[1]))}

    def add(self, samples: dict[str, list[Sample]], types: Mapping[str, str], at: float) -> Seen:
        """The scrape at `at`, in s of the clock that its samples have; a sample's own time counts where it has one."""
        now: dict[Key, tuple[float, float]] = {}
        rates: dict[str, Labelled] = {}
        counters = frozenset(name for name in samples if name in self._counters or is_counter(name, types))
        for name in counters:
            many = samples[name]
            for sample, key in _keyed(name, many):
                when = at if sample.at_unix is None else sample.at_unix
                if key in now:  # the page has the series twice
                    continue
                before = self._before.get(key)
                now[key] = (sample.value, when)
                if before is None or not math.isfinite(sample.value):
                    continue
                value, then = before
                if when > then and sample.value >= value:
                    rates.setdefault(name, []).append((sample.labels, (sample.value - value) / (when - then)))
        self._keep(now, at)
        return Seen(samples, types, rates, stamp_of(one for many in samples.values() for one in many), counters)

    def _keep(self, now: dict[Key, tuple[float, float]], at: float) -> None:
        self._before |= now
        if len(self._before) > len(now):
            self._before = {
                key: (value, when) for key, (value, when) in self._before.items() if key in now or at - when < _KEPT_S
            }


def stamp_of(samples: Iterable[Sample]) -> float | None:
    """The latest of their own times; None where one has none, as all were true when they were read then."""
    stamps = [one.at_unix for one in samples]
    return None if None in stamps else max((at for at in stamps if at is not None), default=None)


def _keyed(name: str, samples: Iterable[Sample]) -> Iterator[tuple[Sample, Key]]:
    for sample in samples:
        yield sample, (name, tuple(sorted(sample.labels.items())))
