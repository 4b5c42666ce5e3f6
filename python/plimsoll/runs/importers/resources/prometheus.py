"""Prometheus: the answer of a range query as JSON, and the text exposition with timestamps.

prometheus.io/docs: "HTTP API, range queries", "Exposition formats". Text without a timestamp on its lines cannot be put
beside a run, and is refused. The labels that tell series apart become the source.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from plimsoll.runs.format import quick_json
from plimsoll.runs.importers.clock import moment
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.importers.plain_numbers import real
from plimsoll.runs.importers.resources.exposition import Sample, declared_type, parse_line, seconds_of
from plimsoll.runs.importers.resources.points import Point, check_share
from plimsoll.runs.importers.source import BadRecord

MOST_JSON_BYTES = 64 << 20
_TOO_LARGE = BadRecord(
    f"the JSON of a range query is read whole, and this is more than {MOST_JSON_BYTES >> 20} MiB",
    None,
    "Ask for fewer series, less time or a larger step, or for several files; CSV and Prometheus' text may be any size.",
)
_COUNTED = ("sum", "count", "bucket")


def is_range_query(head: str) -> bool:
    """Whether it is the JSON of a query."""
    return head.lstrip().startswith("{") and '"resultType"' in head


def is_text(head: str) -> bool:
    """Whether it is the text exposition."""
    lines = [line for line in head.splitlines() if line.strip()]
    plain = [line for line in lines if not line.startswith("#")]
    return any(line.startswith(("# TYPE", "# HELP")) for line in lines) or bool(plain and parse_line(plain[0].strip()))


def range_query(file: SourceFile) -> Iterator[Point]:
    """The points of all series of a matrix, which is read whole. InputError above MOST_JSON_BYTES."""
    try:
        data = quick_json.loads(file.whole_text(MOST_JSON_BYTES, _TOO_LARGE))
    except ValueError as error:
        raise file.error(BadRecord(f"this is no whole JSON ({error})"), getattr(error, "lineno", None)) from error
    result = data.get("data", data) if isinstance(data, Mapping) else {}
    if data.get("status") == "error":
        raise file.error(BadRecord(f"Prometheus answered: {data.get('error')}", None, "Correct the query."))
    if result.get("resultType") != "matrix":
        step = "Use /api/v1/query_range with start, end and step."
        raise file.error(BadRecord(f"it has {result.get('resultType')!r}, not a matrix over time", None, step))
    for place, series in enumerate(result.get("result") or ()):
        labels = {str(key): str(value) for key, value in (series.get("metric") or {}).items()}
        name = labels.pop("__name__", "value")
        for pair in series.get("values") or ():
            try:
                at, value = pair
                point = Point(moment(str(at), "time"), _source(labels), name, real(str(value)))
            except (BadRecord, ValueError, TypeError, OverflowError) as error:
                raise file.error(BadRecord(f"{pair!r}: {error}", f"data.result[{place}].values")) from error
            _check(file, point, f"data.result[{place}].values: {name}")
            if math.isfinite(point.value):
                yield point


def _check(file: SourceFile, point: Point, key: str) -> None:
    if math.isfinite(point.value) and not point.is_counter:
        try:
            check_share(point.name, point.value, key)
        except BadRecord as problem:
            raise file.error(problem) from problem


def text(file: SourceFile) -> Iterator[Point]:
    """The points of all scrapes, one after the other, each line with its timestamp (ms, or s in OpenMetrics)."""
    types: dict[str, str] = {}
    for line in file.text():
        if line.startswith("#") or not line.strip():
            types.update(declared_type(line))
            continue
        sample = parse_line(line.rstrip())
        if sample is None:
            if not file.ends_whole:
                file.notes.append(f"Line {file.line} is cut off; used up to there.")
                return
            raise file.error(BadRecord(f"{line.strip()[:60]!r} is no line of Prometheus"))
        if sample.at_unix is None:
            step = "Record it over time: a range query as JSON, or lines with timestamps."
            raise file.error(BadRecord("a line without a timestamp says nothing about when", sample.name, step))
        yield from _one(file, sample, _is_counter(sample.name, types))


def _is_counter(name: str, types: Mapping[str, str]) -> bool | None:
    """Whether the types that the file declares make it one; None if they say nothing of it."""
    own = types.get(name, "unknown")
    if own not in ("unknown", "untyped"):
        return own == "counter"
    family, _, end = name.rpartition("_")
    kind = types.get(family)
    is_counter = end == "total" if kind == "counter" else kind in ("histogram", "summary") and end in _COUNTED
    return True if is_counter else None


def _one(file: SourceFile, sample: Sample, is_counter: bool | None) -> Iterator[Point]:
    stamp = seconds_of(sample.at_unix or 0.0)
    if stamp is None:
        raise file.error(BadRecord(f"{sample.at_unix!r} is no time", sample.name))
    if math.isfinite(sample.value):
        point = Point(stamp, _source(sample.labels), sample.name, sample.value, is_counter)
        _check(file, point, sample.name)
        yield point


def _source(labels: Mapping[str, Any]) -> str:
    """The labels in a few words: the instance or job, and what else tells series apart."""
    first = [str(labels[key]) for key in ("job", "instance") if key in labels]
    rest = [f"{key}={value}" for key, value in sorted(labels.items()) if key not in ("job", "instance")]
    return " ".join([*first, *rest]) or "prometheus"
