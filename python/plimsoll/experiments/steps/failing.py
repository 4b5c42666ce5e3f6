"""Failures and waits that decide a step, whatever its completions say: it fails more than at low load, or it is given
up because going on would only hurt the target."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from plimsoll.experiments.steps.measure import Measurement
from plimsoll.stats.estimates.effective_count import burstiness
from plimsoll.stats.estimates.wilson import wilson_interval
from plimsoll.words import share_words, time_words

GIVE_UP_ERROR_SHARE = 0.5
GIVE_UP_MEDIAN_MS = 10_000.0
GIVE_UP_BACKLOG_S = 30.0
FEWEST_TO_GIVE_UP = 20
ERROR_SHARE_ABOVE_BASE = 0.01
LATE_PART, LEAST_LATE_S, LASTING = 1 / 3, 5, 0.8


def give_up_reason(seen: Measurement) -> str | None:
    """Why the step should end at once, or None."""
    if (failing := failing_share(seen)) is not None:
        return f"Given up: {share_words(failing)} of the {seen.judged_noun} failed ({seen.failures.words()})."
    median = (seen.response_ms(0.5) or 0.0) if seen.times.count >= FEWEST_TO_GIVE_UP else 0.0
    if median > GIVE_UP_MEDIAN_MS:
        return f"Given up: the median response time is {time_words(median / 1000)}."
    waiting_s = max(seen.oldest_wait_s, backlog_s(seen))
    if waiting_s > GIVE_UP_BACKLOG_S:
        return f"Given up: the work that waits would take the target {time_words(waiting_s)}."
    return None


def failing_share(seen: Measurement) -> float | None:
    """Share of the requests that failed, where that is most of them; None else."""
    if seen.requests >= FEWEST_TO_GIVE_UP and seen.failed > GIVE_UP_ERROR_SHARE * seen.requests:
        return seen.failed / seen.requests
    return None


@dataclass(frozen=True)
class MoreFailures:
    """More requests fail than at low load, in plain `words`; `told`: by more than a burst of failures explains."""

    words: str
    told: bool


def more_failures(seen: Measurement, base: tuple[int, int]) -> MoreFailures | None:
    """Whether requests fail more than at low load, beyond chance and by more than a percentage point, in the whole step
    or in its last third: what a burst or a credit hides at first shows there. Low load at which nothing failed counts
    as free of failures, however few its requests were.

    Failures come in bursts: 18 of 900 within a second are not 18 of 900 independent ones, and prove little of an hour.
    So it is *told* only by as many independent requests as the step's are worth
    (stats/estimates/effective_count.py)."""
    ceiling = wilson_interval(*base).high if base[0] and base[1] >= FEWEST_TO_GIVE_UP else 0.0
    before = f", {share_words(base[0] / base[1])} at low load" if base[1] else ""
    late_s, whole_s = math.ceil(LATE_PART * len(seen.requests_each)), len(seen.requests_each)
    late = sum(seen.failed_each[-late_s:]), sum(seen.requests_each[-late_s:]), late_s
    lasts = late_s >= LEAST_LATE_S and sum(map(bool, seen.failed_each[-late_s:])) >= LASTING * late_s
    found = None
    for failed, requests, seconds in ((seen.failed, seen.requests, whole_s), *([late] if lasts else [])):
        if wilson_interval(failed, requests).low <= ceiling + ERROR_SHARE_ABOVE_BASE:
            continue
        each = (np.array(one[whole_s - seconds :], dtype=float) for one in (seen.requests_each, seen.failed_each))
        fewer = burstiness(*each)
        told = wilson_interval(failed / fewer, requests / fewer).low > ceiling + ERROR_SHARE_ABOVE_BASE
        when = "" if seconds == whole_s else f" in the last {seconds} s"
        share = (
            f"{share_words(failed / requests)} of the {seen.judged_noun} failed{when}{before} ({seen.failures.words()})"
        )
        words = f"{share}." if told else f"{share}, but in bursts: too few seconds to tell how much fails in the mean."
        if told or found is None:
            found = MoreFailures(words, told)
    return found


def fails_more(seen: Measurement, base: tuple[int, int]) -> bool:
    """Whether it is told that more requests fail than at low load."""
    failing = more_failures(seen, base)
    return failing is not None and failing.told


def backlog_s(seen: Measurement) -> float:
    """Seconds the target would need for the unfinished work that this step added, at the best rate it has shown."""
    if not seen.seconds:
        return 0.0
    done_per_s = max(seen.done_per_s, seen.best_done_per_s, 1 / len(seen.seconds))
    return max(0.0, seen.unfinished_end - seen.unfinished_start) / done_per_s
