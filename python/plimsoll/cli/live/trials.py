"""Progress of experiments made of trials (compare, decompose, sweep) as a state of the live view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from plimsoll.experiments.trials.making import TrialProgress
from plimsoll.experiments.trials.plan import TrialVariant
from plimsoll.live.seconds import Answers, Generator, Resources, answers_of, failed_words, p95_words, rate_words
from plimsoll.live.state import Row, State
from plimsoll.runs.readings.endpoints import ALL

MOST_LABEL = 16


class TrialsFolded:
    """Folds each second's TrialProgress into the state. The chart has a row for each load and variant: the mean of its
    trials so far."""

    def __init__(self) -> None:
        self._resources, self._generator = Resources(), Generator()
        self._last: tuple[TrialProgress, State] | None = None

    def __call__(self, progress: TrialProgress) -> State:
        """The state by now."""
        state = self._state(progress)
        self._last = progress, state
        return state

    def ended(self) -> State | None:
        """The state once no more load comes: all trials that are complete."""
        return None if self._last is None else replace(self._last[1], rows=_rows(self._last[0], is_over=True))

    def _state(self, progress: TrialProgress) -> State:
        snapshot = progress.snapshot
        second = answers_of(snapshot) if snapshot is not None else Answers()
        self._resources.add(progress.rows)
        seen = progress.seen if progress.seen is not None and progress.seen.seconds else None
        every = seen.of[ALL] if seen is not None else None
        failed, requests = (every.failed, every.judged) if every is not None else (second.failed, second.requests)
        times = every.times if every is not None else None
        p95_ms = times.percentile(0.95) if times is not None and times.count else second.p95_ms
        left = (progress.of - progress.number + 1) * progress.seconds - progress.second
        return State(
            phase=f"trial {progress.number} of {progress.of}, {progress.second} of {progress.seconds} s",
            second=float((progress.number - 1) * progress.seconds + progress.second),
            left_s=float(max(0, left)),
            name=_named(_whole(progress), progress.level),
            stage="" if seen else "warming up",
            why=progress.why,
            numbers=(
                rate_words(seen.done / seen.seconds if seen else progress.done_per_s),
                p95_words(p95_ms),
                failed_words(failed, requests),
            ),
            is_failing=bool(failed),
            rows=_rows(progress),
            target=self._resources.words(),
            generator=self._generator.health(snapshot, second.p95_ms),
        )


def _rows(progress: TrialProgress, is_over: bool = False) -> tuple[Row, ...]:
    """In the order of the plan; the one that is made now stands there too."""
    plan, trial = progress.plan, progress.trial
    if plan is None or trial is None:
        return ()
    made: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for record in progress.records:
        made.setdefault((str(record.get("load")), str(record.get("variant"))), []).append(record)
    cells = [(level.words, variant) for level in plan.levels for variant in plan.variants]
    now = None if is_over else (trial.level.words, trial.variant)
    return tuple(
        _row(_named(_short(variant), load), made.get((load, variant.name), []), (load, variant.name) == now)
        for load, variant in cells
        if (load, variant.name) in made or (load, variant.name) == now
    )


def _row(name: str, records: Sequence[Mapping[str, Any]], is_now: bool) -> Row:
    done = [float(one.get("done_per_s") or 0.0) for one in records]
    p95 = [value for value in map(_p95_of, records) if value is not None]
    words = f"{len(records)} {'trial' if len(records) == 1 else 'trials'}" if records else ""
    words = (f"{words}, one more now" if words else "the first now") if is_now else words
    return Row(name, fmean(done) if done else 0.0, fmean(p95) if p95 else None, "now" if is_now else "other", words)


def _p95_of(record: Mapping[str, Any]) -> float | None:
    every = (one for one in record.get("endpoints") or () if one.get("operation") is one.get("request") is None)
    return next((one.get("p95_ms") for one in every), None)


def _short(variant: TrialVariant) -> str:
    """What tells it from the others in a row: its label, where that is short."""
    if len(variant.label) <= MOST_LABEL:
        return variant.label
    return variant.name.upper() if len(variant.name) == 1 else variant.name


def _whole(progress: TrialProgress) -> str:
    """The variant that is loaded now, with what the rows call it: "A (BASE_URL=http://…)"."""
    plan, trial = progress.plan, progress.trial
    known = plan.variants if plan is not None and trial is not None else ()
    short = next((_short(one) for one in known if trial is not None and one.name == trial.variant), progress.label)
    return progress.label if short == progress.label else f"{short} ({progress.label})"


def _named(label: str, level: str) -> str:
    return f"{label}, {level}" if label else level
