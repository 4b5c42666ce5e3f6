"""A step as it was held, and what is told of a run while it goes on; the bracket that the steps are about."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from plimsoll.experiments.steps.judgement import Judgement
from plimsoll.experiments.steps.measure import Measurement
from plimsoll.runs.snapshot import Snapshot

Status = Literal["finished", "interrupted", "failed"]
StepKind = Literal["probe", "hold", "confirm", "expected", "baseline", "rest", "overload", "recovery"]
Phase = Literal["range", "bracket", "confirm", "expected", "drain", "baseline", "load", "recovery"]
AFTER_OVERLOAD: frozenset[StepKind] = frozenset(("rest", "overload", "recovery"))
BESIDE: frozenset[StepKind] = AFTER_OVERLOAD | {"expected"}
PHASE_OF: dict[StepKind, Phase] = {
    "probe": "range",
    "hold": "bracket",
    "confirm": "confirm",
    "expected": "expected",
    "baseline": "baseline",
    "rest": "drain",
    "overload": "recovery",
    "recovery": "recovery",
}


@dataclass(frozen=True)
class Bracket:
    """Bounds of the capacity; None where nothing was proven."""

    good: float | None
    bad: float | None

    @property
    def width(self) -> float:
        """(bad − good) / bad; infinite while a bound is missing."""
        if self.good is None or self.bad is None:
            return math.inf
        return (self.bad - self.good) / self.bad


@dataclass
class StepRecord:
    """One step as it was held: `start_s` to `end_s` of the run, of which `measurement` saw the part after warm-up.

    `stuck`: arrivals of it that were given up and have had no answer since. The measurement is added to when arrivals
    of this step end after it. `volume_start`, `volume_end`: the target's data volume before and after it, where the
    study says how to read it.
    """

    level: float
    kind: StepKind
    start_s: float
    end_s: float
    measurement: Measurement
    judgement: Judgement
    drain_s: float | None = None
    stuck: int = 0
    volume_start: float | None = None
    volume_end: float | None = None

    def to_json(self) -> dict[str, Any]:
        """The step as events and findings hold it; rates per second, times in ms."""
        seen = self.measurement
        shown = "probe" if self.kind == "probe" and self.judgement.verdict != "bad" else self.judgement.verdict
        return {
            "level": self.level,
            "step_kind": self.kind,
            "start_s": self.start_s,
            "end_s": self.end_s,
            "measured_from_s": seen.seconds[0] if seen.seconds else self.end_s,
            "verdict": shown,
            "reasons": list(self.judgement.reasons),
            "given_up": self.judgement.given_up,
            "disturbed": self.judgement.disturbed,
            "unsteady": self.judgement.unsteady,
            "capped": self.judgement.capped,
            "own_evidence": self.judgement.own,
            "stolen_share": seen.stolen_share,
            "planned_per_s": seen.planned_per_s,
            "done_per_s": seen.done_per_s,
            "requests_per_s": seen.requests_per_s,
            "p50_ms": seen.response_ms(0.50),
            "p90_ms": seen.response_ms(0.90),
            "p95_ms": seen.response_ms(0.95),
            "p99_ms": seen.response_ms(0.99),
            "mean_ms": seen.times.mean if seen.has_times else None,
            "samples": seen.times.count,
            "errors": seen.failed,
            "error_share": seen.error_share,
            "error_causes": dict(seen.failures.causes),
            "done_own_per_s": seen.ended_own / len(seen.seconds) if seen.seconds else 0.0,
            "interrupted": seen.interrupted,
            "stuck": self.stuck,
            "late": sum(seen.late),
            "dropped": sum(seen.dropped),
            "backlog_end": seen.backlog,
            "in_flight_end": seen.in_flight,
            "drain_s": self.drain_s if self.drain_s is None or math.isfinite(self.drain_s) else None,
            "volume_start": self.volume_start,
            "volume_end": self.volume_end,
            "drained": self.drain_s is None or math.isfinite(self.drain_s),
            "generator_share": seen.generator_share,
            "generator_cores": seen.generator_cores,
            "lag_p99_ms": seen.typical_lag_p99_ms,
        }


def overloaded_probes(records: Iterable[StepRecord]) -> list[float]:
    """The levels that a probe alone saw overloaded, and not capped by the script."""
    probes = [one for one in records if one.kind == "probe" and one.judgement.verdict == "bad"]
    return [one.level for one in probes if not one.judgement.capped]


@dataclass(frozen=True)
class Progress:
    """Live progress, once a second: what is held, and what is known so far, also in `words`.

    `why`: why that level; `until_s`: second at which the load time ends, None where none was given; `snapshot`, `rows`:
    the second as it may be judged, and what the probes said in it. `step` is what was measured so far of the level that
    is held, None while none is; `steps` are those before, judged by what is known now. Both go on changing: they are
    to be read before the callback returns."""

    phase: Phase
    second: float
    level: float
    unit: str
    planned_per_s: float
    done_per_s: float
    unfinished: float
    bracket: Bracket
    words: str = ""
    why: str = ""
    until_s: float | None = None
    snapshot: Snapshot | None = None
    rows: Sequence[Mapping[str, Any]] = ()
    step: Measurement | None = None
    steps: Sequence[StepRecord] = ()


ProgressCallback = Callable[[Progress], None]
