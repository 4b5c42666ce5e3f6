"""Progress of experiments that hold levels (capacity, hold, grow, drain) as a state of the live view."""

from __future__ import annotations

from dataclasses import replace

from plimsoll.experiments.steps.record import Progress, StepKind, StepRecord
from plimsoll.live.judged import judged
from plimsoll.live.seconds import (
    Answers,
    Generator,
    Resources,
    Seconds,
    answers_of,
    failed_words,
    p95_words,
    rate_words,
)
from plimsoll.live.state import HELD, PHASES, Bracket, Row, State, Step
from plimsoll.report.wording import LEVEL_UNITS
from plimsoll.words import count_words, number, time_words

STAYING: frozenset[StepKind] = frozenset(("probe", "hold", "confirm", "expected", "baseline"))
CHARTED: frozenset[StepKind] = frozenset(("probe", "hold", "confirm", "expected"))
WHY_NONE = {"drain": "no new work until what was begun has ended"}


class LevelsFolded:
    """Folds each second's Progress into the state. A search is charted over its levels, all else over time."""

    def __init__(self) -> None:
        self._resources, self._seconds, self._generator = Resources(), Seconds(), Generator()
        self._last: tuple[Progress, State] | None = None
        self._p95: dict[int, tuple[int, float | None]] = {}  # of each record, with the count that it is of

    def __call__(self, progress: Progress) -> State:
        """The state by now."""
        state = self._state(progress)
        self._last = progress, state
        return state

    def ended(self) -> State | None:
        """The state once no more load comes: all steps, judged by what is known at the end."""
        return None if self._last is None else replace(self._last[1], steps=self._steps(self._last[0]))

    def _state(self, progress: Progress) -> State:
        second = answers_of(progress.snapshot) if progress.snapshot is not None else Answers()
        self._resources.add(progress.rows)
        self._seconds.add(progress.done_per_s, second.p95_ms)
        is_search = self._is_search(progress)
        unit = LEVEL_UNITS.get(progress.unit, progress.unit)
        bounds = progress.bracket
        return State(
            phase=PHASES[progress.phase] if is_search or progress.phase != "expected" else HELD,
            second=progress.second,
            left_s=None if progress.until_s is None else max(0.0, progress.until_s - progress.second),
            name=_named(progress.level, unit) if progress.level or progress.step else "no load",
            stage=_stage(progress),
            why=progress.why or WHY_NONE.get(progress.phase, ""),
            numbers=self._numbers(progress, second),
            is_failing=bool(progress.step.failed if progress.step else second.failed),
            more=progress.words.strip(),
            bracket=Bracket(bounds.good, bounds.bad, progress.level or None, unit) if is_search else None,
            rows=self._rows(progress) if is_search else (),
            unit=unit,
            course=None if is_search else self._seconds.course(progress.until_s),
            target=self._resources.words(),
            generator=self._generator.health(progress.snapshot, second.p95_ms),
            steps=self._steps(progress),
        )

    @staticmethod
    def _is_search(progress: Progress) -> bool:
        return progress.phase in ("range", "bracket", "confirm") or any(one.kind == "probe" for one in progress.steps)

    def _numbers(self, progress: Progress, second: Answers) -> tuple[str, ...]:
        step = progress.step
        if step is None or not step.seconds:
            done = rate_words(progress.done_per_s, progress.planned_per_s or None)
            answers = p95_words(second.p95_ms), failed_words(second.failed, second.requests)
        else:
            done = rate_words(step.done_per_s, step.planned_per_s)
            answers = p95_words(step.response_ms(0.95)), failed_words(step.failed, step.requests)
        return done, answers[0], f"{count_words(progress.unfinished)} unfinished", answers[1]

    def _rows(self, progress: Progress) -> tuple[Row, ...]:
        """A row a level, in their order: what was held last tells its throughput."""
        rows: dict[float, Row] = {}
        for record in progress.steps:
            if record.kind in CHARTED and record.measurement.seconds:
                sign, words = judged(record.kind, record.judgement)
                seen = record.measurement
                rows[record.level] = Row(number(record.level), seen.done_per_s, self._p95_of(record), sign, words)
        step = progress.step
        if step is not None and progress.phase in ("range", "bracket", "confirm", "expected"):
            held = rows.get(step.level)
            done, p95_ms = (step.done_per_s, step.response_ms(0.95)) if step.seconds else (progress.done_per_s, None)
            if held is not None and not step.seconds:
                done, p95_ms = held.done_per_s, held.p95_ms
            rows[step.level] = Row(number(step.level), done, p95_ms, "now", f"held now{' again' if held else ''}")
        return tuple(rows[level] for level in sorted(rows))

    def _steps(self, progress: Progress) -> tuple[Step, ...]:
        unit = LEVEL_UNITS.get(progress.unit, progress.unit)
        return tuple(self._step(one, unit) for one in progress.steps if one.kind in STAYING and one.measurement.seconds)

    def _step(self, record: StepRecord, unit: str) -> Step:
        sign, words = judged(record.kind, record.judgement)
        seen = record.measurement
        name = _named(record.level, unit)
        return Step(record.end_s, name, words, sign, seen.done_per_s, seen.planned_per_s, self._p95_of(record))

    def _p95_of(self, record: StepRecord) -> float | None:
        count, p95_ms = self._p95.get(id(record), (-1, None))
        if count != record.measurement.times.count:
            count, p95_ms = record.measurement.times.count, record.measurement.response_ms(0.95)
            self._p95[id(record)] = count, p95_ms
        return p95_ms


def _named(level: float, unit: str) -> str:
    return f"{number(level)} {unit}"


def _stage(progress: Progress) -> str:
    if progress.step is None:
        return ""
    seconds = len(progress.step.seconds)
    return f"measured for {time_words(seconds)}" if seconds else "warming up"
