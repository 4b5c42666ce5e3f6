"""A load source that steers its own level, so that whoever holds "a level" holds an objective (keep.py decides).

Each second that it passes on goes to the controller first; the level that it answers is put on at once. What the
controller saw is written as events: keep_settled, keep_overload, keep_recovered, keep_unreachable,
keep_lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from difflib import get_close_matches
from typing import Any

from plimsoll.errors import InputError
from plimsoll.experiments.load import LoadSource
from plimsoll.experiments.long_runs.keep import Keeper, Second, State
from plimsoll.experiments.long_runs.keep_loop import seen_of
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.metric_names import RESPONSE_METRICS
from plimsoll.runs.snapshot import Series, Snapshot
from plimsoll.study.kept_objectives import parse_kept
from plimsoll.study.objectives import Limit, parse_objective

OnEvent = Callable[..., None]
IMPLIED = "error_rate<=5%"
NAMES_WITHIN_S = 20  # of load, by when each request and operation has occurred


@dataclass(frozen=True)
class KeptObjective:
    """An objective to keep, of an operation (tag scenario), a request (tag name), or all requests; `implied`: not
    asked for, but a target that answers with errors must not count as quick."""

    limit: Limit
    text: str
    operation: str | None = None
    request: str | None = None
    implied: bool = False

    @classmethod
    def of(cls, text: str) -> KeptObjective:
        """From "p95<=300ms", or "detail: p95<=300ms" of a request or an operation. Raises InputError."""
        request, limit = parse_kept(text)
        return cls(limit, str(text).strip(), request=request)

    def matches(self, series: Series) -> bool:
        """Whether that series counts."""
        names = (series.tags.get("name"), series.tags.get("scenario"))
        if self.request is not None:
            return self.request in names
        return self.operation is None or series.tags.get("scenario") == self.operation

    def to_json(self) -> dict[str, Any]:
        """As events and findings hold it."""
        kept: dict[str, Any] = {"objective": str(self.limit), "text": self.text, "implied": self.implied}
        return kept | {"request": self.request, "operation": self.operation}


def kept_objectives(texts: Sequence[str]) -> tuple[KeptObjective, ...]:
    """The objectives of these texts, and that at most 5% fail where none is an error rate. Raises InputError."""
    found = tuple(KeptObjective.of(text) for text in texts)
    if any(one.limit.unit == "ratio" for one in found):
        return found
    return (*found, KeptObjective(parse_objective(IMPLIED), IMPLIED, implied=True))


@dataclass
class KeptLoad:
    """`source`, whose level `keeper` steers for the objectives, in their order."""

    source: LoadSource
    objectives: Sequence[KeptObjective]
    keeper: Keeper
    on_event: OnEvent = lambda kind, **details: None
    on_state: Callable[[State], None] = lambda state: None
    unit: str = ""
    open: bool = True
    _metric: str | None = None
    _steering: bool = False
    levels: list[float] = field(default_factory=list)
    _names: set[str] = field(default_factory=set)
    _requests: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.unit, self.open = self.source.unit, self.source.open

    def start(self) -> None:
        self.source.start()

    def set_level(self, level: float) -> None:
        """Above 0 begins to steer, from the controller's own level; 0 ends it."""
        self._steering = level > 0
        self.source.set_level(self.keeper.level if self._steering else level)

    def snapshots(self, until_s: float) -> Iterator[Snapshot]:
        for snapshot in self.source.snapshots(until_s):
            if self._steering:
                self._steer(snapshot)
            yield snapshot

    def drain(self, limit_s: float) -> float:
        self._steering = False
        return self.source.drain(limit_s)

    def stop(self, graceful: bool = True) -> None:
        self.source.stop(graceful)

    def now(self) -> float:
        return self.source.now()

    def mean_level(self, seconds: int) -> float:
        """Mean level of the last so many seconds; the controller's own before the first."""
        last = self.levels[-seconds:] if seconds > 0 else []
        return sum(last) / len(last) if last else self.keeper.level

    def _steer(self, snapshot: Snapshot) -> None:
        keeper, state, level = self.keeper, self.keeper.state, self.keeper.level
        unreachable, lost = keeper.unreachable, keeper.lost
        settled, overloads = keeper.settled_at, len(keeper.overloads)
        self.levels.append(level)
        following = keeper.next_level(self._second(snapshot, level))
        if following != level:
            self.source.set_level(following)
        self.on_state(keeper.state)
        second = snapshot.second + 1.0
        if settled is None and keeper.settled_at is not None:
            self.on_event("keep_settled", second=second, level=following)
        if keeper.unreachable and not unreachable:
            self.on_event("keep_unreachable", second=second, level=following)
        if keeper.lost and not lost:
            self.on_event("keep_lost", second=second, level=following)
        if len(keeper.overloads) > overloads:
            self.on_event("keep_overload", **(asdict(keeper.overloads[-1]) | {"second": second}))
        elif state == "recover" and keeper.state != "recover":
            self.on_event("keep_recovered", second=second, level=following)

    def _check_names(self, snapshot: Snapshot, requests: Sequence[int]) -> None:
        """Raises InputError where an objective names a request or operation that does not occur."""
        self._requests = [a + b for a, b in zip(self._requests or [0] * len(requests), requests, strict=True)]
        if len(self.levels) > NAMES_WITHIN_S:
            return
        for series in snapshot.series:
            if series.metric == "http_req_failed" and series.total:
                self._names |= {series.tags[tag] for tag in ("name", "scenario") if series.tags.get(tag)}
        if len(self.levels) < NAMES_WITHIN_S or not self._names:
            return
        for objective, count in zip(self.objectives, self._requests, strict=True):
            if not count and objective.request is not None:
                near = get_close_matches(objective.request, self._names, n=1)
                known = ", ".join(sorted(self._names)[:10])
                raise InputError(
                    f"--keep {objective.text!r}: no request or operation is called {objective.request!r}",
                    f"Did you mean {near[0]!r}?" if near else f"In the first {NAMES_WITHIN_S} s there were {known}.",
                )

    def _second(self, snapshot: Snapshot, level: float) -> Second:
        if self._metric is None:
            present = {series.metric for series in snapshot.series if series.count}
            self._metric = next((name for name in RESPONSE_METRICS if name in present), None)
        times = [Histogram() for _ in self.objectives]
        failed, requests = [0] * len(times), [0] * len(times)
        all_failed = all_requests = 0
        for series in snapshot.series:
            is_time = series.metric == self._metric and bool(series.count)
            if not is_time and series.metric != "http_req_failed":
                continue
            if not is_time:
                all_failed += int(series.passes or 0)
                all_requests += int(series.total or 0)
            for place, objective in enumerate(self.objectives):
                if not objective.matches(series):
                    continue
                if is_time:
                    times[place].add_series(series)
                else:
                    failed[place] += int(series.passes or 0)
                    requests[place] += int(series.total or 0)
        self._check_names(snapshot, [times[k].count + requests[k] for k in range(len(times))])
        seen = tuple(
            seen_of(objective.limit, times[place], failed[place], requests[place])
            for place, objective in enumerate(self.objectives)
        )
        unfinished = int(snapshot.backlog) + int(snapshot.in_flight)
        return Second(
            snapshot.second, level, int(snapshot.planned), int(snapshot.done), unfinished, all_requests, all_failed,
            seen,
        )  # fmt: skip


def event_of(objectives: Sequence[KeptObjective], keeper: Keeper) -> Mapping[str, Any]:
    """What the run's event `keep_started` says."""
    return {"objectives": [one.to_json() for one in objectives], "level": keeper.level}
