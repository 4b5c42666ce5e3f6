"""What does the consumer use? CPU and memory of the target's processes at rest, under the load and while it drains.

The run is cut into blocks of time of one kind each; what a process used in them, with the items that came in and were
done, gives the CPU of an item (stats/consumption/item_demand.py). Which process is the consumer is not known: a row
tells each. The one that works on while the backlog drains, or whose use comes with the items done, is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from plimsoll.findings.evidence import RESOURCES, Evidence, as_data
from plimsoll.findings.resources import Means, means_of_steps, processes
from plimsoll.stats.consumption.item_demand import ItemDemand, item_demand
from plimsoll.words import amount_words, ms_words, number, share_words, size_words

if TYPE_CHECKING:
    from plimsoll.runs.reader import RunReader

QUESTION = "What does the consumer use?"
BLOCK_S, MOST_BLOCKS, LEAST_S = 5.0, 10, 2.0
MOST_NAMED = 3
KINDS = ("rest", "load", "drain")
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Block:
    """[from_s, to_s) of the run, all of one kind of KINDS, with items put in and done per second."""

    kind: str
    from_s: float
    to_s: float
    put_per_s: float
    done_per_s: float

    @property
    def seconds(self) -> float:
        """How long it is."""
        return self.to_s - self.from_s


@dataclass(frozen=True)
class Phases:
    """Seconds of the run: the load from its warm-up's end on, and when the backlog was gone (None: it was not)."""

    load_from_s: float
    measured_from_s: float
    load_to_s: float
    drained_at_s: float | None
    ended_s: float


def blocks_of(seconds: Array, put_in: Array, taken_out: Array, phases: Phases) -> list[Block]:
    """Blocks of BLOCK_S or longer, up to MOST_BLOCKS of a stretch; a stretch shorter than LEAST_S is left out.
    `put_in`, `taken_out`: items so far at `seconds`."""
    begin, end = float(seconds[0]), float(seconds[-1])
    gone = phases.drained_at_s if phases.drained_at_s is not None else end
    stretches = (
        ("rest", begin, phases.load_from_s),
        ("load", phases.measured_from_s, phases.load_to_s),
        ("drain", phases.load_to_s, gone),
        ("rest", gone, min(end, phases.ended_s)),
    )
    found = []
    for kind, start, stop in stretches:
        stop = min(stop, end)
        if stop - start < LEAST_S:
            continue
        edges = np.linspace(start, stop, max(1, min(MOST_BLOCKS, int((stop - start) // BLOCK_S))) + 1)
        came, went = (np.diff(np.interp(edges, seconds, one)) / np.diff(edges) for one in (put_in, taken_out))
        for place in range(len(edges) - 1):
            put, done = max(0.0, float(came[place])), max(0.0, float(went[place]))
            found.append(Block(kind, float(edges[place]), float(edges[place + 1]), put, done))
    return found


def means_of_blocks(run: RunReader, blocks: Sequence[Block]) -> list[Means]:
    """What the probes saw in each."""
    return means_of_steps(run.resources(), [{"measured_from_s": one.from_s, "end_s": one.to_s} for one in blocks])


def use_finding(run: RunReader, blocks: Sequence[Block]) -> dict[str, Any] | None:
    """The finding; None where no process of the target was seen."""
    means = means_of_blocks(run, blocks)
    labels = sorted({label for values in means for label in processes(values)})
    found = [one for label in labels if (one := _use_of(label, blocks, means)) is not None]
    if not found:
        return None
    found.sort(key=lambda one: one["load_cores"], reverse=True)
    cores = next((values["host"]["cores"] for values in means if "cores" in values.get("host", {})), None)
    names = tuple(f"process:{one['label']}" for one in found)
    seen = [block for block in blocks if block.kind == "load"]
    about = f"Use of the target's processes in {len(blocks)} blocks of time"
    span = (blocks[0].from_s, blocks[-1].to_s)
    return {
        "question": QUESTION,
        "answer": _answer(found, cores),
        "use": {"processes": found, "host_cores": cores, "items_per_s": _mean([(b.done_per_s, b) for b in seen])},
        "evidence": as_data([Evidence(len(found), "sources", RESOURCES, about, *span, names=names)]),
        "tables": [_table(found)],
        "notes": [
            "CPU of an item is what comes with it, above the use at rest. In a process that also answers the load's "
            "requests these are in it."
        ],
        "next": _next(found, run.path),
    }


def demand_of(label: str, blocks: Sequence[Block], means: Sequence[Means]) -> ItemDemand | None:
    """CPU of an item in that process; None where it cannot be told."""
    used = _used(label, blocks, means)
    if not used:
        return None
    cores, known = zip(*used, strict=True)
    rows = [(one.put_per_s, one.done_per_s, one.seconds) for one in known]
    put, done, seconds = zip(*rows, strict=True)
    return item_demand(cores, put, done, seconds)


def _used(label: str, blocks: Sequence[Block], means: Sequence[Means]) -> list[tuple[float, Block]]:
    seen = [(processes(values).get(label, {}).get("cpu_cores_used"), block)
            for block, values in zip(blocks, means, strict=True)]  # fmt: skip
    return [(cores, block) for cores, block in seen if cores is not None]


def _mean(found: Sequence[tuple[float, Block]]) -> float | None:
    total = sum(block.seconds for _, block in found)
    return sum(value * block.seconds for value, block in found) / total if total else None


def _use_of(label: str, blocks: Sequence[Block], means: Sequence[Means]) -> dict[str, Any] | None:
    used = _used(label, blocks, means)
    by_kind = {kind: _mean([(cores, block) for cores, block in used if block.kind == kind]) for kind in KINDS}
    if by_kind["load"] is None:
        return None
    demand = demand_of(label, blocks, means)
    memory = [processes(values).get(label, {}).get("rss_bytes") for values in means]
    return {
        "label": label,
        "rest_cores": by_kind["rest"],
        "load_cores": by_kind["load"],
        "drain_cores": by_kind["drain"],
        "cpu_ms_per_item": 1000 * demand.per_item if demand else None,
        "cpu_interval_ms": [1000 * end for end in demand.interval] if demand else None,
        "confidence": 0.95 if demand else None,
        "cpu_ms_of_doing_it": 1000 * demand.per_done if demand and demand.per_done is not None else None,
        "memory_highest_bytes": max((one for one in memory if one is not None), default=None),
    }


def _answer(found: Sequence[Mapping[str, Any]], host_cores: float | None) -> str:
    parts = []
    for one in found[:MOST_NAMED]:
        share = f" ({share_words(one['load_cores'] / host_cores)} of {number(host_cores)})" if host_cores else ""
        parts.append(f"{one['label']} {amount_words(one['load_cores'], 'core')}{share}, {_item_words(one)}")
    more = f"; {len(found) - MOST_NAMED} more processes are in the table" if len(found) > MOST_NAMED else ""
    return f"Under the load {'; '.join(parts)}{more}."


def _item_words(one: Mapping[str, Any]) -> str:
    if one["cpu_ms_per_item"] is None:
        return "which do not rise with the items"
    low, high = (ms_words(end) for end in one["cpu_interval_ms"])
    if one["cpu_interval_ms"][0] <= 0:
        return f"at most {high} of CPU an item (95%), which may be none"
    return f"{ms_words(one['cpu_ms_per_item'])} of CPU an item (95%: {low} to {high})"


def _table(found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    def cores(value: float | None) -> str:
        return "–" if value is None else number(value)

    rows = []
    for one in found:
        doing = "–" if one["cpu_ms_of_doing_it"] is None else ms_words(one["cpu_ms_of_doing_it"])
        memory = "–" if one["memory_highest_bytes"] is None else size_words(one["memory_highest_bytes"])
        cells = [cores(one[f"{kind}_cores"]) for kind in KINDS]
        rows.append([one["label"], *cells, _item_words(one), doing, memory])
    return {
        "title": "Use of the target's processes",
        "note": "Cores at rest, under the load and while the backlog drained. Doing it: the part of an item's CPU that "
        "goes with the items done, where they and those put in did not go together.",
        "columns": ["Process", "At rest", "Load", "Drain", "CPU of an item", "Doing it", "Memory at most"],
        "rows": rows,
        "words": ["Process", "CPU of an item"],
    }


def _next(found: Sequence[Mapping[str, Any]], run: Path) -> list[str]:
    if all(one["cpu_ms_per_item"] is None for one in found):
        return ["Load it for longer (--duration), or with more items a second, so that its CPU time shows."]
    return [f"What another load needs, in items per second (or hour): plimsoll size {quote(str(run))} --rate 198000/h"]
