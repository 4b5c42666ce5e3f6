"""One busy thread on a host that others fill: it would use a whole core and does not get it.

A thread that always runs or waits for a core is at its ceiling as much as one that runs all the time: one core is all
it can use, and others take a part of that.
"""

from __future__ import annotations

from collections.abc import Mapping

from plimsoll.findings.limit import Limit
from plimsoll.findings.resources import Means

READY = 0.90
LEAST_USED = 0.4


def is_at_its_ceiling(label: str, here: Means) -> bool:
    """Whether some thread of the process always ran or waited for a core."""
    return here.get(f"waits:{label}", {}).get("busiest_thread_ready_share", 0.0) >= READY


def starved_thread(
    label: str, values: Mapping[str, float], here: Means, low: Means, words: str, before: str
) -> Limit | None:
    """The busiest thread of a process, if it wanted a whole core and got a part of it."""
    used = values.get("busiest_thread_cores_used")
    if used is None or used < LEAST_USED or not is_at_its_ceiling(label, here):
        return None
    ready = here[f"waits:{label}"]["busiest_thread_ready_share"]
    then = low.get(f"waits:{label}", {}).get("busiest_thread_ready_share")
    quiet = f", {then:.0%} {before}" if then is not None else ""
    text = (
        f"Its busiest thread used {used:.2f} CPU cores and ran or waited for a core {ready:.0%} of the time {words}"
        f"{quiet}: one core is all a thread can use, and others took a part of it."
    )
    remedy = "free the host of other work, and have more than one thread do this work"
    return Limit("cpu", f"target process {label}, its busiest thread", ready, then, text, remedy)
