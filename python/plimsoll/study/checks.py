"""Contradictions between the parts of a study: what no single field can tell.

They work on the plain data of the file, of any shape, so that they are reported together with the mistakes of
single fields, even when those keep the models from being built.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from plimsoll.nearest_word import nearest
from plimsoll.study.contradiction import Contradiction, KeyPath, entries, mapping, parts_of
from plimsoll.study.experiment_checks import contradictions_of_experiments
from plimsoll.study.probes.otlp import LOOPBACK, address_of
from plimsoll.study.probes.trust import KEYS


def contradictions(data: Any) -> list[Contradiction]:
    """All contradictions of a study given as plain data; values of an unexpected shape are passed over."""
    if not isinstance(data, dict):
        return []
    return [
        *_workload(mapping(data.get("workload"))),
        *_processes(mapping(data.get("target"))),
        *_variants(mapping(data.get("target"))),
        *_objectives(data),
        *contradictions_of_experiments(data),
        *_probe_labels(mapping(data.get("probes"))),
        *_profiles(mapping(data.get("probes"))),
        *_otlp(mapping(data.get("probes"))),
        *_jvms(mapping(data.get("probes"))),
        *_trust(mapping(data.get("probes"))),
    ]


def _workload(workload: dict[str, Any]) -> Iterator[Contradiction]:
    for part in ("operations", "groups"):
        seen: set[str] = set()
        for position, item in entries(workload.get(part)):
            name = str(item.get("name"))
            if "name" in item and name in seen:
                path = ("workload", part, position, "name")
                yield Contradiction(path, f"{name!r} is there twice", "Give each its own name.")
            seen.add(name)
    for position, group in entries(workload.get("groups")):
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
    for position, item in entries(target.get("processes")):
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
    for name, variant in mapping(target.get("variants")).items():
        if isinstance(variant, dict) and not any(variant.values()):
            path: KeyPath = ("target", "variants", name)
            yield Contradiction(path, "nothing says how it differs", "Give it a `switch` command, a `url`, or both.")


def _objectives(data: dict[str, Any]) -> Iterator[Contradiction]:
    known = parts_of(data)
    for position, item in entries(data.get("objectives")):
        path: KeyPath = ("objectives", position)
        operation = item.get("operation")
        if operation and item.get("request"):
            yield Contradiction(
                path, "operation and request are given together", "Keep the one the objective is about."
            )
        if isinstance(operation, str) and operation and known and operation not in known:
            step = nearest(operation, known, f"Use one of {', '.join(known)}.")
            yield Contradiction((*path, "operation"), f"the workload has no operation {operation!r}", step)


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
    for position, item in entries(probes.get("profile")):
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


def _otlp(probes: dict[str, Any]) -> Iterator[Contradiction]:
    """What others than this machine can reach asks for a token."""
    receiver = mapping(probes.get("otlp"))
    address = address_of(str(receiver.get("listen") or LOOPBACK))
    if address is not None and not address.is_loopback and not receiver.get("token"):
        step = 'Add token: "${OTLP_TOKEN}" and set that variable, here and in OTEL_EXPORTER_OTLP_HEADERS of the sender.'
        yield Contradiction(("probes", "otlp", "listen"), f"on {address} anyone could send to it", step)


def _jvms(probes: dict[str, Any]) -> Iterator[Contradiction]:
    """Each means one process, or one page of Jolokia."""
    seen: set[str] = set()
    for position, item in entries(probes.get("jvm")):
        path: KeyPath = ("probes", "jvm", position)
        process, url = item.get("process"), item.get("url")
        if not process and not url:
            yield Contradiction(path, "nothing says which it is", "Add process, or url of its Jolokia.")
        elif process and url:
            yield Contradiction(path, "process and url are given together", "Make an entry of each.")
        elif process:
            for name in ("host", "headers", *KEYS):
                if item.get(name):
                    yield Contradiction((*path, name), f"{name} is for a url", "Leave it out.")
        label = f"{item.get('label') or process or 'jvm'}@{item.get('host') or ''}"
        if label in seen:
            yield Contradiction(path, f"{label.rstrip('@')!r} is there twice", "Give each its own label.")
        seen.add(label)


def _trust(probes: dict[str, Any]) -> Iterator[Contradiction]:
    """ca_file and insecure, where there is a certificate to judge."""
    for kind in ("prometheus", "telemetry", "jvm"):
        for position, item in entries(probes.get(kind)):
            path: KeyPath = ("probes", kind, position)
            given = [name for name in KEYS if item.get(name)]
            if len(given) > 1:
                yield Contradiction((*path, given[1]), "it and ca_file are given together", "Keep one of them.")
            if given and str(item.get("url", "")).lower().startswith("http://"):
                step = "Leave it out, or write https:// in the url."
                yield Contradiction((*path, given[0]), "it is for a url that begins with https://", step)


def _probe_labels(probes: dict[str, Any]) -> Iterator[Contradiction]:
    """Two sources of the same name could not be told apart."""
    for kind, otherwise in _LABELS.items():
        labels: set[str] = set()
        for position, item in entries(probes.get(kind)):
            label = item.get("label", otherwise)
            if label is not None and str(label) in labels:
                path: KeyPath = ("probes", kind, position, "label")
                yield Contradiction(path, f"{str(label)!r} is there twice", "Give each its own label.")
            labels.add(str(label))
