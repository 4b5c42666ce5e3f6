"""What is said of a step: its verdict, with the reasons and what they rest on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from plimsoll.runs.readings.script_caps import BindingCap
from plimsoll.stats.throughput.plateau import Plateau
from plimsoll.stats.throughput.saturation import Growth

Verdict = Literal["good", "bad", "undecided"]


@dataclass(frozen=True)
class Judgement:
    """Verdict with reasons in plain words; `given_up` when going on would only hurt the target; `disturbed` when the
    hypervisor or foreign work took so much CPU time that the step says nothing about the target; `unsteady` when the
    target changed so much within it that it says nothing about the level; `cap` when the script or the generator
    could not send more; `own` when the step itself shows the verdict, whatever others say."""

    verdict: Verdict
    reasons: tuple[str, ...] = ()
    given_up: bool = False
    growth: Growth | None = None
    plateau: Plateau | None = None
    disturbed: bool = False
    unsteady: bool = False
    own: bool = False
    cap: BindingCap | None = None

    @property
    def capped(self) -> bool:
        """Whether the script or the generator could not send more."""
        return self.cap is not None

    @property
    def says_nothing(self) -> bool:
        """Whether the step bounds nothing, whatever was seen in it, and its level is held again."""
        return self.disturbed or self.unsteady
