"""k6's summary of a whole test: --summary-export, or the data that handleSummary gets, as JSON.

With --new-machine-readable-summary (k6 1.5 and later) both have another form: `results.metrics` is a list, a counter
has no rate, and the test's duration in s is `config.duration`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from plimsoll.errors import InputError
from plimsoll.runs.importers.contradictions import STEP, Told, impossible_counts, impossible_rate
from plimsoll.runs.importers.documents import Numbers, document, exact
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.importers.source import (
    FAILURES_UNKNOWN,
    HIDES_QUEUEING,
    NO_GENERATOR,
    ONE_RUN,
    ONE_SUMMARY,
    BadRecord,
    Format,
)
from plimsoll.runs.readings.step_table import Row, StepTable
from plimsoll.words import count_words, counted_words

_PERCENTILE = re.compile(r"p\((\d{1,2}(?:\.\d+)?)\)")
MOST_OFF_SHARE = 0.005  # a share is printed with three digits by some
_NAMED = {"avg": "mean", "med": "p50", "min": "min", "max": "max"}


def looks_like(head: str) -> bool:
    """Whether it is one object with the metrics of k6."""
    return head.lstrip().startswith("{") and '"metrics"' in head and ('"http_req' in head or '"iteration' in head)


def read(file: SourceFile, into: Any = None) -> StepTable:
    """One row: the whole test. Its level is the VUs if these never changed."""
    whole = document(file)
    results = whole.get("results")
    is_new = isinstance(results, Mapping)
    metrics = _named(results.get("metrics")) if isinstance(results, Mapping) else whole.get("metrics")
    if not isinstance(metrics, Mapping) or "http_reqs" not in metrics:
        raise file.error(BadRecord("there are no requests in it (metrics.http_reqs)", None, "Check that the test ran."))
    data = {name: _values(metric) for name, metric in metrics.items()}

    numbers = Numbers(file)
    try:
        times = exact(file, data, _keys(data.get("http_req_duration") or {}))
    except InputError as mistake:
        numbers.mistake(mistake)
    count, failed = _counts(numbers, data, "matches" if is_new else "passes")
    rate, duration_s = _rate(numbers, data, whole, is_new)
    low, high = numbers.of(data, "vus", "min"), numbers.of(data, "vus", "max")
    if low is not None and high is not None and low > high:
        numbers.refuse([BadRecord(f"{low:g} VUs at least and {high:g} at most is impossible", "vus.min", STEP)])
    numbers.raise_mistakes()
    steady = low is not None and low == high and low > 0  # 0: the test ended before its VUs were counted
    notes = [] if steady else [_levels_words(low, high)]
    if failed is None:
        notes.append(FAILURES_UNKNOWN.format(key="http_req_failed"))
    row = Row(
        level=high if steady else None,
        throughput_per_s=rate,
        times_ms=times,
        samples=None if count is None else int(count),
        failed=None if failed is None else int(failed),
        duration_s=duration_s,
    )
    return StepTable((row,), "vus", tuple(notes))


def _counts(numbers: Numbers, data: Any, failed_key: str) -> tuple[float | None, float | None]:
    """Requests, and how many of them failed."""
    count = numbers.of(data, "http_reqs", "count")
    failed = numbers.of(data, "http_req_failed", failed_key)
    numbers.refuse(impossible_counts(Told("http_reqs.count", count), Told(f"http_req_failed.{failed_key}", failed)))
    others = numbers.of(data, "http_req_failed", "fails")
    total = numbers.of(data, "http_req_failed", "total")
    if total is None and failed is not None and others is not None:
        total = failed + others
    numbers.refuse(_impossible_total(count, failed, total))
    for key in ("rate", "value"):
        share = numbers.of(data, "http_req_failed", key, most=1.0)
        if share is not None and failed is not None and total and abs(share - failed / total) > MOST_OFF_SHARE:
            what = f"{share:g} contradicts {count_words(failed)} of {count_words(total)}"
            numbers.refuse([BadRecord(what, f"http_req_failed.{key}", STEP)])
    return count, failed


def _impossible_total(count: float | None, failed: float | None, total: float | None) -> Iterator[BadRecord]:
    """A mistake where more requests passed or failed than there were."""
    if count is not None and failed is not None and total is not None and total > count >= failed:
        what = (
            f"{count_words(total)} that failed or not, of {counted_words(count, 'request')} (http_reqs.count), is "
            "impossible"
        )
        yield BadRecord(what, "http_req_failed", STEP)


def _rate(numbers: Numbers, data: Any, whole: Any, is_new: bool) -> tuple[float | None, float | None]:
    """Requests per s, and the duration in s. All counters of k6 are divided by one duration, which is in the data of
    handleSummary; else that of the requests is taken."""
    count, rate = numbers.of(data, "http_reqs", "count"), numbers.of(data, "http_reqs", "rate")
    if is_new:
        told = Told("config.duration", numbers.of(whole, "config", "duration"))
    else:
        ms = numbers.of(whole, "state", "testRunDurationMs")
        told = Told("state.testRunDurationMs", None if ms is None else ms / 1000)
        if told.value is None and count and rate:
            told = Told("http_reqs.count / http_reqs.rate", count / rate)
    for name in ("http_reqs", "iterations"):
        counted = Told(f"{name}.count", numbers.of(data, name, "count"))
        numbers.refuse(impossible_rate(Told(f"{name}.rate", numbers.of(data, name, "rate")), counted, told))
    if told.value and count is not None and (is_new or rate is None):
        rate = count / told.value
    return rate, told.value or None


def _named(metrics: Any) -> dict[str, Any]:
    """The metrics of the new form by their names."""
    rows = metrics if isinstance(metrics, list) else []
    return {row["name"]: row for row in rows if isinstance(row, Mapping) and isinstance(row.get("name"), str)}


def _values(metric: Any) -> Any:
    values = metric.get("values", metric) if isinstance(metric, Mapping) else {}
    return values if isinstance(values, Mapping) else {}


def _keys(values: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Where each statistic of the durations stands."""
    found: dict[str, tuple[str, ...]] = {}
    for key in values:
        percentile = _PERCENTILE.fullmatch(key)
        if percentile:
            found[f"p{float(percentile.group(1)):g}"] = ("http_req_duration", key)
        elif key in _NAMED:
            found[_NAMED[key]] = ("http_req_duration", key)
    return found


def _levels_words(low: float | None, high: float | None) -> str:
    if low is None or high is None or high == 0:
        return "It does not say how many VUs there were, so it is of no level."
    return f"The VUs went from {low:g} to {high:g}, all in one summary, so it is of no level."


FORMAT = Format(
    name="k6-summary",
    title="k6, summary export",
    shape="summary",
    loop="unknown",
    looks_like=looks_like,
    read=read,
    supports="objectives over the whole test, at the percentiles that it has",
    cannot=(ONE_SUMMARY, ONE_RUN, HIDES_QUEUEING.replace("Its users wait", "If its users waited"), NO_GENERATOR),
)
