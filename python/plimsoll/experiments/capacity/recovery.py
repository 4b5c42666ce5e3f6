"""After a step that ended badly: does the target still answer at low load, or is it gone? Is it at rest again?"""

from __future__ import annotations

import math
from collections.abc import Sequence

from plimsoll.experiments.capacity.search import rounded
from plimsoll.experiments.capacity.why_next import REST, STILL_ANSWERS
from plimsoll.experiments.steps.holding import StepHolder
from plimsoll.experiments.steps.judgement import Judgement
from plimsoll.experiments.steps.measure import Measurement
from plimsoll.experiments.steps.record import StepRecord
from plimsoll.words import number

RECHECK_LIMIT_S = 15.0
CHECK_S = 10.0
MOSTLY_ERRORS = 0.5
REST_SHARE, REST_S, LONGEST_REST_S = 0.1, 2, 20.0
SLOWER, SLOWER_S = 2.0, 0.005


def answered(seen: Measurement) -> bool:
    """Whether iterations ended, and most requests did not fail."""
    return bool(sum(seen.done)) and seen.error_share <= MOSTLY_ERRORS


def why_gone(holder: StepHolder, record: StepRecord, drain_limit_s: float) -> str:
    """Drain after `record`; where that step was mostly errors, answered nothing or did not drain, see whether the
    lowest level tried still gets answers. Empty if so, else the reason in a sentence."""
    drained_s = holder.drain(drain_limit_s)
    if answered(record.measurement) and math.isfinite(drained_s):
        return ""
    lowest = min(step.level for step in holder.records)
    deadline_s = holder.source.now() + RECHECK_LIMIT_S
    while True:
        check = holder.hold(lowest, "rest", CHECK_S, _answers, _conclude, why=STILL_ANSWERS)
        if check.judgement.verdict == "good":
            return ""
        if holder.source.now() >= deadline_s:
            break
    drained = "" if math.isfinite(drained_s) else ", and its backlog did not drain"
    causes = check.measurement.failures.words() or record.measurement.failures.words()
    before = max((step.level for step in holder.records if answered(step.measurement)), default=None)
    up_to = f" It did up to level {number(before)}." if before is not None else ""
    why = f": {causes}" if causes else ""
    return f"The target no longer answers after level {number(record.level)}{drained}{why}.{up_to}"


def _conclude(seen: Measurement) -> Judgement:
    return Judgement("undecided")


def _answers(seen: Measurement) -> Judgement | None:
    if answered(seen) and len(seen.seconds) >= 2:
        return Judgement("good")
    return Judgement("undecided", ("The target does not answer at low load.",)) if len(seen.seconds) >= 5 else None


def come_to_rest(holder: StepHolder, idle_s: float | None, calm: Sequence[float], whole: bool) -> StepRecord | None:
    """Hold a tenth of the highest of the `calm` levels until an iteration takes as long as at low load (`idle_s`,
    seconds, in the mean), or 20 s have passed: what the clients gave up or a proxy sent again is still work for the
    target after no answer is missing any more, and the next step would begin behind. `whole`: levels are whole. None
    where nothing is known of low load; the judgement of the step is good where it came to rest."""
    if idle_s is None or not calm:
        return None
    level = rounded(max(min(calm), REST_SHARE * max(calm)), whole)
    seconds = 0

    def is_quick(seen: Measurement) -> Judgement | None:
        nonlocal seconds
        mean_ms = seen.iteration_mean_ms[-1]
        seconds = seconds + 1 if mean_ms <= 1000 * max(SLOWER * idle_s, idle_s + SLOWER_S) else 0
        return Judgement("good") if seconds >= REST_S else None

    return holder.hold(level, "rest", LONGEST_REST_S, is_quick, _conclude, why=REST)
