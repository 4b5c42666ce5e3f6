"""A line of the scorecard: how often an answer was right, beside its goal, and what makes lines."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from plimsoll.stats.estimates.wilson import wilson_interval

ANSWER_RATE = 0.90
Verdict = Literal["met", "missed", "no answer", ""]


@dataclass(frozen=True)
class Line:
    """`hits` right of `answered` of `trials`. `sign` "≥" or "≤" the share `target`, None where it is only published;
    `must_answer`: a well-posed cell, in which at least 90% of the trials must give an answer."""

    goal: str
    what: str
    hits: int
    answered: int
    trials: int
    sign: str = "≥"
    target: float | None = None
    must_answer: bool = False

    @property
    def verdict(self) -> Verdict:
        """ "met": neither interval (Wilson, 95%) excludes its target; "no answer": no trial answered in a cell that
        need not, so that there is nothing to judge; "" without a target."""
        if self.target is None:
            return ""
        if not self.answered:
            return "missed" if self.must_answer else "no answer"
        share, answers = wilson_interval(self.hits, self.answered), wilson_interval(self.answered, self.trials)
        good = share.low <= self.target if self.sign == "≤" else share.high >= self.target
        return "met" if good and (not self.must_answer or answers.high >= ANSWER_RATE) else "missed"

    @property
    def cells(self) -> list[str]:
        """The cells of the table's row."""
        share = wilson_interval(self.hits, self.answered)
        rate = "no answer"
        if self.answered:
            rate = f"{percent(self.hits / self.answered)} ({percent(share.low)} to {percent(share.high)})"
        answers = wilson_interval(self.answered, self.trials)
        told = f"{self.answered} of {self.trials}"
        if self.answered < self.trials:
            told += f", {percent(self.answered / self.trials)} ({percent(answers.low)} to {percent(answers.high)})"
        target = "" if self.target is None else f"{self.sign} {100 * self.target:g}%"
        if target and self.must_answer:
            target += ", answers ≥ 90%"
        return [self.goal, self.what, target, rate, told, self.verdict]


@dataclass(frozen=True)
class Ratio:
    """A ratio of two means with its 95% interval over `trials`; at most `target` is wanted."""

    goal: str
    what: str
    value: float
    low: float
    high: float
    trials: int
    target: float

    @property
    def verdict(self) -> Verdict:
        """ "met": the interval does not exclude the target."""
        return "met" if self.low <= self.target else "missed"

    @property
    def cells(self) -> list[str]:
        """The cells of the table's row."""
        rate = f"{percent(self.value)} ({percent(self.low)} to {percent(self.high)}, bootstrap)"
        return [self.goal, self.what, f"≤ {100 * self.target:g}%", rate, f"{self.trials}", self.verdict]


@dataclass(frozen=True)
class Figure:
    """What was measured once, and so has no interval; at most `most` of the same unit is wanted."""

    goal: str
    what: str
    value: float
    most: float
    unit: str

    @property
    def verdict(self) -> Verdict:
        """ "met": the one measurement is at most that."""
        return "met" if self.value <= self.most else "missed"

    @property
    def cells(self) -> list[str]:
        """The cells of the table's row."""
        return [self.goal, self.what, f"≤ {self.most:g} {self.unit}", self._words, "measured once", self.verdict]

    @property
    def _words(self) -> str:
        return f"{self.value:.2f} {self.unit}" if self.value < 100 else f"{self.value:.0f} {self.unit}"


Lines = list[Line | Ratio | Figure]


@dataclass(frozen=True)
class Job:
    """What makes some lines; `name` is what ROWS= is looked for in."""

    name: str
    run: Callable[[], Lines]


def percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def print_rows(jobs: Callable[[float, int], Iterable[Job]], description: str | None) -> None:
    """The rows of one scorecard by themselves, as docs/measurement.md quotes them: `--scale`, `--seed`."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0] if description else None)
    parser.add_argument("--scale", type=float, default=0.4)
    parser.add_argument("--seed", type=int, default=40_000)
    options = parser.parse_args()
    for job in jobs(options.scale, options.seed):
        for line in job.run():
            print("| " + " | ".join(line.cells) + " |", flush=True)
