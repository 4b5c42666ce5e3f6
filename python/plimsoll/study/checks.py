"""Contradictions between the parts of a study: what no single field can tell.

They work on the plain data of the file, of any shape, so that they are reported together with the mistakes of
single fields, even when those keep the models from being built.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

KeyPath = tuple[str | int, ...]


@dataclass(frozen=True)
class Contradiction:
    """A mistake at `path` (keys and list positions from the root of the file)."""

    path: KeyPath
    what: str
    next_step: str

    @property
    def key(self) -> str:
        return dotted(self.path)


def dotted(path: KeyPath) -> str:
    """("workload", "operations", 0, "name") → "workload.operations[0].name"."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def contradictions(data: Any) -> list[Contradiction]:
    """All contradictions of a study given as plain data; values of an unexpected shape are passed over."""
    if not isinstance(data, dict):
        return []
    return [
        *_workload(_mapping(data.get("workload"))),
        *_processes(_mapping(data.get("target"))),
        *_variants(_mapping(data.get("target"))),
        *_objectives(data),
        *_experiments(data),
        *_probe_labels(_mapping(data.get("probes"))),
        *_profiles(_mapping(data.get("probes"))),
        *_jvms(_mapping(data.get("probes"))),
    ]


def nearest(word: Any, known: list[str], otherwise: str) -> str:
    """ "Did you mean …?" with the nearest of the known words, else the given text."""
    close = difflib.get_close_matches(str(word), known, n=1)
    return f"Did you mean {close[0]}?" if close else otherwise


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _entries(value: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    for position, item in enumerate(value if isinstance(value, list) else []):
        if isinstance(item, dict):
            yield position, item


def _workload(workload: dict[str, Any]) -> Iterator[Contradiction]:
    for part in ("operations", "groups"):
        seen: set[str] = set()
        for position, item in _entries(workload.get(part)):
            name = str(item.get("name"))
            if "name" in item and name in seen:
                path = ("workload", part, position, "name")
                yield Contradiction(path, f"{name!r} is there twice", "Give each its own name.")
            seen.add(name)
    for position, group in _entries(workload.get("groups")):
        if isinstance(group.get("think_time"), dict):
            yield from _think_time(("workload", "groups", position, "think_time"), group["think_time"], group)


def _think_time(path: KeyPath, think_time: dict[str, Any], group: dict[str, Any]) -> Iterator[Contradiction]:
    if group.get("think_time_s"):
        yield Contradiction(path, "it and think_time_s are given together", "Keep one of them.")
    name = think_time.get("distribution")
    if name not in ("constant", "exponential", "uniform"):
        return
    needed = ("min_s", "max_s") if name == "uniform" else ("mean_s",)
    for key in ("mean_s", "min_s", "max_s"):
        if (key in needed) != (think_time.get(key) is not None):
            what = f"a distribution that is {name} {'needs' if key in needed else 'has no'} {key}"
            yield Contradiction((*path, key), what, f"Give it {' and '.join(needed)}.")
    low, high = think_time.get("min_s"), think_time.get("max_s")
    if isinstance(low, (int, float)) and isinstance(high, (int, float)) and low > high:
        yield Contradiction((*path, "min_s"), f"{low:g} is above max_s {high:g}", "Exchange them.")


def _processes(target: dict[str, Any]) -> Iterator[Contradiction]:
    labels: set[str] = set()
    for position, item in _entries(target.get("processes")):
        path: KeyPath = ("target", "processes", position)
        given = [key for key in ("port", "pid", "name") if item.get(key) is not None]
        if not given:
            yield Contradiction(path, "nothing says which process it is", "Add one of port, pid and name.")
        elif len(given) > 1:
            yield Contradiction(
                path, f"{' and '.join(given)} are given together", f"Keep {given[0]} and remove the rest."
            )
        label = str(item.get("label"))
        if "label" in item and label in labels:
            yield Contradiction((*path, "label"), f"{label!r} is there twice", "Give each process its own label.")
        labels.add(label)


def _variants(target: dict[str, Any]) -> Iterator[Contradiction]:
    for name, variant in _mapping(target.get("variants")).items():
        if isinstance(variant, dict) and not any(variant.values()):
            path: KeyPath = ("target", "variants", name)
            yield Contradiction(path, "nothing says how it differs", "Give it a `switch` command, a `url`, or both.")


def _parts_of(data: dict[str, Any]) -> list[str]:
    """Names of the workload's operations or groups."""
    workload = _mapping(data.get("workload"))
    parts = [*_entries(workload.get("operations")), *_entries(workload.get("groups"))]
    return [str(item["name"]) for _, item in parts if item.get("name")]


def _taking_part(path: KeyPath, given: Any, known: list[str]) -> Iterator[Contradiction]:
    for position, name in enumerate(given if isinstance(given, list) else []):
        if known and str(name) not in known:
            step = nearest(name, known, f"Use some of {', '.join(known)}.")
            yield Contradiction((*path, position), f"the workload has no operation or group {str(name)!r}", step)


def _objectives(data: dict[str, Any]) -> Iterator[Contradiction]:
    known = _parts_of(data)
    for position, item in _entries(data.get("objectives")):
        path: KeyPath = ("objectives", position)
        operation = item.get("operation")
        if operation and item.get("request"):
            yield Contradiction(
                path, "operation and request are given together", "Keep the one the objective is about."
            )
        if operation and known and str(operation) not in known:
            step = nearest(operation, known, f"Use one of {', '.join(known)}.")
            yield Contradiction((*path, "operation"), f"the workload has no operation {operation!r}", step)


def _experiments(data: dict[str, Any]) -> Iterator[Contradiction]:
    for position, item in _entries(data.get("experiments")):
        path: KeyPath = ("experiments", position)
        if len(item) != 1:
            what = "an entry names exactly one experiment" + (f", this one {len(item)}" if item else "")
            yield Contradiction(path, what, "Start each experiment with its own dash, as in `- capacity:`.")
        for name, value in item.items():
            options = _mapping(value)
            yield from _taking_part((*path, name, "of"), options.get("of"), _parts_of(data))
            low, high = options.get("min_users"), options.get("max_users")
            if isinstance(low, (int, float)) and isinstance(high, (int, float)) and low >= high:
                what = f"min_users {low:g} is not below max_users {high:g}"
                yield Contradiction((*path, name, "min_users"), what, "Lower min_users or raise max_users.")
            if name == "hold" and options.get("users") is None and data.get("expected_users") is None:
                what = "neither it nor the study says how many users"
                yield Contradiction((*path, name), what, "Add users here, or expected_users to the study.")


_LABELS = {
    "prometheus": None,
    "telemetry": "target",
    "logs": "target",
    "files": "data",
    "postgresql": "db",
    "mysql": "db",
}


def _profiles(probes: dict[str, Any]) -> Iterator[Contradiction]:
    """Each means one process, or one page of Go."""
    seen: set[str] = set()
    for position, item in _entries(probes.get("profile")):
        path: KeyPath = ("probes", "profile", position)
        process, url, kind = item.get("process"), item.get("url"), item.get("kind")
        if not process and not url:
            yield Contradiction(path, "nothing says what is profiled", "Add process, or url of a Go program.")
        elif process and url:
            yield Contradiction(path, "process and url are given together", "Make an entry of each.")
        elif url and kind not in (None, "go"):
            yield Contradiction((*path, "kind"), f"url is for Go programs, not {kind}", "Name the process instead.")
        elif kind == "go" and not url:
            step = "Give the url of its net/http/pprof; without one, kind: native samples it by perf."
            yield Contradiction((*path, "kind"), "Go programs are profiled by their url", step)
        label = str(item.get("label") or process or "go")
        if label in seen:
            yield Contradiction(path, f"{label!r} is there twice", "Give each its own label.")
        seen.add(label)


def _jvms(probes: dict[str, Any]) -> Iterator[Contradiction]:
    """Each means one process, or one page of Jolokia."""
    seen: set[str] = set()
    for position, item in _entries(probes.get("jvm")):
        path: KeyPath = ("probes", "jvm", position)
        process, url = item.get("process"), item.get("url")
        if not process and not url:
            yield Contradiction(path, "nothing says which it is", "Add process, or url of its Jolokia.")
        elif process and url:
            yield Contradiction(path, "process and url are given together", "Make an entry of each.")
        elif process:
            for name in ("host", "headers"):
                if item.get(name):
                    yield Contradiction((*path, name), f"{name} is for a url", "Leave it out.")
        label = f"{item.get('label') or process or 'jvm'}@{item.get('host') or ''}"
        if label in seen:
            yield Contradiction(path, f"{label.rstrip('@')!r} is there twice", "Give each its own label.")
        seen.add(label)


def _probe_labels(probes: dict[str, Any]) -> Iterator[Contradiction]:
    """Two sources of the same name could not be told apart."""
    for kind, otherwise in _LABELS.items():
        labels: set[str] = set()
        for position, item in _entries(probes.get(kind)):
            label = item.get("label", otherwise)
            if label is not None and str(label) in labels:
                path: KeyPath = ("probes", kind, position, "label")
                yield Contradiction(path, f"{str(label)!r} is there twice", "Give each its own label.")
            labels.add(str(label))
