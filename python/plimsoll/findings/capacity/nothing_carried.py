"""What to do where no level was proven to be carried: what the search lacked says it, and nothing else is advised."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.words import level_words

ON_A_QUIET_HOST = (
    "run it on a quieter host, as others' work came and went in every step in between, so that more time proves nothing"
)
_LOWER = 1 / 8  # of a level that was too much, to begin at: far enough below it, and three doublings away


def how_to_find_one(result: Mapping[str, Any], *, falls: bool) -> list[str]:
    """The next steps. `falls`: what the target carries fell meanwhile, for which no other search is a remedy."""
    least, too_much = result.get("min_level"), _lowest_too_much(result)
    if least is not None and too_much <= least * (1 + 1e-9):
        lowest = level_words(least, result["unit"], result.get("vus_per_level"))
        return [f"Run it again with a smaller --min-users than {lowest}, the lowest level that it may try."]
    if falls:
        return []
    if is_disturbed(result):
        return [f"No level was proven to be carried: {ON_A_QUIET_HOST}."]
    more, lower = result.get("more_time"), _lower_words(result, too_much)
    if more:
        return [f"The load time ended before a level was proven to be carried: {more}{lower}."]
    return [f"The steps that were held did not decide: give it more load time (--for), which makes them longer{lower}."]


def is_disturbed(result: Mapping[str, Any]) -> bool:
    """Whether others' work on the host is why nothing was proven between what is carried and what is not: more time
    on such a host proves no more."""
    good, bad = result["good"] or 0.0, result["bad"] or math.inf
    open_ = [step for step in result["steps"] if step["verdict"] not in ("good", "bad", "probe")]
    between = [step for step in open_ if good < step["level"] < bad]
    return bool(between) and all(step.get("disturbed") for step in between)


def _lowest_too_much(result: Mapping[str, Any]) -> float:
    return min(_levels(result["steps"], "bad"), default=math.inf)


def _levels(steps: Sequence[Mapping[str, Any]], verdict: str) -> list[float]:
    return [float(step["level"]) for step in steps if step["verdict"] == verdict]


def _lower_words(result: Mapping[str, Any], too_much: float) -> str:
    """Where to begin instead, if the ramp was calm at no level below what is too much. Of users who wait one is the
    fewest, and the ramp begins there."""
    calm = min(_levels(result["steps"], "probe"), default=math.inf)
    if not result["open"] or result["unit"] != "users" or not math.isfinite(too_much) or calm < too_much:
        return ""
    return f", or begin at a lower level ({min_users_words(too_much * _LOWER)})"


def min_users_words(level: float) -> str:
    """The flag with a number that one would type, no higher than the level."""
    return f"--min-users {math.floor(level) if level >= 1 else float(f'{level:.2g}')}"
