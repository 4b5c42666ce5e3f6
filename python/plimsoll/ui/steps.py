"""The steps of a run by its events: the level that is held and why, what was judged before, the bracket."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from plimsoll.experiments.steps.record import PHASE_OF
from plimsoll.live.judged import judged
from plimsoll.live.state import HELD, PHASES, Row
from plimsoll.report.wording import LEVEL_UNITS, is_number
from plimsoll.stats.throughput.bracket import relevant_bounds
from plimsoll.words import ms_words, number

Event = Mapping[str, Any]
_PHASE_OF: Mapping[str, str] = {str(kind): phase for kind, phase in PHASE_OF.items()}  # by what a file says
_JUDGED = ("hold", "confirm")
_CHARTED = ("probe", "hold", "confirm", "expected")
_STARTED, _ENDED, _AMENDED = ("_started", "_ended", "_amended")
_WHY_NONE = "No new work until what was begun has ended"


class Steps:
    """Takes events in their order."""

    def __init__(self, unit: str) -> None:
        self._unit = LEVEL_UNITS.get(unit, unit)
        self._held: Event | None = None
        self._ended: dict[float, Event] = {}  # by their starts
        self.is_search = False
        self.changes = 0

    def take(self, event: Event) -> None:
        """An event; those that are about no step are passed over."""
        name = str(event.get("kind"))
        if name == "experiment_started" and event.get("unit"):
            self._unit = LEVEL_UNITS.get(str(event["unit"]), str(event["unit"]))
        if not name.startswith(("step_", "recovery_")) or not is_number(event.get("level")):
            return
        self.changes += 1
        self.is_search = self.is_search or event.get("step_kind") == "probe"
        if name.endswith(_STARTED):
            self._held = event
        elif name.endswith((_ENDED, _AMENDED)) and is_number(event.get("start_s")):
            self._ended[float(event["start_s"])] = event
            self._held = None if name.endswith(_ENDED) else self._held

    @property
    def unit(self) -> str:
        """What a level is counted in."""
        return self._unit

    def held(self, level: float) -> dict[str, str] | None:
        """The level that is held, in words; None where the run has no steps."""
        if self._held is None:
            if not self._ended:
                return None
            if level:
                return {"phase": "choosing what is next", "name": self._named(level), "why": ""}
            return {"phase": PHASES["drain"], "name": "no load", "why": _WHY_NONE}
        kind = str(self._held.get("step_kind"))
        is_long = not self.is_search and kind in ("hold", "expected")
        phase = HELD if is_long else PHASES.get(_PHASE_OF.get(kind, ""), kind)
        return {"phase": phase, "name": self._named(self._held["level"]), "why": _why(self._held)}

    def bracket(self) -> dict[str, Any] | None:
        """The bounds of a search that are known by now, as shares of a bar too; None before the first."""
        trials = [
            (float(one["level"]), one["verdict"] == "good")
            for one in self._ended.values()
            if one.get("step_kind") in _JUDGED and one.get("verdict") in ("good", "bad")
        ]
        good, bad = relevant_bounds(trials)
        if not self.is_search or (good is None and bad is None):
            return None
        held = float(self._held["level"]) if self._held is not None else None
        end = 1.08 * max(one for one in (good, bad, held) if one is not None)
        return {
            "good": None if good is None else f"carried up to {self._named(good)}",
            "bad": None if bad is None else f"not carried from {self._named(bad)}",
            "held": None if held is None else f"held now: {self._named(held)}",
            "good_share": (good or 0.0) / end,
            "bad_share": 1.0 if bad is None else bad / end,
            "held_share": None if held is None else held / end,
        }

    def rows(self) -> list[dict[str, Any]]:
        """A row for each level that was held, in their order; what was held last tells its numbers."""
        rows: dict[float, Row] = {}
        for step in self._ended.values():
            if step.get("step_kind") in _CHARTED and is_number(step.get("done_per_s")) and step.get("samples"):
                sign, words = judged(str(step.get("step_kind")), _Recorded(step))
                level = float(step["level"])
                p95_ms = float(step["p95_ms"]) if is_number(step.get("p95_ms")) else None
                rows[level] = Row(self._named(level), float(step["done_per_s"]), p95_ms, sign, words)
        return [
            asdict(rows[level])
            | {"level": level, "done": f"{number(rows[level].done_per_s)}/s", "p95": _ms(rows[level].p95_ms)}
            for level in sorted(rows)
        ]

    def _named(self, level: float) -> str:
        return f"{number(level)} {self._unit}"


def _why(step: Event) -> str:
    return f"Why this level: {step['why']}" if step.get("why") else ""


def _ms(value: float | None) -> str:
    return "–" if value is None else ms_words(value)


class _Recorded:
    """The judgement of a step as its event has it."""

    def __init__(self, step: Event) -> None:
        self.verdict = str(step.get("verdict"))
        self.disturbed, self.capped = bool(step.get("disturbed")), bool(step.get("capped"))
