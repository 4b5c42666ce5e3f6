"""What is kept of thousands of requests in a bounded space, and can be merged: a sample in proportion, a count of
distinct visitors, a histogram of durations."""

from __future__ import annotations

import heapq
import math
from random import Random

MOST_SAMPLED = 300  # requests of an operation that its values are drawn from
_MOST_MARKS = 256  # a count of distinct visitors is wrong by about 1 / √256, 6%
_STEP = math.log(1.02)  # buckets 2% wide
_LEAST = math.ceil(math.log(1e-3) / _STEP)


class Sample:
    """Up to `most` of the texts given, each as likely as any other: a text that came often is there often (Vitter's
    algorithm R). Merging draws from both in proportion to how many each was given."""

    def __init__(self, random: Random, most: int = MOST_SAMPLED) -> None:
        self.texts: list[str] = []
        self.given = 0
        self._random, self._most = random, most

    def add(self, text: str) -> None:
        """One more text."""
        self.given += 1
        if len(self.texts) < self._most:
            self.texts.append(text)
        elif (at := int(self._random.random() * self.given)) < self._most:
            self.texts[at] = text

    def merge(self, other: Sample) -> None:
        """As if what the other was given had been given here."""
        if self.given + other.given <= self._most:
            self.texts += other.texts
        else:
            mine, theirs = list(self.texts), list(other.texts)
            self._random.shuffle(mine)
            self._random.shuffle(theirs)
            left_mine, left_theirs = self.given, other.given
            taken: list[str] = []
            while len(taken) < self._most and (mine or theirs):
                of_mine = not theirs or (mine and self._random.random() * (left_mine + left_theirs) < left_mine)
                taken.append((mine if of_mine else theirs).pop())
                left_mine, left_theirs = (left_mine - 1, left_theirs) if of_mine else (left_mine, left_theirs - 1)
            self.texts = taken
        self.given += other.given


class Distinct:
    """How many different visitors there were, each known by a mark drawn evenly from 0 to 1: exact up to 256, else
    from the 256 smallest marks (Bar-Yossef et al. 2002)."""

    def __init__(self) -> None:
        self._marks: set[float] = set()
        self._heap: list[float] = []

    def add(self, mark: float) -> None:
        """A visitor, who may have been here before."""
        if mark in self._marks:
            return
        if len(self._heap) < _MOST_MARKS:
            heapq.heappush(self._heap, -mark)
            self._marks.add(mark)
        elif mark < -self._heap[0]:
            self._marks.discard(-heapq.heapreplace(self._heap, -mark))
            self._marks.add(mark)

    def merge(self, other: Distinct) -> None:
        """The visitors of both."""
        for mark in other._marks:
            self.add(mark)

    def count(self) -> float:
        """How many."""
        return len(self._heap) if len(self._heap) < _MOST_MARKS else (_MOST_MARKS - 1) / -self._heap[0]


class Durations:
    """Durations in ms: their number, sum, and quantiles to 2%."""

    def __init__(self) -> None:
        self.count, self.sum_ms = 0, 0.0
        self._buckets: dict[int, int] = {}

    def add(self, ms: float) -> None:
        """One more; below a microsecond is none."""
        self.count += 1
        self.sum_ms += ms
        at = max(_LEAST, math.ceil(math.log(ms) / _STEP)) if ms > 0 else _LEAST
        self._buckets[at] = self._buckets.get(at, 0) + 1

    def merge(self, other: Durations) -> None:
        """Those of both."""
        self.count += other.count
        self.sum_ms += other.sum_ms
        for at, count in other._buckets.items():
            self._buckets[at] = self._buckets.get(at, 0) + count

    def quantile_ms(self, share: float) -> float | None:
        """The upper end of the bucket that the quantile lies in; None without durations."""
        wanted, passed = share * self.count, 0
        for at in sorted(self._buckets):
            passed += self._buckets[at]
            if passed >= wanted:
                return math.exp(at * _STEP) if at > _LEAST else 0.0
        return None
