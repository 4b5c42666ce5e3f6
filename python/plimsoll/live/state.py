"""What a live view shows of a load, as plain data: made anew each second, drawn elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Sign = Literal["good", "bad", "open", "now", "other"]
PHASES = {
    "range": "finding the range",
    "bracket": "bracketing",
    "confirm": "confirming",
    "expected": "expected load",
    "drain": "draining",
    "recovery": "recovering",
    "baseline": "one user alone",
    "load": "loading",
}
HELD = "holding"  # of a level that no search chose


@dataclass(frozen=True)
class Row:
    """A level in the chart: operations done per second, and p95 of response times in ms, None without any."""

    name: str
    done_per_s: float
    p95_ms: float | None
    sign: Sign
    words: str


@dataclass(frozen=True)
class Step:
    """A level that was judged, for the lines that stay when the view is gone."""

    end_s: float
    name: str
    words: str
    sign: Sign
    done_per_s: float
    planned_per_s: float
    p95_ms: float | None


@dataclass(frozen=True)
class Bracket:
    """The highest level that is carried, the lowest that is not, and the one that is held; in `unit`."""

    good: float | None
    bad: float | None
    level: float | None
    unit: str


@dataclass(frozen=True)
class Course:
    """Completions per second and p95 in ms over time, a value for each `seconds` of it; `whole_s`: how long it will be
    by its end, None where nobody knows."""

    seconds: int = 1
    whole_s: float | None = None
    done_per_s: tuple[float, ...] = ()
    p95_ms: tuple[float | None, ...] = ()


@dataclass(frozen=True)
class Health:
    """What is said of the generator, and whether all is well."""

    words: str = ""
    is_well: bool = True


@dataclass(frozen=True)
class State:
    """One second of a load. `stage`: how far the level is; `numbers`: what it does, a phrase each; `more`: of the
    experiment. `left_s`: of the load time, None where none was given. `rows` are levels, `course` is time: what the
    chart shows is the first of the two that there is."""

    phase: str
    second: float
    left_s: float | None = None
    name: str = ""
    stage: str = ""
    why: str = ""
    numbers: tuple[str, ...] = ()
    is_failing: bool = False
    more: str = ""
    bracket: Bracket | None = None
    rows: tuple[Row, ...] = ()
    unit: str = ""
    course: Course | None = None
    target: tuple[str, ...] = ()
    generator: Health = field(default_factory=Health)
    steps: tuple[Step, ...] = ()
