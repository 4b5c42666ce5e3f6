"""How far would it go on a budget of its resources, or on more cores? Service demand of the steps, extrapolated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from plimsoll.findings.capacity.run_resources import Resource, as_json, evidence_of
from plimsoll.findings.capacity.seen_overload import overload_of, overload_words
from plimsoll.findings.evidence import as_data, of_steps
from plimsoll.findings.resources import says_nothing
from plimsoll.stats.throughput.demand import demand_s, reach
from plimsoll.stats.throughput.demand_curve import CurveReach, reach_along_curve
from plimsoll.words import amount_words, level_words, number, share_words

QUESTION = "How far would it go?"
WIDEST = 1.5
FAR_SHARE = 0.4
CONSTANT = "if demand per operation stays"
ALLOWED = "if it goes on as measured, with up to a quarter more demand by then"
LEAST_POINT = 0.05
NO_PROBE = "Name the target's processes in the study (target.processes), so that they are probed."


@dataclass(frozen=True)
class Reaching:
    """A resource used up to `budget` (in the unit of its ceiling), in words `what`; `curve` None below three levels;
    `widest`: all that the resource can ever be, however many cores there are."""

    resource: Resource
    what: str
    budget: float
    constant_per_s: tuple[float, ...]
    line_per_s: float | None
    curve: CurveReach | None
    widest: bool = False

    @property
    def told(self) -> bool:
        """Whether the interval is narrow enough to be an answer."""
        high = self.curve.interval[1] if self.curve is not None else None
        return self.curve is not None and high is not None and high <= WIDEST * self.curve.interval[0]

    @property
    def per_s(self) -> float:
        """The best value: along the curve, else by the demand of the highest throughput."""
        return self.curve.per_s if self.curve is not None else self.constant_per_s[-1]


def reach_of(resource: Resource, budget: float, what: str) -> Reaching:
    """Throughput of a resource used to `budget`, in the unit of its ceiling."""
    share = [used / budget for used in resource.used]
    plain = reach(share, resource.per_s, 1.0)
    curve = reach_along_curve(resource.used, resource.per_s, budget, resource.seconds)
    return Reaching(resource, what, budget, plain.constant_per_s, plain.line_per_s, curve)


def how_far_finding(
    main: Mapping[str, Any],
    resources: Sequence[Resource],
    budgets: Mapping[str, float],
    cores: int | None,
    same_host: bool,
    probed: Sequence[str] = (),
    kept_apart: bool = False,
) -> dict[str, Any] | None:
    """The finding; None where nothing was asked and the run found the capacity itself, or no demand is known.

    `probed`: labels of the processes that the run saw; `kept_apart`: the target could not use all cores of the host.
    Without a budget it says where a run that never was saturated would meet the end of its resources.
    """
    asked: list[Reaching] = []
    missing: list[str] = []
    for name, share in budgets.items():
        resource = _named(name, resources)
        if resource is None:
            least = _at_least(name, share, main["steps"]) if name in probed else None
            missing.append(least or _missing(name, resources, ["cpu", "disk", *probed], kept_apart))
        else:
            asked.append(reach_of(resource, share * resource.ceiling, f"{share_words(share)} of {resource.where}"))
    if cores is not None:
        asked += _on_cores(cores, resources, missing, kept_apart)
    if not budgets and cores is None:
        resource = next((one for one in resources if not one.is_of_one_level), None)
        if main["capacity"]["bad"] is not None or resource is None or overload_of(main) is not None:
            return None
        asked = [reach_of(resource, resource.ceiling, f"the whole of {resource.where}")]
    first = min(asked, key=lambda one: one.per_s, default=None)
    unit = main["capacity"]["unit"]
    rests_on = [evidence_of(one.resource, unit) for one in asked] or [of_steps(main["steps"], unit)]
    return {
        "question": QUESTION,
        "answer": " ".join([*(_headline(one, main) for one in asked), *_least_words(asked, cores), *missing]),
        "sentences": [_plain(one) for one in asked],
        "extrapolations": [_json(one, main) for one in asked],
        "resources": [as_json(resource) for resource in resources],
        "evidence": as_data(dict.fromkeys(rests_on)),
        "notes": _notes(asked, main, same_host),
        "next": [_next(first)] if first is not None else [] if probed else [NO_PROBE],
    }


def _named(name: str, resources: Sequence[Resource]) -> Resource | None:
    """The resource of that name; "a+b" are threads that share one core."""
    known = {resource.name: resource for resource in resources}
    parts = [part.strip() for part in name.split("+")]
    if len(parts) == 1 or not all(part in known and known[part].is_thread for part in parts):
        return known.get(name.strip())
    chosen = [known[part] for part in parts]
    if len({one.levels for one in chosen}) != 1:
        return None
    used = tuple(sum(values) for values in zip(*(one.used for one in chosen), strict=True))
    words = f"one core that {' and '.join(parts)} share"
    share = {one.name: one.used[-1] for one in chosen}
    return replace(chosen[0], name=name, where=words, used=used, parts=share)


_APART = (
    "generator and target were kept apart, so the target could not use all cores of the host. Run it without --isolate "
    "or an affinity of the target"
)


def _missing(name: str, resources: Sequence[Resource], names: Sequence[str], kept_apart: bool) -> str:
    """Why there is no answer for that name: none has it, or nothing is known of its use."""
    parts = [part.strip() for part in name.split("+")]
    unknown = [part for part in parts if part not in names]
    if unknown:
        return f"Cannot tell for {name}: nothing that was probed is called {unknown[0]}; there are {', '.join(names)}."
    if kept_apart and "cpu" in parts:
        return f"Cannot tell for {name}: {_APART}."
    known = ", ".join(resource.name for resource in resources) or "nothing"
    return f"Cannot tell for {name}: no use of it was seen to rise with throughput; that of {known} was."


def _at_least(name: str, share: float, steps: Sequence[Mapping[str, Any]]) -> str | None:
    """What a share of one core of a process carries at least, where its use is too little to be seen to rise: of the
    steps with half of the highest throughput or more, the greatest use stands for that of all. None without such."""
    seen = [
        (float(step["done_per_s"]), float(step["cpu"][name]))
        for step in steps
        if (step.get("cpu") or {}).get(name) is not None and not says_nothing(step) and step.get("done_per_s")
    ]
    top = max((per_s for per_s, _ in seen), default=0.0)
    used = max((cores for per_s, cores in seen if per_s >= top / 2), default=0.0)
    if used <= 0 or used > share:
        return None
    return (
        f"On {share_words(share)} of one core of {name}: at least {number(top * share / used)}/s, if its use rises no "
        f"faster than throughput. It was not seen to rise: {name} used at most {amount_words(used, 'core')} at "
        f"{number(top / 2)} to {number(top)}/s."
    )


def _on_cores(cores: int, resources: Sequence[Resource], missing: list[str], kept_apart: bool) -> list[Reaching]:
    """A host with so many cores: what shares them, and each thread that uses one whatever there are."""
    host = next((resource for resource in resources if resource.name == "cpu"), None)
    if host is None:
        why = _APART if kept_apart else "what the host's cores do for each operation is not known"
        missing.append(f"Cannot tell for {cores} cores: {why}.")
        return []
    words = f"all of {cores} such cores"
    found = [reach_of(replace(host, ceiling=float(cores), where=words), float(cores), words)]
    threads = [one for one in resources if one.is_thread and one.full_per_s < found[0].per_s]
    words = "the whole of {}, which more cores do not widen"
    return [*found, *(replace(reach_of(one, 1.0, words.format(one.where)), widest=True) for one in threads)]


def _headline(one: Reaching, main: Mapping[str, Any]) -> str:
    if one.curve is None:
        return f"On {one.what}: about {number(one.per_s)}/s {CONSTANT}. Fewer than three levels give no interval."
    low, high = one.curve.interval
    if not one.told:
        to = f"between {number(low)} and {number(high)}/s" if high is not None else f"{number(low)}/s or more"
        return f"On {one.what}: cannot tell well, {to} (95%)."
    users = level_at(one, main)
    words = f", {level_words(users, main['capacity']['unit'])}" if users is not None else ""
    return f"On {one.what}: {number(one.per_s)}/s{words} (95%: {number(low)} to {number(high or 0.0)}/s)."


def _least_words(asked: Sequence[Reaching], cores: int | None) -> list[str]:
    """What binds on more cores, where a thread does."""
    threads = [one for one in asked if one.resource.is_thread and one.widest]
    if cores is None or not threads:
        return []
    first = min(threads, key=lambda one: one.per_s)
    return [f"So {cores} cores alone would bring it no further than {number(first.per_s)}/s."]


def _plain(one: Reaching) -> str:
    """The two usual extrapolations, with what each assumes."""
    resource, top = one.resource, len(one.resource.per_s) - 1
    points = [at for at in sorted({0, top}) if at == top or resource.used[at] >= LEAST_POINT * resource.ceiling]
    parts = [
        f"{number(resource.per_s[at])}/s at {share_words(resource.used[at] / resource.ceiling)} → "
        f"{number(one.constant_per_s[at])}/s"
        for at in points
    ]
    words = f"On {one.what}: {', '.join(parts)} {CONSTANT}"
    if one.line_per_s is not None:
        words += f". It is {number(one.line_per_s)}/s along the line through the {top + 1} levels"
    if one.curve is not None:
        words += f". It is {number(one.curve.per_s)}/s {ALLOWED}"
    return f"{words}."


def level_at(one: Reaching, main: Mapping[str, Any]) -> float | None:
    """The level of that throughput, where arrivals are in proportion to it."""
    if main["capacity"]["model"] != "open":
        return None
    resource = one.resource
    return one.per_s * sum(resource.levels) / sum(resource.per_s)


def _json(one: Reaching, main: Mapping[str, Any]) -> dict[str, Any]:
    curve = one.curve
    return {
        "resource": one.resource.name,
        "budget": one.budget,
        "unit": one.resource.unit,
        "budget_words": one.what,
        "told": one.told,
        "per_s": curve.per_s if curve is not None else None,
        "interval": list(curve.interval) if curve is not None else None,
        "confidence": 0.95 if curve is not None else None,
        "level": level_at(one, main) if one.told else None,
        "constant_demand_per_s": list(one.constant_per_s),
        "line_per_s": one.line_per_s,
        "demand_rise": curve.rise if curve is not None else None,
        "times_the_highest_measured": one.per_s / max(one.resource.per_s),
        "highest_use_of_budget": max(one.resource.used) / one.budget,
    }


def _notes(asked: Sequence[Reaching], main: Mapping[str, Any], same_host: bool) -> list[str]:
    notes = []
    found = main["capacity"]["rate_per_s"]
    for one in asked:
        if main["capacity"]["bad"] is not None and found and one.told and one.curve is not None:
            low = one.curve.interval[0]
            if low > found:
                notes.append(
                    f"But another limit comes before {one.what}: this run did not carry more than {number(found)}/s."
                )
        used = max(one.resource.used) / one.budget
        if used < FAR_SHARE:
            notes.append(f"The measured levels used {share_words(used)} of {one.what} at most: a far extrapolation.")
        if one.resource.name == "cpu" and one.resource.parts:
            notes.append(_shared_words(one.resource))
            if same_host:
                notes.append("The generator's own use of these cores is in it; from another host it would go further.")
    overload = overload_of(main)
    if asked and overload is not None:
        notes.append(f"But another limit comes before: {overload_words(overload, main['capacity']['unit'])}.")
    if asked:
        notes.append("This assumes that nothing else fills up before, and the same mix of operations.")
    return list(dict.fromkeys(notes))


def _shared_words(resource: Resource) -> str:
    """The rule of a shared budget: the parts' demands add up."""
    per_s = resource.per_s[-1]
    costs = [(label, 1000 * demand_s(cores, per_s)) for label, cores in resource.parts.items() if cores > 0]
    listed = ", ".join(f"{label} {number(cost)} ms" for label, cost in sorted(costs, key=lambda one: -one[1]))
    whole = 1000 * demand_s(resource.used[-1], per_s)
    return (
        f"They share these cores, so their demands add up: {listed} of a core per operation, {number(whole)} ms in all."
    )


def _next(first: Reaching) -> str:
    near = number(min(first.per_s, first.constant_per_s[-1]))
    if first.told:
        return f"Measure near {near}/s to see whether demand stays as it was."
    return f"Measure at least four levels, up to more than half of {near}/s, with longer steps (--step)."
