"""What sizing rests on where the run is one of drain: items instead of operations, and the disk that its index takes.

A part holds a point for each block of the run (drain/consumer_use.py): items done per second, and those put in.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from plimsoll.findings.capacity.run_resources import ONE_THREAD_SHARE
from plimsoll.findings.drain.consumer_use import blocks_of, means_of_blocks
from plimsoll.findings.drain.finding import drain_facts, phases_of
from plimsoll.findings.drain.series import consumer_series
from plimsoll.findings.resources import host_of, processes
from plimsoll.findings.sizing.facts import DISK, MEMORY, Grown, Part, SizingFacts, highest_memory
from plimsoll.findings.sizing.finding import common_of_sizing, sizing_finding
from plimsoll.findings.sizing.needs import wanted_of
from plimsoll.stats.growth.space import per_item

if TYPE_CHECKING:
    from plimsoll.runs.reader import RunReader

INDEX = "index of the consumer"
HELD = "the load that was held"


def drain_sizing(run: RunReader, main: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The finding of the hardware for the items of the load that was held, in a list; `main`: the run's first finding.
    None where no process was seen beside the consumer, or nothing was put in."""
    facts = sizing_facts_of_drain(run)
    wanted = wanted_of(facts, is_open=True, level=facts.rates[-1][0], chosen=HELD) if facts.rates else None
    if wanted is None or not facts.parts:
        return []
    unit = str(main["level_unit"])
    return [common_of_sizing("drain", main, unit, str(run.path)) | sizing_finding(main, facts, wanted, unit)]


def sizing_facts_of_drain(run: RunReader) -> SizingFacts:
    """Of a run of drain; no parts where neither the consumer nor a process was seen."""
    facts = drain_facts(run)
    seen = consumer_series(run, facts)
    if seen is None:
        return SizingFacts([], [], None, noun="item")
    blocks = blocks_of(seen.seconds, seen.put_in, seen.taken_out, phases_of(facts))
    load = [one for one in blocks if one.kind == "load"]
    means = means_of_blocks(run, blocks)
    points = [{"measured_from_s": one.from_s, "end_s": one.to_s} for one in blocks]
    highest = highest_memory(run.resources(), points)
    parts: list[Part] = []
    missing: list[str] = []
    grown: list[Grown] = []
    for label in sorted({label for values in means for label in processes(values)}):
        rows = [
            (one, found)
            for one, values in zip(blocks, means, strict=True)
            if "cpu_cores_used" in (found := processes(values).get(label, {}))
        ]
        if len(rows) < len(blocks) or not load:
            missing.append(label)
            continue
        rows.sort(key=lambda row: row[0].done_per_s)
        top = max(rows, key=lambda row: row[1]["cpu_cores_used"])[1]
        busiest, used = top.get("busiest_thread_cores_used"), top["cpu_cores_used"]
        sizes = tuple(found.get("rss_bytes", 0.0) for _, found in rows)
        parts.append(
            Part(
                label=label,
                host=host_of(label, top),
                per_s=tuple(one.done_per_s for one, _ in rows),
                cores=tuple(found["cpu_cores_used"] for _, found in rows),
                memory=sizes if all(sizes) else (),
                seconds=tuple(one.seconds for one, _ in rows),
                when_s=tuple((one.from_s + one.to_s) / 2 for one, _ in rows),
                one_thread=bool(
                    top.get("processes", 1.0) <= 1
                    and busiest is not None
                    and used > 0
                    and busiest >= ONE_THREAD_SHARE * used
                ),
                processes=top.get("processes", 1.0),
                memory_highest=max(highest.get(label, [0.0])),
                put_per_s=tuple(one.put_per_s for one, _ in rows),
            )
        )
        at_ends = sorted((one.to_s, size) for (one, _), size in zip(rows, sizes, strict=True) if size)
        done = np.interp([at for at, _ in at_ends], seen.seconds, seen.taken_out)
        _add(grown, MEMORY, label, done, [size for _, size in at_ends], run)
    if seen.index is not None:
        at, size = seen.index
        _add(grown, DISK, INDEX, np.interp(at, seen.seconds, seen.taken_out), size, run)
    seconds = sum(one.seconds for one in load)
    rate = sum(one.put_per_s * one.seconds for one in load) / seconds if seconds else 0.0
    rates = [(float(facts["level"]), rate)] if rate > 0 else []
    return SizingFacts(parts, rates, None, grown=grown, missing=missing, noun="item")


def _add(grown: list[Grown], kind: str, where: str, items: Any, size: Any, run: RunReader) -> None:
    found = per_item(items, size)
    if found is not None:
        grown.append(Grown(kind, where, found, str(run.path)))
