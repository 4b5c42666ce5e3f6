"""The levels of a run that another tool made: what was held, and what its ramps passed through.

A load is *held* while it stays the same for STEADY_S. Many short levels are a ramp in steps (a user each 6 s is what
most tests do): they are pooled. A ramp is cut into at most MOST_PARTS parts of equal length, each at its mean level,
and used beside what was held wherever fewer than FEWEST_PARTS levels were. What ends in a second began earlier, so a
second of a ramp has the load of the moment at which the requests that ended in it began, by their mean response time.

Only ramps that rise count, unless there is none: while the load falls, a target still works off what came before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from plimsoll.findings.imported.run import ReadsSeconds, Stretch, fill
from plimsoll.runs.readings.stretches import LevelStretch, level_stretches
from plimsoll.words import time_words

STEADY_S = 5
LONG_S = 30  # a level held so long stands by itself, however many there are
MOST_LEVELS = 30  # a table of more rows than this tells less than one of MOST_PARTS
MOST_PARTS, FEWEST_PARTS = 12, 4
TOLD_LAG_S = 0.1  # a shorter one moves no level that anybody reads
LONGER = 5  # times the usual step of a ramp in steps: a hold beside it
ACROSS_S = 10  # a load rises or falls as it does over so many seconds before and after
RAMP_ONLY = (
    "No level was held for {steady} s or more: the load rose all the time. Each row is a part of this ramp at its mean "
    "level. That finds the range and is no number to rely on."
)
POOLED = (
    "{count} short levels are pooled into {parts} parts, each at its mean level: one level alone lasted {each}, "
    "which tells too little."
)
BESIDE = "Parts of the ramp are used beside what was held: {parts} rows are at the mean level of such a part."
LAGGED = "The load of a second of a ramp is that of {lag} before on average: when the requests that ended then began."
FALLING = "The ramp down is left out: while the load falls, a target still works off what came before."


@dataclass(frozen=True)
class Levels:
    """`held`: stretches at one level; `parts`: pieces of ramps, those of one part at the same mean level; both in order
    of time and filled. `notes`: what was done about ramps, in sentences."""

    held: list[Stretch] = field(default_factory=list)
    parts: list[Stretch] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def all(self) -> list[Stretch]:
        """Both, in order of time."""
        return sorted([*self.held, *self.parts], key=lambda one: one.start_s)


def levels_of(run: ReadsSeconds) -> Levels:
    """The levels of a run; the last second, which is rarely whole, is left out."""
    seconds = [(snapshot.second, snapshot.level) for snapshot in run.snapshots(metrics=())][:-1]
    every = [one for one in level_stretches(seconds) if one.end_s - one.start_s >= STEADY_S]
    held = _held(every)
    notes: list[str] = []
    pieces: list[Stretch] = []
    if len({one.level for one in held}) < FEWEST_PARTS:
        ramps = Ramps.of(seconds, held)
        if ramps.is_enough:
            held = [one for one in held if one.end_s - one.start_s >= LONG_S or not ramps.pass_through(one.level)]
            lag_s = _mean_times_s(run, ramps.second)
            pieces = ramps.pieces(lag_s)
            notes = _words(ramps, [one for one in every if one not in held], bool(held), pieces, float(lag_s.mean()))
    found = Levels([Stretch(*one) for one in held], pieces, notes)
    fill(run, found.all)
    return found


def _words(
    ramps: Ramps, short: Sequence[LevelStretch], is_beside: bool, pieces: Sequence[Stretch], lag_s: float
) -> list[str]:
    """What was done about ramps."""
    parts = len({one.level for one in pieces})
    notes = []
    if short:
        each = float(np.median([one.end_s - one.start_s for one in short]))
        notes.append(POOLED.format(count=len({one.level for one in short}), parts=parts, each=time_words(each)))
    elif not is_beside:
        notes.append(RAMP_ONLY.format(steady=STEADY_S))
    if is_beside:
        notes.append(BESIDE.format(parts=parts))
    if ramps.has_fall and not ramps.falls:
        notes.append(FALLING)
    return [*notes, *([LAGGED.format(lag=time_words(lag_s))] if lag_s >= TOLD_LAG_S else [])]


def _held(every: Sequence[LevelStretch]) -> list[LevelStretch]:
    """The stretches whose level counts by itself."""
    if len({one.level for one in every}) <= MOST_PARTS:
        return list(every)
    long = [one for one in every if one.end_s - one.start_s >= LONG_S]
    if len({one.level for one in long}) <= MOST_LEVELS:
        return long
    usual = float(np.median([one.end_s - one.start_s for one in every]))
    return [one for one in every if one.end_s - one.start_s >= LONGER * usual]


@dataclass(frozen=True)
class Ramps:
    """Seconds that belong to no level that was held, shape (n,), in order: those of a load that rises, else falls."""

    second: NDArray[np.int64]
    level: NDArray[np.float64]
    falls: bool
    has_fall: bool

    @classmethod
    def of(cls, seconds: Sequence[tuple[int, float]], held: Iterable[LevelStretch]) -> Ramps:
        """From (second, level) of a run and what was held."""
        at = np.array([second for second, _ in seconds], dtype=np.int64)
        level = np.array([level for _, level in seconds], dtype=float)
        moving = level > 0
        for one in held:
            moving &= (at < one.start_s) | (at >= one.end_s)
        trend = _trend(level)
        rising, falling = (_long_runs(at, moving & (trend * sign > 0)) for sign in (1, -1))
        falls = not rising.any()
        chosen = falling if falls else rising
        return cls(at[chosen], level[chosen], falls, bool(falling.any()))

    @property
    def is_enough(self) -> bool:
        """Whether it makes FEWEST_PARTS parts of STEADY_S of different levels."""
        return self.second.size >= FEWEST_PARTS * STEADY_S and np.unique(self.level).size >= FEWEST_PARTS

    def pass_through(self, level: float) -> bool:
        """Whether the ramps have that level: a short stretch there says less than they do, as of a file whose level is
        told by its requests, where it stands still while nothing ends."""
        return bool(self.level.min() <= level <= self.level.max())

    def pieces(self, lag_s: NDArray[np.float64]) -> list[Stretch]:
        """Parts of equal length in order of level, of the load `lag_s` (s, shape (n,)) before each second; the pieces
        of one part, which several ramps may pass, share its mean level."""
        level = _earlier(self.second, self.level, lag_s)
        count = min(MOST_PARTS, self.second.size // STEADY_S)
        part = np.empty(level.size, dtype=np.int64)
        part[np.argsort(level, kind="stable")] = np.arange(level.size) * count // level.size
        mean = [float(f"{level[part == place].mean():.3g}") for place in range(count)]
        found: list[Stretch] = []
        for place, second in zip(part.tolist(), self.second.tolist(), strict=True):
            if found and found[-1].end_s == second and found[-1].level == mean[place]:
                found[-1].end_s = second + 1
            else:
                found.append(Stretch(mean[place], second, second + 1))
        return found


def _trend(level: NDArray[np.float64]) -> NDArray[np.float64]:
    """By how much the level changes from ACROSS_S before each second to ACROSS_S after it; where it does not, as it did
    last. Shape (n,)."""
    if not level.size:
        return level
    after = np.concatenate((level[ACROSS_S:], np.full(min(ACROSS_S, level.size), level[-1])))[: level.size]
    before = np.concatenate((np.full(min(ACROSS_S, level.size), level[0]), level[:-ACROSS_S]))[: level.size]
    change = after - before
    for place in range(1, change.size):
        if change[place] == 0:
            change[place] = change[place - 1]
    return np.asarray(change)


def _long_runs(at: NDArray[np.int64], chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """`chosen` without runs of seconds too short for FEWEST_PARTS parts: a jump is no ramp. Shape (n,)."""
    kept = np.zeros_like(chosen)
    places = np.flatnonzero(chosen)
    if not places.size:
        return kept
    breaks = np.flatnonzero((np.diff(places) > 1) | (np.diff(at[places]) > 1)) + 1
    for run in np.split(places, breaks):
        if run.size >= FEWEST_PARTS * STEADY_S:
            kept[run] = True
    return kept


def _mean_times_s(run: ReadsSeconds, seconds: NDArray[np.int64]) -> NDArray[np.float64]:
    """Mean response time in s of what ended in each of these seconds, 0 where it is not known. Shape (n,)."""
    found = {}
    for snapshot in run.snapshots(metrics=("http_req_duration",)):
        count = sum(one.count for one in snapshot.series)
        found[snapshot.second] = sum(one.sum for one in snapshot.series) / count / 1000 if count else 0.0
    return np.array([found.get(second, 0.0) for second in seconds.tolist()])


def _earlier(at: NDArray[np.int64], level: NDArray[np.float64], lag_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """The level so many seconds before, along the ramp that it belongs to. Shape (n,)."""
    found = level.copy()
    for run in np.split(np.arange(at.size), np.flatnonzero(np.diff(at) > 1) + 1):
        found[run] = np.interp(at[run] - lag_s[run], at[run], level[run])
    return found
