"""The run over time in a bounded number of bins: merged exactly, however long the run was."""

from __future__ import annotations

import bisect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from plimsoll.report.tally import Tally
from plimsoll.runs.format.quick_json import NUMBERS

MOST_BINS = 360
SHORTEST_S = 0.001


@dataclass
class Bin:
    """Some seconds in a row: sums of counts, the last of the gauges, the worst lag."""

    start_s: int
    seconds: float = 0
    planned: int = 0
    done: int = 0
    late: int = 0
    dropped: int = 0
    level: float = 0.0
    backlog: int = 0
    in_flight: int = 0
    generator_cpu_s: float = 0.0
    lag_p99_ms: float = 0.0
    times: Tally = field(default_factory=Tally)

    def merge(self, other: Bin) -> None:
        """Append the following bin."""
        self.seconds += other.seconds
        for name in ("planned", "done", "late", "dropped", "generator_cpu_s"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("level", "backlog", "in_flight"):
            setattr(self, name, getattr(other, name))
        self.lag_p99_ms = max(self.lag_p99_ms, other.lag_p99_ms)
        self.times.merge(other.times)


@dataclass
class Timeline:
    """Bins of equal width `width_s`, doubled whenever there would be more than MOST_BINS."""

    width_s: int = 1
    bins: list[Bin] = field(default_factory=list)

    def add(self, second: Bin) -> None:
        """Add the bin of one second; seconds come in order."""
        start_s = second.start_s - second.start_s % self.width_s
        if self.bins and self.bins[-1].start_s == start_s:
            self.bins[-1].merge(second)
        else:
            second.start_s = start_s
            self.bins.append(second)
        while len(self.bins) > MOST_BINS:
            self._halve()

    def end_at(self, end_s: float) -> None:
        """The run ended there, within its last second. Rates of less than half a bin scatter: what is left of it is
        with the bin before."""
        if not self.bins or end_s >= self.bins[-1].start_s + self.bins[-1].seconds:
            return
        last = self.bins[-1]
        last.seconds = max(SHORTEST_S, end_s - last.start_s)
        if last.seconds < self.width_s / 2 and len(self.bins) > 1:
            self.bins.pop()
            self.bins[-1].merge(last)

    def at(self, second: int) -> Bin:
        """The bin of a second that was added."""
        return self.bins[bisect.bisect_right(self.bins, second, key=lambda moment: moment.start_s) - 1]

    def _halve(self) -> None:
        self.width_s *= 2
        bins, self.bins = self.bins, []
        for item in bins:
            self.add(item)


@dataclass
class Resources:
    """Means of server-side values over time: source -> value's name -> bin's start in s -> [sum, count]."""

    width_s: int = 1
    values: dict[str, dict[str, dict[int, list[float]]]] = field(default_factory=dict)
    last_s: int = 0

    def add(self, second: int, source: str, values: Mapping[str, Any]) -> None:
        """Add what one probe saw in one second; values that are no numbers are left out."""
        self.last_s = max(self.last_s, second)
        while self.last_s // self.width_s > MOST_BINS:
            self._halve()
        start_s = second - second % self.width_s
        of_source = self.values.get(source, {})
        for name, value in values.items():
            if isinstance(value, NUMBERS) and value is not True and value is not False:
                bins = of_source.get(name)
                if bins is None:
                    of_source = self.values.setdefault(source, of_source)
                    bins = of_source[name] = {}
                mean = bins.get(start_s)
                if mean is None:
                    bins[start_s] = [0.0 + value, 1]
                else:
                    mean[0] += value
                    mean[1] += 1

    def points(self, source: str, name: str) -> list[tuple[int, float]]:
        """(bin's start in s, mean) in order of time; empty where nothing was seen."""
        bins = self.values.get(source, {}).get(name, {})
        return [(start_s, total / count) for start_s, (total, count) in sorted(bins.items())]

    def mean(self, source: str, name: str, start_s: float, end_s: float) -> float | None:
        """Mean over the bins that begin in [start_s, end_s); None where there is none."""
        found = [value for second, value in self.points(source, name) if start_s <= second < end_s]
        return sum(found) / len(found) if found else None

    def _halve(self) -> None:
        self.width_s *= 2
        for names in self.values.values():
            for name, bins in names.items():
                merged: dict[int, list[float]] = {}
                for start_s, (total, count) in bins.items():
                    mean = merged.setdefault(start_s - start_s % self.width_s, [0.0, 0.0])
                    mean[0] += total
                    mean[1] += count
                names[name] = merged
