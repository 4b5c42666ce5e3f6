"""Connections that are made anew for each request: how many, what they take, and what keeping them open would save.

The generator tells its own: a request on a connection that was kept has a connecting time of 0 (http_req_connecting).
Each VU opens one connection at most to a server that keeps them, so that more than twice the VUs were not kept. Between
the target's processes their sockets tell: connections of which each look finds others (probes/processes/sockets.py).

Source: RFC 9112, section 9.3 (persistence is the default, and either side may close).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plimsoll.findings.limits.dependency import NEW_TO, calls_of
from plimsoll.findings.resources import Means
from plimsoll.runs.metric_names import CONNECTING, HANDSHAKING
from plimsoll.words import amount_words, ms_words, number, share_words

if TYPE_CHECKING:
    from plimsoll.runs.reader import RunReader
    from plimsoll.runs.snapshot import Series, Snapshot

EACH_OPENS = 0.5  # connections opened per request, from which on they are told
OF_VUS = 2.0  # times the VUs that there were: one each is what a server that keeps them sees
FEWEST_REQUESTS = 50
MOSTLY_NEW = 0.8  # of a process's connections to a service, in each look
LEAST_CALLS = 0.5  # connections to it on average, without which a look finds too few


@dataclass(frozen=True)
class Churn:
    """Connections that the generator `opened` for so many `requests` in so many `seconds`; what one took, in ms."""

    opened: int
    requests: int
    seconds: float
    connecting_ms: float

    @property
    def words(self) -> str:
        """As a note."""
        per_s = number(self.opened / self.seconds)
        each = self.opened / self.requests
        many = "Each request opens" if each >= 0.95 else f"{share_words(each)} of the requests open"
        return (
            f"{many} a new connection: {per_s} connections/s for "
            f"{amount_words(self.requests / self.seconds, 'request')}/s, {ms_words(self.connecting_ms)} each to open."
        )

    @property
    def remedy(self) -> str:
        """As a next step."""
        return (
            f"Keep connections open: keep-alive would save {number(self.opened / self.seconds)} connections/s on both "
            f"sides, and {ms_words(self.connecting_ms)} of a request. The server or a proxy closes each one after its "
            "answer (Connection: close), or the script asks for it (noConnectionReuse, noVUConnectionReuse)."
        )


@dataclass
class ChurnSeconds:
    """Counts connections second by second. It keeps numbers alone, however many requests there are."""

    opened: int = 0
    requests: int = 0
    seconds: int = 0
    vus: int = 0
    spent_ms: float = 0.0

    def add(self, snapshot: Snapshot) -> None:
        """Add one second of load."""
        self.add_load(snapshot)
        self.add_series(snapshot.series)

    def add_load(self, snapshot: Snapshot) -> None:
        """Add one second, without its series."""
        self.seconds += 1
        self.vus = max(self.vus, snapshot.vus_max)

    def add_series(self, found: Iterable[Series]) -> None:
        """Add the series of one second, or of several added up."""
        for series in found:
            if series.metric not in (CONNECTING, HANDSHAKING):
                continue
            self.spent_ms += series.sum
            if series.metric == CONNECTING:
                self.requests += series.count
                self.opened += series.count - sum(int(count) for bucket, count in series.buckets if bucket <= 0)

    @property
    def found(self) -> Churn | None:
        """What was counted; None where connections were kept, or too few requests were made to tell."""
        if self.requests < FEWEST_REQUESTS or self.opened < EACH_OPENS * self.requests:
            return None
        if self.opened < OF_VUS * self.vus:
            return None
        return Churn(self.opened, self.requests, float(self.seconds), self.spent_ms / self.opened)


def churn_of(run: RunReader, windows: Sequence[tuple[float, float]]) -> Churn | None:
    """What the generator's own seconds within the windows tell. `run`: a RunReader; `windows`: elapsed seconds
    [from, to)."""
    counted = ChurnSeconds()
    for block in run.blocks((CONNECTING, HANDSHAKING)):
        for load in block.load:
            if within(load.second, windows):
                counted.add_load(load)
        for merged in block.merged(edges_of(windows), ()):
            if within(merged.from_s, windows):
                counted.add_series(merged.series)
    return counted.found


def within(second: float, windows: Sequence[tuple[float, float]]) -> bool:
    """Whether a second begins in one of the windows."""
    return any(begin <= second < end for begin, end in windows)


def edges_of(windows: Sequence[tuple[float, float]]) -> list[float]:
    """The bounds of windows, as Block.merged takes them: what it adds up lies in a window as a whole, or outside."""
    return sorted({bound for window in windows for bound in window})


def churn_between(means: Means) -> Iterator[str]:
    """Notes on processes of the target that make a connection for each call, of the means of a step."""
    for source, values in means.items():
        if not source.startswith("sockets:"):
            continue
        for call in calls_of(source.partition(":")[2], values, means):
            fresh = values.get(NEW_TO + call.address)
            if fresh is None or call.connections < LEAST_CALLS or fresh < MOSTLY_NEW * call.connections:
                continue
            yield (
                f"{call.label} opens new connections to {call.address_words} all the time: {number(fresh)} of "
                f"{number(call.connections)} were new at each look. A pool would keep them."
            )


def with_churn(main: Mapping[str, Any], run: RunReader, sockets: Sequence[Means]) -> dict[str, Any]:
    """The main finding of a run with what its connections cost, if each request made one: a note, and a next step, the
    first where the target's CPU is the limit. `sockets`: means_of_sockets of its steps."""
    windows = measured_windows(main)
    if not windows or main.get("status") == "failed":
        return dict(main)
    found = churn_of(run, windows)
    between = list(dict.fromkeys(note for means in sockets[-1:] for note in churn_between(means)))
    if found is None and not between:
        return dict(main)
    notes, after = [*(main.get("notes") or ()), *between], list(main.get("next") or ())
    if found is not None:
        notes.append(found.words)
        is_cause = (main.get("limited_by") or {}).get("kind") in ("cpu", "cpu_quota", "open_files_limit", "generator")
        after.insert(0 if is_cause else len(after), found.remedy)
    return {**main, "notes": notes, "next": after}


def measured_windows(main: Mapping[str, Any]) -> list[tuple[float, float]]:
    """The measured seconds of its steps; all of a plain run."""
    if main.get("experiment") == "run":
        return [(0.0, float("inf"))]
    return [
        (float(step["measured_from_s"]), float(step["end_s"]))
        for step in main.get("steps") or ()
        if step.get("measured_from_s") is not None
    ]
