"""What the probes themselves cost: CPU time of asking them, in this process."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from plimsoll.words import share_words

GOAL_CORES = 0.01
BY_DESIGN = "core_speed"  # what it costs is its way of measuring (docs/measurement.md), and not part of the goal
_FEWEST_S = 5.0
_MOST_SHARE = 0.5


@dataclass(frozen=True)
class Cost:
    """CPU seconds of all probes over `wall_s`, by source; `by_design_s`: of timing work on the target's cores;
    `first_s`: of each one's first question, in which it looks for its process, and of what it did before."""

    cpu_s: float
    wall_s: float
    by_source: dict[str, float]
    by_design_s: float
    first_s: float = 0.0

    @property
    def cores(self) -> float:
        """Share of one core."""
        return self.cpu_s / self.wall_s if self.wall_s > 0 else 0.0

    @property
    def is_high(self) -> bool:
        """Whether it is more than the goal, to a tenth of a per cent."""
        return round(self.cores, 3) > GOAL_CORES

    def to_json(self) -> dict[str, Any]:
        """As the run's events hold it."""
        rounded = {source: round(cpu_s, 4) for source, cpu_s in self.by_source.items()}
        return {
            "cpu_s": round(self.cpu_s, 4),
            "wall_s": round(self.wall_s, 3),
            "cores_used": round(self.cores, 5),
            "by_source_cpu_s": rounded,
            "core_speed_cpu_s": round(self.by_design_s, 4),
            "first_cpu_s": round(self.first_s, 4),
        }

    def words(self) -> str | None:
        """What they took, to a tenth of a per cent; more than the goal, the dearest and what to do too. None where the
        time was too short to tell."""
        if self.wall_s < _FEWEST_S or not self.by_source:
            return None
        if not self.is_high:
            return f"The probes took {share_words(self.cores)} of a core."
        worst = max(self.by_source, key=lambda source: self.by_source[source])
        share = self.by_source[worst] / self.cpu_s
        advice = "Leave it out of `probes` in the study, or let it read less."
        if share < _MOST_SHARE and self.cores * (1 - share) > GOAL_CORES:
            advice = "No single one takes most of it: where that matters, leave several out of `probes` in the study."
        return (
            f"The probes took {share_words(self.cores)} of a core, more than the {share_words(GOAL_CORES)} that they "
            f"should; {worst} took {share_words(share)} of it. {advice}"
        )


class ProbeCost:
    """Counts, for each probe, the CPU time of the thread that asks it, and of threads that the probe says it has
    (`cpu_s`); what it used before it was first asked, as for connecting, counts as first."""

    def __init__(self, probes: Iterable[Any]) -> None:
        self._probes = list(probes)
        self._asking_s: dict[str, float] = defaultdict(float)
        self._began: float | None = None
        self._first_s: dict[int, float] = {}  # of each probe, of which several may have one source
        self._looking_s = 0.0
        self._own_before_s: dict[int, tuple[str, float]] = {}

    def add(self, probes: Iterable[Any]) -> None:
        """Count these, too."""
        known = {id(probe) for probe in self._probes}
        self._probes.extend(probe for probe in probes if id(probe) not in known)

    @contextmanager
    def of_looking(self) -> Iterator[None]:
        """Around what looks for processes of the target: it counts as first, as the first question of a probe does."""
        before = time.thread_time()
        try:
            yield
        finally:
            self._looking_s += time.thread_time() - before

    @contextmanager
    def of(self, probe: Any) -> Iterator[None]:
        """Around one question."""
        if self._began is None:
            self._began = time.monotonic()
        if id(probe) not in self._own_before_s:
            self._own_before_s[id(probe)] = probe.source, _own_s(probe)
        before = time.thread_time()
        try:
            yield
        finally:
            spent_s = time.thread_time() - before
            if id(probe) in self._first_s:
                self._asking_s[probe.source] += spent_s
            else:
                self._first_s[id(probe)] = spent_s

    def so_far(self) -> Cost:
        """Since the first question."""
        by_source: dict[str, float] = dict(self._asking_s)
        by_design_s = 0.0
        for probe in self._probes:
            own_s = _own_s(probe) - self._own_before_s.get(id(probe), (probe.source, 0.0))[1]
            if probe.source == BY_DESIGN:
                by_design_s += own_s
            elif own_s:
                by_source[probe.source] = by_source.get(probe.source, 0.0) + own_s
        wall_s = 0.0 if self._began is None else time.monotonic() - self._began
        first_s = (
            self._looking_s
            + sum(self._first_s.values())
            + sum(spent_s for source, spent_s in self._own_before_s.values() if source != BY_DESIGN)
        )
        return Cost(sum(by_source.values()), wall_s, by_source, by_design_s, first_s)


def _own_s(probe: Any) -> float:
    """CPU time of the threads that the probe says it has, in s."""
    return float(getattr(probe, "cpu_s", 0.0))
