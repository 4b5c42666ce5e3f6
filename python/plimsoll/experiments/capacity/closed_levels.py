"""What is known of a closed target, and which level to hold next for it. Pure; closed_search.py holds the levels.

A level has *collapsed* if it does clearly less than a lower one (by the test of search.py for open loads). What it does
then says nothing of the plateau. Where throughput had not flattened below it there is no plateau at all, but a *cliff*:
each level that still rises is carried, and the search halves the range up to the lowest that has collapsed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from plimsoll.experiments.capacity.closed import (
    MARGIN_SDS,
    PlateauSeen,
    Throughput,
    crossing_of,
    is_flat,
    pooled,
    rising,
)
from plimsoll.experiments.capacity.result import CapacitySettings
from plimsoll.experiments.capacity.search import FALLEN_SHARE, Trial, propose, rounded
from plimsoll.experiments.steps.record import Bracket
from plimsoll.stats.throughput.flattening import IN_PROPORTION, PLATEAU_SHARE
from plimsoll.stats.throughput.top_of_curve import top_of

SPACING = math.sqrt(2)
CLEARLY_BELOW = 0.75  # a level is held SPACING below, in whole users
RISES = 0.003
LONGEST_STEPS = 10
FULL_CYCLES = 2.0
FALLEN_SDS = 4.0  # the best of many is compared


@dataclass
class ClosedLevels:
    """Throughputs of the ramp (`points`) and of the held levels, those with failures, those that were `unsteady` each
    time; `plateau` by the held ones, `noise`: variance per completion of the last; `held_s`: seconds they were held in
    all. `collapsed`: levels that have, and `fell`: those of the ramp. `whole`: levels are whole users."""

    settings: CapacitySettings
    whole: bool
    points: list[Throughput] = field(default_factory=list)
    held: dict[float, Throughput] = field(default_factory=dict)
    failing: list[float] = field(default_factory=list)
    collapsed: dict[float, Throughput] = field(default_factory=dict)
    fell: set[float] = field(default_factory=set)
    unsteady: set[float] = field(default_factory=set)
    plateau: PlateauSeen = field(default_factory=PlateauSeen)
    noise: float = 1.0
    held_s: float = 0.0

    def all(self) -> list[Throughput]:
        """One point a level, of the ramp and of the held ones that have not collapsed."""
        probes = [one for one in self.points if one.level not in self.fell and one.level not in self.collapsed]
        return pooled([*probes, *self.held.values()])

    def is_done(self, level: float) -> bool:
        """Whether a level was held, has collapsed, or drifted each time."""
        return level in self.held or level in self.collapsed or level in self.unsteady

    def has_fallen(self, here: Throughput, drifts: bool = False) -> bool:
        """Whether a level does clearly less than the best of the lower ones. If it `drifts`, only than those that were
        held, and did not: a target that slows down all the while has not collapsed."""
        known = self.held.values() if drifts else self.all()
        below = max((one for one in known if one.level < here.level), key=lambda one: one.per_s, default=None)
        if below is None:
            return False
        distance = below.per_s - here.per_s
        return distance >= max(FALLEN_SHARE * below.per_s, FALLEN_SDS * math.hypot(here.sd, below.sd))

    def note(self, here: Throughput, end: Throughput | None = None, drifts: bool = False) -> bool:
        """Keep what a held level did; whether it has collapsed: then what it did at the `end` of the step, if less, is
        what it does. A level that has not, acquits those below it: they were held by a target that was still cold, or
        behind."""
        if self.has_fallen(here, drifts):
            self.held.pop(here.level, None)
            self.collapsed[here.level] = min(here, end or here, key=lambda one: one.per_s)
            return True
        self.collapsed = {level: one for level, one in self.collapsed.items() if level > here.level}
        self.fell = {level for level in self.fell if level > here.level}
        known = [self.held[here.level]] if here.level in self.held else []
        (self.held[here.level],) = pooled([*known, here])
        return False

    @property
    def lowest_fallen(self) -> float:
        """The lowest level that has collapsed, in the ramp or held; infinite without one."""
        return min([*self.collapsed, *self.fell], default=math.inf)

    @property
    def has_cliff(self) -> bool:
        """Whether levels have collapsed and throughput had not flattened below them."""
        below = [one for one in self.all() if one.level < self.lowest_fallen]
        return math.isfinite(self.lowest_fallen) and not is_flat(below)

    def held_for(self, wanted: float) -> float:
        """The level that is held for a wanted one: whole VUs, since fractions of them would round to the same load, and
        no more than the greatest."""
        most = self.settings.max_level if self.settings.max_level is not None else math.inf
        vus = self.settings.vus_per_level
        if self.whole or not vus:
            return min(rounded(wanted, self.whole), most)
        count = max(1, round(wanted * vus))
        return count / vus if count / vus <= most else max(1, math.floor(most * vus)) / vus

    def are_neighbours(self, lower: float, higher: float) -> bool:
        """Whether no whole number of users lies between two levels."""
        vus = 1.0 if self.whole else self.settings.vus_per_level
        return vus is not None and round((higher - lower) * vus) <= 1

    def share_of_proportion(self, level: float) -> tuple[float, float]:
        """(throughput at a level ÷ what its users would do at the rate of the levels clearly below it, its standard
        deviation): 1 while nobody waits."""
        points = self.all()
        here = next(one for one in points if one.level == level)
        lower = [one for one in points if one.level < CLEARLY_BELOW * level] or points[:1]
        done = max(1e-9, math.fsum(one.per_s for one in lower))
        share = here.per_s / level * math.fsum(one.level for one in lower) / done
        scatter = math.hypot(here.sd / max(1e-9, here.per_s), math.hypot(*(one.sd for one in lower)) / done)
        return share, share * scatter

    def is_bent(self, level: float) -> bool:
        """Whether throughput at a level is less than in proportion to the users, by more than its standard deviation:
        it may be the plateau already, or still rise."""
        share, sd = self.share_of_proportion(level)
        return share + sd < IN_PROPORTION

    def flat_level(self) -> float:
        """Where to measure the plateau first: the lowest level of the ramp that chance does not tell from the best of
        its last two, if users spend twice as long on an iteration there as at the least. More users only wait longer,
        and so does the search for them."""
        best = max(self.points[-2:], key=lambda point: point.per_s)
        least_s = min(point.cycle_s for point in self.points)
        alike = [
            point.level
            for point in self.points
            if point.cycle_s >= FULL_CYCLES * least_s
            and point.per_s + MARGIN_SDS * math.hypot(point.sd, best.sd) >= best.per_s
        ]
        return min([*alike, best.level])

    def top(self) -> PlateauSeen:
        """The plateau, from the held levels."""
        points = pooled(self.held.values())
        top = top_of(*zip(*((point.level, point.per_s, point.sd) for point in points), strict=True))
        return PlateauSeen(max(top.value, 1e-9), top.sd)

    def further(self) -> list[float]:
        """The level beyond the outermost held one if that does most by more than chance and a little; that of a probe
        that did more than all held ones by more than chance: overload may have made the target slower for good."""
        points = pooled(self.held.values())
        if len(points) < 2:
            return []
        best = max(points, key=lambda point: point.per_s)
        for probe in self.points:
            if probe.level not in self.held and probe.per_s - best.per_s > MARGIN_SDS * math.hypot(probe.sd, best.sd):
                return [probe.level]
        for edge, inner, level in (
            (points[-1], points[-2], points[-1].level * SPACING),
            (points[0], points[1], points[0].level / SPACING),
        ):
            rise = edge.per_s - inner.per_s
            if edge is best and rise > max(RISES * inner.per_s, math.hypot(edge.sd, inner.sd)):
                return [level]
        return []

    def trials(self) -> list[Trial]:
        """What each level is, by all that was seen of it, against the plateau as it is known now; levels with failures
        are saturated whatever they did."""
        made = [Trial(level, "bad") for level in (*self.failing, *self.collapsed)]
        points = self.all()
        if self.has_cliff:
            made += [Trial(level, "bad", proven=False) for level in self.fell if level not in self.collapsed]
            below = [one.level for one in points if one.level < self.lowest_fallen and one.level not in self.failing]
            return [*made, *(Trial(level, "good", proven=level in self.held) for level in below)]
        best = max((point for point in points if point.level in self.held), key=lambda point: point.per_s)
        for point in rising([point for point in points if point.level <= best.level]):
            margin = self.plateau.margin_per_s(point)
            told = point.level in self.held and point.per_s - margin >= self.plateau.border_per_s
            if told or point.level == best.level:
                made.append(Trial(point.level, "bad"))
            elif point.per_s + margin < self.plateau.border_per_s:
                made.append(Trial(point.level, "good"))
        return made

    def next_level(self, bounds: Bracket, left_s: float, shrinks: float = 1.0) -> float | None:
        """A level on the side of the border that is known less well, as near to it as a step can be told from it; None
        if no level inside the bracket can be. `shrinks`: share of the present doubts that would be left."""
        if self.has_cliff:
            between = propose(self.trials(), self.settings.goal("vus" if self.whole else ""), self.settings.width / 2)
            return None if between is None else self.held_for(between.level)
        crossing = crossing_of(self.all(), self.plateau.border_per_s)
        if crossing is None:
            lowest = min(self.points + list(self.held.values()), key=lambda point: point.level).level
            level = self.held_for(lowest / 2)
            return level if 0 < level < lowest else None
        centre, elasticity = crossing
        step_s = max(self.settings.step_s, min(left_s / 3, LONGEST_STEPS * self.settings.step_s))
        step_sd = math.sqrt(self.noise / max(1.0, self.plateau.border_per_s * step_s))
        relative_sd = shrinks * math.hypot(step_sd, self.plateau.sd / self.plateau.per_s)
        share = max(0.48 * self.settings.width, 1.2 * MARGIN_SDS * relative_sd / elasticity)
        below, above = centre * math.exp(-share), centre * math.exp(share)
        sides = []
        if bounds.good is None or bounds.good < below:
            sides.append((centre / bounds.good if bounds.good else math.inf, below, 1 / 1.1))
        if bounds.bad is None or bounds.bad > above:
            sides.append((bounds.bad / centre if bounds.bad else math.inf, above, 1.1))
        for _, wanted, outward in sorted(sides, reverse=True):
            level = self.held_for(wanted)
            for _ in range(8):
                if not self.is_done(level):
                    break
                wanted *= outward
                level = self.held_for(wanted)
            if not self.is_done(level) and (bounds.good or 0) < level < (bounds.bad or math.inf):
                return level
        return None

    def again(self, bounds: Bracket, left_s: float) -> float | None:
        """The level to hold again for want of a new one: that of the most throughput where the plateau is known worse
        than any undecided level inside the bracket, else the undecided one that is nearest to being told. None where
        no level lies inside, or where all of `left_s` would not make enough of a difference."""
        if self.has_cliff:
            return None
        good, bad = bounds.good or 0.0, bounds.bad or math.inf
        if math.isfinite(bad) and not good < self.held_for(math.sqrt(good * bad) or bad / 2) < bad:
            return None
        shrinks = math.sqrt(self.held_s / (self.held_s + max(left_s, 0.0))) if self.held_s else 1.0
        points = pooled(self.held.values())
        inside = [point for point in points if good < point.level < bad]
        nearest = max(inside, key=self._told_share, default=None)
        tellable = nearest is not None and self._told_share(nearest) >= shrinks
        if not tellable and self.next_level(bounds, left_s, shrinks) is None:
            return None
        if nearest is not None and tellable and nearest.sd > PLATEAU_SHARE * self.plateau.sd:
            return nearest.level
        return max(points, key=lambda point: point.per_s).level

    def _told_share(self, point: Throughput) -> float:
        """How far the throughput is from the border, in shares of the distance at which it can be told from it."""
        return abs(point.per_s - self.plateau.border_per_s) / self.plateau.margin_per_s(point)
