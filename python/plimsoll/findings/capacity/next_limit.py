"""What would stop it next? The resources in the order in which they would be full."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.findings.capacity.how_far import Reaching, level_at, reach_of
from plimsoll.findings.capacity.run_resources import Resource, as_json, evidence_of
from plimsoll.findings.capacity.seen_overload import overload_of, overload_words
from plimsoll.findings.evidence import as_data
from plimsoll.words import joined, level_words, number, share_words

QUESTION = "What would stop it next?"
CLEARLY = 1.05


def next_limit_finding(
    main: Mapping[str, Any], resources: Sequence[Resource], same_host: bool, hosts_read: Sequence[str] = ()
) -> dict[str, Any] | None:
    """The finding, None where no resource shows a demand. `resources`: largest demand first; `hosts_read`: the other
    hosts whose metrics were read."""
    if not resources:
        return None
    all_of_them = [reach_of(resource, resource.ceiling, f"the whole of {resource.where}") for resource in resources]
    limited = main["limited_by"].get("in_short_step") or main["limited_by"]
    reached = [one for one in all_of_them if _rises(one) or one.resource.name == limited.get("resource")]
    flat = [one for one in all_of_them if one not in reached]
    if not reached:
        return None
    overload = overload_of(main)
    stopped = main["capacity"]["bad"] is not None or overload is not None
    # What stops it is what the first finding says, however the demands of the levels below would order them.
    by = next((one for one in reached if stopped and one.resource.name == limited.get("resource")), None)
    if by is not None:
        verb = "are" if by.resource.ceiling > 1 else "is"
        later = reached
        words = f"{_capital(by.resource.where)} {verb} full first: {_within(by, main) or _at(by, main)}."
    elif stopped:
        later, words = reached, _stopped_elsewhere(main, reached[0], overload)
    else:
        by, later = reached[0], reached
        words = f"{_capital(by.resource.where)} would be full first: {_at(by, main)}."
    later, passed = _after(later, by, main["capacity"]["rate_per_s"])
    if overload is not None:
        later = []  # how far they reach is told by levels below what stopped it, and nobody knows that level
        settle = "Give the search more time (--for): it then holds the level at which the target fell behind."
    elif later:
        follows = "After that" if stopped and by is None else "Then"
        words += f" {follows} {later[0].resource.where} would stop it: {_at(later[0], main)}."
        settle = f"Prove it: widen what stops it now and run again; it should stop near {number(later[0].per_s)}/s."
    else:
        words += " Cannot tell what would come after it: of nothing else that was probed the use rose with throughput."
        settle = "Probe what else it uses: the processes of its database and of other services (probes in the study)."
    notes = [_not_named(hosts_read), *passed, *map(_flat_words, flat)]
    if same_host and any(one.resource.name == "cpu" for one in reached):
        notes.append("The host's cores also carry the generator; from another host they would go further.")
    return {
        "question": QUESTION,
        "answer": words,
        "stopped_by": limited["where"] if stopped and overload is None else None,
        "order": [
            as_json(one.resource)
            | {
                "per_s": one.per_s,
                "interval": list(one.curve.interval) if one.curve is not None else None,
                "told": one.told,
                "level": level_at(one, main),
            }
            for one in [*([by] if by is not None else []), *later]
        ],
        "evidence": as_data(evidence_of(one.resource, main["capacity"]["unit"]) for one in reached),
        "notes": notes,
        "next": [settle],
    }


def _rises(one: Reaching) -> bool:
    """Whether its use rose with throughput beyond chance: then there is a throughput at which it is surely full. With
    two levels nobody can tell, and the answer says on what it rests."""
    return not one.resource.is_of_one_level and (one.curve is None or one.curve.interval[1] is not None)


def _flat_words(one: Reaching) -> str:
    if one.resource.is_of_one_level:
        return f"{_capital(one.resource.where)} is left out: its use was seen at one level alone."
    used = max(one.resource.used) / one.resource.ceiling
    return (
        f"{_capital(one.resource.where)} is left out: its use, {share_words(used)} at most, did not rise significantly."
    )


def _after(reached: Sequence[Reaching], by: Reaching | None, carried: float | None) -> tuple[list[Reaching], list[str]]:
    """What comes after `by`; and notes on those left out, whose extrapolated end lies below what was carried."""
    others = [one for one in reached if one is not by]
    kept = [one for one in others if carried is None or one.per_s >= carried]
    notes = [
        f"{_capital(one.resource.where)} is left out: by its demand it would end at {number(one.per_s)}/s, and "
        f"{number(carried or 0.0)}/s were carried."
        for one in others
        if one not in kept
    ]
    return kept, notes


def _not_named(hosts_read: Sequence[str]) -> str:
    """What no answer can name, as nothing read it."""
    if not hosts_read:
        return "Only what was probed can be named: not locks, pools, other hosts or the network."
    read, beside = ("host", "it") if len(hosts_read) == 1 else ("hosts", "them")
    return (
        f"Only what was probed can be named, the {read} {joined(hosts_read)} included: not locks, pools, hosts beside "
        f"{beside} or the network."
    )


def _stopped_elsewhere(main: Mapping[str, Any], first: Reaching, overload: Mapping[str, Any] | None) -> str:
    """Where what stopped it is none of the resources with a demand, or not known. `first`: of the largest demand;
    `overload`: the short step that shows that something did, where no level was proven to be too much."""
    limited, carried = main["limited_by"], main["capacity"]["rate_per_s"]
    if overload is not None:
        seen = overload_words(overload, main["capacity"]["unit"])
        return f"Something stops it before what was probed is full: {seen}."
    at = f" at {number(carried)}/s" if carried else ""
    if limited["kind"] == "errors":
        return f"What stopped it{at} were requests that failed, and no resource that was full."
    if limited["kind"] not in ("unknown", "none"):
        return f"What stopped it{at} was {limited['where']}, of which no demand per operation was seen."
    share = max(first.resource.used) / first.resource.ceiling
    return (
        f"What stopped it{at} is not known. The largest demand that was probed is of {first.resource.where}: it was "
        f"at most {share_words(share)} busy in the steps that were carried."
    )


def _within(one: Reaching, main: Mapping[str, Any]) -> str | None:
    """The bracket, where the curve of all levels ends clearly outside it, as the overload was measured."""
    level, good, bad, unit = level_at(one, main), *(main["capacity"][key] for key in ("good", "bad", "unit"))
    if level is None or good is None or bad is None or good / CLEARLY <= level <= CLEARLY * bad:
        return None
    return f"between {level_words(good, unit)} and {level_words(bad, unit)}, at {_demand(one)}"


def _at(one: Reaching, main: Mapping[str, Any]) -> str:
    """Where it would be full, in throughput and level, with the interval."""
    level = level_at(one, main)
    words = f", {level_words(level, main['capacity']['unit'])}" if level is not None else ""
    if one.curve is None:
        return f"near {number(one.per_s)}/s{words}, if its {_demand(one)} stay"
    low, high = one.curve.interval
    to = f"95%: {number(low)} to {number(high)}" if high is not None else f"95%: {number(low)} or more"
    return f"near {number(one.per_s)}/s{words} ({to}), at {_demand(one)}"


def _demand(one: Reaching) -> str:
    return f"{number(1000 * one.resource.demand_s)} ms of it per operation"


def _capital(words: str) -> str:
    return words[0].upper() + words[1:]
