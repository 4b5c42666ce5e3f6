"""Did unfinished work grow? For results of open tools, whose requests come whatever the target does.

The same test as for our own steps (`stats/throughput/saturation.py`), with the rate at which requests began taken as
the nominal one, as the file does not say which was asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from plimsoll.findings.evidence import SERIES, Evidence, as_data
from plimsoll.stats.throughput.saturation import (
    Growth,
    arrivals_to_decide,
    growth,
    is_calm,
    is_growing,
    smallest_overload,
)
from plimsoll.words import amount_words, change_words, count_words, number, share_words, time_words

SCHEMA = 1
QUESTION = "Did it keep up with what arrived?"
FEWEST_SECONDS = 6
STEADY_RATE = 0.10
HALF_WIDTH = 0.05


def growth_finding(started: Sequence[int], done: Sequence[int], run_path: str | None = None) -> dict[str, Any]:
    """From requests begun and done per second of the whole run; first and last second are left out, as they are rarely
    whole."""
    arrivals, finished = list(started)[1:-1], list(done)[1:-1]
    unfinished = float(started[0] - done[0]) if started else 0.0
    seen, answer, settle = _judge(arrivals, finished, max(0.0, unfinished))
    return {
        "schema": SCHEMA,
        "question": QUESTION,
        "answer": answer,
        "experiment": "analyze",
        "status": "finished",
        "valid": True,
        "evidence": as_data(
            [Evidence(len(arrivals), "seconds", SERIES, f"In which {amount_words(sum(arrivals), 'request')} began")]
        ),
        "growth": None if seen is None else _json(seen),
        "notes": [
            "The rate that was asked for is not in the file. The rate at which requests began stands for it, so a "
            "generator that fell behind would not show."
        ],
        "next": [settle] if settle else [],
        "run": run_path,
    }


def _judge(
    arrivals: Sequence[int], finished: Sequence[int], unfinished: float
) -> tuple[Growth | None, str, str | None]:
    if len(arrivals) < FEWEST_SECONDS or sum(arrivals) == 0:
        return None, f"Cannot tell: it has less than {FEWEST_SECONDS} whole seconds.", "Run it for a minute or more."
    rate = sum(arrivals) / len(arrivals)
    if (rates := changed_rate(arrivals)) is not None:
        changed = f"requests began at {number(rates[0])} to {number(rates[1])}/s"
        return None, f"Cannot tell: the rate changed ({changed}), so no one level can be judged.", "Hold each rate."
    seen = growth(arrivals, finished, unfinished, rate)
    gain = seen.unfinished_end - seen.unfinished_start
    words = (
        f"at {number(rate)}/s, unfinished requests went from {count_words(seen.unfinished_start)} to "
        f"{count_words(seen.unfinished_end)} in {time_words(seen.seconds)} (z = {number(seen.growth_z)})"
    )
    if is_growing(seen, arrivals_to_decide(HALF_WIDTH, seen.service_noise)):
        lost = f"{number(sum(finished) / len(finished))}/s were finished"
        return seen, f"No: {words}, which is significant; {lost}.", "Lower the rate until it keeps up."
    if is_calm(seen):
        least = smallest_overload(seen.expected, seen.service_noise)
        return seen, f"Yes: {words}; an overload of {share_words(least)} or more would have shown.", None
    return (
        seen,
        f"Cannot tell: {words}, a change of {change_words(gain)} that chance may explain or not.",
        "Run it for longer.",
    )


def changed_rate(arrivals: Sequence[int]) -> tuple[float, float] | None:
    """The least and the greatest rate of the thirds of these seconds, if they differ by more than chance and
    STEADY_RATE; None if one rate was held."""
    thirds = [float(np.mean(part)) for part in np.array_split(np.asarray(arrivals, dtype=float), 3)]
    rate = sum(arrivals) / len(arrivals)
    changed = max(thirds) - min(thirds) > STEADY_RATE * rate + 3 * (rate / (len(arrivals) / 3)) ** 0.5
    return (min(thirds), max(thirds)) if changed else None


def _json(seen: Growth) -> dict[str, Any]:
    return {
        "rate_per_s": seen.expected / seen.seconds,
        "done_per_s": seen.done / seen.seconds,
        "unfinished_end": seen.unfinished_end,
        "growth_z": seen.growth_z,
        "shortfall_z": seen.shortfall_z,
        "smallest_overload": smallest_overload(seen.expected, seen.service_noise),
    }
