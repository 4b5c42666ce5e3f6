"""The largest load that is asked of the engine, whatever states it: users of a study, `--users`, a word to a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.errors import InputError
from plimsoll.study.bounds import (
    MOST_PER_S,
    MOST_SEED,
    MOST_THREADS,
    MOST_USERS,
    MOST_VUS,
    checked_number,
)
from plimsoll.study.workload import rate_of_scenarios
from plimsoll.words import count_words, number

# Of choices that callers in Python make as well: the name, the least (itself excluded) and the most.
_CHOICES = (
    ("users_at_1x", 0.0, MOST_USERS),
    ("threads", 0, MOST_THREADS),
)


def check_choices(choices: Any) -> None:
    """Raises InputError for a number in a verb's choices that is out of all bounds, `nan` and `inf` among them."""
    for name, least, most in _CHOICES:
        value = getattr(choices, name, None)
        if value is not None:
            checked_number(float(value), name, least=least, most=most, is_above=True)
    checked_number(float(choices.seed), "seed", least=0, most=MOST_SEED)


def check_load(scenarios: Mapping[str, Any], level: float, what: str) -> None:
    """Raises InputError, which names `what`, where these scenarios at that level are more arrivals per second or more
    VUs than any generator makes."""
    per_s = rate_of_scenarios({"scenarios": scenarios}) * level
    vus = level * sum(float(one.get("vus") or 0.0) for one in scenarios.values())
    for size, most, unit in ((per_s, MOST_PER_S, "arrivals per second"), (vus, float(MOST_VUS), "VUs")):
        if not size <= most:
            raise InputError(
                f"{what} means {number(size)} {unit}", f"At most {count_words(most)} make sense; lower it."
            )
