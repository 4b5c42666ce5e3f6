"""One load source after another in one run: the second's clock goes on where the first's ended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from plimsoll.experiments.load import LoadSource
from plimsoll.runs.snapshot import Snapshot


class Shifted:
    """A load source whose second 0 is second `by_s` of the run."""

    def __init__(self, source: LoadSource, by_s: int) -> None:
        self.unit, self.open = source.unit, source.open
        self._source, self._by_s = source, by_s

    def start(self) -> None:
        self._source.start()

    def set_level(self, level: float) -> None:
        self._source.set_level(level)

    def snapshots(self, until_s: float) -> Iterator[Snapshot]:
        for snapshot in self._source.snapshots(until_s - self._by_s):
            yield replace(snapshot, second=snapshot.second + self._by_s)

    def drain(self, limit_s: float) -> float:
        return self._source.drain(limit_s)

    def stop(self, graceful: bool = True) -> None:
        self._source.stop(graceful)

    def rest(self) -> Iterator[Snapshot]:
        """The seconds that were not read when it was stopped."""
        for snapshot in getattr(self._source, "rest", tuple)():
            yield replace(snapshot, second=snapshot.second + self._by_s)

    def now(self) -> float:
        return self._source.now() + self._by_s
