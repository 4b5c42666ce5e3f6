"""What sizing rests on: CPU and memory of the target's processes at each throughput, and sizes by the number of items.

Of a capacity run each step is a point, of a hold each tenth of the held load. Steps that were overloaded, disturbed or
failing are left out, and probes that finished less than came, as an operation costs something else there; the first
seconds of each are its warm-up and no part of it. Sizes by items come from steps whose data volume is known, and from
the windows of runs of grow.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from plimsoll.findings.capacity.run_resources import ONE_THREAD_SHARE, counts
from plimsoll.findings.capacity.seen_overload import FELL_BEHIND
from plimsoll.findings.resources import Means, Step, host_of, hosts, means_of_steps, processes
from plimsoll.findings.validity.shared_peers import shared_words
from plimsoll.stats.growth.space import PerItem, per_item

if TYPE_CHECKING:
    from plimsoll.runs.reader import RunReader

BLOCK_S = 10.0
MOST_BLOCKS = 10
MEMORY, DISK = "memory", "disk"
HERE = ""
PASSING_CORES = 0.01


@dataclass(frozen=True)
class Part:
    """A process of the target (with its children) on a host (HERE: this one), or all of another host that tells no
    processes: `cores` and `memory` at `per_s` over `seconds`, `when_s` the middle of each, all of shape (n,).

    `one_thread`: most of its work is one thread of its only process; `processes`: at the highest throughput;
    `memory_highest`: of any second; `quota_cores`: what its control group may use, None without a quota;
    `put_per_s`: of a run of drain, the items put in while `per_s` were done. `memory_tops`: the most memory in each
    point, `level_so_far`: the highest level up to its end, `overloads_before` it; all three empty of a run of drain.
    """

    label: str
    host: str
    per_s: tuple[float, ...]
    cores: tuple[float, ...]
    memory: tuple[float, ...]
    seconds: tuple[float, ...]
    when_s: tuple[float, ...]
    one_thread: bool
    processes: float
    memory_highest: float
    quota_cores: float | None = None
    put_per_s: tuple[float, ...] = ()
    memory_tops: tuple[float, ...] = ()
    level_so_far: tuple[float, ...] = ()
    overloads_before: tuple[int, ...] = ()


@dataclass(frozen=True)
class Grown:
    """How a size grows with items. `kind`: MEMORY or DISK; `where`: the process, or the files."""

    kind: str
    where: str
    found: PerItem
    run: str


@dataclass
class SizingFacts:
    """`parts` of the target; `rates`: (level, throughput) of the steps that count, lowest first; `volume`: items that
    were there at the end of the run, None if not known; `grown`: sizes by items; `missing`: processes without CPU;
    `noun`: what is counted per second; `notes`: what a reader must know of the processes."""

    parts: list[Part]
    rates: list[tuple[float, float]]
    volume: float | None
    grown: list[Grown] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    noun: str = "operation"
    notes: list[str] = field(default_factory=list)


def sizing_facts(run: RunReader, steps: Sequence[Step]) -> SizingFacts:
    """Of a run of capacity or hold with these steps, in the JSON of its result."""
    points = [
        _with_loads_before(point, steps)
        for step in steps
        if counts(step) and not _fell_behind(step)
        for point in _points(run, step)
    ]
    means = means_of_steps(run.resources(), points)
    highest = highest_memory(run.resources(), points)
    volumes = [float(step["volume_end"]) for step in steps if step.get("volume_end") is not None]
    labels = sorted({label for values in means for label in processes(values)})
    quotas = {
        source.partition(":")[2]: values["cpu_limit_cores"]
        for step in means
        for source, values in step.items()
        if source.startswith("cgroup:") and "cpu_limit_cores" in values
    }
    parts = [_part(label, points, [processes(values) for values in means], highest) for label in labels]
    parts = [part and replace(part, quota_cores=quotas.get(part.label)) for part in parts]
    known = _without_passing([part for part in parts if part is not None])
    seen = {name for values in means for name in hosts(values)} - {part.host for part in known}
    named = [{f"all of @{name}": one for name, one in hosts(values).items()} for values in means]
    whole = [_part(f"all of @{name}", points, named, highest) for name in sorted(seen)]
    return SizingFacts(
        parts=[*known, *(part for part in whole if part is not None)],
        rates=_rates(points),
        volume=volumes[-1] if volumes else None,
        grown=_grown_by_steps(run, steps),
        missing=[label for label, part in zip(labels, parts, strict=True) if part is None],
        notes=list(shared_words(means)),
    )


def _fell_behind(step: Step) -> bool:
    """Whether a step that was not proven to be carried finished clearly less than came."""
    planned = step.get("planned_per_s") or 0.0
    return step["verdict"] != "good" and float(step["done_per_s"]) < FELL_BEHIND * planned


def _with_loads_before(point: Mapping[str, Any], steps: Sequence[Step]) -> dict[str, Any]:
    """The point with the highest level that was tried up to its end, and how many overloads came before it: a process
    seldom gives back the memory that these took."""
    begun = [step for step in steps if float(step["measured_from_s"]) < float(point["end_s"])]
    overloads = [step for step in begun if step["verdict"] == "bad" or step.get("given_up") or _fell_behind(step)]
    return {
        **point,
        "level_so_far": max((float(step["level"]) for step in begun), default=float(point["level"])),
        "overloads_before": len(overloads),
    }


def _rates(points: Sequence[Mapping[str, Any]]) -> list[tuple[float, float]]:
    """(level, throughput), of the steps that were proven to be carried where a level has some, as what is carried is
    told of these."""
    by_level: dict[float, list[Mapping[str, Any]]] = defaultdict(list)
    for point in points:
        by_level[float(point["level"])].append(point)
    rates = []
    for level, found in sorted(by_level.items()):
        proven = [point for point in found if point["verdict"] == "good"] or found
        lengths = [float(point["end_s"]) - float(point["measured_from_s"]) for point in proven]
        done = sum(float(point["done_per_s"]) * length for point, length in zip(proven, lengths, strict=True))
        rates.append((level, done / sum(lengths)))
    return rates


def _without_passing(parts: Sequence[Part]) -> list[Part]:
    """Without processes that were there for a part of the run and did next to nothing: the points of the others, which
    are added up where all were seen, would be lost for them."""
    most = max((len(part.per_s) for part in parts), default=0)
    return [part for part in parts if len(part.per_s) == most or max(part.cores) >= PASSING_CORES]


def grown_by_windows(run: RunReader, windows: Sequence[Mapping[str, Any]], before: float) -> list[Grown]:
    """Sizes by items of a run of grow: `windows` are its events `grow_window` with their `second`; `before`: items that
    were there at its start."""
    ends = [(float(one["second"]), before + float(one["loaded"])) for one in windows if "second" in one]
    return _fitted(_readings(run.resources(), ends), str(run.path))


def _grown_by_steps(run: RunReader, steps: Sequence[Step]) -> list[Grown]:
    """The last reading of each step, by the data volume at its end."""
    known = [(float(step["end_s"]), step.get("volume_end")) for step in steps]
    ends = sorted((end, float(items)) for end, items in known if items is not None)
    return _fitted(_readings(run.resources() if ends else (), ends), str(run.path))


def _readings(
    rows: Iterable[Mapping[str, Any]], ends: Sequence[tuple[float, float]]
) -> dict[tuple[str, str], list[tuple[float, float]]]:
    """(items, size) at each of the `ends` (second, items): the last reading before it."""
    readings: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    last: dict[tuple[str, str], float] = {}
    place = 0
    for row in rows:
        second = float(row.get("second", -1))
        while place < len(ends) and second >= ends[place][0]:
            for key, size in last.items():
                readings[key].append((ends[place][1], size))
            place += 1
        last |= _sizes(row)
    for _, items in ends[place:]:
        for key, size in last.items():
            readings[key].append((items, size))
    return readings


def _fitted(readings: Mapping[tuple[str, str], Sequence[tuple[float, float]]], run: str) -> list[Grown]:
    found = []
    for (kind, where), pairs in sorted(readings.items()):
        fitted = per_item([items for items, _ in pairs], [size for _, size in pairs])
        if fitted is not None:
            found.append(Grown(kind, where, fitted, run))
    return found


def _sizes(row: Mapping[str, Any]) -> dict[tuple[str, str], float]:
    """{(kind, where): bytes} of a row."""
    source, values = str(row.get("source")), row.get("values") or {}
    kind, _, name = source.partition(":")
    if kind == "process" and "rss_bytes" in values:
        return {(MEMORY, name): float(values["rss_bytes"])}
    if kind == "host" and name and "memory_used_bytes" in values:
        return {(MEMORY, f"all of @{name}"): float(values["memory_used_bytes"])}
    if kind == "files" and "size_bytes" in values:
        return {(DISK, name): float(values["size_bytes"])}
    return {}


def _points(run: RunReader, step: Step) -> list[dict[str, Any]]:
    """The step, or the blocks of a held load, each with its own throughput."""
    start, end = float(step["measured_from_s"]), float(step["end_s"])
    blocks = min(MOST_BLOCKS, int((end - start) // BLOCK_S))
    if step.get("step_kind") not in ("expected", "baseline") or blocks < 2:
        return [dict(step)]
    edges = [start + (end - start) * place / blocks for place in range(blocks + 1)]
    done = [[0.0, 0.0] for _ in range(blocks)]
    for snapshot in run.snapshots(metrics=()):
        if start <= snapshot.second < end:
            place = min(blocks - 1, int((snapshot.second - start) * blocks / (end - start)))
            done[place][0] += snapshot.done
            done[place][1] += 1
    return [
        {**step, "measured_from_s": edges[place], "end_s": edges[place + 1], "done_per_s": count / seconds}
        for place, (count, seconds) in enumerate(done)
        if seconds and count
    ]


def highest_memory(rows: Iterable[Mapping[str, Any]], points: Sequence[Step]) -> dict[str, list[float]]:
    """The most memory of each process in the seconds of each point, 0 where it was not read."""
    windows = [(float(one["measured_from_s"]), float(one["end_s"])) for one in points]
    found: dict[str, list[float]] = {}
    for row in rows:
        second = float(row.get("second", -1))
        places = [place for place, (start, end) in enumerate(windows) if start <= second < end]
        for (kind, where), size in _sizes(row).items() if places else ():
            if kind == MEMORY:
                tops = found.setdefault(where, [0.0] * len(windows))
                for place in places:
                    tops[place] = max(tops[place], size)
    return found


def _part(
    label: str, points: Sequence[Step], means: Sequence[Means], highest: Mapping[str, Sequence[float]]
) -> Part | None:
    """`means`: of each point {label: values}; `highest`: the most memory of each process in each point."""
    rows = []
    tops = highest.get(label, [0.0] * len(points))
    for point, values, most in zip(points, means, tops, strict=True):
        here = values.get(label, {})
        if "cpu_cores_used" in here:
            seconds = point["end_s"] - point["measured_from_s"]
            middle = (point["end_s"] + point["measured_from_s"]) / 2
            memory = here.get("rss_bytes", here.get("memory_used_bytes", 0.0))
            before = (max(most, memory), point["level_so_far"], point["overloads_before"])
            rows.append((point["done_per_s"], here["cpu_cores_used"], memory, seconds, middle, *before, here))
    if not rows:
        return None
    rows.sort(key=lambda row: row[0])
    top = rows[-1][-1]
    busiest, used = top.get("busiest_thread_cores_used"), top["cpu_cores_used"]
    alone = top.get("processes", 1.0) <= 1
    per_s, cores, sizes, seconds_of, when, most_in, levels, overloads, _ = (
        tuple(column) for column in zip(*rows, strict=True)
    )
    return Part(
        label=label,
        host=host_of(label, top),
        per_s=per_s,
        cores=cores,
        memory=sizes if all(sizes) else (),
        seconds=seconds_of,
        when_s=when,
        one_thread=bool(alone and busiest is not None and used > 0 and busiest >= ONE_THREAD_SHARE * used),
        processes=top.get("processes", 1.0),
        memory_highest=max(tops),
        memory_tops=most_in,
        level_so_far=levels,
        overloads_before=overloads,
    )
