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

from plimsoll.findings.sizing.facts import Part
from plimsoll.findings.sizing.needs import TIMES, Wanted, cores_of
from plimsoll.words import number

MORE_THAN_ONE_CORE = 1.06  # cores for each process: it was seen to use more than one
OF_HARDWARE = ("cpu", "cpu_quota", "memory", "memory_limit")
OF_NO_RESOURCE = ("none", "unknown", "errors", "generator", "leak", "periodic_job")


@dataclass(frozen=True)
class Stopped:
    """What stopped the run at `carried_per_s`; None where nothing did, `kind` "none". `one_core`: label of the process
    that uses no more than a core; `seems`: it was only nearly full, at the highest level that was tried; `size`: of a
    pool, how many connections it has."""

    kind: str
    where: str
    carried_per_s: float | None = None
    one_core: str | None = None
    seems: bool = False
    size: float | None = None

    @property
    def is_of_its_own(self) -> bool:
        """Whether it is a resource that is neither CPU nor memory."""
        return self.kind not in (*OF_HARDWARE, *OF_NO_RESOURCE)


def stopped_by(main: Mapping[str, Any]) -> Stopped:
    """By the first finding of the run."""
    capacity, limited = main.get("capacity") or {}, main.get("limited_by") or {}
    nearly = limited.get("nearly_full")
    named = nearly or limited
    kind = str(named.get("kind") or "none")
    is_answered = not capacity or capacity.get("bad") is not None  # a hold has no bracket
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
    if ends_at_one_core(part, stopped) or stopped.is_of_its_own:
        return False
    return True if serves_more_cores(part) is not None else None


def processes_cell(part: Part, wanted: Wanted, stopped: Stopped) -> str:
    """Of the table: "1 / 2 / 4 / 8", or what more cores bring."""
    if ends_at_one_core(part, stopped):
        needs = [processes_needed(part, times * wanted.per_s, wanted.reserve, stopped) for times in TIMES]
        counts = " / ".join("cannot tell" if need is None else str(need) for need in needs)
        return f"{counts}, if one core is all that it can use" if _only_seems(part, stopped) else counts
    if stopped.is_of_its_own:
        return f"more cores alone do not help: {stopped.where} stopped it"
    used = serves_more_cores(part)
    if used is not None:
        return f"more cores serve it: it used {number(used)} at once"
    return f"cannot tell: it used {number(max(part.cores))} cores at most"


def limit_words(parts: Sequence[Part], wanted: Wanted, stopped: Stopped) -> str:
    """Sentences behind the sizes, with a space in front: what is needed beside the cores; empty where that is
    nothing."""
    words = "".join(_process_words(part, wanted, stopped) for part in parts)
    carried = stopped.carried_per_s
    beyond = [times for times in TIMES if carried and times * wanted.per_s > carried]
    at = f" at {number(carried)} operations/s" if carried is not None else ""
    if stopped.kind == "unknown" and (beyond or carried is None):
        return f"{words} What stopped this run{at} was not found: whether more cores lift it cannot be told."
    if not beyond or carried is None:
        return words
    if stopped.one_core is not None or any(part.one_thread for part in parts):
        return words
    if stopped.kind == "cpu_quota":
        return f"{words} The {stopped.where} stopped this run{at}: raise it to these cores."
    if stopped.is_of_its_own:
        times = TIMES[-1] * wanted.per_s / carried
        much = f"{number(times)} times as much of it as this run had"
        if stopped.size is not None:
            much = f"about {math.ceil(times * stopped.size)} instead of {number(stopped.size)}"
        return (
            f"{words} More cores alone do not help above {number(carried)} operations/s, where {stopped.where} stopped "
            f"this run: {TIMES[-1]} times that load needs {much}."
        )
    return words


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
        words += f"; {last} times that load needs {more[last]} of them"
    return f"{words}. {'Then more' if stopped.seems else 'More'} cores alone do not help."


def _why_one_core(part: Part, stopped: Stopped) -> str:
    if stopped.one_core != part.label or (part.one_thread and stopped.carried_per_s is None):
        return "whose one busy thread uses one core"
    if stopped.seems:
        return "if one uses no more than one core, as it seems"
    carried = f" and stopped this run at {number(stopped.carried_per_s)} operations/s" if stopped.carried_per_s else ""
    which = "whose one busy thread uses one core" if part.one_thread else "one of which uses no more than one core"
    return f"{which}{carried}"
