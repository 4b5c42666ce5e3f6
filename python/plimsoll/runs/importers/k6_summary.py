"""k6's summary of a whole test: --summary-export, or the data that handleSummary gets, as JSON.

With --new-machine-readable-summary (k6 1.5 and later) both have another form: `results.metrics` is a list, a counter
has no rate, and the test's duration in s is `config.duration`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from plimsoll.runs.importers.documents import document, exact, number
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.importers.source import HIDES_QUEUEING, NO_GENERATOR, ONE_RUN, ONE_SUMMARY, BadRecord, Format
from plimsoll.runs.step_table import Row, StepTable

_PERCENTILE = re.compile(r"p\((\d{1,2}(?:\.\d+)?)\)")
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

    def of(metric: str, value: str) -> float | None:
        return number(file, data, metric, value)

    count, rate = of("http_reqs", "count"), of("http_reqs", "rate")
    failed = of("http_req_failed", "matches" if is_new else "passes")
    duration_s = count / rate if count and rate else None
    if is_new:
        duration_s = number(file, whole, "config", "duration")
        rate = count / duration_s if count is not None and duration_s else None
    low, high = of("vus", "min"), of("vus", "max")
    steady = low is not None and low == high and low > 0  # 0: the test ended before its VUs were counted
    notes = [] if steady else [_levels_words(low, high)]
    row = Row(
        level=high if steady else None,
        throughput_per_s=rate,
        times_ms=exact(file, data, _keys(data.get("http_req_duration") or {})),
        samples=None if count is None else int(count),
        failed=None if failed is None else int(failed),
        duration_s=duration_s,
    )
    return StepTable((row,), "vus", tuple(notes))


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
