"""Prometheus: the answer of a range query as JSON, and the text exposition with timestamps.

prometheus.io/docs: "HTTP API, range queries", "Exposition formats". Text without a timestamp on its lines cannot be put
beside a run, and is refused. The labels that tell series apart become the source.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from plimsoll.runs.importers.clock import EARLIEST_S, LATEST_S, moment
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.importers.resources.points import Point
from plimsoll.runs.importers.source import BadRecord

_LINE = re.compile(r"^([A-Za-z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+(\S+))?\s*(?:#.*)?$")
_LABEL = re.compile(r'([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"')


def is_range_query(head: str) -> bool:
    """Whether it is the JSON of a query."""
    return head.lstrip().startswith("{") and '"resultType"' in head


def is_text(head: str) -> bool:
    """Whether it is the text exposition."""
    lines = [line for line in head.splitlines() if line.strip()]
    plain = [line for line in lines if not line.startswith("#")]
    return any(line.startswith(("# TYPE", "# HELP")) for line in lines) or bool(plain and _LINE.match(plain[0]))


def range_query(file: SourceFile) -> list[Point]:
    """The points of all series of a matrix."""
    try:
        data = json.loads(file.whole_text())
    except ValueError as error:
        raise file.error(BadRecord(f"this is no whole JSON ({error})"), getattr(error, "lineno", None)) from error
    result = data.get("data", data) if isinstance(data, Mapping) else {}
    if data.get("status") == "error":
        raise file.error(BadRecord(f"Prometheus answered: {data.get('error')}", None, "Correct the query."))
    if result.get("resultType") != "matrix":
        step = "Use /api/v1/query_range with start, end and step."
        raise file.error(BadRecord(f"it has {result.get('resultType')!r}, not a matrix over time", None, step))
    points = []
    for place, series in enumerate(result.get("result") or ()):
        labels = {str(key): str(value) for key, value in (series.get("metric") or {}).items()}
        name = labels.pop("__name__", "value")
        for pair in series.get("values") or ():
            try:
                at, value = pair
                points.append(Point(moment(str(at), "time"), _source(labels), name, float(value)))
            except (BadRecord, ValueError, TypeError) as error:
                raise file.error(BadRecord(f"{pair!r}: {error}", f"data.result[{place}].values")) from error
    return [point for point in points if math.isfinite(point.value)]


def text(file: SourceFile) -> list[Point]:
    """The points of all scrapes, one after the other, each line with its timestamp (ms, or s in OpenMetrics)."""
    return list(_points(file))


def _points(file: SourceFile) -> Iterator[Point]:
    for line in file.text():
        if line.startswith("#") or not line.strip():
            continue
        found = _LINE.match(line.rstrip())
        if found is None:
            if not file.ends_whole:
                file.notes.append(f"Line {file.line} of {file.path} is cut off; used up to there.")
                return
            raise file.error(BadRecord(f"{line.strip()[:60]!r} is no line of Prometheus"))
        name, labels, value, at = found.groups()
        if at is None:
            step = "Record it over time: a range query as JSON, or lines with timestamps."
            raise file.error(BadRecord("a line without a timestamp says nothing about when", name, step))
        yield from _one(file, name, dict(_LABEL.findall(labels or "")), value, at)


def _one(file: SourceFile, name: str, labels: dict[str, str], value: str, at: str) -> Iterator[Point]:
    try:
        number, stamp = float(value), float(at)
    except ValueError:
        raise file.error(BadRecord(f"{value!r} {at!r} are no value and time", name)) from None
    stamp = stamp if EARLIEST_S <= stamp <= LATEST_S else stamp / 1000
    if not EARLIEST_S <= stamp <= LATEST_S:
        raise file.error(BadRecord(f"{at!r} is no time", name))
    if math.isfinite(number):
        yield Point(stamp, _source(labels), name, number)


def _source(labels: Mapping[str, Any]) -> str:
    """The labels in a few words: the instance or job, and what else tells series apart."""
    first = [str(labels[key]) for key in ("job", "instance") if key in labels]
    rest = [f"{key}={value}" for key, value in sorted(labels.items()) if key not in ("job", "instance")]
    return " ".join([*first, *rest]) or "prometheus"
