"""The resources whose demand a capacity run shows: what each step used of them, and where each ends.

    thread   a process most of whose CPU time is one thread's ends at one core, however many there are
    cpu      all processes of a host share its cores: their demands add up (shared budget)
    target_cores    likewise those cores that the target may use, where that are fewer
    disk     the busiest disk ends at 100%

Steps that were overloaded, disturbed or failing are left out: there an operation costs something else. A use that does
not rise with throughput is no demand of the operations. Other hosts count where their metrics were read (host:<name>).
What a run does not probe it cannot name: locks, pools, the network.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.findings.evidence import RESOURCES, Evidence
from plimsoll.findings.resources import (
    TARGET_CORES,
    Means,
    Step,
    host_of,
    hosts,
    processes,
    target_cores_words,
)
from plimsoll.stats.throughput.demand import fit_line
from plimsoll.words import counted_words, number

ONE_THREAD_SHARE = 0.8
LEAST_USE = 0.03
LEAST_SECONDS = 2.0
MOST_FAILED = 0.05  # of the requests: half of what the cost of an operation may be off by (findings/sizing/finding.py)


@dataclass(frozen=True)
class Resource:
    """`used` of the `ceiling` (cores, or 1 for the whole of a disk) at `levels` with `per_s` operations per second over
    `seconds`, all of shape (n,), lowest throughput first. `parts`: who used it at the highest, by label."""

    name: str
    where: str
    ceiling: float
    levels: tuple[float, ...]
    per_s: tuple[float, ...]
    used: tuple[float, ...]
    seconds: tuple[float, ...]
    parts: Mapping[str, float]
    is_thread: bool = False

    @property
    def unit(self) -> str:
        """Of `used` and `ceiling`."""
        return "ratio" if self.name.startswith("disk") else "cores"

    @property
    def is_of_one_level(self) -> bool:
        """Whether it was seen at one level alone: what the host does without any load would pass for demand."""
        return len(self.used) < 2

    @property
    def demand_s(self) -> float:
        """Seconds of the whole resource per operation at the highest throughput."""
        return self.used[-1] / self.ceiling / self.per_s[-1]

    @property
    def full_per_s(self) -> float:
        """Throughput that would fill it if the demand of the highest throughput stays."""
        return 1 / self.demand_s


def resources_of(
    steps: Sequence[Step], means: Sequence[Means], *, same_host: bool | None, kept_apart: bool
) -> list[Resource]:
    """The resources with a demand, largest first. `kept_apart`: the target may not use all cores of the host, so that
    their end is not known; `same_host`: whether the generator's host is the target's."""
    seen = [(step, values) for step, values in zip(steps, means, strict=True) if counts(step) and values]
    found = []
    labels = sorted({label for _, values in seen for label in processes(values)})
    for label in labels:
        points = [(step, _thread(values, label)) for step, values in seen]
        if _is_one_thread(label, seen):
            words = f"the one busy thread of {label} (one core)"
            found.append(_resource(label, words, 1.0, points, {}, is_thread=True))
    labels = [label for label in labels if not _is_elsewhere(label, seen)]
    if labels and same_host is not False and not kept_apart:
        cores = next((values["host"]["cores"] for _, values in seen if "cores" in values.get("host", {})), None)
        if cores:
            shares = [(step, _host_cores(values, cores)) for step, values in seen]
            found.append(_resource("cpu", f"the host's {counted_words(cores, 'core')}", cores, shares, _parts(seen)))
    if labels:
        found.append(_target_cores(labels, seen))
    if labels and same_host is not False:
        disk = [(step, values.get("host", {}).get("disk_busy_share")) for step, values in seen]
        found.append(_resource("disk", "the host's busiest disk", 1.0, disk, {}))
    for name in sorted({name for _, values in seen for name in hosts(values)}):
        found += _of_other_host(name, seen)
    return sorted((one for one in found if one is not None), key=lambda one: one.full_per_s)


def _target_cores(labels: Sequence[str], seen: Sequence[tuple[Step, Means]]) -> Resource | None:
    """The cores that several processes of the target share and may not leave; of one process its thread tells."""
    known = [values.get(TARGET_CORES, {}) for _, values in seen]
    cores = next((values["usable_cores"] for values in known if "usable_cores" in values), None)
    if cores is None or len(labels) < 2:
        return None
    shares = [(step, values.get(TARGET_CORES, {}).get("cpu_share")) for step, values in seen]
    used = [(step, None if share is None else share * cores) for step, share in shares]
    return _resource(TARGET_CORES, target_cores_words(cores), cores, used, {})


def _of_other_host(name: str, seen: Sequence[tuple[Step, Means]]) -> list[Resource | None]:
    """Cores and the busiest disk of a host whose metrics were read; its own processes have @ and its name."""
    points = [(step, hosts(values).get(name, {})) for step, values in seen]
    cores = next((values["cores"] for _, values in points if "cores" in values), None)
    found: list[Resource | None] = []
    if cores:
        used = [(step, values.get("cpu_cores_used")) for step, values in points]
        parts = _parts_of(name, seen)
        found.append(
            _resource(f"cpu@{name}", f"the {counted_words(cores, 'core')} of the host {name}", cores, used, parts)
        )
    disk = [(step, values.get("disk_busy_share")) for step, values in points]
    found.append(_resource(f"disk@{name}", f"the busiest disk of the host {name}", 1.0, disk, {}))
    return found


def _parts_of(name: str, seen: Sequence[tuple[Step, Means]]) -> dict[str, float]:
    """Cores used on that host at the highest throughput by each process that tells, and by the rest."""
    _, values = max(seen, key=lambda one: float(one[0]["done_per_s"]))
    here = {label: one for label, one in processes(values).items() if host_of(label, one) == name}
    parts = {label: one["cpu_cores_used"] for label, one in here.items() if "cpu_cores_used" in one}
    whole = hosts(values).get(name, {}).get("cpu_cores_used", 0.0)
    parts["the rest"] = max(0.0, whole - sum(parts.values()))
    return parts


def _is_elsewhere(label: str, seen: Sequence[tuple[Step, Means]]) -> bool:
    """Whether the process is on another host."""
    return all(host_of(label, processes(values)[label]) for _, values in seen if label in processes(values))


def counts(step: Step) -> bool:
    """Whether what an operation costs is told by this step."""
    seconds = step["end_s"] - step["measured_from_s"]
    fine = (
        step["verdict"] != "bad" and not step.get("disturbed") and not step.get("unsteady") and not step.get("given_up")
    )
    healthy = (step.get("error_share") or 0.0) <= MOST_FAILED
    return bool(fine and healthy and seconds >= LEAST_SECONDS and (step.get("done_per_s") or 0.0) > 0)


def _thread(values: Means, label: str) -> float | None:
    return processes(values).get(label, {}).get("busiest_thread_cores_used")


def _is_one_thread(label: str, seen: Sequence[tuple[Step, Means]]) -> bool:
    """Whether at the highest throughput one thread did most of the work of the only process."""
    _, values = max(seen, key=lambda one: float(one[0]["done_per_s"]))
    here = processes(values).get(label, {})
    busiest, used = here.get("busiest_thread_cores_used"), here.get("cpu_cores_used", 0.0)
    return busiest is not None and here.get("processes", 1.0) <= 1 and used > 0 and busiest >= ONE_THREAD_SHARE * used


def _host_cores(values: Means, cores: float) -> float | None:
    host = values.get("host", {})
    share = host.get("cpu_share")
    return host.get("cpu_cores_used", share * cores if share is not None else None)


def _parts(seen: Sequence[tuple[Step, Means]]) -> dict[str, float]:
    """Cores used at the highest throughput by each process of the target, by the generator and by the rest."""
    step, values = max(seen, key=lambda one: float(one[0]["done_per_s"]))
    cores = values.get("host", {}).get("cores", 0.0)
    whole = _host_cores(values, cores) or 0.0
    here = {label: one for label, one in processes(values).items() if not host_of(label, one)}
    parts = {label: one["cpu_cores_used"] for label, one in here.items() if "cpu_cores_used" in one}
    parts["generator"] = float(step.get("generator_cores") or 0.0)
    parts["the rest"] = max(0.0, whole - sum(parts.values()))
    return parts


def _resource(
    name: str,
    where: str,
    ceiling: float,
    points: Sequence[tuple[Step, float | None]],
    parts: Mapping[str, float],
    is_thread: bool = False,
) -> Resource | None:
    """Points of one level put together by time; None where use does not rise with throughput, or is next to none."""
    levels: dict[float, list[tuple[float, float, float]]] = {}
    for step, used in points:
        if used is not None and used > 0:
            seconds = step["end_s"] - step["measured_from_s"]
            levels.setdefault(step["level"], []).append((seconds, step["done_per_s"], used))
    rows: list[tuple[float, float, float, float]] = []
    for level, parts_of in levels.items():
        total = sum(seconds for seconds, _, _ in parts_of)
        rate = sum(seconds * per_s for seconds, per_s, _ in parts_of) / total
        rows.append((rate, level, sum(seconds * used for seconds, _, used in parts_of) / total, total))
    rows.sort()
    if not rows or rows[-1][2] < LEAST_USE * ceiling:
        return None
    per_s, at, used_at, seconds_at = (tuple(column) for column in zip(*rows, strict=True))
    line = fit_line(used_at, per_s)
    if len(rows) > 1 and (line is None or line.per_request_s <= 0):
        return None
    if len(rows) > 2 and line is not None and line.interval is not None and line.interval[0] <= 0:
        return None
    return Resource(name, where, ceiling, at, per_s, used_at, seconds_at, dict(parts), is_thread)


def evidence_of(resource: Resource, unit: str) -> Evidence:
    """Its measured points: at how many levels its use and the throughput are known."""
    span = (min(resource.levels), max(resource.levels))
    about = f"Use of {resource.where} over {number(sum(resource.seconds))} s"
    return Evidence(len(resource.levels), "points", RESOURCES, about, levels=span, level_unit=unit)


def as_json(resource: Resource) -> dict[str, Any]:
    """The resource with its measured points: utilisation as a share of its ceiling, demand in ms of the whole."""
    rows = zip(resource.levels, resource.per_s, resource.used, resource.seconds, strict=True)
    return {
        "name": resource.name,
        "where": resource.where,
        "ceiling": resource.ceiling,
        "unit": resource.unit,
        "demand_ms": 1000 * resource.demand_s,
        "full_per_s": resource.full_per_s,
        "cores_by_part": dict(resource.parts),
        "measured": [
            {
                "level": level,
                "per_s": per_s,
                "utilisation": used / resource.ceiling,
                "demand_ms": 1000 * used / resource.ceiling / per_s,
                "seconds": seconds,
            }
            for level, per_s, used, seconds in rows
        ],
    }
