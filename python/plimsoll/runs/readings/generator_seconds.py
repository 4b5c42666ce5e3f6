"""What the generator and its machine did, second by second: gathered from a run's snapshots and rows of resources.

Pure; grows with the seconds, never with the requests.
"""

from __future__ import annotations

import math
import struct
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from plimsoll.runs.directory import LAST_SECOND
from plimsoll.runs.format.quick_json import NUMBERS
from plimsoll.runs.metric_names import REQUEST_TIMES, RESPONSE_METRICS
from plimsoll.runs.readings.name_lookups import unknown_names
from plimsoll.runs.readings.script_caps import UNSERVED_SHARE, LoadSeconds
from plimsoll.runs.readings.standstill import STOOD_STILL_S, LivedSecond, Standstill, standstills
from plimsoll.runs.snapshot import Snapshot

if TYPE_CHECKING:
    from plimsoll.runs.histogram import Histogram
    from plimsoll.runs.reader import RunReader

SOURCE = "generator"
_MOST_PENDING = 128  # arrays of buckets kept apart before they are merged


@dataclass
class GeneratorSeconds:
    """`values`: by name, of a snapshot's `generator` and of the probe of the generator's machine, one each second in
    which it was known; `vus_max` VUs were there.

    `calm`: the first seconds of each scenario, where every arrival found a VU in them; `behind`: the seconds in which
    some found none, or less was finished than planned; `most_behind`: the most arrivals that were unfinished;
    `unknown_names`: requests that failed as their name could not be looked up. `last_written`: the last second of the
    run, where it has ended and its manifest tells; `repeated`: seconds that came again."""

    last_written: int | None = None
    values: dict[str, array[float]] = field(default_factory=dict)
    seconds: int = 0
    vus_max: int = 0
    planned: int = 0
    dropped: int = 0
    late: int = 0
    most_behind: int = 0
    unknown_names: int = 0
    repeated: int = 0
    calm: LoadSeconds = field(default_factory=LoadSeconds)
    behind: LoadSeconds = field(default_factory=LoadSeconds)
    _unfinished: int = 0
    _tells_sleep: bool = False
    _lived: dict[int, LivedSecond] = field(default_factory=dict)
    _metric: str | None = None
    _buckets: Counter[int] = field(default_factory=Counter)
    _script_sum_ms: float = 0.0
    _pending: list[Any] = field(default_factory=list)

    def add(self, snapshot: Snapshot, *, with_times: bool = True) -> None:
        """Add one second of load; its response times unless they are added apart."""
        self.seconds += 1
        self.vus_max = max(self.vus_max, snapshot.vus_max)
        self.planned, self.dropped = self.planned + snapshot.planned, self.dropped + snapshot.dropped
        self.late += snapshot.late
        self._note(snapshot.generator)
        self._note_lived(snapshot)
        timed = float(snapshot.generator.get("script_timed") or 0)
        self._script_sum_ms += timed * float(snapshot.generator.get("script_mean_ms") or 0)
        self._note_load(snapshot)
        self.unknown_names += unknown_names(snapshot.series)
        if not with_times:
            return
        if self._metric is None:
            present = {series.metric for series in snapshot.series if series.count}
            self._metric = next((name for name in RESPONSE_METRICS if name in present), None)
        for series in snapshot.series:
            if series.metric == self._metric:
                self._add_buckets(series.buckets)

    def _add_buckets(self, buckets: Any) -> None:
        """Pairs, or an array of shape (n, 2) where a run directory was read in part."""
        if isinstance(buckets, tuple):
            for bucket, count in buckets:
                self._buckets[bucket] += count
            return
        self._pending.append(buckets)
        if len(self._pending) >= _MOST_PENDING:
            self._settle()

    def add_times(self, times: Histogram) -> None:
        """Add response times of seconds that were added without their series."""
        counts = zip(times.bucket_index.tolist(), times.bucket_count.tolist(), strict=True)
        self._buckets.update(dict(counts))

    def _settle(self) -> None:
        """Merge the arrays that were added since."""
        if self._pending:
            import numpy as np  # a run without a report does without

            from plimsoll.runs.histogram import merge_counts

            pairs = np.concatenate(self._pending)
            self._pending = []
            index, counts = merge_counts(pairs[:, 0], pairs[:, 1])
            self._buckets.update(dict(zip(index.tolist(), counts.tolist(), strict=True)))

    def add_row(self, row: Mapping[str, Any]) -> None:
        """Add one row of resources; rows of other sources change nothing."""
        if row.get("source") == SOURCE and isinstance(row.get("values"), Mapping):
            self._note(row["values"])
            self._note_machine(row)

    def _note_load(self, snapshot: Snapshot) -> None:
        """What caps of the script are judged by."""
        self._unfinished += int(snapshot.planned - snapshot.done - snapshot.dropped)
        self.most_behind = max(self.most_behind, self._unfinished)
        unserved = snapshot.late + snapshot.dropped
        if unserved or (snapshot.planned and snapshot.done < (1 - UNSERVED_SHARE) * snapshot.planned):
            self.behind.add(snapshot)
        second = LoadSeconds()
        second.add(snapshot)
        self.calm.fill(second)

    def _note_lived(self, snapshot: Snapshot) -> None:
        told = snapshot.generator
        if "lag_max_ms" not in told:
            return
        self.repeated += snapshot.second in self._lived
        # No timer came in the second: nothing was late, and no turn was taken. Of an older run turns are not known. So
        # does a last second look that ended before anything was due in it, but for the pulse that came as ever.
        silent = told.get("longest_turn_ms") == 0 and not told["lag_max_ms"] and not snapshot.started
        silent = silent and float(told.get("gap_ms", math.inf)) / 1000 >= STOOD_STILL_S
        self._lived[snapshot.second] = LivedSecond(
            snapshot.second,
            float(told["lag_max_ms"] or 0.0) / 1000,
            float(told.get("cpu_s") or 0.0),
            waiting=float(told.get("waiting_share") or 0.0),
            silent=silent,
            suspended_s=float(told.get("slept_ms") or 0.0) / 1000,
            busy=float(told.get("busiest_thread_share") or 0.0),
        )
        self._tells_sleep = "slept_ms" in told

    def _note_machine(self, row: Mapping[str, Any]) -> None:
        """What the machine says of a second that the engine told before."""
        values, second = row["values"], row.get("second")
        lived = self._lived.get(second) if isinstance(second, int) else None
        if lived is not None:
            self._lived[lived.second] = replace(
                lived,
                throttled=float(values.get("throttled_share") or 0.0),
                stolen=float(values.get("host_steal_share") or 0.0),
                # The engine's own is of the second in which it was; older engines do not tell it.
                suspended_s=lived.suspended_s if self._tells_sleep else float(values.get("suspended_s") or 0.0),
            )

    def lived(self) -> list[LivedSecond]:
        """Each second in which its timers were known, in order."""
        return [self._lived[second] for second in sorted(self._lived)]

    def unread(self) -> list[tuple[int, int]]:
        """First and last of each stretch of seconds between these that the run has no line of, and before and behind
        them where it is told how many there were: the engine writes one for every second from 0 on, also for those in
        which it stood still."""
        known = sorted(self._lived)
        if isinstance(self.last_written, int) and (known or not self.seconds):
            known = [-1, *known, self.last_written + 1]
        return [(before + 1, after - 1) for before, after in pairwise(known) if after > before + 1]

    def standstills(self) -> list[Standstill]:
        """Each time within these seconds in which the generator did not live."""
        lived = self.lived()
        return standstills(lived, lived[-1].second + 1.0) if lived else []

    def _note(self, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            if isinstance(value, NUMBERS):
                self.values.setdefault(name, array("d")).append(value)

    def of(self, name: str) -> Sequence[float]:
        """The values of that name, in order; empty where it was never known."""
        return self.values.get(name, ())

    def most(self, name: str) -> float | None:
        """The greatest value of that name; None where it was never known."""
        return max(self.of(name), default=None)

    def total(self, name: str) -> float:
        """The sum of the values of that name."""
        return sum(self.of(name))

    def mean(self, name: str) -> float:
        """The mean of the values of that name; 0 where it was never known."""
        return self.total(name) / max(1, len(self.of(name)))

    def median(self, name: str) -> float | None:
        """The median of the values of that name, the lower of two; None where it was never known."""
        values = sorted(self.of(name))
        return values[(len(values) - 1) // 2] if values else None

    def last(self, name: str) -> float | None:
        """The last value of that name; None where it was never known."""
        return self.of(name)[-1] if self.of(name) else None

    @property
    def script_mean_ms(self) -> float | None:
        """Mean time that an iteration spent in its script, of those that were timed; None without any."""
        timed = self.total("script_timed")
        return self._script_sum_ms / timed if timed else None

    @property
    def responses(self) -> int:
        """How many response times are known."""
        self._settle()
        return self._buckets.total()

    @property
    def answers(self) -> int:
        """How many of them are of requests; where none was made they are of whole iterations."""
        return self.responses if self._metric is None or self._metric in REQUEST_TIMES else 0

    def response_ms(self, quantile: float) -> float | None:
        """Response time at `quantile` in [0, 1], from buckets (docs/run-directory.md); None without samples."""
        self._settle()
        return _quantile(self._buckets, quantile)


def generator_seconds_of(run: RunReader) -> GeneratorSeconds:
    """Of all seconds of a run, without the times of its requests."""
    facts = GeneratorSeconds(run.manifest.get(LAST_SECOND))
    for snapshot in run.snapshots(metrics=()):
        facts.add(snapshot, with_times=False)
    return facts


def _quantile(buckets: Counter[int], quantile: float) -> float | None:
    rank, seen = quantile * buckets.total(), 0
    for bucket in sorted(buckets):
        seen += buckets[bucket]
        if seen >= rank:
            return (_edge(bucket) + _edge(bucket + 1)) / 2
    return None


def _edge(bucket: int) -> float:
    return float(struct.unpack("<d", struct.pack("<q", bucket << 42))[0]) if bucket > 0 else 0.0
