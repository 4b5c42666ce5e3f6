"""One step at the expected level, so that objectives can be judged where they matter."""

from __future__ import annotations

from plimsoll.experiments.judge import Judgement
from plimsoll.experiments.measure import Measurement
from plimsoll.experiments.result import CapacitySettings
from plimsoll.experiments.steps import Conclude, StepHolder


def hold_expected(
    holder: StepHolder, settings: CapacitySettings, good: float | None, left_s: float, conclude: Conclude
) -> None:
    """Hold the expected level for a step if the target carries it (`good`, the highest level proven, is not below), it
    was not held for as long yet, and `left_s` of the load time suffice; `conclude` judges the step."""
    level = settings.expected_level
    if level is None or not settings.hold_expected or good is None or level > good:
        return
    held = sum(len(step.measurement.seconds) for step in holder.records if step.level == level)
    if held >= settings.step_s or left_s < settings.step_s:
        return

    def decide(seen: Measurement) -> Judgement | None:
        found = conclude(seen)
        return found if found.given_up or len(seen.seconds) >= settings.step_s else None

    holder.hold(level, "expected", settings.step_s, decide, conclude)
