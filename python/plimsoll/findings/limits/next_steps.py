"""What to do about a limit: the remedy, how to prove it, and what to try if it changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Not resources that a second run with more of them could prove.
_NOT_TO_PROVE = ("errors", "leak", "periodic_job")


def is_step_of(step: str, limit: Mapping[str, Any]) -> bool:
    """Whether that step is about `limit`: whatever words are around its remedy, also of a run of an earlier version."""
    remedies = [one.get("remedy") for one in (limit, limit.get("runner_up") or {})]
    has_remedy = any(str(remedy)[1:] in step for remedy in remedies if remedy)
    return has_remedy or step in steps_of(limit, verify=True, probed=True)


def steps_of(limit: Mapping[str, Any], *, verify: bool, probed: bool) -> list[str]:
    """What to do about `limit`, in the JSON of one with its runner-up, as sentences, the first to do first; none where
    nothing limits or the generator does, whose remedies are told already.

    `verify`: whether the same command with --verify would prove it; `probed`: whether any probe saw the target.
    """
    kind, remedy = limit["kind"], limit.get("remedy")
    if kind == "unknown":
        where = (
            "look at what was not probed: its database, pools, locks, other services"
            if probed
            else "probe the target's processes and its database (probes in the study)"
        )
        return [f"To see what it waits for, {where}; or profile it at this load (probes.profile)."]
    if kind in ("none", "generator") or not remedy:
        return []
    if verify and kind not in _NOT_TO_PROVE:
        first = f"Prove the limit by an intervention: {remedy}. Then run it again (--verify)."
    else:
        first = f"{remedy[:1].upper()}{remedy[1:]}."
    other = limit.get("runner_up") or {}
    second = other.get("remedy") if other.get("kind") != "generator" else None
    if not second or second == remedy:
        return [first]
    return [first, f"If that changes nothing, look next at {other['where']}. {second[:1].upper()}{second[1:]}."]
