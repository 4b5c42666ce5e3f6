"""What a plain run did, in one sentence of its summary: requests, or iterations of a script without any; checks and
thresholds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from plimsoll.listed_names import listed
from plimsoll.runs.format.read_numbers import plausible
from plimsoll.runs.readings.failures import requests_words
from plimsoll.runs.readings.thresholds import thresholds_of
from plimsoll.words import count_words, ms_words, number, share_words

_MOST_NAMED = 3  # thresholds


def words_of_summary(summary: Mapping[str, Any], threw: int = 0) -> str:
    """The sentence; empty where the summary says nothing. `threw`: iterations that ended with an exception."""
    parts = [*_did(summary, threw), *_thresholds(summary)]
    return f"{', '.join(parts)}." if parts else ""


def answer_of_summary(summary: Mapping[str, Any], threw: int = 0) -> str:
    """The same as an answer above rows that name the thresholds: these first, as they decide how the run ended."""
    parts = (_thresholds(summary, named=False), _did(summary, threw))
    return " ".join(f"{words[:1].upper()}{words[1:]}." for words in map(", ".join, filter(None, parts)))


def _did(summary: Mapping[str, Any], threw: int) -> list[str]:
    parts = _requests(summary) or _iterations(summary)
    iterations = _value(summary, "iterations", "count")
    if parts and threw and iterations:
        parts.append(
            f"{'all' if threw >= iterations else f'{threw:,} of {count_words(iterations)}'} iterations ended with an "
            "exception"
        )
    share_passed = _value(summary, "checks", "rate")
    counts = [_value(summary, "checks", key) for key in ("passes", "fails")]
    if parts and share_passed is not None and counts != [0, 0]:  # a rate of none is 0
        parts.append(f"{share_words(1 - share_passed)} of the checks failed")
    return parts


def failed_thresholds(summary: Mapping[str, Any]) -> list[str]:
    """As "http_req_duration: p(95)<200"."""
    return [f"{one.metric}: {one.rule}" for one in thresholds_of(summary) if one.verdict == "failed"]


def _requests(summary: Mapping[str, Any]) -> list[str]:
    count, rate = (_value(summary, "http_reqs", name) for name in ("count", "rate"))
    failed, p95 = _value(summary, "http_req_failed", "rate"), _value(summary, "http_req_duration", "p(95)")
    if not count:
        return []
    parts = [requests_words(count)]
    parts += [f"{number(rate)}/s"] if rate is not None else []
    if failed == 1.0 and _value(summary, "http_req_duration", "max") == 0.0:
        return [*parts, "none was answered"]
    parts += [f"{share_words(failed)} failed"] if failed is not None else []
    parts += [f"p95 {ms_words(p95)}"] if p95 is not None else []
    return parts


def _iterations(summary: Mapping[str, Any]) -> list[str]:
    count, rate = (_value(summary, "iterations", name) for name in ("count", "rate"))
    if count is None:
        return []
    return [
        f"{count_words(count)} {'iteration' if count == 1 else 'iterations'}",
        *([f"{number(rate)}/s"] if rate is not None else []),
        "no requests",
    ]


def _thresholds(summary: Mapping[str, Any], named: bool = True) -> list[str]:
    """How many failed, of how many, and how many had no data; the others passed."""
    counts = Counter(one.verdict for one in thresholds_of(summary))
    total = counts.total()
    if not total:
        return []
    if counts["passed"] == total:
        return ["the threshold passed" if total == 1 else f"all {total:,} thresholds passed"]
    of = f"{total:,} {'threshold' if total == 1 else 'thresholds'}"
    names = f" ({listed(failed_thresholds(summary), _MOST_NAMED, '; ')})" if named else ""
    failed = f"{counts['failed']:,} of {of} failed{names}"
    if not counts["failed"]:
        return [f"{counts['undecided']:,} of {of} had no data, none failed"]
    return [failed, *([f"{counts['undecided']:,} had no data"] if counts["undecided"] else [])]


def _value(summary: Mapping[str, Any], metric: str, name: str) -> float | None:
    entry = summary.get(metric)
    values = entry.get("values") if isinstance(entry, Mapping) else None
    return plausible(values.get(name)) if isinstance(values, Mapping) else None
