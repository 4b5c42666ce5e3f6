"""Data points of OpenTelemetry as values of ours.

A gauge is its value; a sum that only grows is a rate per second, whether it is sent cumulative or as deltas; other sums
are their value; a histogram is the mean of what came, and how much came per second. Series of one metric are summed,
but of a usage those of what is used, and not those of a share: that of CPUs is what is not idle of their mean, else it
is that of the fullest.
What processes and hosts tell by the semantic conventions has the names of our probes
(opentelemetry.io/docs/specs/semconv: process, JVM, system and container metrics).
"""

from __future__ import annotations

import math
import re
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from statistics import fmean

from plimsoll.probes.otlp.decoding import Point, Resource
from plimsoll.probes.prometheus.mapping import Named, resources, told
from plimsoll.probes.prometheus.seen import Labelled, Seen
from plimsoll.runs.importers.resources.exposition import Sample
from plimsoll.study.secrets.redactor import redact

MOST_SERIES = 5_000
MOST_VALUES = 200
# OpenTelemetry's metric → that of a Prometheus exporter, and labels: theirs → the exporter's.
_SAME: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "process.cpu.time": ("process_cpu_seconds_total", {}),
    "jvm.cpu.time": ("process_cpu_seconds_total", {}),
    "process.memory.usage": ("process_resident_memory_bytes", {}),
    "process.open_file_descriptor.count": ("process_open_fds", {}),
    "process.unix.file_descriptor.count": ("process_open_fds", {}),
    "process.thread.count": ("go_threads", {}),
    "jvm.thread.count": ("jvm_threads_current", {}),
    "jvm.memory.used": ("jvm_memory_used_bytes", {"jvm.memory.type": "area"}),
    "jvm.memory.limit": ("jvm_memory_max_bytes", {"jvm.memory.type": "area"}),
    "jvm.gc.duration": ("jvm_gc_pause_seconds", {}),
    "system.cpu.time": ("node_cpu_seconds_total", {"state": "mode", "cpu.mode": "mode", "cpu.logical_number": "cpu"}),
    "container.cpu.usage.total": ("container_cpu_usage_seconds_total", {}),  # of the collector's Docker receiver
    "container.cpu.time": ("container_cpu_usage_seconds_total", {}),
    "container.memory.usage.total": ("container_memory_working_set_bytes", {}),
    "container.memory.usage": ("container_memory_working_set_bytes", {}),
    "container.memory.working_set": ("container_memory_working_set_bytes", {}),  # of several the last counts
    "container.memory.rss": ("container_memory_rss", {}),
    "container.memory.usage.limit": ("container_spec_memory_limit_bytes", {}),
}
# Resource attribute → the label of cAdvisor that names a container.
_CONTAINER = {
    "container.name": "name",
    "k8s.namespace.name": "namespace",
    "k8s.pod.name": "pod",
    "k8s.container.name": "container",
}
_SHORT_ID = 12  # characters of a container's id, as docker shows it
_SECONDS = {"ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_MODES = {"interrupt": "irq", "wait": "iowait"}
_UNITS = {
    "by": ("_bytes", 1.0), "kiby": ("_bytes", 1024.0), "miby": ("_bytes", 2.0**20), "s": ("_s", 1.0),
    "ms": ("_ms", 1.0), "us": ("_ms", 1e-3), "ns": ("_ms", 1e-6), "%": ("_share", 0.01),
}  # fmt: skip
Key = tuple[str, tuple[tuple[str, str], ...]]


@dataclass
class Sender:
    """The series of one resource, from export to export. `container`: which one it is, as cAdvisor's labels say it."""

    label: str
    where: str = ""
    patterns: tuple[str, ...] = ("*",)
    container: Mapping[str, str] = field(default_factory=dict)
    _before: dict[Key, Point] = field(default_factory=dict)
    _told: set[str] = field(default_factory=set)

    def take(self, points: Iterable[Point], notes: list[str]) -> list[tuple[str, dict[str, float], float]]:
        """(source, values, time by the sender's clock) of an export; what a reader should know is added to `notes`."""
        wanted = [one for one in points if any(fnmatchcase(one.name, pattern) for pattern in self.patterns)]
        if not wanted:
            return []
        at = max(one.at_unix for one in wanted)
        own: dict[str, float] = {}
        translated = Seen({})
        is_anew = self._began_anew(wanted)
        by_name = {name: (many, self._values(many)) for name, many in _by_name(wanted).items()}
        if is_anew:
            notes.append(f"{self.label} was restarted: its sums began anew.")
        for name in _SAME:
            if name in by_name:
                many, values = by_name[name]
                self._translate(name, many, values.by_labels, translated)
        for _, values in by_name.values():
            for value_name, value in values.over_all():
                if len(own) < MOST_VALUES:
                    own[value_name] = value
                elif "values" not in self._told:
                    self._told.add("values")
                    notes.append(f"{self.label} sends more than {MOST_VALUES} values; name some in `metrics`.")
        found = [(f"otlp:{self.label}", own, at)] if own else []
        named = Named(self.label, self.where)
        found += [
            (one.source, dict(one.values), at) for one in told(resources(translated, named, may_be_exporter=False))
        ]
        return found

    def _began_anew(self, points: Iterable[Point]) -> bool:
        """Whether the sender was restarted: of its cumulative sums some fell, and none goes on from where it was."""
        pairs = [
            (before, one)
            for one in points
            if one.only_grows and not one.is_delta and (before := self._before.get(_key(one))) is not None
        ]
        fell = any(one.value < before.value or one.count < before.count for before, one in pairs)
        return fell and not any(_goes_on(before, one) for before, one in pairs)

    def _values(self, many: list[Point]) -> _Values:
        first = many[0]
        values = _Values(first)
        for point in many:
            if not point.only_grows:
                values.add(point.labels, value=point.value)
                continue
            grown = self._grown(_key(point), point)
            if grown is not None:
                values.add(point.labels, *grown)
        return values

    def _grown(self, key: Key, point: Point) -> tuple[float, float, float] | None:
        """(sum, count, seconds) since the last point of the series; None where there is none to compare with."""
        before = self._before.get(key)
        if before is not None or len(self._before) < MOST_SERIES:
            self._before[key] = point
        if point.is_delta:
            since = point.start_unix or (before.at_unix if before is not None else 0.0)
            seconds = point.at_unix - since
            return (point.value, point.count, seconds) if since and seconds > 0 else None
        if before is None or point.at_unix <= before.at_unix:
            return None
        is_new = point.start_unix > before.at_unix or point.value < before.value or point.count < before.count
        if is_new:  # the process began anew
            return None
        return point.value - before.value, point.count - before.count, point.at_unix - before.at_unix

    def _translate(self, name: str, many: list[Point], rates: _ByLabels, into: Seen) -> None:
        metric, names = _SAME[name]
        factor = _SECONDS.get(many[0].unit.lower(), 1.0)
        if many[0].shape == "histogram":
            known = [(total, seconds) for _, (total, _, seconds) in rates if math.isfinite(total)]
            found: Labelled = [({}, factor * total / seconds) for total, seconds in known]
            into.samples[f"{metric}_sum"] = [Sample(f"{metric}_sum", {}, point.value) for point in many]
            into.rates_of_series[f"{metric}_sum"] = found
            return
        more = dict(self.container) if metric.startswith("container_") else {}
        labels_of = [more | _renamed(point.labels, names) for point in many]
        into.samples[metric] = [
            Sample(metric, labels, factor * point.value) for labels, point in zip(labels_of, many, strict=True)
        ]
        if many[0].only_grows:
            grown: Labelled = [
                (more | _renamed(labels, names), factor * value / seconds) for labels, (value, _, seconds) in rates
            ]
            into.rates_of_series[metric] = grown


_ByLabels = list[tuple[dict[str, str], tuple[float, float, float]]]


class _Values:
    """What the series of one metric say."""

    def __init__(self, metric: Point) -> None:
        self._metric = metric
        self._gauges: list[tuple[dict[str, str], float]] = []
        self.by_labels: _ByLabels = []

    def add(self, labels: dict[str, str], value: float, count: float = 0.0, seconds: float = 0.0) -> None:
        if seconds:
            self.by_labels.append((labels, (value, count, seconds)))
        else:
            self._gauges.append((labels, value))

    def over_all(self) -> list[tuple[str, float]]:
        """Names with units, and values over all series."""
        suffix, factor = _UNITS.get(self._metric.unit.lower(), ("", 1.0))
        name = re.sub(r"[^A-Za-z0-9]+", "_", self._metric.name).strip("_").lower()
        if name.endswith("utilization"):
            name, suffix = f"{name}_share", ""
        if self._gauges and f"{name}{suffix}".endswith("_share"):
            share = self._share(factor)
            return [] if share is None else [(f"{name}{suffix}", share)]
        if self._gauges:
            return [(f"{name}{suffix}", factor * self._sum())]
        if not self.by_labels:
            return []
        total = sum(value / seconds for _, (value, _, seconds) in self.by_labels)
        if self._metric.shape == "sum":
            return [(f"{name}{suffix}_per_s", factor * total)]
        count = sum(count / seconds for _, (_, count, seconds) in self.by_labels)
        mean = [(f"{name}_mean{suffix}", factor * total / count)] if count > 0 and math.isfinite(total) else []
        return [*mean, (f"{name}_count_per_s", count)]

    def _sum(self) -> float:
        """Of a usage that has used and free parts the used ones; else all."""
        used = self._by_state().get("used") if self._metric.name.endswith("usage") else None
        return sum(used or (value for _, value in self._gauges))

    def _share(self, factor: float) -> float | None:
        """Of CPUs what is not idle of their states, on average, or all that is told where idle is not; of things that
        have used and free parts the used one; else and of many the greatest. None of CPUs that were in no state."""
        by_state = self._by_state(factor)
        if self._metric.name.endswith("cpu.utilization") and "" not in by_state:
            means = {state: fmean(many) for state, many in by_state.items()}
            whole = sum(means.values()) if len(means) > 1 else 1.0  # psutil: less than 1 of a look shorter than 1 s
            if "idle" not in means:
                return sum(means.values())
            return max(0.0, 1 - means["idle"] / whole) if whole > 0 else None
        return max(by_state.get("used") or [value for many in by_state.values() for value in many])

    def _by_state(self, factor: float = 1.0) -> dict[str, list[float]]:
        by_state: dict[str, list[float]] = {}
        for labels, value in self._gauges:
            by_state.setdefault(_state_of(labels), []).append(factor * value)
        return by_state


class Senders:
    """All who send, by their resource attributes. A second one of the same name is told apart by a number."""

    def __init__(self, patterns: Iterable[str], most: int = 50) -> None:
        self._patterns, self._most = tuple(patterns), most
        self._known: dict[tuple[tuple[str, str], ...], Sender] = {}
        self._told = False

    def of(self, resource: Resource, notes: list[str]) -> Sender | None:
        """The sender of that resource; None beyond the most that are kept apart."""
        key = tuple(sorted(resource.attributes.items()))
        if key in self._known:
            return self._known[key]
        if len(self._known) >= self._most:
            if not self._told:
                self._told = True
                notes.append(f"more than {self._most} senders; what further ones send is left out.")
            return None
        name = str(redact(label_of(resource.attributes)))
        same = [one for one in self._known.values() if one.label == name or one.label.startswith(f"{name}#")]
        label = f"{name}#{len(same) + 1}" if same else name
        if same:
            notes.append(f"{label} is a further instance of {name}, or {name} after a restart.")
        host = resource.attributes.get("host.name", "")
        where = "" if host == socket.gethostname() else host
        sender = self._known[key] = Sender(label, where, self._patterns, container_of(resource.attributes))
        return sender


def label_of(attributes: Mapping[str, str]) -> str:
    """What to call a sender: its service, with its namespace, else the container, executable or host."""
    service = attributes.get("service.name", "")
    if service and not service.startswith("unknown_service"):
        return "/".join(part for part in (attributes.get("service.namespace"), service) if part)
    pod, container = attributes.get("k8s.pod.name"), attributes.get("k8s.container.name")
    if pod and container:
        return f"{pod}/{container}"
    for key in ("k8s.pod.name", "container.name", "process.executable.name", "host.name"):
        if attributes.get(key):
            return attributes[key]
    return service or "unknown"


def container_of(attributes: Mapping[str, str]) -> dict[str, str]:
    """The labels by which cAdvisor would name the container (opentelemetry.io/docs/specs/semconv/resource: container,
    k8s); without a name, the beginning of its id."""
    labels = {label: str(redact(attributes[key])) for key, label in _CONTAINER.items() if attributes.get(key)}
    if "name" not in labels and attributes.get("container.id"):
        labels["name"] = attributes["container.id"][:_SHORT_ID]
    if "pod" in labels and "container" not in labels and "name" in labels:
        labels["container"] = labels["name"]
    return labels


def _goes_on(before: Point, now: Point) -> bool:
    """Whether a cumulative sum is the one that it was: by its start where that is told, else as it grew."""
    if now.start_unix and before.start_unix:
        return now.start_unix == before.start_unix
    return now.value > before.value or now.count > before.count


def _key(point: Point) -> Key:
    return point.name, tuple(sorted(point.labels.items()))


def _by_name(points: Iterable[Point]) -> dict[str, list[Point]]:
    found: dict[str, list[Point]] = {}
    for point in points:
        found.setdefault(point.name, []).append(point)
    return found


def _state_of(labels: Mapping[str, str]) -> str:
    """What part of a whole the series is: user, idle, used …; empty where it is the whole."""
    return next((text for key, text in labels.items() if key == "cpu.mode" or key.rpartition(".")[2] == "state"), "")


def _renamed(labels: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    renamed = {names.get(key, key): value for key, value in labels.items()}
    if "mode" in renamed:
        renamed["mode"] = _MODES.get(renamed["mode"], renamed["mode"])
    return renamed
