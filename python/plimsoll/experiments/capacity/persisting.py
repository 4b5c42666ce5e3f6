"""Do requests fail at low load as well by now? Then it is not this load that makes them fail.

A quota of requests in a window of time is used up, a token has expired, something behind the target is gone: what fails
then fails at every level, and a search that calls each of them too much ends far below what is carried. So after a step
that was too much for its failures half of the highest calm load is held, until its share of failures is told from that
of the step: a quarter of it or more is the same trouble, less than half of it is the load's.
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.experiments.capacity.result import CapacityResult, FailingAnyway
from plimsoll.experiments.capacity.search import rounded
from plimsoll.experiments.capacity.why_next import STILL_FAILS
from plimsoll.experiments.steps.holding import StepHolder
from plimsoll.experiments.steps.judgement import Judgement, Verdict
from plimsoll.experiments.steps.measure import Measurement
from plimsoll.experiments.steps.record import StepRecord
from plimsoll.stats.estimates.wilson import wilson_interval

LOW_SHARE, LONGEST_CHECK_S, MOST_CHECKS = 0.5, 15.0, 3
SAME, OTHER = 0.25, 0.5  # of the share of failures in the step
FEWEST_FAILED, LATE_S = 3, 5


class FailureChecks:
    """Checks of low load in a search, at most `MOST_CHECKS`; the first that finds failures is told in `result`."""

    def __init__(self, holder: StepHolder, result: CapacityResult) -> None:
        self._holder, self._result, self._made = holder, result, 0

    def after(self, record: StepRecord, calm: Sequence[float], whole: bool) -> FailingAnyway | None:
        """What fails at low load too after that step, whose requests failed; None where nothing more is checked, or
        less fails there. `calm`: levels at which they did not fail."""
        if self._made >= MOST_CHECKS:
            return None
        self._made += 1
        found = _failures_at_low_load(self._holder, record, calm, whole)
        self._result.failing_anyway = self._result.failing_anyway or found
        return found


def _failures_at_low_load(
    holder: StepHolder, record: StepRecord, calm: Sequence[float], whole: bool
) -> FailingAnyway | None:
    """Hold low load after a step whose requests failed, and say what fails there too; None where that is less, or
    cannot be told."""
    seen = record.measurement
    lower = [level for level in calm if level < record.level]
    if not lower or not seen.failed:
        return None
    late = seen.failed_each[-LATE_S:], seen.requests_each[-LATE_S:]
    share = max(seen.error_share, sum(late[0]) / max(1, sum(late[1])))
    level = rounded(max(min(lower), LOW_SHARE * max(lower)), whole)
    requests = level / record.level * sum(seen.requests_each) / len(seen.requests_each) * LONGEST_CHECK_S
    if _compared(0, int(requests), share) != "good":
        return None  # that none fails there would prove nothing

    def decide(check: Measurement) -> Judgement | None:
        verdict = _compared(check.failed, check.requests, share)
        return None if verdict == "undecided" else Judgement(verdict)

    check = holder.hold(level, "rest", LONGEST_CHECK_S, decide, lambda _: Judgement("undecided"), why=STILL_FAILS)
    if check.judgement.verdict != "bad":
        return None
    found = check.measurement
    return FailingAnyway(record.start_s, level, found.failed, found.requests, found.failures.words())


def _compared(failed: int, requests: int, share: float) -> Verdict:
    """ "bad": as large a share fails; "good": clearly less does."""
    if not requests:
        return "undecided"
    interval = wilson_interval(failed, requests)
    if failed >= FEWEST_FAILED and interval.low > SAME * share:
        return "bad"
    return "good" if interval.high < OTHER * share else "undecided"
