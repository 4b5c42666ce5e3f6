"""Times, sizes, rates and counts in sentences. Every number that stands in a sentence is put into words here, so that
one quantity is rounded in the same way wherever it is said: three significant digits, shares and times two, and whole
digits never rounded away."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

MIB = 2**20
UNIT_WORDS = {"users": "users", "multiple": "times the declared load", "vus": "VUs"}
ONE_WORDS = {"users": "user", "vus": "VU"}
NO_SHARE = 1e-8  # less than one of a hundred million requests: what floats leave of none
SAYS_NOTHING = 5.0  # an interval from a fifth to five times leaves every answer open that anybody asks for


def number(value: float, digits: int = 3) -> str:
    """Three significant digits, whole digits never rounded away, no zeros at the end: 20,524; 2.33; 0.0125; 5."""
    if not math.isfinite(value) or not 1e-6 <= abs(value) < 1e15:
        return f"{value:.{digits}g}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if decimals else text


def count_words(count: float) -> str:
    """A count, whole: "20,524"."""
    return f"{count:,.0f}"


def counted_words(count: float, noun: str) -> str:
    """A count of things, whole: "1 request", "20,524 requests"."""
    return _of_noun(count_words(count), noun)


def amount_words(amount: float, noun: str, digits: int = 3) -> str:
    """An amount of things: "1 core", "0.5 cores", "1,680 operations"."""
    return _of_noun(number(amount, digits), noun)


def _of_noun(told: str, noun: str) -> str:
    return f"{told} {noun}{'' if told == '1' else 's'}"


def change_words(change: float, digits: int = 3) -> str:
    """A change with its sign: "+1,204", "-0.5"; none is "0"."""
    text = number(abs(change), digits)
    return "0" if text == "0" else f"{'-' if change < 0 else '+'}{text}"


def exponent_words(exponent: float) -> str:
    """An exponent of a power law, to two decimals: "1.03", "0.00"."""
    return f"{exponent:.2f}"


def level_words(level: float, unit: str, vus_per_level: float | None = None) -> str:
    """A level with its unit: "168 users", "1 user", "the declared load"; of a load of VUs that the script declares, the
    VUs too: "1 VU (0.2 times the declared load)"."""
    if vus_per_level and unit == "multiple":
        return f"{level_words(round(level * vus_per_level), 'vus')} ({level_words(level, unit)})"
    if level == 1 and unit == "multiple":
        return "the declared load"
    return f"{number(level)} {ONE_WORDS.get(unit, unit) if level == 1 else UNIT_WORDS.get(unit, unit)}"


def ms_words(ms: float) -> str:
    """ "340 ms", "2.1 s"."""
    return f"{number(ms)} ms" if ms < 1000 else f"{number(ms / 1000)} s"


def time_words(seconds: float) -> str:
    """ "45 s", "3 min 20 s", "5 h 10 min", "12 days"."""
    if seconds < 90 or not math.isfinite(seconds):
        return f"{number(seconds, 2)} s"
    if seconds < 5400:
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes} min {rest} s" if rest and minutes < 10 else f"{round(seconds / 60)} min"
    if seconds < 172_800:
        hours, minutes = divmod(round(seconds / 60), 60)
        return f"{hours} h {minutes} min" if minutes and hours < 10 else f"{round(seconds / 3600)} h"
    return f"{number(seconds / 86_400)} days"


def size_words(count_bytes: float) -> str:
    """ "143 MiB", "2.1 GiB"."""
    value = float(count_bytes)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(value) < 1024:
            return f"{number(value)} {unit}"
        value /= 1024
    return f"{number(value)} TiB"


def percent_words(share: float, digits: int = 2) -> str:
    """A share with its sign: "+12%", "-0.4%"; none is "0%"."""
    return f"{change_words(0.0 if abs(share) < NO_SHARE else 100 * share, digits)}%"


def ratio_words(ratio: float) -> str:
    """A ratio as a change: 1.198 -> "+19.8%"; from a factor of three on as "3.2 times", beyond a million as "any"."""
    if not math.isfinite(ratio) or ratio > 1e6:
        return "any"
    if ratio >= 3:
        return f"{ratio:.2g} times" if ratio < 100 else f"{ratio:,.0f} times"
    change = 100 * (ratio - 1)
    return "0%" if abs(change) < 0.005 else f"{change:+.1f}%" if abs(change) >= 0.1 else f"{change:+.2f}%"


def interval_words(low: float, high: float) -> str:
    """An interval of a ratio as changes: "-2.1% to +20.5%"; one that allows a factor of five either way says nothing:
    "cannot be told"."""
    if low <= 1 / SAYS_NOTHING and high >= SAYS_NOTHING:
        return "cannot be told"
    return f"{ratio_words(low)} to {ratio_words(high)}"


def share_words(share: float, digits: int = 2) -> str:
    """ "12%", "0.4%"."""
    return f"{number(0.0 if abs(share) < NO_SHARE else 100 * share, digits)}%"


def confidence_words(share: float) -> str:
    """A confidence with all its digits: "95%", "99.9%", "99.875%"."""
    return f"{100 * share:.5g}%"


def without_flags(text: str) -> str:
    """A sentence without what it says in brackets of flags and keys of a run of our own: " (--duration)"."""
    return re.sub(r" \((?:--|target\.|probes\.)[^()]*\)", "", text)


def times_words(count: int) -> str:
    """ "once", "twice", "3 times"."""
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def joined(words: Sequence[str]) -> str:
    """ "a, b and c"."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""
