"""Was the load made that was asked for? Of arrivals by a plan: those planned and those that were sent.

A load that was not made is the first thing to say: whatever follows is of another load. Users who wait for their
answers ask for no rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plimsoll.runs.readings.flow_seconds import FlowSecond
from plimsoll.words import number

# Fewer arrivals that were late or dropped are a burst (self_diagnosis.UNSERVED_SHARE).
SHORT_SHARE, SHORT_LEAST = 0.01, 5
SLOWER = 1.5  # an iteration beside one at low load, from which on the target was what was slow


def asked_load(seconds: Sequence[FlowSecond]) -> dict[str, Any] | None:
    """What these seconds asked for and reached, in iterations per second, and the reached share of it; None where the
    load was made. Seconds before the first arrival and after the last do not count."""
    loaded = [at for at, one in enumerate(seconds) if one.planned]
    if not loaded:
        return None
    load = seconds[loaded[0] : loaded[-1] + 1]
    planned, sent = sum(one.planned for one in load), sum(one.started for one in load)
    if planned - sent <= max(SHORT_LEAST, SHORT_SHARE * planned):
        return None
    return {
        "asked_per_s": planned / len(load),
        "reached_per_s": sent / len(load),
        "share": sent / planned,
        "dropped": sum(one.dropped for one in load),
        "why": _why(load),
    }


def _why(load: Sequence[FlowSecond]) -> str:
    """What the times of iterations say: the VUs were too few, or the target slow."""
    known = [one for one in load if one.inside_all.count]
    short = [one for one in known if one.dropped or one.backlog]
    if not short:
        return "why is not known"
    first = known[0].inside_all
    # The first second's shortest is not known here: its mean stands for low load where it found a VU for each arrival.
    low_ms = 1000 * first.total_s / first.count
    mean_ms = 1000 * sum(one.inside_all.total_s for one in short) / sum(one.inside_all.count for one in short)
    if known[0] is not short[0] and mean_ms > SLOWER * low_ms:
        return (
            f"no VU was free, because the target became slow: an iteration took {number(mean_ms)} ms, and "
            f"{number(low_ms)} ms at first"
        )
    return f"no VU was free; an iteration took {number(mean_ms)} ms"
