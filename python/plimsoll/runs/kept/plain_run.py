"""What a plain run did, in one sentence of its summary: requests, or iterations of a script without any; checks and
thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.listed_names import listed
from plimsoll.runs.format.read_numbers import plausible
from plimsoll.runs.readings.failures import requests_words
from plimsoll.words import count_words, ms_words, number, share_words

_MOST_NAMED = 3  # thresholds


def words_of_summary(summary: Mapping[str, Any], threw: int = 0) -> str:
    """The sentence; empty where the summary says nothing. `threw`: iterations that ended with an exception."""
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
    parts += _thresholds(summary)
    return f"{', '.join(parts)}." if parts else ""


def failed_thresholds(summary: Mapping[str, Any]) -> list[str]:
    """As "http_req_duration: p(95)<200"."""
    return [f"{metric}: {rule}" for metric, rule, verdict in _verdicts(summary) if verdict == "failed"]


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


def _thresholds(summary: Mapping[str, Any]) -> list[str]:
    verdicts = _verdicts(summary)
    if not verdicts:
        return []
    failed = failed_thresholds(summary)
    if not failed:
        undecided = sum(verdict != "passed" for _, _, verdict in verdicts)
        return [f"{undecided} of {len(verdicts)} thresholds undecided" if undecided else "no threshold failed"]
    return [f"{len(failed)} of {len(verdicts)} thresholds failed ({listed(failed, _MOST_NAMED, '; ')})"]


def _verdicts(summary: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Metric, rule and verdict of each threshold."""
    found = []
    for metric, entry in summary.items():
        rows = entry.get("thresholds") if isinstance(entry, Mapping) else None
        for rule, row in rows.items() if isinstance(rows, Mapping) else ():
            found.append((str(metric), str(rule), str(row.get("verdict")) if isinstance(row, Mapping) else ""))
    return found


def _value(summary: Mapping[str, Any], metric: str, name: str) -> float | None:
    entry = summary.get(metric)
    values = entry.get("values") if isinstance(entry, Mapping) else None
    return plausible(values.get(name)) if isinstance(values, Mapping) else None
