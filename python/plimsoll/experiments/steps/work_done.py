"""How much a target did in each second, in iterations, where an iteration makes several requests.

Under overload such a target is busy with the first requests of many iterations, few of which end: it finishes less and
less of them the further it is overloaded, and none at first, although it works as fast as ever. So what it does is told
by the requests that it answered. Each counts as the share that its operation (name and method) has in the response time
of an iteration at low load, where little waits and time is about the work: work = Σ answers × share.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from plimsoll.experiments.steps.measure import Measurement
    from plimsoll.runs.snapshot import Series

Operation = tuple[str, str]
SEVERAL = 1.5  # requests of an iteration, in the mean
FEWEST_ITERATIONS, FEWEST_ANSWERS = 5, 5


@dataclass
class Answers:
    """Requests that ended. `operations`: their places, in the order in which they occurred; `counts`: of each measured
    second, how many of each did not fail, whichever step they arrived in (numbers, as a load is held for hours);
    `iterations`, and `count` and `total_ms` of response times by operation: of all the step's own arrivals, from its
    warm-up on."""

    operations: dict[Operation, int] = field(default_factory=dict)
    counts: list[array[int]] = field(default_factory=list)
    iterations: int = 0
    count: Counter[Operation] = field(default_factory=Counter)
    total_ms: Counter[Operation] = field(default_factory=Counter)

    def add(self, rows: Iterable[Series]) -> None:
        """Add one measured second."""
        answered = array("q", bytes(8 * len(self.operations)))
        for series in rows:
            if series.metric == "http_req_failed":
                place = self.operations.setdefault(_operation(series), len(self.operations))
                answered.extend([0] * (place + 1 - len(answered)))
                answered[place] += int(series.total or 0) - int(series.passes or 0)
        self.counts.append(answered)

    @property
    def each(self) -> list[dict[Operation, int]]:
        """Of each measured second, the operations that were answered in it."""
        return [{one: n for one, n in zip(self.operations, second, strict=False) if n} for second in self.counts]

    def add_own(self, rows: Iterable[Series], response_metric: str | None) -> None:
        """Add what ended of the step's own arrivals."""
        for series in rows:
            if series.metric == "iteration_duration":
                self.iterations += series.count
            elif series.metric == response_metric:
                self.count[_operation(series)] += series.count
                self.total_ms[_operation(series)] += series.sum  # type: ignore[assignment]  # it may hold floats


def _operation(series: Series) -> Operation:
    return series.tags.get("name", ""), series.tags.get("method", "")


@dataclass(frozen=True)
class Shares:
    """Share of an iteration's work that one answer of an operation is; `other`: of one that was not seen enough."""

    of: Mapping[Operation, float]
    other: float

    def work(self, answered: Sequence[Mapping[Operation, int]]) -> np.ndarray:
        """Iterations' worth of work in each second, shape (n,)."""
        return np.array([sum(n * self.of.get(one, self.other) for one, n in second.items()) for second in answered])

    def doubt(self, answered: Sequence[Mapping[Operation, int]]) -> float:
        """Share by which the work would be another one if each request were the same: it grows as the mix of what is
        answered leaves that of an iteration, and times may say little of the work (the request waits elsewhere)."""
        equal = self.other * sum(sum(second.values()) for second in answered)
        return abs(1 - equal / max(float(self.work(answered).sum()), 1e-9)) if equal else 0.0


def shares_of(calm: Sequence[Measurement]) -> Shares | None:
    """What steps at low load show; None where an iteration makes one request, or too few ended."""
    iterations = sum(seen.answers.iterations for seen in calm)
    count, total_ms = Counter[Operation](), Counter[Operation]()
    for seen in calm:
        count.update(seen.answers.count)
        total_ms.update(seen.answers.total_ms)
    if iterations < FEWEST_ITERATIONS or count.total() < SEVERAL * iterations or not total_ms.total():
        return None
    whole_ms = total_ms.total() / iterations
    of = {one: total_ms[one] / n / whole_ms for one, n in count.items() if n >= FEWEST_ANSWERS}
    return Shares(of, total_ms.total() / count.total() / whole_ms)
