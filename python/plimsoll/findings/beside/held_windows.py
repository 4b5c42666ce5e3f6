"""The loads that a run held, each with its seconds: steps of capacity and hold by level, trials by variant and level.

Read of the findings and the plan, so that what is told of each load is told the same way whichever experiment it was.
"""

from __future__ import annotations

import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from plimsoll.findings.shape.units_of import level_unit
from plimsoll.findings.trials.trials import left_out
from plimsoll.words import level_words

if TYPE_CHECKING:
    from plimsoll.runs.reader import RunReader


@dataclass
class Held:
    """A load: its `words` ("40 users"), its level, the variant that it was put on, and its measured `windows`, elapsed
    seconds [from, to) in order. `healthy`: whether nothing failed in them."""

    words: str
    level: float
    variant: str | None = None
    windows: list[tuple[float, float]] = field(default_factory=list)
    healthy: bool = True

    @property
    def length_s(self) -> float:
        """Seconds of all windows together."""
        return sum(end - begin for begin, end in self.windows)


class Windows:
    """Finds the load that was held in a second."""

    def __init__(self, loads: Sequence[Held]) -> None:
        self._windows = sorted((begin, end, at) for at, load in enumerate(loads) for begin, end in load.windows)
        self._begins = [begin for begin, _, _ in self._windows]

    def of(self, second: int) -> int | None:
        """Place of the load; None where none was measured."""
        at = bisect.bisect_right(self._begins, second) - 1
        return self._windows[at][2] if at >= 0 and second < self._windows[at][1] else None


def held_loads(run: RunReader, main: Mapping[str, Any]) -> list[Held]:
    """Of the run whose main finding is `main`: levels ascending, or variants as planned. Empty for
    experiments that hold no load."""
    experiment = main.get("experiment")
    if experiment in ("capacity", "hold"):
        return _of_steps(main.get("steps") or (), level_unit(main))
    if experiment in ("compare", "decompose", "sweep"):
        return _of_trials(run.plan(), run.trials(), left_out(main.get("excluded") or (), "middle"))
    return []


def _of_steps(steps: Sequence[Mapping[str, Any]], unit: str) -> list[Held]:
    """All steps at a level together, quick probes of the ramp as well: what is counted there is no verdict."""
    found: dict[tuple[float, bool], Held] = {}
    for step in steps:
        if step.get("measured_from_s") is None or step["end_s"] <= step["measured_from_s"]:
            continue
        alone = step.get("step_kind") == "baseline"
        words = level_words(step["level"], unit) + (" alone" if alone else "")
        load = found.setdefault((step["level"], not alone), Held(words, step["level"]))
        load.windows.append((step["measured_from_s"], step["end_s"]))
        load.healthy = load.healthy and not step.get("given_up") and not step.get("error_share")
    return [found[key] for key in sorted(found)]


def _of_trials(plan: Mapping[str, Any], trials: Sequence[Mapping[str, Any]], excluded: set[int]) -> list[Held]:
    """Trials that count, of one run: those of several finished runs have no seconds of their own here."""
    found = []
    variants, levels = plan.get("variants") or (), plan.get("levels") or ()
    for variant in variants:
        for level in levels:
            load = Held(cell_words(plan, variant, level), level["level"], variant["name"])
            for trial in trials:
                here = (trial["variant"], trial["level"]) == (variant["name"], level["level"])
                if here and trial["trial"] not in excluded and trial.get("measured_from_s") is not None:
                    load.windows.append((trial["measured_from_s"], trial["end_s"]))
                    load.healthy = load.healthy and not trial["failed"]
            if load.windows:
                found.append(load)
    return found


def cell_words(plan: Mapping[str, Any], variant: Mapping[str, Any], level: Mapping[str, Any]) -> str:
    """A variant at a level in words ("FORM=fixed, 5 users"), without what all cells of the plan have in common."""
    parts = [
        variant["label"] if len(plan["variants"]) > 1 else "",
        level["words"] if len(plan["levels"]) > 1 else "",
    ]
    return ", ".join(part for part in parts if part) or str(level["words"])
