"""Numbers of one test that cannot all be true: more failures than requests, a rate that count and duration deny.

Sources of summaries are checked here, each with its own names of the numbers; times are order_of_times.py's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from plimsoll.runs.importers.source import BadRecord
from plimsoll.words import count_words, counted_words, number

# By how much a rate may differ from count / duration: tools print durations of two digits, and k6 pauses.
MOST_OFF = 0.05
MOST_DURATION_S = 366 * 86_400.0  # soak tests last for weeks
STEP = "Give the file that the tool itself wrote, or correct the number that is wrong."


@dataclass(frozen=True)
class Told:
    """A number, and the key or column where the source has it."""

    key: str
    value: float | None


def impossible_counts(requests: Told, failed: Told) -> Iterator[BadRecord]:
    """A mistake for counts that are no whole numbers, and for more failures than requests; None is not told."""
    for one in (requests, failed):
        if one.value is not None and one.value != int(one.value):
            yield BadRecord(f"{number(one.value, 12)} is no count: it has a fraction", one.key, STEP)
    if requests.value is not None and failed.value is not None and failed.value > requests.value:
        what = (
            f"{count_words(failed.value)} failed of {counted_words(requests.value, 'request')} ({requests.key}) is "
            "impossible"
        )
        yield BadRecord(what, failed.key, STEP)


def impossible_rate(rate: Told, count: Told, duration_s: Told) -> Iterator[BadRecord]:
    """A mistake where the rate is not what count and duration make; None is not told."""
    if rate.value is None or count.value is None or duration_s.value is None:
        return
    if not 0 <= duration_s.value <= MOST_DURATION_S:
        what = f"{number(duration_s.value, 6)} s is no sensible duration of a test"
        yield BadRecord(what, duration_s.key, STEP)
        return
    made = rate.value * duration_s.value
    if abs(made - count.value) > MOST_OFF * max(made, count.value) and abs(made - count.value) > 1:
        what = (
            f"{number(rate.value, 6)}/s contradicts {number(count.value, 6)} ({count.key}) in "
            f"{number(duration_s.value, 6)} s ({duration_s.key})"
        )
        yield BadRecord(what, rate.key, STEP)
