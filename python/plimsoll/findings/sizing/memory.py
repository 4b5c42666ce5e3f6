"""What memory a load takes, by the steps that tried no more than it.

A process seldom gives back what a higher load, or an overload, made it take. So a step tells the memory of a load only
where no higher level and no overload came before it. Memory that is the same at all loads, or that lies along a line
through them (stats/growth/space.py), needs no such care.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from plimsoll.findings.sizing.facts import Part, SizingFacts
from plimsoll.stats.growth.space import FEWEST_LEVELS, WithLoad, are_different_loads, with_load
from plimsoll.words import size_words

ABOUT = 1.1  # times the load: still that load, as steps scatter by chance
REACHED = 0.8  # of the load: what was seen from there on is the memory of that load
MOST_BY_ITSELF = 0.5  # of the growth that came while no new load was tried: from there on it is growth with time


@dataclass(frozen=True)
class MemoryAt:
    """Bytes `used` at a load, with an interval where a line tells it; else `why` it cannot be told. `after_more`: it
    was seen at that load, but after an overload or a higher load."""

    used: float = 0.0
    interval: tuple[float, float] | None = None
    why: str = ""
    after_more: bool = False


def memory_at(part: Part, per_s: float, facts: SizingFacts, level: float | None) -> MemoryAt:
    """What the part takes at `per_s`, which is `level` (None where a throughput was asked for)."""
    grown = memory_growth(part)
    top = max(part.per_s)
    if grown.kind == "load":
        found = grown.at(per_s)
        assert found is not None
        used = max(found[0], part.memory_highest if per_s >= top else 0.0)
        return MemoryAt(used, (min(found[1][0], used), max(found[1][1], used)))
    if grown.kind == "none" or (per_s <= top and (grown.kind == "time" or not part.memory_tops)):
        return MemoryAt(part.memory_highest)
    if per_s <= top:
        return _by_steps_before_more(part, level_of(per_s, facts) if level is None else level)
    if grown.kind == "time":
        return MemoryAt(why=f"the memory of {part.label} grew with time, not with load")
    if grown.kind == "kept":
        return MemoryAt(why=f"the memory of {part.label} was seen at no such load, and it keeps what a load takes")
    if are_different_loads(part.per_s):
        return MemoryAt(why=f"the memory of {part.label} grew while load rose with time; which of them it was is open")
    return MemoryAt(why=f"the memory of {part.label} was seen at fewer than {FEWEST_LEVELS} loads")


def _by_steps_before_more(part: Part, level: float) -> MemoryAt:
    """By the steps before which nothing above about this level was tried; below the lowest level that of it, which is
    no less."""
    rows = list(zip(part.level_so_far, part.overloads_before, part.memory_tops, strict=True))
    calm = [(so_far, size) for so_far, overloads, size in rows if not overloads]
    if not calm:
        return MemoryAt(why=f"the memory of {part.label} was seen after an overload only", after_more=True)
    lowest = min(so_far for so_far, _ in calm)
    upto = max(ABOUT * level, lowest)
    told = [(so_far, size) for so_far, size in calm if so_far <= upto]
    most = max(size for _, size in told)
    if max(so_far for so_far, _ in told) >= REACHED * level:
        return MemoryAt(most)
    spread = f"{size_words(most)} before, {size_words(part.memory_highest)} at most after"
    return MemoryAt(
        why=f"the memory of {part.label} at this load was seen only after an overload or more load, and it keeps what "
        f"those took ({spread})",
        after_more=True,
    )


def level_of(per_s: float, facts: SizingFacts) -> float:
    """The level of a throughput, by those measured; below and beyond them in proportion to the nearest."""
    pairs = sorted((rate, level) for level, rate in facts.rates)
    rates, levels = [rate for rate, _ in pairs], [level for _, level in pairs]
    if per_s <= rates[0]:
        return levels[0] * per_s / rates[0]
    if per_s >= rates[-1]:
        return levels[-1] * per_s / rates[-1]
    return float(np.interp(per_s, rates, levels))


@dataclass(frozen=True)
class Growth:
    """How memory grew: the kinds of stats/growth/space.py, or "kept": with loads and overloads, and not given back."""

    kind: str
    fitted: WithLoad

    def at(self, per_s: float) -> tuple[float, tuple[float, float]] | None:
        """(size, its interval) along the line; None unless kind is "load"."""
        return self.fitted.at(per_s)


def memory_growth(part: Part) -> Growth:
    """How its memory grew over the steps."""
    fitted = with_load(part.memory, part.per_s, part.when_s)
    is_kept = fitted.kind == "time" and part.memory_tops and not _grows_by_itself(part)
    return Growth("kept" if is_kept else fitted.kind, fitted)


def _grows_by_itself(part: Part) -> bool:
    """Whether most of the growth came while no higher level, and no further overload, was tried."""
    rows = sorted(zip(part.when_s, part.memory, part.level_so_far, part.overloads_before, strict=True))
    whole = by_itself = 0.0
    for (_, size, level, overloads), (_, next_size, next_level, next_overloads) in pairwise(rows):
        whole += next_size - size
        if (level, overloads) == (next_level, next_overloads):
            by_itself += next_size - size
    return whole > 0 and by_itself >= MOST_BY_ITSELF * whole


def growth_words(part: Part) -> str:
    """How much memory at most, and what it grew with."""
    if not part.memory:
        return "not known"
    grown, highest = memory_growth(part), size_words(part.memory_highest)
    if grown.kind == "load":
        base, there = grown.at(0.0), grown.at(max(part.per_s))
        assert base is not None and there is not None
        slope = (there[0] - base[0]) / max(part.per_s)
        return f"{highest} at most; {size_words(base[0])} and {size_words(slope)} per operation/s"
    if grown.kind == "time":
        return f"{highest} at most; grew by {size_words(grown.fitted.over_time)} over the run, whatever the load"
    if grown.kind == "kept":
        low = size_words(min(part.memory))
        after = "overloads and higher loads" if any(part.overloads_before) else "higher loads"
        return f"{highest} at most, from {low}; it keeps what {after} took"
    if grown.kind == "none":
        return f"{highest} at most; no growth with load"
    return f"{highest} at most; growth cannot be told"


def next_steps_for_memory(facts: SizingFacts, sizes: Any) -> list[str]:
    """What would tell the memory that cannot be told."""
    steps = []
    parts = [part for part in facts.parts if part.memory]
    if any(memory_growth(part).kind == "time" for part in parts):
        steps.append("Hold the load for longer (plimsoll hold) to see where the memory that grew with time ends.")
    if any(_is_hidden(one) for one in sizes):
        steps.append("Start the target afresh and hold that load (plimsoll hold): its memory then holds no overload.")
    return steps


def _is_hidden(size: Mapping[str, Any]) -> bool:
    return any(one["memory"]["after_more_load"] for one in size["hosts"])
