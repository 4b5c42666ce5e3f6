"""A Java heap that is full, so that most of the CPU time of its process goes into collecting it again and again.

The process is at the ceiling of its cores then, but more cores would collect more often and no more: what it lacks is
heap. A heap that is merely full is none of this, as a collector lets it fill before it collects; nor are collections
that are long but give room, as a high rate of allocation makes them.
"""

from __future__ import annotations

from collections.abc import Mapping

from plimsoll.findings.limits.limit import Limit, Scope, to_try
from plimsoll.findings.resources import Means, processes
from plimsoll.words import share_words, size_words

HEAP_FULL = 0.85  # mean of the step: before and after collections alike, so that these gave next to no room
LEAST_COLLECTING = 0.25  # of the time
MORE_COLLECTING = 2.0  # times the share at low load


def heap_limits(here: Means, low: Means, words: str, before: str) -> list[Limit]:
    """Heaps that were full in the overloaded step while much of the time went into collections."""
    calm = processes(low)
    found = [
        _heap_limit(label, values, calm.get(label, {}), words, before) for label, values in processes(here).items()
    ]
    return [limit for limit in found if limit is not None]


def _heap_limit(
    label: str, values: Mapping[str, float], then: Mapping[str, float], words: str, before: str
) -> Limit | None:
    full, collecting = values.get("heap_share", 0.0), values.get("gc_share", 0.0)
    if full < HEAP_FULL or collecting < LEAST_COLLECTING:
        return None
    limit, calm = values.get("heap_limit_bytes"), then.get("gc_share")
    size = f" of {size_words(limit)}" if limit else ""
    quiet = (
        f"; {share_words(then['heap_share'])} and {share_words(calm)} {before}"
        if "heap_share" in then and calm is not None
        else ""
    )
    text = (
        f"Its heap{size} was {share_words(full)} full {words}, and {share_words(min(1.0, collecting))} of the time "
        "went into "
    )
    text += f"garbage collections{quiet}."
    more = f", {to_try(limit / 2**20, 'MiB')}," if limit else ","
    remedy = (
        f"give {label} a larger heap (-Xmx){more} within the memory that there is, or have it hold less at a time: "
        "jcmd PID GC.class_histogram tells what fills it"
    )
    # A heap may be as full at low load and not be in the way: what rises with the load are the collections.
    rose = calm is None or collecting >= MORE_COLLECTING * calm
    low = None if rose else min(1.0, full)
    return Limit("memory_limit", f"heap limit of {label}", min(1.0, full), low, text, remedy, Scope.HEAP, label)
