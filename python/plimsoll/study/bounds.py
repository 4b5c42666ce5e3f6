"""The largest numbers that make sense, and a message for others. A number beyond them is a slip (a unit, a digit too
many, `inf`); it would be found out only after minutes, or by all memory of the machine.

Study keys, flags, words to a run and declared loads share them.
"""

from __future__ import annotations

import math

from plimsoll.errors import InputError
from plimsoll.words import number

MOST_USERS = 1e9  # of an open workload, whose users are a rate
MOST_PER_S = 1e6  # arrivals; a generator makes some ten thousands on a core
MOST_VUS = 1_000_000  # each is a JavaScript context
MOST_LEVEL = 1e6  # times the declared load
MOST_SECONDS = 30 * 86_400.0
MOST_AGE_S = 100 * 365.25 * 86_400.0  # of a run on disk
MOST_OFFSET_S = 1e10  # between two clocks
MOST_REPEATS = 10_000  # of a trial, and values of a parameter
MOST_TRIALS = 100_000
MOST_CORES = 100_000
MOST_THREADS = 1_024
MOST_ITEMS = 10**12
MOST_MIB = 1e9
MOST_SEED = 2**63 - 1
MOST_PARTS = 1_000  # operations, groups, objectives, experiments, probes of a kind


def number_of(
    text: str, name: str, *, least: float = 0.0, most: float = MOST_USERS, is_above: bool = False, example: str = ""
) -> float:
    """The number that a text states, between bounds; `is_above`: not `least` itself. Raises InputError that names
    `name`."""
    given = str(text).strip()
    try:
        value = float(given)
    except ValueError:
        step = f"Write it like {example}." if example else "Write a number, as 10 or 0.5."
        raise InputError(f"{name}: {_short(given)!r} is not a number", step) from None
    return checked_number(value, name, least=least, most=most, is_above=is_above, given=given)


def checked_number(
    value: float, name: str, *, least: float = 0.0, most: float = MOST_USERS, is_above: bool = False, given: str = ""
) -> float:
    """The number itself. Raises InputError, which names `name`, if it is not between the bounds."""
    if math.isfinite(value) and least <= value <= most and not (is_above and value == least):
        return value
    low = f"{'above' if is_above else 'at least'} {number(least, 6)}"
    what = f"{name}: {_short(given or f'{value:g}')} is not {low} and at most {number(most, 6)}"
    raise InputError(what, "Give a number within these bounds.")


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}…"
