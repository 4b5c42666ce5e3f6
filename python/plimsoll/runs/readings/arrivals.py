"""The seconds of a run by arrival: what ended after the window in which it arrived is moved into that window.

A second of series.jsonl.zst holds what ended in it. What it holds of arrivals of an earlier level is marked with their
epoch (runs/snapshot.py); here these series move to the last second of the window in which that level was held, so that
whoever adds up a window's seconds counts what arrived in it, however late it ended. Runs of earlier versions and of
other tools mark nothing and stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from plimsoll.runs.snapshot import Series, Snapshot

Window = tuple[float, float]
Moves = Mapping[tuple[int, int], int]  # (second, epoch of series in it) to the second where they belong


def windows_of(steps: Iterable[Mapping[str, object]]) -> list[Window]:
    """The measured window of each step, as findings and events hold steps."""
    found = []
    for step in steps:
        begin, end = step.get("measured_from_s"), step.get("end_s")
        if isinstance(begin, int | float) and isinstance(end, int | float):
            found.append((float(begin), float(end)))
    return found


def moves_of(load: Iterable[Snapshot], windows: Sequence[Window]) -> dict[tuple[int, int], int]:
    """Which series belong to an earlier second, told by the seconds without their series, in order. A load that follows
    another one numbers its levels anew."""
    home: dict[int, int] = {}
    moves: dict[tuple[int, int], int] = {}
    epoch = 0
    for snapshot in load:
        if snapshot.epoch < epoch:
            home.clear()
        epoch = snapshot.epoch
        moves |= {(snapshot.second, one.epoch): home[one.epoch] for one in snapshot.earlier if one.epoch in home}
        if epoch and any(begin <= snapshot.second < end for begin, end in windows):
            home[epoch] = snapshot.second
    return moves


class Homes:
    """Moves series to where they belong; `late`: the seconds that hold any to be moved, with these series."""

    def __init__(self, moves: Moves, late: Iterable[Snapshot]) -> None:
        self._moves = moves
        self._moved: dict[int, list[Series]] = {}
        for snapshot in late:
            for one in snapshot.series:
                home = None if one.epoch is None else moves.get((snapshot.second, one.epoch))
                if home is not None:
                    self._moved.setdefault(home, []).append(replace(one, epoch=None))
        self.touched = {second for second, _ in moves} | set(self._moved)

    def booked(self, snapshot: Snapshot) -> Snapshot:
        """The second with what belongs to it."""
        if snapshot.second not in self.touched:
            return snapshot
        stays = lambda one: one.epoch is None or (snapshot.second, one.epoch) not in self._moves  # noqa: E731
        own = tuple(one for one in snapshot.series if stays(one))
        return replace(snapshot, series=(*own, *self._moved.get(snapshot.second, ())))


def by_arrival(read: Callable[[], Iterable[Snapshot]], windows: Sequence[Window]) -> Iterator[Snapshot]:
    """The seconds that `read` gives each time it is called, in order, with series where they belong."""
    moves = moves_of(read(), windows)
    if not moves:
        yield from read()
        return
    late = {second for second, _ in moves}
    homes = Homes(moves, (snapshot for snapshot in read() if snapshot.second in late))
    for snapshot in read():
        yield homes.booked(snapshot)
