"""Failures and waits that decide a step, whatever its completions say: it fails more than at low load, or it is given
up because going on would only hurt the target."""

from __future__ import annotations

import math

from plimsoll.experiments.measure import Measurement
from plimsoll.stats.wilson import wilson_interval

GIVE_UP_ERROR_SHARE = 0.5
GIVE_UP_MEDIAN_MS = 10_000.0
GIVE_UP_BACKLOG_S = 30.0
FEWEST_TO_GIVE_UP = 20
ERROR_SHARE_ABOVE_BASE = 0.01
LATE_PART, LEAST_LATE_S, LASTING = 1 / 3, 5, 0.8


def give_up_reason(seen: Measurement) -> str | None:
    """Why the step should end at once, or None."""
    if (failing := failing_share(seen)) is not None:
        return f"Given up: {failing:.0%} of the requests failed ({seen.failures.words()})."
    median = (seen.response_ms(0.5) or 0.0) if seen.times.count >= FEWEST_TO_GIVE_UP else 0.0
    if median > GIVE_UP_MEDIAN_MS:
        return f"Given up: the median response time is {median / 1000:.1f} s."
    waiting_s = max(seen.oldest_wait_s, backlog_s(seen))
    if waiting_s > GIVE_UP_BACKLOG_S:
        return f"Given up: the work that waits would take the target {waiting_s:.0f} s."
    return None


def failing_share(seen: Measurement) -> float | None:
    """Share of the requests that failed, where that is most of them; None else."""
    if seen.requests >= FEWEST_TO_GIVE_UP and seen.failed > GIVE_UP_ERROR_SHARE * seen.requests:
        return seen.failed / seen.requests
    return None


def error_reason(seen: Measurement, base: tuple[int, int]) -> str | None:
    """Whether requests fail more than at low load, beyond chance and by more than a percentage point, in the whole step
    or in its last third: what a burst or a credit hides at first shows there. Low load at which nothing failed counts
    as free of failures, however few its requests were."""
    ceiling = wilson_interval(*base).high if base[0] and base[1] >= FEWEST_TO_GIVE_UP else 0.0
    before = f", {base[0] / base[1]:.1%} at low load" if base[1] else ""
    if seen.requests and wilson_interval(seen.failed, seen.requests).low > ceiling + ERROR_SHARE_ABOVE_BASE:
        return f"{seen.failed / seen.requests:.1%} of the requests failed{before} ({seen.failures.words()})."
    late_s = math.ceil(LATE_PART * len(seen.requests_each))
    requests, failing = sum(seen.requests_each[-late_s:]), seen.failed_each[-late_s:]
    failed, lasts = sum(failing), sum(map(bool, failing)) >= LASTING * late_s
    if late_s >= LEAST_LATE_S and lasts and wilson_interval(failed, requests).low > ceiling + ERROR_SHARE_ABOVE_BASE:
        share = f"{failed / requests:.1%} of the requests failed in the last {late_s} s"
        return f"{share}{before} ({seen.failures.words()})."
    return None


def backlog_s(seen: Measurement) -> float:
    """Seconds the target would need for the unfinished work that this step added, at the best rate it has shown."""
    if not seen.seconds:
        return 0.0
    done_per_s = max(seen.done_per_s, seen.best_done_per_s, 1 / len(seen.seconds))
    return max(0.0, seen.unfinished_end - seen.unfinished_start) / done_per_s
