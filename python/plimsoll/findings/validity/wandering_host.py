"""Was the target's host equally fast in all steps? By the probe of its cores' speed, in the steps that loaded it: a
core that idles reads slower (docs/probes/core_speed.md)."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.findings.resources import Means, Step, core_speed
from plimsoll.words import count_words, level_words, share_words

LEAST_SHARE = 0.10
LOADED = 0.7


def host_words(steps: Sequence[Step], means: Sequence[Means], unit: str) -> list[str]:
    """That the cores were slower by a tenth or more in one step than in another; nothing else, or if nobody knows."""
    best = max((step["done_per_s"] for step in steps), default=0.0)
    known = [
        (speed, step)
        for step, seen in zip(steps, means, strict=True)
        if step["done_per_s"] >= LOADED * best > 0 and (speed := core_speed(seen))
    ]
    if not known:
        return []
    (slow, slowest), (fast, fastest) = (chosen(known, key=lambda one: one[0]) for chosen in (min, max))
    share = 1 - slow / fast
    if share < LEAST_SHARE:
        return []
    at, than = (
        f"{level_words(step['level'], unit)} ({count_words(step['measured_from_s'])} to {count_words(step['end_s'])} s)"
        for step in (slowest, fastest)
    )
    return [
        f"The target's host was not steady: in the same CPU time its cores did {share_words(share)} less at {at} than "
        f"at {than}. What is carried moves with that. On a steady host the answer is narrower, and repeats."
    ]
