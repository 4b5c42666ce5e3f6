"""One second of a run, as the load source reports it and as one line of `series.jsonl.zst` holds it.

A change of level begins an epoch. What arrived before it and ends after it is told apart: its series say the `epoch` of
their arrivals, and `earlier` counts those arrivals. Added up, all series are what ended in the second.

Trends are in milliseconds. Unknown keys are ignored, so that an older Plimsoll reads a newer run of the same schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from plimsoll.runs.histogram import Histogram

Buckets = Any  # tuple[tuple[int, int], ...] or NDArray[np.int64]; numpy is not imported here
Kind = Literal["trend", "counter", "rate", "gauge"]

_TREND = ("count", "sum", "min", "max")
# The values of a kind of series; a trend has buckets too.
FIELDS: dict[str, tuple[str, ...]] = {
    "trend": _TREND,
    "counter": ("value",),
    "rate": ("passes", "total"),
    "gauge": ("value", "min", "max"),
}


@dataclass(frozen=True, slots=True)
class Series:
    """One metric with one set of tags in one second. Which fields are set depends on `kind`:

    trend: count, sum, min, max, buckets ((index, count) pairs, see histogram.py; of a run read in part an array
    of shape (n, 2)); counter: value (added this second);
    rate: passes (non-zero values, as in k6) of total; gauge: value (last), min, max. `epoch`: of the arrivals, if that
    is an earlier one than the snapshot's.
    """

    metric: str
    kind: Kind
    tags: Mapping[str, str] = field(default_factory=dict)
    count: int = 0
    sum: float = 0.0
    min: float | None = None
    max: float | None = None
    buckets: Buckets = ()
    value: float | None = None
    passes: int | None = None
    total: int | None = None
    epoch: int | None = None

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Series:
        """From a plain mapping; raises KeyError without metric or kind."""
        kind = data["kind"]
        given = {name: data[name] for name in FIELDS.get(kind, ()) if data.get(name) is not None}
        if kind == "trend":
            given["buckets"] = tuple((pair[0], pair[1]) for pair in data.get("buckets") or ())
        if data.get("epoch") is not None:
            given["epoch"] = data["epoch"]
        return cls(metric=data["metric"], kind=kind, tags=data.get("tags") or {}, **given)

    def to_json(self) -> dict[str, Any]:
        """The plain mapping that a line of series.jsonl.zst holds."""
        data: dict[str, Any] = {"metric": self.metric, "kind": self.kind, "tags": dict(self.tags)}
        if self.epoch is not None:
            data["epoch"] = self.epoch
        data |= {name: getattr(self, name) for name in FIELDS.get(self.kind, ())}
        if self.kind == "trend":
            data["buckets"] = [list(pair) for pair in self.buckets]
        return data

    def histogram(self) -> Histogram:
        """The histogram of a trend; empty for other kinds."""
        from plimsoll.runs.histogram import Histogram  # numpy costs 0.1 s, which a run without histograms need not pay

        histogram = Histogram()
        histogram.add_series(self)
        return histogram

    @classmethod
    def of_trend(cls, metric: str, tags: Mapping[str, str], histogram: Histogram) -> Series:
        """The trend series that holds that histogram; for simulators and importers."""
        empty = histogram.count == 0
        low, high = (None, None) if empty else (histogram.min, histogram.max)
        return cls(metric, "trend", tags, histogram.count, histogram.sum, low, high, histogram.buckets())


@dataclass(frozen=True, slots=True)
class ScriptMetric:
    """A metric that the script makes beside those of every run; `is_time`: its values are milliseconds."""

    name: str
    kind: Kind
    is_time: bool = False

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ScriptMetric:
        """From a plain mapping; raises KeyError without name or kind."""
        return cls(data["name"], data["kind"], bool(data.get("is_time")))

    def to_json(self) -> dict[str, Any]:
        """The plain mapping that the first second of a load holds."""
        return {"name": self.name, "kind": self.kind, "is_time": self.is_time}


@dataclass(frozen=True, slots=True)
class Earlier:
    """Arrivals of an earlier epoch in a second: how many ended in it (`done`, of which `broke` as in a snapshot,
    `interrupted`, `dropped` before they were sent), how many were `unfinished` at its end, since how long the oldest of
    those inside the target, and the requests that they wait for, by name (the commonest three)."""

    epoch: int
    done: int = 0
    interrupted: int = 0
    dropped: int = 0
    unfinished: int = 0
    oldest_s: float = 0.0
    waiting_for: Mapping[str, int] = field(default_factory=dict)
    broke: int = 0

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Earlier:
        """From a plain mapping; raises KeyError without `epoch`."""
        names = [name for name in cls.__dataclass_fields__ if data.get(name) is not None]
        return cls(**{"epoch": data["epoch"]} | {name: data[name] for name in names})

    def to_json(self) -> dict[str, Any]:
        """The plain mapping that a line of series.jsonl.zst holds."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__} | {
            "waiting_for": dict(self.waiting_for)
        }


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What happened in elapsed [second, second + 1) s since the run's start.

    `level`: in force at its end, and the number of its `epoch`, 0 where that is not known; arrivals `planned`,
    `started`, `done` (iterations, of which `threw` ended with an exception, and `broke` with one although no request of
    theirs had failed), `late`, `dropped`, `interrupted` in this second, of whatever epoch, and how many of them are of
    `earlier` epochs; `backlog` (planned, not started), `in_flight` and `oldest_wait_s` at its end; `generator`: CPU
    seconds, lag in ms, threads, bytes and files of the generator. `script_metrics`: of the first second of a load.
    """

    second: int
    t_unix: float = 0.0
    level: float = 0.0
    vus: int = 0
    vus_max: int = 0
    planned: int = 0
    started: int = 0
    done: int = 0
    late: int = 0
    dropped: int = 0
    backlog: int = 0
    in_flight: int = 0
    oldest_wait_s: float = 0.0
    epoch: int = 0
    interrupted: int = 0
    threw: int = 0
    broke: int = 0
    series: tuple[Series, ...] = ()
    generator: Mapping[str, float] = field(default_factory=dict)
    script_metrics: tuple[ScriptMetric, ...] = ()
    earlier: tuple[Earlier, ...] = ()

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Snapshot:
        """From a plain mapping; raises KeyError without `second`."""
        given = {name: data[name] for name in SCALARS if data.get(name) is not None}
        series = tuple(Series.from_json(item) for item in data.get("series") or ())
        own = tuple(ScriptMetric.from_json(item) for item in data.get("script_metrics") or ())
        generator = data.get("generator") or {}
        earlier = tuple(Earlier.from_json(item) for item in data.get("earlier") or ())
        return cls(data["second"], series=series, generator=generator, script_metrics=own, earlier=earlier, **given)

    def to_json(self) -> dict[str, Any]:
        """The plain mapping that a line of series.jsonl.zst is; `second` comes first."""
        data: dict[str, Any] = {"second": self.second}
        data |= {name: getattr(self, name) for name in SCALARS}
        if self.script_metrics:
            data["script_metrics"] = [one.to_json() for one in self.script_metrics]
        if self.earlier:
            data["earlier"] = [one.to_json() for one in self.earlier]
        return data | {"series": [item.to_json() for item in self.series], "generator": dict(self.generator)}


_NO_SCALARS = ("second", "series", "generator", "script_metrics", "earlier")
SCALARS = tuple(name for name in Snapshot.__dataclass_fields__ if name not in _NO_SCALARS)
