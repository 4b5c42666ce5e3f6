"""What ends in a second belongs to the step of its arrival: here it is brought there.

An overload leaves work behind that ends, or times out, in later steps. The engine says of each second which of it
belongs to arrivals of earlier levels (runs/snapshot.py). The books add that to the step's own record, and hand the
judge of the step under way a second without what was given up before. A source that does not number its levels
(`epoch` 0) says nothing of the kind: then the step in which work ends keeps it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from plimsoll.experiments.steps.record import StepRecord
from plimsoll.runs.snapshot import Earlier, Snapshot

NO_ANSWER = "0"  # the tag status of a request that got none


@dataclass(frozen=True)
class Lost:
    """What a drain gave up: `count` arrivals of the steps at `levels`, the oldest of which waited for `oldest_s` (None
    where the source does not say), and the names of the requests without an answer."""

    count: int = 0
    levels: tuple[float, ...] = ()
    oldest_s: float | None = None
    names: tuple[str, ...] = ()


class Books:
    """The records of one load source by the epoch of their level, and how much of the unfinished work was given up."""

    def __init__(self) -> None:
        self._records: dict[int, StepRecord] = {}
        self._amended: list[StepRecord] = []
        self._last: Snapshot | None = None
        self._written_off_to = 0
        self.given_up = 0

    def begin_source(self) -> None:
        """Another source numbers its levels anew."""
        self._records.clear()
        self._last, self._written_off_to, self.given_up = None, 0, 0

    def enter(self, record: StepRecord) -> None:
        """A step has ended; what comes of its arrivals from now on is added to it."""
        if record.measurement.epoch:
            self._records[record.measurement.epoch] = record

    def take(self, snapshot: Snapshot) -> Snapshot:
        """Book what the second holds of earlier steps, and return it without what was given up: neither its
        completions nor the unfinished rest count for anything that is judged now."""
        self._last = snapshot
        self._book(snapshot)
        old = [one for one in snapshot.earlier if one.epoch <= self._written_off_to]
        unfinished = snapshot.backlog + snapshot.in_flight
        self.given_up = sum(one.unfinished for one in old) if snapshot.epoch else min(self.given_up, unfinished)
        waiting = max(0, self.given_up - snapshot.in_flight)
        return replace(
            snapshot,
            done=snapshot.done - sum(one.done for one in old),
            dropped=snapshot.dropped - sum(one.dropped for one in old),
            in_flight=max(0, snapshot.in_flight - self.given_up),
            backlog=max(0, snapshot.backlog - waiting),
            oldest_wait_s=0.0 if waiting >= snapshot.backlog else snapshot.oldest_wait_s,
            series=tuple(one for one in snapshot.series if one.epoch is None or one.epoch > self._written_off_to),
            earlier=tuple(one for one in snapshot.earlier if one.epoch > self._written_off_to),
        )

    def give_up(self, last: StepRecord | None) -> Lost:
        """Write off what is unfinished now; it is noted with the steps of its arrivals, or with `last` where the source
        does not say."""
        snapshot = self._last
        if snapshot is None:
            return Lost()
        if not snapshot.epoch:
            count = snapshot.backlog + snapshot.in_flight - self.given_up
            self.given_up += count
            if last is not None:
                self._note_stuck(last, count)
            return Lost(count, (last.level,) if last is not None else ())
        fresh = [one for one in snapshot.earlier if one.epoch > self._written_off_to and one.unfinished]
        for one in fresh:
            if one.epoch in self._records:
                self._note_stuck(self._records[one.epoch], one.unfinished)
        self._written_off_to = snapshot.epoch
        self.given_up = sum(one.unfinished for one in snapshot.earlier)
        names = dict.fromkeys(name for one in fresh for name in one.waiting_for)
        oldest_s = max((one.oldest_s for one in fresh), default=None)
        levels = [self._records[one.epoch].level for one in fresh if one.epoch in self._records]
        return Lost(sum(one.unfinished for one in fresh), tuple(dict.fromkeys(levels)), oldest_s, tuple(names))

    def amended(self) -> list[StepRecord]:
        """The records that were added to since the last call."""
        amended, self._amended = self._amended, []
        return amended

    def _book(self, snapshot: Snapshot) -> None:
        for record in self._of(one.epoch for one in snapshot.series if one.epoch is not None):
            rows = [one for one in snapshot.series if one.epoch == record.measurement.epoch]
            record.measurement.amend(rows)
            if record.stuck:
                requests = [one for one in rows if one.metric == "http_req_failed"]
                unanswered = sum(one.passes or 0 for one in requests if one.tags.get("status") == NO_ANSWER)
                answered = sum(one.total or 0 for one in requests) - unanswered
                record.stuck = max(0, record.stuck - answered)
        for record in self._of(one.epoch for one in snapshot.earlier if _ended(one)):
            for one in snapshot.earlier:
                if one.epoch == record.measurement.epoch:
                    record.measurement.amend_arrivals(one)

    def _of(self, epochs: Iterable[int]) -> list[StepRecord]:
        found = [self._records[epoch] for epoch in dict.fromkeys(epochs) if epoch in self._records]
        for record in found:
            self._mark(record)
        return found

    def _note_stuck(self, record: StepRecord, count: int) -> None:
        record.stuck += count
        self._mark(record)

    def _mark(self, record: StepRecord) -> None:
        if all(record is not known for known in self._amended):
            self._amended.append(record)


def _ended(one: Earlier) -> bool:
    return one.done + one.interrupted + one.dropped > 0
