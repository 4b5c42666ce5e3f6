"""Whether more cores lift what stopped the run that a size rests on.

A process that uses no more than one core, a pool, a lock or another service stays as it is on larger hardware. Then a
size needs more processes, or more of that resource, and the cores are only what these use. Cores lift a limit where all
cores of a host, or a quota, were full. Where nothing was found, or nothing stopped it, nobody knows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.findings.capacity.seen_overload import overload_of, overload_words
from plimsoll.findings.sizing.facts import Part
from plimsoll.findings.sizing.needs import HELD_WITHIN, TIMES, Wanted, cores_of
from plimsoll.words import amount_words, number

MORE_THAN_ONE_CORE = 1.06  # cores for each process: it was seen to use more than one
OF_HARDWARE = ("cpu", "cpu_quota", "memory", "memory_limit")
OF_NO_RESOURCE = ("none", "unknown", "errors", "generator", "leak", "periodic_job")


@dataclass(frozen=True)
class Stopped:
    """What stopped the run at `carried_per_s`; None where nothing did, `kind` "none". `one_core`: label of the process
    that uses no more than a core; `seems`: it was only nearly full, at the highest level that was tried; `size`: of a
    pool, how many connections it has; `behind`: no level was proven to be too much, but it fell behind in a short step,
    in words, where it finished `behind_per_s`."""

    kind: str
    where: str
    carried_per_s: float | None = None
    one_core: str | None = None
    seems: bool = False
    size: float | None = None
    behind: str = ""
    behind_per_s: float | None = None

    @property
    def is_of_its_own(self) -> bool:
        """Whether it is a resource that is neither CPU nor memory."""
        return self.kind not in (*OF_HARDWARE, *OF_NO_RESOURCE) and self.one_core is None

    @property
    def is_of_hardware(self) -> bool:
        """Whether it is CPU or memory, of which there may be more."""
        return self.kind in OF_HARDWARE or self.one_core is not None

    @property
    def unknown_words(self) -> str:
        """That what stopped the run is not known, or no resource; ends without a full stop."""
        at = f" at {amount_words(self.carried_per_s, 'operation')}/s" if self.carried_per_s is not None else ""
        if self.kind in ("unknown", "none"):
            return f"What stopped this run{at} was not found"
        return f"This run stopped{at} because of {self.cause}"

    @property
    def cause(self) -> str:
        """Its kind and where it is: errors, status 503."""
        return ", ".join(filter(None, (self.kind.replace("_", " "), self.where)))


def stopped_by(main: Mapping[str, Any]) -> Stopped:
    """By the first finding of the run."""
    capacity, limited = main.get("capacity") or {}, main.get("limited_by") or {}
    nearly = limited.get("nearly_full")
    named = nearly or limited.get("in_short_step") or limited
    kind = str(named.get("kind") or "none")
    is_answered = not capacity or capacity.get("bad") is not None  # a hold has no bracket
    if capacity and not nearly and (short := overload_of(main)) is not None:
        return Stopped(
            kind,
            str(named.get("where") or ""),
            one_core=str(named.get("resource")) if named.get("one_core") else None,
            seems=True,
            size=named.get("size"),
            behind=overload_words(short, str(capacity.get("unit") or "users")),
            behind_per_s=float(short["done_per_s"]),
        )
    if not is_answered and not nearly:
        return Stopped("none", "")
    return Stopped(
        kind,
        str(named.get("where") or ""),
        capacity.get("rate_per_s") if nearly is None else None,
        str(named.get("resource")) if named.get("one_core") else None,
        nearly is not None,
        named.get("size"),
    )


def ends_at_one_core(part: Part, stopped: Stopped) -> bool:
    """Whether a process of it uses no more than one core: most of its work is one thread, or that stopped the run."""
    return part.one_thread or stopped.one_core == part.label


def _only_seems(part: Part, stopped: Stopped) -> bool:
    return stopped.seems and not part.one_thread and stopped.one_core == part.label


def processes_needed(part: Part, per_s: float, reserve: float, stopped: Stopped) -> int | None:
    """How many processes of one core each a load takes: by their CPU, and by what those of the run carried before they
    stopped it."""
    cores = cores_of([part], per_s).recommended(reserve)
    if cores is None:
        return None
    carried = stopped.carried_per_s if stopped.one_core == part.label else None
    by_load = 0.0 if not carried else max(1.0, part.processes) * per_s / (carried * (1 - reserve))
    return max(1, math.ceil(max(cores, by_load) - 1e-9))


def serves_more_cores(part: Part) -> float | None:
    """The cores for each process that it was seen to use at once, where that is more than one."""
    most = max(part.cores) / max(1.0, part.processes)
    return max(part.cores) if most > MORE_THAN_ONE_CORE else None


def more_cores_help(part: Part, stopped: Stopped) -> bool | None:
    """Whether more cores serve it; None where that is not known."""
    if _only_seems(part, stopped):
        return None
    if ends_at_one_core(part, stopped):
        return False
    if stopped.is_of_its_own:
        return None if stopped.seems else False
    return True if serves_more_cores(part) is not None else None


def processes_cell(part: Part, wanted: Wanted, stopped: Stopped) -> str:
    """Of the table: "1 / 2 / 4 / 8", or what more cores bring."""
    if ends_at_one_core(part, stopped):
        needs = [processes_needed(part, times * wanted.per_s, wanted.reserve, stopped) for times in TIMES]
        counts = " / ".join("cannot tell" if need is None else str(need) for need in needs)
        return f"{counts}, if one core is all that it can use" if _only_seems(part, stopped) else counts
    if stopped.is_of_its_own:
        if stopped.seems:
            how = "seems to have limited a short step" if stopped.behind else "is nearly full"
            return f"more cores may not help: {stopped.where} {how}"
        return f"more cores alone do not help: {stopped.where} stopped it"
    used = serves_more_cores(part)
    if used is not None:
        return f"more cores serve it: it used {number(used)} at once"
    return f"cannot tell: it used {amount_words(max(part.cores), 'core')} at most"


def ceiling_words(parts: Sequence[Part], wanted: Wanted, stopped: Stopped) -> str:
    """What the run proved not to carry, or what may cap it, where a size goes beyond that; empty where none does."""
    carried = stopped.carried_per_s
    if stopped.behind_per_s is not None:
        return _behind_words(parts, wanted, stopped, stopped.behind_per_s)
    if carried is None:
        return _unproven_words(stopped)
    if not any(times * wanted.per_s > carried for times in TIMES):
        return ""
    at = f"at {amount_words(carried, 'operation')}/s"
    if stopped.is_of_its_own:
        times = TIMES[-1] * wanted.per_s / carried
        much = f"{number(times)} times as much of it as this run had"
        if stopped.size is not None:
            much = f"about {math.ceil(times * stopped.size)} instead of {number(stopped.size)}"
        return (
            f"More cores alone do not help above {amount_words(carried, 'operation')}/s, where {stopped.where} stopped "
            f"this run. {TIMES[-1]} times that load needs {much}."
        )
    if stopped.is_of_hardware:
        if stopped.kind == "cpu_quota" and stopped.one_core is None and not any(part.one_thread for part in parts):
            return f"The {stopped.where} stopped this run {at}: raise it to these cores."
        return ""
    return f"{stopped.unknown_words}. Whether more cores lift it cannot be told."


def _behind_words(parts: Sequence[Part], wanted: Wanted, stopped: Stopped, behind_per_s: float) -> str:
    """That it fell behind in a short step, where a size goes beyond what it finished there."""
    if not any(times * wanted.per_s > behind_per_s for times in TIMES):
        return ""
    fell = f"{stopped.behind[:1].upper()}{stopped.behind[1:]}"
    if stopped.is_of_its_own:
        return f"{fell}, limited by {stopped.where}, as it seems: more cores may not help above that."
    if stopped.is_of_hardware:
        return f"{fell}, limited by {stopped.where}, as it seems: that more of it carries more was not measured."
    why = "what limited it was not found" if stopped.kind in ("unknown", "none") else f"because of {stopped.cause}"
    return f"{fell}, and {why}. Whether more cores lift it cannot be told."


def _unproven_words(stopped: Stopped) -> str:
    """Of a limit whose height the run does not tell."""
    if stopped.kind == "unknown":
        return f"{stopped.unknown_words}. Whether more cores lift it cannot be told."
    if not stopped.is_of_its_own or stopped.one_core is not None:
        return ""
    if stopped.seems:
        where = f"{stopped.where[:1].upper()}{stopped.where[1:]}"
        return f"{where} is nearly full at the highest load tried: more cores may not help above it."
    return f"More cores alone do not help above the load measured, where {stopped.where} was the limit."


def undecided_words(main: Mapping[str, Any], wanted: Wanted) -> str:
    """That the run of a capacity did not prove this load to be carried, nor to be too much; else empty."""
    capacity = main.get("capacity")
    if not capacity:
        return ""
    at, carried = (
        (wanted.per_s, capacity.get("rate_per_s")) if wanted.level is None else (wanted.level, capacity.get("good"))
    )
    if not carried:
        return "No load was proven to be carried, this one neither."
    if at <= carried * HELD_WITHIN or capacity.get("bad") is not None:
        return ""
    return "Whether it carries this load was not decided: it is above what was proven to be carried."


def process_words(parts: Sequence[Part], wanted: Wanted, stopped: Stopped) -> str:
    """Sentences behind the sizes, with a space in front: how many processes are needed beside the cores; empty where
    one of each does."""
    return "".join(_process_words(part, wanted, stopped) for part in parts)


def _process_words(part: Part, wanted: Wanted, stopped: Stopped) -> str:
    """Where one process of it is not enough: more cores alone do not help."""
    if not ends_at_one_core(part, stopped):
        return ""
    needs = {times: processes_needed(part, times * wanted.per_s, wanted.reserve, stopped) for times in TIMES}
    more = {times: need for times, need in needs.items() if need is not None and need > max(1.0, part.processes)}
    if not more:
        return ""
    first = min(more)
    at = "It" if first == 1 else f"From {first} times that load on it"
    words = f" {at} needs {more[first]} processes of {part.label}, {_why_one_core(part, stopped)}"
    last = TIMES[-1]
    if last in more and last != first:
        words += f". {last} times that load needs {more[last]} of them"
    return f"{words}. {'Then more' if stopped.seems else 'More'} cores alone do not help."


def _why_one_core(part: Part, stopped: Stopped) -> str:
    if stopped.one_core != part.label or (part.one_thread and stopped.carried_per_s is None):
        return "whose one busy thread uses one core"
    if stopped.seems:
        return "if one uses no more than one core, as it seems"
    carried = (
        f" and stopped this run at {amount_words(stopped.carried_per_s, 'operation')}/s"
        if stopped.carried_per_s
        else ""
    )
    which = "whose one busy thread uses one core" if part.one_thread else "one of which uses no more than one core"
    return f"{which}{carried}"
