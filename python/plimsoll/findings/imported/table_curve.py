"""What a step table says of each level: carried, not carried, mixed, or unknown, and where its knee is.

Throughput counts good answers only. A level is not carried where requests fail that did not at the lowest level, or
more than an objective allows; only levels below such a one tell where throughput flattens
(stats/throughput/flattening.py). A level that was measured several times with results that disagree is *mixed*: it
proves nothing either way.

Of the others a load is carried while throughput goes with it, and not from where more load brings no more
(stats/throughput/flattening.py, `Carried`); between the two it is not known. The knee N* is told where counts are known
(stats/throughput/knee.py, `closed_knee`).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from plimsoll.findings.imported.level_means import LevelMean, Plateau, fall_of, highest_of, is_level, plateau_of
from plimsoll.findings.imported.table_objectives import judge_table_objectives
from plimsoll.findings.imported.terms import FAILS_MORE
from plimsoll.runs.readings.step_table import Row, StepTable
from plimsoll.stats.estimates.wilson import wilson_interval
from plimsoll.stats.throughput.flattening import PLATEAU_SHARE, Flattening, Untold, flattening
from plimsoll.stats.throughput.knee import Knee, NoKnee, closed_knee

Model = Literal["open", "closed"]
Verdict = Literal["good", "bad", "mixed", "unknown"]
REPEATS_DIFFER = 1.25  # greatest ÷ least of the repeats of a level: twice what runs on a quiet machine differ by
CLEARLY_SD = 2.5  # standard deviations: one level in a hundred is lower by chance
DIFFER_SD = 4.0  # standard deviations of counts: of fifty pairs of stretches one in a thousand differs so by chance
SCATTER = 0.01  # of a level's throughput beside Poisson's, as users of one level do not only wait for this target
LIGHT_SHARE = 0.5  # of the knee, at most, at the lowest level: one server bends by 2% there at 100 users
TIMES_SLOWER = 5.0  # mean response time at the top ÷ at the lowest level: most of it is waiting
WAITING_SHARE = 0.25  # of the users who wait for an answer at the top
FIND_OUT = "Find out what differed between the repeats, and analyze each test by itself."
_CENTRES = ("mean", "p50", "p90", "p95", "p99")
ONE_IS_ALONE = ("users", "vus", "connections", "clients", "threads")


@dataclass(frozen=True)
class Curve:
    """`rows` of the whole load with level and throughput, in order of level; `means` of those below `failing_from`, of
    levels that are not `mixed` (level → throughputs of its repeats), and `shape` by these. `good` and `bad`: highest
    level that is carried, lowest that is not; `queues_at`: the top level, if only its response times show that it is
    saturated."""

    rows: tuple[Row, ...]
    unit: str
    model: Model
    shape: Flattening | Untold
    good: float | None
    bad: float | None
    failing_from: float | None = None
    mixed: Mapping[float, tuple[float, ...]] = field(default_factory=dict)
    queues_at: float | None = None
    knee: Knee | NoKnee | None = None
    means: tuple[LevelMean, ...] = ()

    @property
    def highest(self) -> LevelMean | None:
        """The level with the most throughput."""
        return highest_of(self.means)

    @property
    def plateau(self) -> Plateau | None:
        """What throughput is from the lowest level on that is saturated; None where none is."""
        if self.bad is None or self.fails_first or self.falls_by is not None:
            return None
        return plateau_of([one for one in self.means if one.level >= self.bad])

    @property
    def falls_by(self) -> float | None:
        """The share by which it is lower at the end than at its most."""
        return fall_of(self.means)

    @property
    def same_everywhere(self) -> Plateau | None:
        """The mean over all levels, where throughput is the same at all of them."""
        return plateau_of(self.means) if self.falls_by is None and is_level(self.means) else None

    @property
    def is_mostly_mixed(self) -> bool:
        """Whether so many repeats disagree that nothing is told of the rest."""
        return isinstance(self.shape, Untold) and self.shape.settle == FIND_OUT

    @property
    def rises(self) -> bool:
        """Whether more load brings more throughput anywhere."""
        return self.same_everywhere is None or self.good not in (None, self.means[0].level)

    @property
    def fails_first(self) -> bool:
        """Whether failures, not throughput, are why `bad` is not carried."""
        return self.failing_from is not None and self.failing_from == self.bad

    @property
    def repeats(self) -> int:
        """Levels that were measured more than once."""
        levels = [row.level for row in self.rows]
        return sum(levels.count(level) > 1 for level in set(levels))

    def per_s(self, level: float | None) -> float | None:
        """Mean throughput of good answers at that level."""
        found = [row.good_per_s or 0.0 for row in self.rows if row.level == level]
        return sum(found) / len(found) if found else None

    def verdict(self, level: float | None) -> Verdict:
        """Of that level."""
        if level is None:
            return "unknown"
        if level in self.mixed:
            return "mixed"
        if self.bad is not None and level >= self.bad:
            return "bad"
        return "good" if self.good is not None and level <= self.good else "unknown"


def curve_of(
    table: StepTable,
    model: Model,
    objectives: Sequence[Any] = (),
    repeats: Mapping[float, Sequence[tuple[float, float]]] | None = None,
) -> Curve:
    """The levels of a table judged. `objectives`: those on error rates say how many failures are allowed; `repeats`:
    (good answers, seconds) of each time that a level was held, where the table has them together in one row."""
    rows = [row for row in table.totals() if row.level is not None and row.throughput_per_s is not None]
    rows.sort(key=lambda row: row.level or 0.0)
    failing = _failing_from(rows, table, objectives)
    mixed = _mixed(rows, failing) | _disagreeing(repeats or {}, failing)
    healthy = [row for row in rows if (failing is None or (row.level or 0.0) < failing) and row.level not in mixed]
    levels, per_s = [row.level or 0.0 for row in healthy], [row.good_per_s or 0.0 for row in healthy]
    shape = _mostly_mixed(mixed, rows) or flattening(levels, per_s, table.level_unit in ONE_IS_ALONE, _scatter(healthy))
    good, bad = _bracket(shape, model)
    queues_at = None
    if model == "closed" and bad is None and isinstance(shape, Flattening) and shape.first_flat is not None:
        queues_at = bad = _queues_at(table, healthy) if healthy[-1].level != good else None
    means = _means(healthy)
    bad = _on_the_plateau(means, bad) if model == "closed" and bad is not None and queues_at is None else bad
    has_knee = model == "closed" and bad is not None and fall_of(means) is None  # a peak is no plateau to go by
    knee = _knee(healthy, shape) if has_knee else None
    if failing is not None and (bad is None or failing < bad):
        bad = failing
    return Curve(tuple(rows), table.level_unit, model, shape, good, bad, failing, mixed, queues_at, knee, means)


def _on_the_plateau(means: Sequence[LevelMean], bad: float) -> float:
    """The lowest level from `bad` on that does what those above it do: one whose own mean is clearly less is still on
    the way up, though the smoothed curve is flat there."""
    above = [one for one in means if one.level >= bad]
    for place, one in enumerate(above[:-1]):
        rest = plateau_of(above[place + 1 :])
        if rest is None or one.relative_sd is None or one.per_s >= PLATEAU_SHARE * rest.per_s:
            return one.level
        if rest.per_s - one.per_s <= CLEARLY_SD * one.sd:
            return one.level
    return bad


def _means(rows: Sequence[Row]) -> tuple[LevelMean, ...]:
    """Of each level of these rows, in order of level."""
    scatter = _scatter(rows)
    found: dict[float, list[int]] = {}
    for place, row in enumerate(rows):
        found.setdefault(row.level or 0.0, []).append(place)
    return tuple(
        _mean(level, [rows[place] for place in places], scatter[places[0]] if scatter is not None else None)
        for level, places in found.items()
    )


def _mean(level: float, rows: Sequence[Row], relative_sd: float | None) -> LevelMean:
    seconds = sum(row.duration_s or 0.0 for row in rows) if all(row.duration_s for row in rows) else None
    return LevelMean(level, sum(row.good_per_s or 0.0 for row in rows) / len(rows), relative_sd, seconds)


def _bracket(shape: Flattening | Untold, model: Model) -> tuple[float | None, float | None]:
    """The highest level that is carried, and the lowest that is not; None where it is not known."""
    if isinstance(shape, Untold):
        return None, None
    if model == "open":
        return shape.carried.arrivals_to, shape.carried.behind_from
    return shape.carried.users_to, shape.carried.saturated_from


def _failing_from(rows: Sequence[Row], table: StepTable, objectives: Sequence[Any]) -> float | None:
    """The lowest level with too many failures: for the objectives on error rates, else beside the lowest level."""
    judged = [one for one in judge_table_objectives(objectives, table, None) if "error_rate" in one["objective"]]
    if judged:
        return min((one["failed_from"] for one in judged if one["failed_from"] is not None), default=None)
    known = [row for row in rows if row.errors is not None]
    if not known:
        return None
    lowest = known[0]
    return next((row.level for row in known if row.level != lowest.level and _fails_more(row, lowest)), None)


def _fails_more(row: Row, lowest: Row) -> bool:
    """Whether clearly more requests fail: by FAILS_MORE and, where they are counted, beyond chance."""
    if (row.errors or 0.0) < (lowest.errors or 0.0) + FAILS_MORE:
        return False
    if row.failed is None or not row.samples or lowest.failed is None or not lowest.samples:
        return True
    here, there = wilson_interval(row.failed, row.samples), wilson_interval(lowest.failed, lowest.samples)
    return here.low > there.high


def _mixed(rows: Sequence[Row], failing: float | None) -> dict[float, tuple[float, ...]]:
    """Levels whose repeats disagree in throughput; below the one that fails."""
    found: dict[float, list[float]] = {}
    for row in rows:
        if row.level is not None and (failing is None or row.level < failing):
            found.setdefault(row.level, []).append(row.good_per_s or 0.0)
    return {
        level: tuple(rates)
        for level, rates in found.items()
        if len(rates) > 1 and max(rates) > REPEATS_DIFFER * min(rates)
    }


def _mostly_mixed(mixed: Mapping[float, Sequence[float]], rows: Sequence[Row]) -> Untold | None:
    """Where the repeats of half of the levels or more disagree, the others tell nothing of what was the same."""
    count = len({row.level for row in rows})
    if not mixed or 2 * len(mixed) < count:
        return None
    several = f"The repeats of {len(mixed)} of {count} levels disagree"
    return Untold(
        f"{several}, so the target or the load was not the same each time.",
        FIND_OUT,
    )


def _disagreeing(
    repeats: Mapping[float, Sequence[tuple[float, float]]], failing: float | None
) -> dict[float, tuple[float, ...]]:
    """Levels that were held several times with throughputs that differ as those of `_mixed` do, and beyond chance."""
    found: dict[float, tuple[float, ...]] = {}
    for level, times in sorted(repeats.items()):
        if len(times) < 2 or (failing is not None and level >= failing):
            continue
        rates = [done / seconds for done, seconds in times]
        low, high = min(range(len(rates)), key=rates.__getitem__), max(range(len(rates)), key=rates.__getitem__)
        sd = math.hypot(*(math.sqrt(max(1.0, times[place][0])) / times[place][1] for place in (low, high)))
        if rates[high] > REPEATS_DIFFER * rates[low] and rates[high] - rates[low] > DIFFER_SD * sd:
            found[level] = tuple(rates)
    return found


def _counts(rows: Sequence[Row]) -> list[tuple[float, float]] | None:
    """(good answers, seconds) of each row; None where a source does not count them."""
    if not rows or any(row.samples is None or not row.duration_s or row.line is not None for row in rows):
        return None
    return [((row.samples or 0) * (1 - (row.errors or 0.0)), row.duration_s or 0.0) for row in rows]


def _scatter(rows: Sequence[Row]) -> list[float] | None:
    """Relative standard deviation of each row's throughput; None where it is not known."""
    counts = _counts(rows)
    return None if counts is None else [math.hypot(SCATTER, 1 / math.sqrt(max(1.0, done))) for done, _ in counts]


def _queues_at(table: StepTable, rows: Sequence[Row]) -> float | None:
    """The top level, if its response times are mostly waiting: many times those of the lowest level and, where the mean
    is known, a good part of the users inside the target by Little's law. None where times do not tell."""
    lowest, top = rows[0], rows[-1]
    slower = _times_slower(table, lowest.level, top.level)
    mean = top.times_ms.get("mean")
    inside = (top.good_per_s or 0.0) * mean[0] / 1000 / (top.level or 1.0) if mean is not None else WAITING_SHARE
    return top.level if slower >= TIMES_SLOWER and inside >= WAITING_SHARE else None


def _times_slower(table: StepTable, lowest: float | None, top: float | None) -> float:
    """The median ratio, over operations, of the first statistic of times that both levels have; 0 without one."""
    there = {row.operation: row.times_ms for row in table.rows if row.level == lowest}
    ratios = []
    for row in table.rows:
        before = there.get(row.operation, {})
        shared = [name for name in _CENTRES if before.get(name, (0.0, 0.0))[0] > 0 and name in row.times_ms]
        if row.level == top and shared:
            ratios.append(row.times_ms[shared[0]][0] / before[shared[0]][0])
    return statistics.median(ratios) if ratios else 0.0


def _knee(rows: Sequence[Row], shape: Flattening | Untold) -> Knee | NoKnee | None:
    counts = _counts(rows)
    if counts is None or isinstance(shape, Untold):
        return None
    done, seconds = [one for one, _ in counts], [one for _, one in counts]
    return closed_knee([row.level or 0.0 for row in rows], done, seconds, light_share=LIGHT_SHARE, fewest=2)
