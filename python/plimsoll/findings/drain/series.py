"""The asynchronous consumer over the seconds of a run of `drain`: what came in, what was done, what waits.

Each number counts from the moment at which it was asked for, so that one that takes seconds to read has a rate over
the time that passed; the seconds in between lie on the straight line.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from plimsoll.words import count_words, number

if TYPE_CHECKING:
    from plimsoll.runs.reader import RunReader

SOURCE = "consumer"
LONGEST_GAP_S = 5.0  # at the end of a run: a consumer that was not read for longer was lost
# Of one that takes seconds to read, the last two questions may be without their answer.
UNANSWERED = 2
FOUND_WITHIN = 0.1  # of the time, in which processes may be found whose memory counts
Array = NDArray[np.float64]


@dataclass
class Consumer:
    """Per second of the run, shape (n,): items put in and taken out so far, items waiting; `index`: (seconds, bytes)
    or None; `derived`: which of these was computed from the others, in words; `every_s`: how far apart the readings
    are of what is read most seldom; `counts_done`: whether items done were read; `unmoved`: of what was the same in
    all readings that value and how many there were, by "waiting", "put_in" and "taken_out"."""

    seconds: Array
    put_in: Array
    taken_out: Array
    waiting: Array
    index: tuple[Array, Array] | None
    memory: tuple[Array, Array] | None
    derived: str
    every_s: float = 1.0
    counts_done: bool = True
    unmoved: Mapping[str, tuple[float, int]] = field(default_factory=dict)

    def unmoved_words(self, name: str) -> str:
        """ "7 in all 63 readings" of a number that never moved; empty else."""
        if name not in self.unmoved:
            return ""
        value, readings = self.unmoved[name]
        return f"{number(value)}{' items' if name == 'waiting' else ''} in all {count_words(readings)} readings"


def consumer_series(run: RunReader, facts: Mapping[str, Any]) -> Consumer | None:
    """The consumer over the seconds of the run; None where neither backlog nor counters were read."""
    rows = [row for row in run.resources() if row.get("source") == SOURCE]
    moments = _moments(run, rows)

    def read(name: str) -> tuple[Array, Array] | None:
        known = [
            (moment, float(row["values"][name]))
            for moment, row in zip(moments, rows, strict=True)
            if name in row["values"]
        ]
        return (np.array([at for at, _ in known]), np.array([value for _, value in known])) if len(known) >= 2 else None

    waiting, put_in, taken_out = read("waiting"), read("put_in"), read("taken_out")
    if waiting is None and taken_out is None:
        return None
    times = [series[0] for series in (waiting, put_in, taken_out) if series is not None]
    at = np.arange(math.ceil(max(one[0] for one in times)), math.floor(min(one[-1] for one in times)) + 1)
    if at.size < 2:
        return None
    every_s = max(float(np.median(np.diff(one))) for one in times)
    derived = "Items put in, items done and the backlog were each read."
    if put_in is not None:
        put = np.interp(at, *put_in) - put_in[1][0]
    else:
        put = _own_items(run, at, facts)
        what = facts.get("operation") or "operation"
        derived = (
            "Items put in are counted by the load itself: "
            f"{facts['items_per_operation']:g} "
            f"for each {what} that succeeded."
        )
    if waiting is None and taken_out is not None:
        taken = np.interp(at, *taken_out) - taken_out[1][0]
        left = put - taken
        left -= min(0.0, float(left.min()))
        derived += " The backlog is what was put in less what was done."
    else:
        assert waiting is not None
        left = np.interp(at, *waiting)
        taken = np.interp(at, *taken_out) - taken_out[1][0] if taken_out is not None else put - (left - left[0])
        if taken_out is None:
            derived += " Items done are those put in less the growth of the backlog."
    named = {"waiting": waiting, "put_in": put_in, "taken_out": taken_out}
    return Consumer(
        at,
        put,
        taken,
        left,
        read("index_bytes"),
        _process_memory(run),
        derived,
        every_s,
        taken_out is not None,
        {name: (float(one[1][0]), one[1].size) for name, one in named.items() if one is not None and _is_still(one[1])},
    )


def _is_still(values: Array) -> bool:
    return float(values.min()) == float(values.max())


def _moments(run: RunReader, rows: Sequence[Mapping[str, Any]]) -> list[float]:
    """Second of the run at which each row was read: within the second after the one that it describes."""
    t0_unix = (run.manifest.get("clock") or {}).get("t0_unix")
    ends = [float(row["second"]) + 1 for row in rows]
    if t0_unix is None:
        return ends
    return [
        min(max(float(row.get("t_unix", 0.0)) - float(t0_unix), end), end + 1)
        for row, end in zip(rows, ends, strict=True)
    ]


def _own_items(run: RunReader, at: Array, facts: Mapping[str, Any]) -> Array:
    """Items that the load put in until each second."""
    total = np.cumsum(_succeeded(run, int(at[-1]) + 2, facts)) * facts["items_per_operation"]
    found = total[at.astype(int)]
    return np.asarray(found - found[0])


def _process_memory(run: RunReader) -> tuple[Array, Array] | None:
    """Resident memory of the target's processes together over time, from when on all of them were known; one that was
    found later than in the first tenth is left out, as its coming is no growth."""
    sizes: dict[str, dict[float, float]] = {}
    for row in run.resources():
        values, source = row.get("values") or {}, str(row.get("source"))
        if source.startswith("process:") and "rss_bytes" in values:
            sizes.setdefault(source, {})[float(row["second"])] = float(values["rss_bytes"])
    if not sizes:
        return None
    first, last = min(map(min, sizes.values())), max(map(max, sizes.values()))
    known = [of for of in sizes.values() if min(of) <= first + FOUND_WITHIN * (last - first)]
    begin_s, sums = max(map(min, known)), dict[float, float]()
    for second, size in (pair for of in known for pair in of.items()):
        if second >= begin_s:
            sums[second] = sums.get(second, 0.0) + size
    seconds = sorted(sums)
    return (np.array(seconds), np.array([sums[second] for second in seconds])) if len(sums) >= 2 else None


def lost_from(seen: Consumer, facts: Mapping[str, Any]) -> list[str]:
    """From when on the consumer could not be read, where that was before the end."""
    last, end = float(seen.seconds[-1]), float(facts["ended_s"])
    if end - last <= max(LONGEST_GAP_S, UNANSWERED * seen.every_s + 1):
        return []
    return [
        f"The consumer could not be read from {number(last)} s on, of {number(end)} s; nothing later is known of it."
    ]


def operations_of(run: RunReader, facts: Mapping[str, Any]) -> float | None:
    """Iterations of the whole run that put something in and succeeded; None if there were none."""
    last = max((float(snapshot.second) for snapshot in run.snapshots(metrics=())), default=0.0)
    return float(_succeeded(run, int(last) + 3, facts).sum()) or None


def _succeeded(run: RunReader, length: int, facts: Mapping[str, Any]) -> Array:
    """Iterations of the operation whose requests succeeded, shape (length,), by the second after which they did."""
    counts = np.zeros(length)
    operation = facts.get("operation")
    for snapshot in run.snapshots(metrics=("iteration_duration", "http_req_failed")):
        done = failed = 0
        for series in snapshot.series:
            if operation is not None and series.tags.get("scenario") != operation:
                continue
            if series.metric == "iteration_duration":
                done += series.count
            elif series.metric == "http_req_failed":
                failed += int(series.passes or 0)
        if snapshot.second + 1 < counts.size:
            counts[snapshot.second + 1] += max(0, done - failed)
    return counts
