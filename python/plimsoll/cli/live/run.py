"""The seconds of a plain `plimsoll run` as a state of the live view."""

from __future__ import annotations

from plimsoll.live.seconds import Generator, Seconds, answers_of, failed_words, p95_words, rate_words
from plimsoll.live.state import State
from plimsoll.runs.snapshot import Snapshot
from plimsoll.words import count_words, counted_words, number


class RunFolded:
    """Folds each second into the state: what the script does, over time."""

    def __init__(self) -> None:
        self._seconds, self._generator = Seconds(), Generator()
        self._done = self._failed = self._requests = 0

    def __call__(self, snapshot: Snapshot) -> State:
        """The state by now."""
        second = answers_of(snapshot)
        self._seconds.add(snapshot.done, second.p95_ms)
        self._done += snapshot.done
        self._failed += second.failed
        self._requests += second.requests
        vus = f"{count_words(snapshot.vus)} of {count_words(snapshot.vus_max)} VUs at work"
        return State(
            phase="running",
            second=snapshot.second + 1.0,
            name=vus if snapshot.level == 1 else f"{vus}, level {number(snapshot.level)}",
            numbers=(
                rate_words(snapshot.done),
                p95_words(second.p95_ms),
                f"{count_words(snapshot.backlog)} waiting",
                failed_words(self._failed, self._requests),
            ),
            is_failing=bool(self._failed),
            more=f"{counted_words(self._done, 'iteration')}, {counted_words(self._requests, 'request')}",
            course=self._seconds.course(None),
            generator=self._generator.health(snapshot, second.p95_ms),
        )

    def ended(self) -> State | None:
        """Nothing stays: the summary says it all."""
        return None
