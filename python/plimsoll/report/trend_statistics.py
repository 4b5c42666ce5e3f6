"""The statistics of trends that a k6 summary shows: avg, min, med, max, count, p(N)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from plimsoll.errors import InputError
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.snapshot import Snapshot

DEFAULT = ("avg", "min", "med", "max", "p(90)", "p(95)")
NAMED = ("avg", "min", "med", "max", "count")
_PERCENTILE = re.compile(r"p\((\d+(?:\.\d+)?)\)")


def parse_statistics(text: str) -> tuple[str, ...]:
    """ "avg,p(99.9)" as its parts. InputError for what is no statistic."""
    names = tuple(part.strip() for part in text.split(",") if part.strip())
    wrong = [name for name in names if name not in NAMED and _quantile(name) is None]
    if wrong or not names:
        step = f"Use some of {', '.join(NAMED)} and p(N) with N from 0 to 100, separated by commas."
        raise InputError(f"--summary-trend-stats {text}: {wrong[0] if wrong else 'nothing'} is no statistic", step)
    return names


def with_statistics(data: Mapping[str, Any], names: Iterable[str], seconds: Iterable[Snapshot]) -> dict[str, Any]:
    """The summary's data with the percentiles it lacks, from the histograms of the run's `seconds` (read once)."""
    metrics: dict[str, Any] = {name: dict(metric) for name, metric in data.get("metrics", {}).items()}
    missing = {
        name: [wanted for wanted in names if wanted not in metric["values"]]
        for name, metric in metrics.items()
        if metric["type"] == "trend"
    }
    missing = {name: wanted for name, wanted in missing.items() if wanted}
    if not missing:
        return dict(data)
    merged = _merged(missing, seconds)
    for name, wanted in missing.items():
        found = {one: merged[name].percentile(_quantile(one) or 0.0) if merged[name].count else 0.0 for one in wanted}
        metrics[name]["values"] = {**metrics[name]["values"], **found}
    return {**data, "metrics": metrics}


def _merged(names: Iterable[str], seconds: Iterable[Snapshot]) -> dict[str, Histogram]:
    """A histogram for each metric or sub-metric (`http_req_duration{name:a,status:200}`)."""
    wanted = {name: (_base(name), _tags(name)) for name in names}
    merged = {name: Histogram() for name in wanted}
    for second in seconds:
        for series in second.series:
            for name, (metric, tags) in wanted.items():
                if series.metric == metric and all(series.tags.get(key) == value for key, value in tags.items()):
                    merged[name].add_series(series)
    return merged


def _base(name: str) -> str:
    return name.partition("{")[0]


def _tags(name: str) -> dict[str, str]:
    inside = name.partition("{")[2].removesuffix("}")
    pairs = (part.partition(":") for part in inside.split(",") if part)
    return {key.strip(): value.strip() for key, _, value in pairs}


def _quantile(name: str) -> float | None:
    match = _PERCENTILE.fullmatch(name)
    percent = float(match.group(1)) if match else -1.0
    return percent / 100 if 0 <= percent <= 100 else None
