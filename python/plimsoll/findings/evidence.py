"""What a finding rests on: how much of what, where in the run, and in which file of the run directory it can be read.

Every finding has at least one, made where the finding is made, of what its numbers came from; where nothing was
measured it says so with a count of 0. `words` are made of the fields, so that page and JSON cannot disagree.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.listed_names import listed
from plimsoll.words import level_words, number

EVENTS, SERIES, RESOURCES = "events.jsonl", "series.jsonl.zst", "resources.jsonl.zst"
TRIALS, TABLE, FINDINGS = "trials.jsonl", "step_table.json", "findings.json"
MOST_NAMED = 6


@dataclass(frozen=True)
class Evidence:
    """`count` of `unit` (plural: "steps"), read from `file`; `from_s` to `to_s` of the run; `levels` from lowest to
    highest in `level_unit`; `names`: which ones (sources, trials, runs); `about`: what it shows, in words."""

    count: float
    unit: str
    file: str
    about: str = ""
    from_s: float | None = None
    to_s: float | None = None
    levels: tuple[float, float] | None = None
    level_unit: str = "users"
    names: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """One sentence: "Carried: 1 step at 168 users, 120 to 180 s (events.jsonl)."."""
        unit = self.unit[:-1] if self.count == 1 else self.unit
        text = f"{number(self.count)} {unit}"
        if self.levels is not None:
            low, high = self.levels
            span = level_words(high, self.level_unit)
            text += f" at {span}" if low == high else f" at {number(low)} to {span}"
        if self.from_s is not None and self.to_s is not None:
            text += f", {number(self.from_s)} to {number(self.to_s)} s of the run"
        if self.names:
            text += f": {listed(self.names, MOST_NAMED)}"
        lead = f"{self.about}: " if self.about else ""
        return f"{lead}{text} ({self.file})."

    def to_json(self) -> dict[str, Any]:
        """As a finding holds it; what is not known or does not apply is left out."""
        found: dict[str, Any] = {
            "words": self.words,
            "count": self.count,
            "unit": self.unit,
            "file": self.file,
            "about": self.about or None,
            "from_s": self.from_s,
            "to_s": self.to_s,
            "levels": list(self.levels) if self.levels is not None else None,
            "level_unit": self.level_unit if self.levels is not None else None,
            "names": list(self.names) or None,
        }
        return {key: value for key, value in found.items() if value is not None}


def as_data(found: Iterable[Evidence | None]) -> list[dict[str, Any]]:
    """As a finding's `evidence`; None is left out."""
    return [one.to_json() for one in found if one is not None]


def of_steps(steps: Sequence[Mapping[str, Any]], unit: str, about: str = "", file: str = EVENTS) -> Evidence:
    """Those steps together: how many, their levels, from the first measured second to the end of the last; a step that
    ended before anything of it was measured is no evidence."""
    steps = [step for step in steps if not _measured_nothing(step)]
    if not steps:
        return Evidence(0, "steps", file, about)
    levels = [float(step["level"]) for step in steps]
    begins = [_known(step.get("measured_from_s", step.get("start_s"))) for step in steps]
    ends = [_known(step.get("end_s")) for step in steps]
    return Evidence(
        len(steps),
        "steps",
        file,
        about,
        min((at for at in begins if at is not None), default=None),
        max((at for at in ends if at is not None), default=None),
        (min(levels), max(levels)),
        unit,
    )


def _measured_nothing(step: Mapping[str, Any]) -> bool:
    begin, end = _known(step.get("measured_from_s")), _known(step.get("end_s"))
    return begin is not None and end is not None and begin >= end


def of_requests(count: float, step: Mapping[str, Any] | None, about: str = "") -> Evidence:
    """So many requests, of the measured seconds of that step."""
    window = (None, None) if step is None else (_known(step["measured_from_s"]), _known(step["end_s"]))
    return Evidence(count, "requests", SERIES, about, *window)


def of_seconds(seconds: Iterable[float], about: str = "", file: str = SERIES) -> Evidence:
    """Seconds of the run, each [second, second + 1)."""
    found = [float(second) for second in seconds if math.isfinite(second)]
    if not found:
        return Evidence(0, "seconds", file, about)
    return Evidence(len(found), "seconds", file, about, min(found), max(found) + 1)


def of_sources(means: Sequence[Mapping[str, Any]], steps: Sequence[Mapping[str, Any]], about: str) -> Evidence | None:
    """What the probes saw in these steps; None where they saw nothing."""
    names = tuple(dict.fromkeys(str(source) for values in means for source in values))
    if not names or not steps:
        return None
    window = of_steps(steps, "users")
    return Evidence(len(names), "sources", RESOURCES, about, window.from_s, window.to_s, names=names)


def of_trials(trials: Sequence[Mapping[str, Any]], unit: str, about: str = "") -> Evidence:
    """Those trials, with the seconds of the run that they took where it is one run."""
    if not trials:
        return Evidence(0, "trials", TRIALS, about)
    levels = [float(trial["level"]) for trial in trials]
    begins = [_known(trial.get("measured_from_s")) for trial in trials]
    ends = [_known(trial.get("end_s")) for trial in trials]
    known = None not in begins and None not in ends
    return Evidence(
        len(trials),
        "trials",
        TRIALS,
        about,
        min(at for at in begins if at is not None) if known else None,
        max(at for at in ends if at is not None) if known else None,
        (min(levels), max(levels)),
        unit,
        tuple(dict.fromkeys(str(trial["source"]) for trial in trials if trial.get("source"))),
    )


def _known(value: Any) -> float | None:
    return None if value is None else float(value)
