"""A body of OTLP/HTTP, JSON or protobuf, as plain data, and its points.

opentelemetry.io/docs/specs/otlp ("OTLP/HTTP", "JSON Protobuf Encoding"). Protobuf needs the package
opentelemetry-proto; its messages are turned into the JSON form, so that there is one way to read both.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Shape = Literal["gauge", "sum", "histogram"]
MOST_POINTS = 20_000
NO_PROTOBUF = (
    "this receiver reads JSON only: the package opentelemetry-proto is not installed. Set "
    "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL=http/json at the sender, or install plimsoll-line[otlp] here."
)
_DELTA = (1, "1", "AGGREGATION_TEMPORALITY_DELTA")


class Undecodable(ValueError):
    """A body that is no export of metrics; the text says why."""


class NoProtobuf(Undecodable):
    """Protobuf, and nothing to read it with."""


@dataclass(frozen=True)
class Point:
    """A data point: a number (gauge, sum), or count and sum of what was observed (histogram, summary), NaN where no sum
    is told. Times in s since 1970 by the sender's clock; `start_unix` is 0 where it is not told."""

    name: str
    unit: str
    shape: Shape
    labels: dict[str, str]
    at_unix: float
    start_unix: float
    value: float
    count: float = 0.0
    is_delta: bool = False
    only_grows: bool = False


NO_EXPORT = (
    "the body is no export of metrics: a field of resourceMetrics is missing or of another kind than "
    "ExportMetricsServiceRequest has (opentelemetry.io/docs/specs/otlp)"
)


@dataclass(frozen=True)
class Resource:
    """Who sent points, by its attributes, and the points."""

    attributes: dict[str, str]
    points: tuple[Point, ...]


def decode(body: bytes, content_type: str) -> list[Resource]:
    """What was sent. Raises Undecodable, NoProtobuf."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind == "application/json":
        try:
            document = json.loads(body)
        except json.JSONDecodeError as error:
            raise Undecodable(f"the body is no JSON (line {error.lineno}, column {error.colno})") from None
        except (ValueError, RecursionError):
            raise Undecodable("the body is no JSON that can be read") from None
    elif kind in ("application/x-protobuf", "application/protobuf"):
        document = _from_protobuf(body)
    else:
        raise Undecodable(f"Content-Type is {kind or 'missing'}; send application/json or application/x-protobuf")
    if not isinstance(document, dict) or not isinstance(document.get("resourceMetrics", []), list):
        raise Undecodable("the body has no resourceMetrics")
    try:
        return [_resource(one) for one in document.get("resourceMetrics", [])]
    except (AttributeError, LookupError, TypeError, ValueError, OverflowError, RecursionError):
        raise Undecodable(NO_EXPORT) from None


def has_protobuf() -> bool:
    """Whether protobuf can be read."""
    try:
        import opentelemetry.proto.collector.metrics.v1.metrics_service_pb2  # noqa: F401
    except ImportError:
        return False
    return True


def _from_protobuf(body: bytes) -> Any:
    try:
        from google.protobuf.json_format import MessageToDict
        from google.protobuf.message import DecodeError
        from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
    except ImportError:
        raise NoProtobuf(NO_PROTOBUF) from None
    try:
        return MessageToDict(ExportMetricsServiceRequest.FromString(body))
    except DecodeError:
        raise Undecodable("the body is no protobuf of metrics; send an ExportMetricsServiceRequest") from None


def _resource(data: Mapping[str, Any]) -> Resource:
    attributes = _attributes((data.get("resource") or {}).get("attributes"))
    points = []
    for scope in data.get("scopeMetrics") or ():
        for metric in scope.get("metrics") or ():
            for point in _points(metric):
                points.append(point)
                if len(points) > MOST_POINTS:
                    raise Undecodable(f"more than {MOST_POINTS:,} data points at once; send fewer metrics")
    return Resource(attributes, tuple(points))


def _points(metric: Mapping[str, Any]) -> Iterator[Point]:
    name, unit = str(metric["name"]), str(metric.get("unit") or "")
    if "gauge" in metric:
        for data in metric["gauge"].get("dataPoints") or ():
            yield from _number(name, unit, "gauge", data)
    elif "sum" in metric:
        body = metric["sum"]
        is_delta = body.get("aggregationTemporality") in _DELTA
        for data in body.get("dataPoints") or ():
            yield from _number(name, unit, "sum", data, is_delta, bool(body.get("isMonotonic")))
    else:
        for kind in ("histogram", "exponentialHistogram", "summary"):
            body = metric.get(kind) or {}
            is_delta = body.get("aggregationTemporality") in _DELTA
            for data in body.get("dataPoints") or ():
                if int(data.get("flags") or 0) & 1:  # "no recorded value"
                    continue
                labels, at, start = _common(data)
                # The sum of a histogram is optional; a summary's is left out where it is 0.
                total = float(data.get("sum", 0.0 if kind == "summary" else math.nan))
                count = float(data.get("count") or 0)
                if not math.isinf(total) and math.isfinite(count):
                    yield Point(name, unit, "histogram", labels, at, start, total, count, is_delta, True)


def _number(
    name: str, unit: str, shape: Shape, data: Mapping[str, Any], is_delta: bool = False, only_grows: bool = False
) -> Iterator[Point]:
    if int(data.get("flags") or 0) & 1:
        return
    value = float(data["asDouble"] if "asDouble" in data else data.get("asInt", 0))
    labels, at, start = _common(data)
    if math.isfinite(value):
        yield Point(name, unit, shape, labels, at, start, value, 0.0, is_delta, only_grows)


def _common(data: Mapping[str, Any]) -> tuple[dict[str, str], float, float]:
    at, start = (int(data.get(key) or 0) / 1e9 for key in ("timeUnixNano", "startTimeUnixNano"))
    return _attributes(data.get("attributes")), at, start


def _attributes(pairs: Any) -> dict[str, str]:
    return {str(pair["key"]): _text(pair.get("value") or {}) for pair in pairs or ()}


def _text(value: Mapping[str, Any]) -> str:
    for kind in ("stringValue", "intValue", "doubleValue"):
        if kind in value:
            return str(value[kind])
    if "boolValue" in value:
        return "true" if value["boolValue"] else "false"
    return ",".join(_text(one) for one in (value.get("arrayValue") or {}).get("values") or ())
