"""The quick ramp: double the level in short probes until the target shows signs of saturation, to find the range.

A probe in which work piles up without being beyond chance yet goes on, up to six seconds more, and then counts as
saturated: the next level would cost its backlog, its drain and the seconds itself, for a worse estimate. Where a fifth
of a second's work waits at the end of a calm probe, the next level is 1.4 times it: twice would be far beyond the
capacity.

Of an iteration that pauses for seconds, more and more are under way until the first ones end, which is no queue. So
the first probe measures only once the load has lasted for longer than its iterations do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from plimsoll.experiments.capacity.result import CapacitySettings
from plimsoll.experiments.capacity.search import rounded
from plimsoll.experiments.steps.evidence import Context
from plimsoll.experiments.steps.failing import backlog_s, give_up_reason
from plimsoll.experiments.steps.judge import judge
from plimsoll.experiments.steps.judgement import Judgement
from plimsoll.experiments.steps.measure import Measurement
from plimsoll.experiments.steps.under_way import filled_s
from plimsoll.runs.histogram import Histogram

START_RATE_PER_S = 10.0
FEW_ARRIVALS = 40
DONE_FOR_PLATEAU = 2500
LONGEST_OVERLOAD_S = 6.0
MOST_BACKLOG_S = 5.0
HANG_LIMIT_S = 30.0
MOST_PROBES = 40
WARM_UPS = 2.0
WAITING_S = 0.2
NEAR_FACTOR = 1.4
LONGEST_WARM_UP_S, LONGEST_ANSWERS_S = 60.0, 15.0


@dataclass(frozen=True)
class NextProbe:
    """The level of the next probe, and why that one."""

    level: float
    why: str


@dataclass(frozen=True)
class Ramp:
    """Decides how long a probe lasts and which level comes next. Pure."""

    settings: CapacitySettings
    unit: str

    def first_level(self) -> float:
        """A level that a living target is expected to carry: about 10 arrivals a second, or what is declared, if
        less."""
        settings = self.settings
        if settings.start_level is not None:
            return settings.start_level
        if settings.min_level is not None:
            return settings.min_level
        level = {"multiple": 0.1, "users": 1.0, "vus": 1.0}.get(self.unit, 1.0)
        if settings.arrivals_per_level_s and self.unit != "vus":
            level = START_RATE_PER_S / settings.arrivals_per_level_s
            level = min(level, 1.0) if self.unit == "multiple" else level
        if settings.expected_level is not None:
            level = (
                min(level, settings.expected_level / 4)
                if settings.arrivals_per_level_s
                else settings.expected_level / 4
            )
        if settings.max_level is not None:
            level = min(level, settings.max_level / 4)
        return rounded(level, self.unit == "vus")

    def next_probe(self, level: float, seen: Measurement, waiting: float) -> NextProbe | None:
        """Twice the level, four times while arrivals are too few to show anything, less where work began to wait
        (`waiting`: so much of it at the end); None at the greatest level."""
        most = self.settings.max_level
        if most is not None and level >= most:
            return None
        factor, why = 2.0, "twice the level before, where nothing waited"
        if waiting >= FEW_ARRIVALS and waiting >= WAITING_S * seen.done_per_s:
            factor, why = NEAR_FACTOR, "a little above the level before, where work began to wait"
        elif sum(seen.planned) < FEW_ARRIVALS:
            factor, why = 4.0, "four times the level before, which had too few arrivals to show anything"
        wanted = rounded(level * factor, self.unit == "vus")
        if most is not None and wanted >= most:
            return NextProbe(most, "the greatest level that is allowed")
        return NextProbe(wanted, why)

    def decide(self, seen: Measurement, context: Context, first: bool) -> Judgement | None:
        """Judgement when the probe has done its work, None while it should go on."""
        seconds = len(seen.seconds)
        if first and not sum(seen.done) and len(seen.warm_planned) + seconds < HANG_LIMIT_S:
            return None
        if give_up_reason(seen) is not None:
            return judge(seen, context)
        if seconds < self.settings.probe_s:
            return None
        found = judge(seen, context)
        if found.verdict == "good" or found.growth is None or found.capped:
            return found
        if seconds >= self.settings.probe_s + LONGEST_OVERLOAD_S:
            return replace(found, verdict="bad")
        enough = sum(seen.done) >= DONE_FOR_PLATEAU or backlog_s(seen) >= MOST_BACKLOG_S
        return found if found.verdict == "bad" and enough else None

    def limit_s(self, warm_up_s: float, first: bool) -> float:
        """Longest probe in seconds; never shorter than the iterations it must see end."""
        longest_s = max(HANG_LIMIT_S, self.settings.probe_s + LONGEST_OVERLOAD_S, WARM_UPS * warm_up_s)
        return longest_s + (LONGEST_WARM_UP_S if first else 0.0)


def is_filling(seen: Measurement, elapsed_s: float) -> bool:
    """Whether the first load of a run, `elapsed_s` old, still has to fill with iterations that last. What they wait for
    answers is no reason to go on for long: that may be a queue."""
    ended = seen.warm_iterations
    if elapsed_s >= LONGEST_WARM_UP_S:
        return False
    if not ended.count:
        return elapsed_s < HANG_LIMIT_S or seen.answers.count.total() > 0
    return elapsed_s < min(filled_s(ended), WARM_UPS * _pauses_s(seen) + LONGEST_ANSWERS_S)


def mostly_pauses(seen: Measurement) -> bool:
    """Whether the iterations that ended in the warm-up paused for most of their time."""
    ended = seen.warm_iterations
    return ended.count > 0 and _pauses_s(seen) >= ended.mean / 2000


def _pauses_s(seen: Measurement) -> float:
    """Mean time of these iterations in which no answer was waited for; what others waited for counts against it."""
    ended = seen.warm_iterations
    return max(0.0, ended.mean - sum(seen.answers.total_ms.values()) / ended.count) / 1000


def warm_up_from(iterations: Histogram, least_s: float) -> float:
    """Seconds until work that began before a change of level has left."""
    return warm_up_within(filled_s(iterations), least_s)


def warm_up_within(wanted_s: float, least_s: float) -> float:
    """A warm-up of `wanted_s`, in whole seconds, that is neither shorter than `least_s` nor longer than any may be."""
    return min(LONGEST_WARM_UP_S, max(least_s, math.ceil(wanted_s)))
