"""Are these operations negligible? Their share of the target at the expected load, from a capacity run of them alone.

Utilisation law (stats/throughput/demand.py): r operations per second take r × D of a resource. Alone, at their capacity
N, they fill whatever limits them, so that r ÷ N of it is theirs at the expected rate r: between r ÷ bad and r ÷ good of
the bracket. Of any other resource it is no more, as that would have been full before. Where the use of a resource was
measured, r × D besides, D the slope of its use over throughput: what it does without them is not their demand.

    negligible   r ÷ good is below the limit, and no resource shows more
    include      the lower end of a share is not below it
    undecided    else
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from plimsoll.findings.capacity.run_resources import Resource, evidence_of
from plimsoll.findings.evidence import as_data, of_steps
from plimsoll.findings.resources import Step
from plimsoll.stats.throughput.demand import fit_line
from plimsoll.words import amount_words, level_words, ms_words, number, share_words

QUESTION = "Are these operations negligible?"
Verdict = Literal["negligible", "include", "undecided"]


@dataclass(frozen=True)
class Share:
    """Share of something at the expected load, `low` to `high`; None where that end (not both) is not known."""

    low: float | None
    high: float | None

    @property
    def words(self) -> str:
        """ "2.1 to 2.4%", "at most 2.4%"."""
        if self.high is None:
            return f"more than {share_words(self.low or 0.0)}"
        if self.low is None:
            return f"at most {share_words(self.high)}"
        return f"{share_words(self.low)} to {share_words(self.high)}"


@dataclass(frozen=True)
class ResourceShare:
    """What they take of `resource`: `demand_s` of the whole of it an operation, with its 95% `interval_s`; `share`: of
    the resource at the expected rate."""

    resource: Resource
    demand_s: float
    interval_s: tuple[float, float]
    share: Share


def negligible_finding(
    main: Mapping[str, Any],
    steps: Sequence[Step],
    resources: Sequence[Resource],
    *,
    expected_level: float,
    below: float,
    operations: Sequence[str] = (),
) -> dict[str, Any] | None:
    """The finding of an open workload; None without a bound of its capacity. `expected_level`: of the run's levels;
    `below`: a smaller share is negligible, in (0, 1); `operations`: their names, where known."""
    capacity = main["capacity"]
    good, bad, unit = capacity["good"], capacity["bad"], capacity["unit"]
    per_level_s = _rate_per_level_s(steps)
    if capacity["model"] != "open" or per_level_s is None or (good is None and bad is None):
        return None
    alone = Share(expected_level / bad if bad else None, expected_level / good if good else None)
    expected_per_s = expected_level * per_level_s
    by_resource = [found for one in resources if (found := _of_resource(one, expected_per_s)) is not None]
    verdict = verdict_of(alone, [one.share for one in by_resource], below)
    rates = [None if level is None else level * per_level_s for level in (good, bad)]
    load = f"{level_words(expected_level, unit)}, {amount_words(expected_per_s, 'operation')}/s"
    return {
        "question": QUESTION,
        "answer": _answer(verdict, alone, rates, load, below),
        "verdict": verdict,
        "sentences": [_resource_words(one) for one in by_resource],
        "negligible": {
            "below": below,
            "expected_level": expected_level,
            "expected_per_s": expected_per_s,
            "carried_per_s": rates[0],
            "not_carried_per_s": rates[1],
            "share": [alone.low, alone.high],
            "resources": [_json(one) for one in by_resource],
            "operations": list(operations),
        },
        "evidence": as_data([of_steps(steps, unit), *(evidence_of(one.resource, unit) for one in by_resource)]),
        "notes": [*_notes(operations), *_less_by_resources(main, alone, by_resource)],
        "next": [_next(verdict, alone, expected_level / below, unit)],
    }  # fmt: skip


def verdict_of(alone: Share, of_resources: Sequence[Share], below: float) -> Verdict:
    """By the share of the capacity, and those of resources, which can only say that it is more."""
    if any(share.low is not None and share.low >= below for share in (alone, *of_resources)):
        return "include"
    return "negligible" if alone.high is not None and alone.high < below else "undecided"


def _rate_per_level_s(steps: Sequence[Step]) -> float | None:
    """Arrivals per second at level 1, as planned over all steps."""
    lengths = [float(step["end_s"]) - float(step["measured_from_s"]) for step in steps]
    levels = sum(float(step["level"]) * length for step, length in zip(steps, lengths, strict=True))
    planned = sum(float(step["planned_per_s"] or 0.0) * length for step, length in zip(steps, lengths, strict=True))
    return planned / levels if levels > 0 and planned > 0 else None


def _of_resource(resource: Resource, per_s: float) -> ResourceShare | None:
    """None below three levels, which give no interval."""
    line = fit_line(resource.used, resource.per_s)
    if line is None or line.interval is None:
        return None
    demand, low, high = (max(0.0, one) / resource.ceiling for one in (line.per_request_s, *line.interval))
    return ResourceShare(resource, demand, (low, high), Share(low * per_s, high * per_s))


def _answer(verdict: Verdict, alone: Share, rates: Sequence[float | None], load: str, below: float) -> str:
    limit = share_words(below)
    lead = {
        "negligible": f"Yes, below {limit}",
        "include": f"No, {limit} or more: include them",
        "undecided": f"It cannot be told whether below {limit}",
    }[verdict]
    good, bad = rates
    if good is None:
        carried = f"{number(bad or 0.0)}/s are not carried"
    else:
        carried = f"{number(good)}/s are carried" + ("" if bad is None else f", {number(bad)}/s are not")
    return (
        f"{lead}. At the expected load ({load}) they take {alone.words} of what the target carries of them alone "
        f"({carried})."
    )


def _resource_words(one: ResourceShare) -> str:
    """ "An operation takes 0.19 ms (95%: …) of …: 3.1 to 3.3% of it at that load"."""
    low, high = (ms_words(1000 * end) for end in one.interval_s)
    return (
        f"An operation takes {ms_words(1000 * one.demand_s)} of {one.resource.where} (95%: {low} to {high}): "
        f"{one.share.words} of it at that load."
    )


def _json(one: ResourceShare) -> dict[str, Any]:
    return {
        "name": one.resource.name,
        "where": one.resource.where,
        "demand_ms": 1000 * one.demand_s,
        "demand_interval_ms": [1000 * end for end in one.interval_s],
        "confidence": 0.95,
        "share": [one.share.low, one.share.high],
    }


def _notes(operations: Sequence[str]) -> list[str]:
    named = [f"These operations: {', '.join(operations)}."] if operations else []
    return [
        *named,
        "Of what limits them they take that share, of anything else no more: it would have been full before. This "
        "assumes that an operation costs as much beside the others as alone (utilisation law).",
    ]


def _less_by_resources(main: Mapping[str, Any], alone: Share, found: Sequence[ResourceShare]) -> list[str]:
    """Where no resource explains the share: what stopped them is something else, perhaps other work on the host."""
    shares = [one.share.high for one in found if one.share.high is not None]
    if alone.low is None or not shares or max(shares) >= alone.low:
        return []
    stopped = (main.get("limited_by") or {}).get("where") or "something that was not found"
    return [
        f"They take less of all whose use was measured: the share is that of what stopped them ({stopped}). Other work "
        "on the target's cores makes it too large as well."
    ]


def _next(verdict: Verdict, alone: Share, enough: float, unit: str) -> str:
    """What to do with it. `enough`: the level from which on, if carried, they are negligible."""
    if verdict == "negligible":
        return f"Leave them out of the workload, and take {alone.words} off the room that it shows."
    if verdict == "include":
        return "Add them to the workload's operations, with their rates."
    if alone.low is None:
        return (
            f"Let the search go up to {level_words(enough, unit)} (max_users): if that is carried, they are negligible."
        )
    return "Narrow the bracket (--width), or take them along: that errs on the safe side."
