"""What a page shows of another tool's levels: how each is called, and the rows beside the first chart.

In a closed test nobody judged whether a load was carried, only where throughput flattens; so no level of theirs is
“not carried”. Read from the finding alone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from plimsoll.findings.imported.terms import FAILS_MORE, SOURCE_QUESTION
from plimsoll.words import count_words, counted_words, level_words, number, share_words

Row = tuple[str, str, str, str]  # what is asked, the key of its badge, the badge, by what
MOST_CANNOT, MOST_MIXED = 4, 6
_CLAUSE_END = re.compile(r"[:;(.]|, (?:so|as|whose)\b")


def is_of_users(finding: Mapping[str, Any]) -> bool:
    """Whether it is of another tool's users who wait for their answers."""
    return finding.get("experiment") == "analyze" and _capacity(finding).get("model", "closed") == "closed"


def judged_as(step: Mapping[str, Any], finding: Mapping[str, Any]) -> str:
    """The verdict of a step in words of this page's: `rises`, `flat` or `failing` where users wait."""
    verdict, capacity = str(step.get("verdict") or "unknown"), _capacity(finding)
    if not is_of_users(finding) or verdict not in ("good", "bad"):
        return verdict
    failing, level = _value(capacity, "failing_from"), _value(step, "level")
    if verdict == "bad" and failing is not None and level is not None and level >= failing:
        return "failing"
    return "rises" if verdict == "good" and capacity.get("rises", True) else "flat"


def good_per_s(step: Mapping[str, Any]) -> float | None:
    """Good answers per second, which the answer goes by; of requests, where iterations are counted beside them."""
    per_s = _value(step, "requests_per_s" if "requests_per_s" in step else "done_per_s")
    return None if per_s is None else per_s * (1 - (_value(step, "error_share") or 0.0))


def bracket_words(finding: Mapping[str, Any]) -> tuple[str, str]:
    """What the ends of the bracket are called; empty where throughput rises nowhere."""
    capacity = _capacity(finding)
    if not is_of_users(finding):
        return "carried up to", "not carried from"
    if not capacity.get("rises", True):
        return "", ""
    if _fails_first(capacity):
        return "throughput rises up to", "too many fail from"
    beyond = "throughput falls from" if _value(capacity, "falls_by") else "no more throughput from"
    return "throughput rises up to", beyond


def rows_of(finding: Mapping[str, Any]) -> Iterable[Row]:
    """What was found of throughput and failures, and what the source cannot tell; none of the answer about the source
    itself, which says that in full."""
    if finding.get("experiment") != "analyze" or finding.get("question") == SOURCE_QUESTION:
        return
    unit, steps = str(finding.get("level_unit")), _mappings(finding.get("steps"))
    if "capacity" in finding:
        yield ("throughput", *_throughput(_capacity(finding), unit))
        mixed = {level for step in steps if step.get("verdict") == "mixed" if (level := _value(step, "level"))}
        if mixed:
            levels = ", ".join(number(level) for level in sorted(mixed)[:MOST_MIXED])
            more = f" and {len(mixed) - MOST_MIXED} more" if len(mixed) > MOST_MIXED else ""
            yield "repeats", "bad", "✗ they disagree", f"At {levels}{more}; these levels decide nothing."
    totals, cannot = finding.get("totals"), finding.get("cannot")
    if isinstance(totals, Mapping):
        count, failed = _value(totals, "requests") or 0.0, _value(totals, "failed") or 0.0
        words = f"{count_words(failed)} of {counted_words(count, 'request')}."
        yield ("failures", *_fail_badge(failed / count if count else 0.0), words)
    elif steps:
        yield ("failures", *_failures(steps, unit))
    if isinstance(cannot, Sequence) and not isinstance(cannot, str) and cannot:
        things = "1 thing" if len(cannot) == 1 else f"{len(cannot)} things"
        yield "not in the source", "unknown", things, _cannot([str(text) for text in cannot])


def _throughput(capacity: Mapping[str, Any], unit: str) -> tuple[str, str, str]:
    good, bad, plateau, most_at, falls_by = (
        _value(capacity, key) for key in ("good", "bad", "plateau_per_s", "most_at", "falls_by")
    )
    if not capacity:
        return "unknown", "cannot tell", ""
    at_bad = "" if bad is None else f"rom {level_words(bad, unit)} on"
    if _fails_first(capacity):
        return "bad", "✗ requests fail", f"F{at_bad}."
    if capacity.get("model") == "open":
        up_to = "" if good is None else f"Up to {level_words(good, unit)}, the most that is known to be carried."
        return ("good", "✓ keeps up", up_to) if bad is None else ("bad", "✗ falls behind", f"F{at_bad}.")
    if not capacity.get("rises", True):
        return "unknown", "does not rise", "It is about the same at all levels."
    if falls_by and most_at is not None:
        most = f"{number(_value(capacity, 'most_per_s') or 0.0)}/s at {level_words(most_at, unit)}"
        return "bad", f"✗ falls by {share_words(falls_by)}", f"The most is {most}."
    if bad is None or plateau is None:
        return "unknown", "still rises" if bad is None else "levels off", "No plateau was seen."
    return "unknown", "levels off", f"At {number(plateau)}/s f{at_bad}."


def _failures(steps: Sequence[Mapping[str, Any]], unit: str) -> tuple[str, str, str]:
    """Where most failed, of a source without totals."""
    known = [(share, step) for step in steps if (share := _value(step, "error_share")) is not None]
    if not known:
        return "unknown", "not in the source", ""
    share, worst = max(known, key=lambda one: one[0])
    level = _value(worst, "level")
    return (*_fail_badge(share), f"At {level_words(level, unit)}, where most fail." if share and level else "")


def _fail_badge(share: float) -> tuple[str, str]:
    if share == 0:
        return "good", "✓ none"
    return ("bad", f"✗ {share_words(share)}") if share >= FAILS_MORE else ("unknown", share_words(share))


def _cannot(sentences: Sequence[str]) -> str:
    """The beginning of each of the first few."""
    begun = [_CLAUSE_END.split(text)[0].strip() for text in sentences[:MOST_CANNOT]]
    more = len(sentences) - len(begun)
    rest = f" The last answer has {more} more." if more > 0 else ""
    return f"{'. '.join(begun)}.{rest}"


def _fails_first(capacity: Mapping[str, Any]) -> bool:
    bad = _value(capacity, "bad")
    return bad is not None and bad == _value(capacity, "failing_from")


def _capacity(finding: Mapping[str, Any]) -> Mapping[str, Any]:
    found = finding.get("capacity")
    return found if isinstance(found, Mapping) else {}


def _mappings(found: Any) -> list[Mapping[str, Any]]:
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, Sequence) else []


def _value(found: Mapping[str, Any], key: str) -> float | None:
    value = found.get(key)
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        return None
    return float(value)
