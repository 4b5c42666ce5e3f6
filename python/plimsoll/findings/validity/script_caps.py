"""A cap of the script in the findings of a run: as its experiment saw it, else judged again by the same rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from plimsoll.findings.validity.validity import RestsOn, Validity
from plimsoll.runs.metric_names import BLOCKED
from plimsoll.runs.readings.declared_caps import declared_caps, text_of
from plimsoll.runs.readings.name_lookups import SLOW_MS
from plimsoll.runs.readings.script_caps import METRICS, UNSERVED_SHARE, LoadSeconds, binding_cap
from plimsoll.words import number

if TYPE_CHECKING:
    from plimsoll.runs.reader import RunReader

LOW_LOAD = 0.7  # of a level, up to which others say what an iteration takes while the target is not busy
# What is not known where arrivals waited for a VU, which their times hold, and where the load was not made at all.
WAITED: tuple[RestsOn, ...] = ("response_time", "mean_time")
NOT_MADE: tuple[RestsOn, ...] = ("throughput", "response_time", "mean_time", "counts")


def caps_of(run: RunReader | None) -> tuple[Any, ...]:
    """The caps that the script of a run declares (none without one)."""
    manifest = {} if run is None else run.manifest
    script = manifest.get("script") or {}
    return declared_caps(manifest.get("options") or {}, text_of(script.get("path"), script.get("sha256")))


def cap_of_step(
    run: RunReader | None, step: Mapping[str, Any], others: Iterable[Mapping[str, Any]], result: Mapping[str, Any]
) -> dict[str, Any] | None:
    """The cap that was the limit of that step, as JSON; None without one. Where the `result` of its experiment did not
    judge that, as of a run that was killed or of an earlier version, it is judged now; `others`: steps that may tell
    what an iteration takes at low load."""
    if result.get("judged_caps"):
        return dict(result["cap"]) if result["cap"] and result["cap"].get("words") else None
    caps = caps_of(run)
    if run is None or not caps:
        return None
    lower = [one for one in others if one.get("step_kind") == "baseline" or one["level"] <= LOW_LOAD * step["level"]]
    calm = [one for one in lower if one.get("verdict") != "bad"]
    calm.sort(key=lambda one: (one.get("step_kind") != "baseline", one["level"]))
    loads = [LoadSeconds() for _ in (step, *calm)]
    for block in run.blocks(METRICS, above={BLOCKED: SLOW_MS}):  # shorter waits stand in the lines alone
        for snapshot in block.snapshots():
            for one, seen in zip((step, *calm), loads, strict=True):
                if one["measured_from_s"] <= snapshot.second < one["end_s"]:
                    seen.add(snapshot)
    low = LoadSeconds()
    for seen in loads[1:]:
        low.fill(seen)
    found = binding_cap(caps, loads[0], low)
    return found.to_json() if found is not None else None


def with_script_cap(
    health: Mapping[str, Any], cap: Mapping[str, Any] | None, void: Iterable[RestsOn] = ("throughput",)
) -> dict[str, Any]:
    """The generator's `health` (generator.py) with the cap as `script_cap`; what it is the limit of is `void`, and no
    capacity."""
    if cap is None:
        return dict(health) | {"script_cap": None}
    gone = set(void)
    validity = [
        Validity(
            one["rests_on"], "invalid", None, None, one.get("quantile"), (cap["words"], *one.get("because", ()))
        ).to_json()
        if one["rests_on"] in gone
        else one
        for one in health["validity"]
    ]
    return dict(health) | {
        "healthy": False,
        "reasons": [cap["words"], *health["reasons"]],
        "remedies": [cap["remedy"], *health["remedies"]],
        "limits": [cap["words"], *health["limits"]],
        "validity": validity,
        "script_cap": dict(cap),
    }


def was_made(step: Mapping[str, Any]) -> bool:
    """Whether a held load was sent as planned, however late: arrivals waited for a VU, and each got one."""
    asked, sent = float(step.get("planned_per_s") or 0.0), float(step.get("done_per_s") or 0.0)
    return sent >= (1 - UNSERVED_SHARE) * asked > 0


def void_of(step: Mapping[str, Any]) -> tuple[RestsOn, ...]:
    """What a cap takes away at that step."""
    return WAITED if was_made(step) else NOT_MADE


def load_not_made(step: Mapping[str, Any], cap: Mapping[str, Any]) -> str:
    """What a held load was asked for and what was sent of it, and why."""
    asked, sent = number(float(step.get("planned_per_s") or 0.0)), number(float(step.get("done_per_s") or 0.0))
    return f"The load that was asked for was not made: {sent}/s of {asked}/s. {cap['words']}"


def objectives_not_made(judged: Iterable[Mapping[str, Any]], cap: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Objectives judged at a load that the script could not send: undecided, but for requests that failed already."""
    return [dict(one) if cap is None or _stands(one) else _undecided(one, cap) for one in judged]


def _stands(entry: Mapping[str, Any]) -> bool:
    return entry.get("verdict") == "undecided" or (entry.get("unit") != "ms" and entry.get("verdict") == "failed")


def _undecided(entry: Mapping[str, Any], cap: Mapping[str, Any]) -> dict[str, Any]:
    found = {**entry, "verdict": "undecided", "reason": cap["words"], "needs": f"{cap['words']} {cap['remedy']}"}
    found |= {key: None for key in ("met_up_to", "met_up_to_users", "failed_from") if key in entry}
    return found | {"validity": Validity("response_time", "invalid", because=(cap["words"],)).to_json()}
