"""What so many cores would carry: the inverse of a size, for `plimsoll size --cores`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.findings.sizing.facts import HERE, Part, SizingFacts
from plimsoll.findings.sizing.limit import Stopped, ends_at_one_core, stopped_by
from plimsoll.findings.sizing.needs import together
from plimsoll.stats.growth.space import are_different_loads
from plimsoll.stats.throughput.demand_curve import FEWEST_LEVELS, CurveReach, reach_along_curve, use_along_curve

NEAR_END = 0.7


def carried_on(cores: float, main: Mapping[str, Any], facts: SizingFacts) -> dict[str, Any]:
    """What so many cores of this host would carry: the throughput whose use is the share of them that the target could
    use where this run ended (of its quota, or of the one core of its process; all of them where neither is known).
    Of a process that uses no more than one core no more than one counts, whatever else there is. Above what the run
    proved to be too much, cores carry nothing that CPU did not stop: `capped_by`."""
    found: dict[str, Any] = {"cores": cores, "usable_share": 1.0, "per_s": None, "interval": None, "why": ""}
    found |= {"capped_by": ""}
    parts = [part for part in facts.parts if part.host == HERE]
    if not parts:
        return found | {"why": "no process of the target ran on this host"}
    points = together(parts)
    if not points or parts[0].put_per_s or not are_different_loads([rate for rate, _, _ in points]):
        return found | {"why": f"fewer than {FEWEST_LEVELS} loads were measured"}
    stopped = stopped_by(main)
    narrow = [part for part in parts if ends_at_one_core(part, stopped)]
    if stopped.seems and narrow and cores > 1:
        return found | {"why": f"whether {stopped.one_core} uses more than one core is not known"}
    share = _usable_share(main, parts, points, narrow)
    if len(parts) == 1 and narrow:
        cores = min(cores, max(1.0, parts[0].processes))
    curve = _reach(points, share * cores)
    if curve is None:
        return found | {"why": "its CPU time did not rise with throughput, or is more than that without any load"}
    ends = [_reach(together([part]), max(1.0, part.processes)) for part in narrow if len(parts) > 1]
    curve = min([curve, *(end for end in ends if end is not None)], key=lambda one: one.per_s)
    told = found | {"usable_share": share, "per_s": curve.per_s, "interval": list(curve.interval)}
    return _below_ceiling(told, stopped, share)


def _below_ceiling(found: dict[str, Any], stopped: Stopped, share: float) -> dict[str, Any]:
    """No more than the run carried before something stopped it that cores do not lift; cannot tell where it is not
    known what that was, unless the CPU was nearly used up, and where it fell behind in a short step alone."""
    carried = stopped.carried_per_s
    if stopped.behind_per_s is not None and found["per_s"] > stopped.behind_per_s and not stopped.is_of_hardware:
        return found | {"per_s": None, "interval": None, "why": stopped.behind}
    if carried is None or stopped.is_of_hardware or found["per_s"] <= carried:
        return found
    if stopped.is_of_its_own:
        low = min(found["interval"][0], carried)
        return found | {"per_s": carried, "interval": [low, carried], "capped_by": stopped.where}
    if share < 1.0:
        return found
    words = stopped.unknown_words
    return found | {"per_s": None, "interval": None, "why": f"{words[0].lower()}{words[1:]}"}


def _reach(points: Sequence[tuple[float, float, float]], cores: float) -> CurveReach | None:
    per_s, used, seconds = (list(column) for column in zip(*points, strict=True))
    return reach_along_curve(used, per_s, cores, seconds)


def _usable_share(
    main: Mapping[str, Any],
    parts: Sequence[Part],
    points: Sequence[tuple[float, float, float]],
    narrow: Sequence[Part],
) -> float:
    """Use at the capacity ÷ what it might have used, where that is known and CPU stopped it, or where nothing was found
    to stop it and the use was near its end; else 1. `narrow`: those that use no more than one core."""
    capacity, kind = main.get("capacity") or {}, (main.get("limited_by") or {}).get("kind")
    carried, quotas = capacity.get("rate_per_s"), [part.quota_cores for part in parts if part.quota_cores]
    if capacity.get("bad") is None or not carried or kind not in ("cpu", "cpu_quota", "unknown"):
        return 1.0
    ceiling = quotas[0] if quotas else 1.0 if len(parts) == 1 and narrow else None
    per_s, used, seconds = (list(column) for column in zip(*points, strict=True))
    there = use_along_curve(used, per_s, carried, seconds)
    if ceiling is None or there is None:
        return 1.0
    share = min(1.0, there.used / ceiling)
    return share if kind != "unknown" or share >= NEAR_END else 1.0
