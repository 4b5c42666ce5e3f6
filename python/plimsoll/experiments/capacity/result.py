"""What the capacity experiment asks for and what it hands back: plain data that a run directory holds too."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from plimsoll.experiments.capacity.search import Goal
from plimsoll.experiments.steps.record import AFTER_OVERLOAD, Bracket, Status, StepRecord
from plimsoll.runs.readings.declared_caps import DeclaredCap
from plimsoll.runs.readings.objective_samples import Wanted
from plimsoll.runs.readings.script_caps import BindingCap
from plimsoll.stats.throughput.plateau import Plateau

Confirmed = Literal["confirmed", "contradicted", "undecided"]
LONGEST_CONFIRM_S, MOST_CONFIRMING_STEPS = 60.0, 6


@dataclass(frozen=True)
class CapacitySettings:
    """How to search. Levels are in the load source's unit, times in seconds of its clock.

    `width`: (bad − good) / bad to stop at; `step_s`: least length of a step that is called good; `budget_s`: load time
    after which no step begins (default: the greater of 200 s and 15 steps); `arrivals_per_level_s`: nominal
    arrivals per second at level 1, if known (measured otherwise, with noise); `vus_per_level`: VUs at level 1 of a
    closed load whose level is a multiple, so that its levels are whole VUs; `expected_level`: held once for
    `step_s` at least (`hold_expected`), and on until the `objectives` are decided there; `recovery`: overload a target
    that collapses once more at the end, if time is left, to find the level at which it recovers by itself; `caps`: of
    the script.
    """

    width: float = 0.10
    step_s: float = 10.0
    min_level: float | None = None
    max_level: float | None = None
    start_level: float | None = None
    expected_level: float | None = None
    hold_expected: bool = True
    objectives: tuple[Wanted, ...] = ()
    arrivals_per_level_s: float | None = None
    vus_per_level: float | None = None
    budget_s: float | None = None
    probe_s: float = 2.0
    drain_limit_s: float = 30.0
    most_steps: int = 12
    warm_up_s: float = 1.0
    recovery: bool = True
    caps: tuple[DeclaredCap, ...] = ()

    def __post_init__(self) -> None:
        if not 0 < self.width < 1 or self.step_s <= 0 or self.probe_s <= 0:
            raise ValueError("width lies between 0 and 1; step_s and probe_s are above 0")
        if self.min_level is not None and self.max_level is not None and self.min_level > self.max_level:
            raise ValueError(f"min_level {self.min_level:g} is above max_level {self.max_level:g}; exchange them")

    @property
    def confirm_s(self) -> float:
        """Seconds that the level that is carried is held once more: a fifth of the budget, at most six steps or a
        minute."""
        return max(self.step_s, min(LONGEST_CONFIRM_S, MOST_CONFIRMING_STEPS * self.step_s, self.load_budget_s / 5))

    @property
    def load_budget_s(self) -> float:
        """The budget with its default."""
        return self.budget_s if self.budget_s is not None else max(200.0, 15 * self.step_s)

    def goal(self, unit: str) -> Goal:
        """The goal of the search for that unit of level."""
        return Goal(self.width, self.min_level, self.max_level, whole=unit == "vus")


@dataclass(frozen=True)
class Confirmation:
    """What holding the carried level once more, from rest, at the end of the search said; `why` in a sentence."""

    level: float
    verdict: Confirmed
    seconds: int
    why: str


@dataclass(frozen=True)
class FailingAnyway:
    """From `from_s` of the run on `failed` of `requests` fail at `level`, which is low load, too; `causes` in words."""

    from_s: float
    level: float
    failed: int
    requests: int
    causes: str


@dataclass(frozen=True)
class ChangedTimes:
    """The median response time in ms at `level`, which is low load, was `from_ms` until `from_s` of the run and `to_ms`
    from `to_s` on: the target became slower, or quicker."""

    level: float
    from_ms: float
    to_ms: float
    from_s: float
    to_s: float


@dataclass(frozen=True)
class Stuck:
    """Arrivals that were never answered: `count` in all, most of them of `level`."""

    level: float
    count: int


@dataclass(frozen=True)
class Cap:
    """The most that the script or the generator can send, whatever the target does: `level`, iterations per second,
    why in a sentence, what to do about it, and the option with its line in the script."""

    level: float
    per_s: float
    why: str
    remedy: str
    option: str
    scenario: str | None
    line: int | None

    @classmethod
    def of(cls, found: BindingCap, level: float, per_s: float) -> Cap:
        """That cap, at the most that it allows."""
        cap = found.cap
        return cls(level, per_s, found.words, found.remedy, cap.option, cap.scenario, cap.line)


@dataclass(frozen=True)
class Collapse:
    """What a target does whose throughput falls under overload; levels in the unit of the search, rates per second.

    `level`: the lowest at which it fell; `per_s`: what it finishes then; `carried_level`, `carried_per_s`: the most it
    has carried; after an overload it recovers by itself at `recovers_at` within `recovery_s` (None: it took longer than
    was watched), and not at `stays_at`; None where that was not shown. `recovery_tried`: whether it was asked;
    `seen_again`: whether the overload for it made it collapse once more.
    """

    level: float
    per_s: float
    carried_level: float
    carried_per_s: float
    recovers_at: float | None = None
    stays_at: float | None = None
    recovery_s: float | None = None
    recovery_tried: bool = False
    seen_again: bool = False


@dataclass
class CapacityResult:
    """What was found: the bracket in levels, the steps, and how the experiment ended.

    `confirmation`: of the carried level; None where no time was left for it, or no level was proven to be carried.
    `collapse`: where throughput falls under overload; `cap`: what the script or the generator can send, where that is
    less than the target carries; `plateau_per_s`: the most that it does with any number of users, iterations per
    second; None of an open load, and where that was not seen.
    `more_time`: what more time would give, where the load time was spent; empty elsewhere.
    `rate_arrivals`: how many arrivals `rate_per_level_s` was measured from; None where it was declared.
    """

    unit: str
    open: bool
    settings: CapacitySettings
    status: Status = "finished"
    reason: str = ""
    more_time: str = ""
    bracket: Bracket = field(default_factory=lambda: Bracket(None, None))
    estimate: Plateau | None = None
    plateau_per_s: float | None = None
    confirmation: Confirmation | None = None
    cap: Cap | None = None
    collapse: Collapse | None = None
    failing_anyway: FailingAnyway | None = None
    slowed: ChangedTimes | None = None
    quickened: ChangedTimes | None = None
    steps: list[StepRecord] = field(default_factory=list)
    load_s: float = 0.0
    rate_per_level_s: float | None = None
    rate_arrivals: int | None = None

    @property
    def stuck(self) -> Stuck | None:
        """What was never answered, and the level at which most of it was lost; None without any."""
        lost: dict[float, int] = {}
        for step in self.steps:
            lost[step.level] = lost.get(step.level, 0) + step.stuck
        count = sum(lost.values())
        return Stuck(max(lost, key=lambda level: lost[level]), count) if count else None

    def to_json(self) -> dict[str, Any]:
        """The result as findings read it, from memory or from the run's event `capacity_result`."""
        width = self.bracket.width
        return {
            "unit": self.unit,
            "open": self.open,
            "status": self.status,
            "reason": self.reason,
            "more_time": self.more_time,
            "good": self.bracket.good,
            "bad": self.bracket.bad,
            "width": width if math.isfinite(width) else None,
            "width_goal": self.settings.width,
            "step_s": self.settings.step_s,
            "max_level": self.settings.max_level,
            "min_level": self.settings.min_level,
            "vus_per_level": self.settings.vus_per_level,
            "estimate": self.estimate.level if self.estimate else None,
            "estimate_sd": self.estimate.sd if self.estimate else None,
            "plateau_per_s": self.plateau_per_s,
            "rate_per_level_s": self.rate_per_level_s,
            "rate_arrivals": self.rate_arrivals,
            "load_s": self.load_s,
            "confirmation": asdict(self.confirmation) if self.confirmation else None,
            "stuck": asdict(self.stuck) if self.stuck else None,
            "judged_caps": True,
            "cap": asdict(self.cap) if self.cap else None,
            "collapse": asdict(self.collapse) if self.collapse else None,
            "failing_anyway": asdict(self.failing_anyway) if self.failing_anyway else None,
            "slowed": asdict(self.slowed) if self.slowed else None,
            "quickened": asdict(self.quickened) if self.quickened else None,
            "steps": [step.to_json() for step in self.steps if step.kind not in AFTER_OVERLOAD],
            "recovery_steps": [step.to_json() for step in self.steps if step.kind in AFTER_OVERLOAD],
        }
