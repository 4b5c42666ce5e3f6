"""How long a drain waits for work that does not move, and what is told when it gives up.

Work that is served leaves within what an iteration takes. Where nothing at all left for that long and ten response
times more, what is left waits for nothing that will come: connections that the target lost, or clients that it forgot.
"""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.experiments.steps.booking import Lost
from plimsoll.experiments.steps.record import StepRecord
from plimsoll.words import number, time_words

LEAST_S = 5.0
RESPONSES = 10.0
QUANTILE = 0.99
_UNITS = {"users": "{} users", "vus": "{} VUs", "multiple": "{} x the declared load"}


def patience_s(records: Sequence[StepRecord], limit_s: float) -> float:
    """Seconds without any progress after which unfinished work is stuck: an iteration and ten response times, both the
    p99 of the lowest level that was carried, at least 5 s; `limit_s` where no level was."""
    calm = [record for record in records if record.judgement.verdict == "good" and record.measurement.times.count]
    if not calm:
        return limit_s
    seen = min(calm, key=lambda record: record.level).measurement
    iteration_ms = seen.iterations.percentile(QUANTILE) if seen.iterations.count else 0.0
    return max(LEAST_S, (iteration_ms + RESPONSES * seen.times.percentile(QUANTILE)) / 1000)


def words_of_loss(lost: Lost, unit: str, after_s: float) -> str:
    """One line: how many, of which level, for how long, which requests."""
    at = _UNITS.get(unit, "level {}").format(number(max(lost.levels))) if lost.levels else ""
    names = f" ({', '.join(lost.names)})" if lost.names else ""
    age = (
        f"the oldest for {time_words(lost.oldest_s)}"
        if lost.oldest_s is not None
        else f"none ended for {time_words(after_s)}"
    )
    return (
        f"Draining gave up: {lost.count:,} iterations{f' of the step at {at}' if at else ''} have no answer{names}, "
        f"{age}. They count as lost there, not in later steps."
    )
