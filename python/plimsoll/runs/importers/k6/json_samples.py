"""k6's samples: --out json=FILE, one object a line (grafana.com/docs/k6, "Results output, JSON").

A point of http_req_duration is a request; it failed if its tag expected_response is "false", as k6 counts
http_req_failed. Points carry the time at which they ended.
"""

from __future__ import annotations

import re
from typing import Any

from plimsoll.runs.format import quick_json
from plimsoll.runs.importers.clock import moment
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.importers.source import LOOP_UNKNOWN, NO_GENERATOR, BadRecord, Format
from plimsoll.runs.importers.spill import Spill

KEPT_TAGS = ("scenario", "name", "method", "status", "error_code")
ARRIVALS = (
    "Of an executor with arrival rates it has the arrivals that were dropped, not how late the others began; its VUs "
    "are then no level of load."
)
_METRIC = re.compile(r'"metric"\s*:\s*"([^"]+)"')
_KIND = re.compile(r'"type"\s*:\s*"(?:Metric|Point)"')
_TREND = re.compile(r'"type"\s*:\s*"trend"')
MOST_DROPPED = 1e9  # in one point
BUILT_IN = ("http_req_duration", "iteration_duration", "vus", "dropped_iterations")


def looks_like(head: str) -> bool:
    """Whether its first line is a Metric or a Point, as k6 writes it or with the spaces of another writer of JSON."""
    first = head.lstrip().partition("\n")[0]
    return first.startswith("{") and _METRIC.search(first) is not None and _KIND.search(first) is not None


def read(file: SourceFile, into: Spill) -> None:
    """All requests, iterations, VUs, dropped arrivals and own trends into `into`."""
    take = Taker(into)
    wanted = set(BUILT_IN)  # and trends of the script

    def line(text: str) -> None:
        found = _METRIC.search(text)
        if found is None and not text.strip():
            return
        if not text.rstrip().endswith("}"):
            raise BadRecord("the line is no whole object")
        if found is not None and found.group(1) not in wanted and _TREND.search(text) is None:
            return
        data = _parsed(text)
        metric, inner = data.get("metric"), data.get("data")
        if not isinstance(metric, str) or not isinstance(inner, dict):
            raise BadRecord("this is no Metric and no Point of k6")
        if data.get("type") == "Metric":
            if inner.get("type") == "trend" and inner.get("contains") == "time" and not metric.startswith("http_req"):
                wanted.update((metric,) if metric != "group_duration" else ())
        elif data.get("type") == "Point" and metric in wanted:
            tags = inner.get("tags") or {}
            if not isinstance(tags, dict):
                raise BadRecord(f"{str(tags)[:40]!r} are no tags", "data.tags")
            at_s = moment(str(inner.get("time")), "data.time")
            try:
                take(metric, at_s, inner.get("value"), tags)
            except TypeError:  # a list or an object in place of a text
                raise BadRecord(f"{str(tags)[:60]} are no tags", "data.tags") from None

    file.records(file.text(), line)


def _parsed(text: str) -> dict[str, Any]:
    try:
        data = quick_json.loads(text)
    except ValueError as error:
        raise BadRecord(f"this is no JSON ({error})") from None
    if not isinstance(data, dict):
        raise BadRecord("this is no object of k6")
    return data


class Taker:
    """Takes points by metric; shared with the CSV form."""

    def __init__(self, into: Spill) -> None:
        self.into = into
        self._known: dict[tuple[str, ...], tuple[tuple[str, str], ...]] = {}

    def __call__(self, metric: str, at_s: float, value: Any, tags: dict[str, str]) -> None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise BadRecord(f"{str(value)[:40]!r} is no number", metric)
        if metric == "http_req_duration":
            self.into.request(at_s - value / 1000, value, self._tags(tags), tags.get("expected_response") == "false")
        elif metric == "iteration_duration":
            self.into.iteration(at_s, value, (("scenario", tags.get("scenario") or "default"),))
        elif metric == "vus":
            self.into.level(at_s, value)
        elif metric == "dropped_iterations":
            if not 0 <= value <= MOST_DROPPED:
                raise BadRecord(f"{value:g} dropped iterations are impossible", metric)
            self.into.drop(at_s, int(value))
        else:
            self.into.trend(at_s, value, metric, (("scenario", tags.get("scenario") or "default"),))

    def _tags(self, tags: dict[str, str]) -> tuple[tuple[str, str], ...]:
        key = tuple(tags.get(name) or "" for name in KEPT_TAGS)
        known = self._known.get(key)
        if known is None:
            known = tuple((name, value) for name, value in zip(KEPT_TAGS, key, strict=True) if value)
            if len(self._known) < 10_000:
                self._known[key] = known
        return known


FORMAT = Format(
    name="k6-json",
    title="k6, samples as JSON lines",
    shape="samples",
    loop="unknown",
    looks_like=looks_like,
    read=read,
    supports="counts, times and errors per request and second, iterations, dropped arrivals; levels from vus",
    cannot=(LOOP_UNKNOWN, ARRIVALS, NO_GENERATOR),
)
