"""Mean values of every probe over the seconds of a step."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from plimsoll.runs.format.quick_json import NUMBERS
from plimsoll.words import count_words

if TYPE_CHECKING:
    from plimsoll.runs.reader import RunReader

TARGET_CORES = "target_cores"
EVENTS = ("oom_kills_per_s",)
FREE = "free_"  # values of TARGET_CORES: which processes may use other cores as well
OTHERS = "connections_of_others"
OWN_CORES = "the target's"
LOCAL_VALUE = "restarts"
LEAST_OTHERS = 0.5  # connections at work, on average
LEAST_OWN = 0.4  # of the work of cores that the target must have done, for them to be full of its work
Means = dict[str, dict[str, float]]
Row = Mapping[str, Any]
Step = Mapping[str, Any]


def says_nothing(step: Step) -> bool:
    """Whether a step was given up, or its host or the target itself changed too much for it to tell of its level."""
    return bool(step.get("given_up") or step.get("disturbed") or step.get("unsteady"))


def means_of_steps(rows: Iterable[Row], steps: Sequence[Step]) -> list[Means]:
    """For each step {source: {value name: mean}} over [measured_from_s, end_s); rows are read once. What happens once
    and not all the time (EVENTS) counts from the step's begin: a process that is killed while it warms up was killed
    by that load."""
    sums: list[dict[str, dict[str, list[float]]]] = [
        defaultdict(lambda: defaultdict(lambda: [0.0, 0.0])) for _ in steps
    ]
    windows = [
        (
            math.floor(float(step.get("start_s", step["measured_from_s"]))),
            float(step["measured_from_s"]),
            float(step["end_s"]),
        )
        for step in steps
    ]
    for row in rows:
        second, values = row.get("second"), row.get("values")
        if not isinstance(second, NUMBERS) or not isinstance(values, Mapping):
            continue
        for place, (start_s, measured_s, end_s) in enumerate(windows):
            if measured_s <= second < end_s:
                _add(sums[place][str(row.get("source"))], values)
            elif start_s <= second < measured_s:
                happened = {name: value for name, value in values.items() if name in EVENTS and value}
                if happened:
                    _add(sums[place][str(row.get("source"))], happened)
    return [
        {source: {name: total / count for name, (total, count) in values.items()} for source, values in step.items()}
        for step in sums
    ]


def means_of_sockets(main: Mapping[str, Any], run: RunReader) -> list[Means]:
    """The means of each measured step of a run's main finding, of what probes of sockets saw. `run`: a RunReader."""
    steps = [step for step in main.get("steps") or () if step.get("measured_from_s") is not None]
    if not steps:
        return []
    rows = (row for row in run.resources() if str(row.get("source")).startswith("sockets:"))
    return means_of_steps(rows, steps)


def _add(sums: dict[str, list[float]], values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        if isinstance(value, NUMBERS):
            sums[name][0] += value
            sums[name][1] += 1


def processes(means: Means) -> dict[str, dict[str, float]]:
    """The target's processes: {label: values}."""
    return {source.partition(":")[2]: values for source, values in means.items() if source.startswith("process:")}


def cpu_ms_of_processes(means: Means, per_s: float) -> dict[str, float]:
    """CPU in ms that each process of the target uses for an operation, of which `per_s` (> 0) are done in a second: the
    demand of the utilisation law (Denning and Buzen 1978)."""
    return {
        label: 1000 * values["cpu_cores_used"] / per_s
        for label, values in processes(means).items()
        if "cpu_cores_used" in values
    }


def core_speed(means: Means) -> float:
    """Pieces of work per CPU second of the target's cores; 0 where nobody knows."""
    return means.get("core_speed", {}).get("work_per_cpu_s", 0.0)


def shared_peers(means: Means) -> dict[str, float]:
    """Peers that work for others as well: {label: connections of others that were at work}."""
    return {
        source.partition(":")[2]: values[OTHERS]
        for source, values in means.items()
        if source.startswith("sockets:") and values.get(OTHERS, 0.0) >= LEAST_OTHERS
    }


def hosts(means: Means) -> dict[str, dict[str, float]]:
    """Other hosts than this one, whose metrics were read: {name: values}, named as this host's."""
    return {source.partition(":")[2]: values for source, values in means.items() if source.startswith("host:")}


def host_of(label: str, values: Mapping[str, Any]) -> str:
    """The other host on which a process is, by its label and the `values` that were read of it; empty for this one. A
    label of this host may have an @ as well (celery@web): only the process probe, which reads this host's processes,
    tells of restarts."""
    return "" if LOCAL_VALUE in values or "@" not in label else label.rpartition("@")[2]


def target_cores(means: Means, *, within: bool = False) -> float | None:
    """CPU cores of this host that the target's processes used, or only those that may use no more than the target's
    cores; None without a process probe here."""
    free = means.get(TARGET_CORES, {}) if within else {}
    here = (
        values
        for label, values in processes(means).items()
        if not host_of(label, values) and f"{FREE}{label}" not in free
    )
    used = [values["cpu_cores_used"] for values in here if "cpu_cores_used" in values]
    return sum(used) if used else None


def are_cores_of_others(means: Means, *, within: bool = False) -> bool:
    """Whether what fills the host's cores, or `within` those that the target may use, is not the target's work; not
    where that is not known."""
    cores, own = means.get(TARGET_CORES, {}), target_cores(means, within=within)
    used = means.get("host", {}).get("cpu_cores_used")
    if within:
        used = cores["usable_cores"] * cores["cpu_share"] if {"usable_cores", "cpu_share"} <= cores.keys() else None
    return used is not None and own is not None and own < LEAST_OWN * used


def target_cores_words(count: float) -> str:
    """The cores that the target may use, where those are fewer than the host has."""
    return f"{OWN_CORES} one core" if count == 1 else f"{OWN_CORES} {count_words(count)} cores"


def saw_target(shares: Iterable[str]) -> bool:
    """Whether sources of `cpu_shares` are of the target: its processes, or other hosts than the generator's."""
    return bool(set(shares) - {"host", "generator"})


def cpu_shares(means: Means, generator_share: float | None) -> dict[str, float]:
    """Utilisation per source for the charts: host of all cores, processes in cores, generator of its threads."""
    shares: dict[str, float] = {}
    if "cpu_share" in means.get("host", {}):
        shares["host"] = means["host"]["cpu_share"]
    shares |= {name: values["cpu_share"] for name, values in hosts(means).items() if "cpu_share" in values}
    for label, values in processes(means).items():
        if "cpu_cores_used" in values:
            shares[label] = values["cpu_cores_used"]
    if generator_share is not None:
        shares["generator"] = generator_share
    return shares
