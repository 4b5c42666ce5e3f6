"""How long does loading N items take, and how does it age? From the windows of a grow run to findings."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from plimsoll.findings.evidence import EVENTS, SERIES, Evidence, as_data
from plimsoll.findings.validity.flow import flow_of_run, with_flow
from plimsoll.findings.validity.generator import health_of_load, not_alone
from plimsoll.findings.validity.validity import conclusions
from plimsoll.runs.readings.failures import MAKE_REQUESTS, Failures, nothing_measured_words
from plimsoll.runs.readings.failures import METRIC as FAILED
from plimsoll.stats.growth.cliff import LEAST_RISE, Cliff, cliff
from plimsoll.stats.growth.drift import dependence
from plimsoll.stats.growth.growth_family import Growth, growth_of, predict
from plimsoll.stats.growth.load_forecast import (
    FEWEST_POINTS,
    LEAST_SHARE,
    Forecast,
    forecast,
    steady_windows,
    time_per_item,
)
from plimsoll.stats.throughput.host_speed import slower_from
from plimsoll.words import amount_words, exponent_words, ms_words, number, percent_words, share_words, time_words

if TYPE_CHECKING:
    from plimsoll.runs.reader import RunReader

QUESTION = "How long does loading the items take?"
AGEING = "How does a create age as the data grow?"
CLIFF = "Is there a cliff?"
FAR_BEYOND = 0.1  # of what was asked; what is under way when a load pauses is less
WORTH_A_PROFILE = 0.5  # growth over the run; an index grows by less
PER_ITEM = (
    "Time per item is 1 ÷ items per second, what the creates at a time share between them: one create takes about as "
    "many times longer as there are at a time."
)
FAMILY_WORDS = {
    "constant": "does not depend on the volume of data",
    "logarithmic": "grows with the logarithm of the volume",
    "linear": "grows linearly with the volume",
    "n log n": "grows with the volume times its logarithm",
    "power": "grows with a power of the volume",
}
# Of a and b of each family (stats/growth/growth_family.py), whose value is the time of one item.
FIT_UNITS = {
    "constant": ("s", None),
    "logarithmic": ("s", "s per ln(items)"),
    "linear": ("s", "s per item"),
    "n log n": ("s", "s per item × ln(items)"),
    "power": ("s at one item", "exponent"),
}


@dataclass(frozen=True)
class Stretch:
    """So many windows without a step among them, and how their items age; `where` says on which side of the cliff;
    `to_end`: the last window is one of them."""

    growth: Growth | None
    windows: int
    where: str
    to_end: bool


def grow_findings(
    run: RunReader,
    *,
    same_host: bool | None = None,
    kept_apart: str | None = None,
    run_path: str | None = None,
    notes: Iterable[str] = (),
) -> list[dict[str, Any]]:
    """The findings of a grow run, the answer to QUESTION first. `run`: a RunReader; a killed run counts as
    interrupted. All rest on the times of creates, so a generator that was the limit makes all of them invalid."""
    facts = _facts(run)
    windows = grow_windows(run)
    volume, cost = time_per_item(windows, facts["volume_start"] or 0.0)
    step = cliff(volume, cost) if volume.size else None
    slower = _cores_slower(run, windows, step) if step is not None else None
    stretch = _telling_stretch(volume, cost, step)
    ahead = forecast(volume, cost, facts["loading_s"], facts["loaded"], facts["items"]) if volume.size else None
    common = {
        "schema": 1,
        "experiment": "grow",
        "status": facts["status"],
        "level_unit": "vus",
        "run": run_path,
        "objectives": [],
        "evidence": _evidence(facts, windows, volume),
    }
    failed_share = facts["failed"] / max(1, facts["failed"] + facts["loaded"] - facts["loaded_before"])
    too_many = failed_share > facts["allowed_failures"]
    generator = health_of_load(
        run, _loading(run), rests_on="mean_time", same_host=same_host, kept_apart=kept_apart, unit="vus"
    )
    generator = with_flow(generator, flow_of_run(run), [_loading(run)], "vus", is_open=False)
    silent = _asked_nothing(run, facts)
    # Where nothing was asked of the target, no generator can have spoiled what was measured of it.
    reasons = [] if silent else [*generator["reasons"], *_doubts_before(run)]
    main: dict[str, Any] = {
        **common,
        "question": QUESTION,
        "answer": (f"{not_alone(generator)} " if reasons and facts["status"] != "failed" else "")
        + (" ".join(silent) or _answer(facts, ahead, windows)),
        "valid": facts["status"] != "failed" and facts["loaded"] > 0 and not (reasons or silent),
        "facts": _main_facts(facts, windows),
        "load": {key: facts[key] for key in ("items", "loaded", "failed", "loading_s", "volume_start", "volume_end")},
        "forecast": _forecast_json(ahead),
        "failed_share": failed_share,
        "generator": generator,
        "validity": [] if silent else conclusions(generator, ["mean_time"])["validity"],
        "invalid_because": [*silent, *reasons],
        "notes": [*_beyond_note(facts), *_volume_note(facts), *_apart_words(generator), *notes],
        "next": [MAKE_REQUESTS] if silent else _next_steps(facts, generator, reasons, too_many, run_path),
    }
    if too_many:
        main["notes"].insert(
            0,
            (
                f"{share_words(failed_share)} of the creates failed; "
                f"{share_words(facts['allowed_failures'])} were allowed."
            ),
        )
        main["objectives"] = [_failure_objective(facts, failed_share)]
    ageing = {**common, "question": AGEING, "valid": main["valid"], **_ageing(stretch)}
    return [main, ageing, {**common, "question": CLIFF, "valid": main["valid"], **_cliff(step, volume, slower)}]


def _next_steps(
    facts: Mapping[str, Any], generator: Mapping[str, Any], reasons: Sequence[str], too_many: bool, path: str | None
) -> list[str]:
    """What is the generator's comes first, unless nothing was loaded of which it could have spoiled the times."""
    remedies = [] if facts["status"] == "failed" else _remedies(generator, reasons)
    return [*remedies, *_next(facts, too_many, path)]


def _asked_nothing(run: RunReader, facts: Mapping[str, Any]) -> list[str]:
    """That no request was made for what counts as loaded."""
    if facts["loaded"] <= facts["loaded_before"] or any(one.total for _, one in run.series(FAILED)):
        return []
    return nothing_measured_words(0, 0)


def _evidence(
    facts: Mapping[str, Any], windows: Sequence[Mapping[str, Any]], volume: np.ndarray
) -> list[dict[str, Any]]:
    """The windows of loading, the creates in them, and which of them tell the time per item."""
    seconds = float(sum(one["seconds"] for one in windows))
    creates = facts["loaded"] - facts["loaded_before"] + facts["failed"]
    return as_data(
        [
            Evidence(len(windows), "windows", EVENTS, f"Loading in {time_words(seconds)}"),
            Evidence(creates, "creates", SERIES, f"{number(facts['failed'])} failed of all"),
            _windows_used(volume),
        ]
    )


def _windows_used(volume: np.ndarray) -> Evidence:
    span = f", {number(float(volume.min()))} to {amount_words(float(volume.max()), 'item')}" if volume.size else ""
    return Evidence(int(volume.size), "windows", EVENTS, f"Time per item at a steady concurrency{span}")


def _step_seen(step: Cliff, volume: np.ndarray) -> Evidence:
    about = (
        f"The step is {number(step.t)} standard deviations and lies between {number(step.low)} and "
        f"{amount_words(step.high, 'item')}; after it"
    )
    return Evidence(int(volume.size) - step.place, "windows", EVENTS, about)


def _loading(run: RunReader) -> dict[str, Any]:
    """The seconds in which this run loaded, as a step at the concurrency that it had for the longest time."""
    seconds: Counter[int] = Counter()
    end_s = 0.0
    for one in run.events("grow_window"):
        if not one["draining"]:
            seconds[one["concurrency"]] += one["seconds"]
            end_s = float(one["second"])
    level = float(seconds.most_common(1)[0][0]) if seconds else 0.0
    return {"level": level, "measured_from_s": 0.0, "end_s": end_s}


def _doubts_before(run: RunReader) -> list[str]:
    """What the generator did in the runs that this one went on from, whose windows count."""
    return [f"In {event['run']}: {one}" for event in run.events("grow_resumed")[-1:] for one in event.get("doubts", ())]


def _remedies(generator: Mapping[str, Any], reasons: Sequence[str]) -> list[str]:
    earlier = ["Then load from the beginning: with --resume the times of the earlier run count."]
    return [*generator["remedies"], *(earlier if len(reasons) > len(generator["reasons"]) else [])]


def _apart_words(generator: Mapping[str, Any]) -> list[str]:
    words, apart = generator["words"], generator["kept_apart"]
    return [words] if apart is None or apart in words else [words, f"Kept apart: {apart}."]


def grow_windows(run: RunReader) -> list[dict[str, Any]]:
    """The windows of a run, with those of the run that it went on from."""
    windows: list[dict[str, Any]] = []
    for event in run.events():
        if event.get("kind") == "grow_resumed":
            windows = [dict(one) for one in event["windows"]]
        elif event.get("kind") == "grow_window":
            windows.append(dict(event))
    return windows


def _facts(run: RunReader) -> dict[str, Any]:
    ended, windows = run.events("grow_result"), grow_windows(run)
    loading_s = float(sum(one["seconds"] for one in windows))
    if ended:
        return {**ended[-1]["result"], "loading_s": loading_s}
    begun = (run.events("experiment_started") or [{}])[-1]
    resumed = (run.events("grow_resumed") or [{}])[-1]
    return {
        "status": "interrupted",
        "reason": "The run ended before it had loaded the items.",
        "items": begun.get("items", 0),
        "loaded": windows[-1]["loaded"] if windows else 0,
        "failed": sum(one["failed"] for one in windows),
        "loading_s": loading_s,
        "volume_start": (run.events("grow_settings") or [{}])[-1].get("volume_before"),
        "volume_end": None,
        "allowed_failures": 0.0,
        "resumed": resumed.get("run"),
        "loaded_before": resumed.get("loaded", 0),
        "causes": {},
    }


def _telling_stretch(volume: np.ndarray, cost: np.ndarray, step: Cliff | None) -> Stretch:
    """Of all windows, or with a cliff of those after it; where they do not tell whether an item ages, or are fewer than
    FEWEST_POINTS, of the longest stretch that tells it."""
    if step is None:
        return Stretch(_growth(volume, cost) if volume.size >= FEWEST_POINTS else None, volume.size, "", to_end=True)
    *before, last = pairwise((0, *step.steps, volume.size))
    parts = [last, *sorted(before, key=lambda part: part[0] - part[1])]
    stretches = [
        Stretch(
            _growth(volume[start:end], cost[start:end]),
            end - start,
            " after the cliff" if start >= step.place else " up to the cliff",
            to_end=end == volume.size,
        )
        for start, end in parts
        if end - start >= FEWEST_POINTS
    ]
    told = (one for one in stretches if one.growth is not None and one.growth.rises is not None)
    return next(told, stretches[0] if stretches else Stretch(None, last[1] - last[0], " after the cliff", to_end=True))


def _growth(volume: np.ndarray, cost: np.ndarray) -> Growth | None:
    first = growth_of(volume, cost)
    if first is None:
        return None
    return growth_of(volume, cost, min(0.9, dependence(np.log(cost / first.best.at(volume))))) or first


def _answer(facts: Mapping[str, Any], ahead: Forecast | None, windows: Sequence[Mapping[str, Any]]) -> str:
    loaded, items, took = facts["loaded"], facts["items"], facts["loading_s"]
    failed = facts["failed"]
    words = "no create failed" if not failed else f"{number(failed)} create{'s' if failed > 1 else ''} failed"
    if facts["status"] == "failed":
        return f"It was not loaded. {facts['reason']}"
    rate = f"{amount_words((loaded) / took, 'item')}/s" if took else "no time"
    if loaded >= items:
        return f"{amount_words(loaded, 'item')} were loaded in {time_words(took)}, {rate} on average; {words}."
    lead = (
        f"{number(loaded)} of {amount_words(items, 'item')} were loaded in "
        f"{time_words(took)}, {rate}; {words}. {facts['reason']}"
    )
    if ahead is None:
        share = f"{share_words(LEAST_SHARE)} of the items"
        return f"{lead} How long all take cannot be said yet: it needs {share} and {FEWEST_POINTS} windows."
    return (
        f"{lead} All of them would take {time_words(ahead.total_s)} (90%: {time_words(ahead.low_s)} "
        f"to {time_words(ahead.high_s)}), if it goes on as it did."
    )


def _main_facts(facts: Mapping[str, Any], windows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    steady = [one["concurrency"] for one in windows if not one.get("draining")]
    rows = [
        ["Items loaded", f"{number(facts['loaded'])} of {number(facts['items'])}"],
        ["Failed creates", number(facts["failed"])],
    ]
    rows.append(["Loading time", time_words(facts["loading_s"])])
    if steady:
        common = Counter(steady).most_common(1)[0][0]
        rows.append(["Creates at a time", f"{common} mostly, {min(steady)} to {max(steady)}"])
    known = [one for one in windows if one.get("mean_ms") and not one.get("draining")]
    if known:
        rows.append(
            ["One create", f"{ms_words(known[0]['mean_ms'])} at first, {ms_words(known[-1]['mean_ms'])} at the end"]
        )
    if facts["loaded_before"]:
        rows.append(["Loaded before", f"{number(facts['loaded_before'])} by {facts['resumed']}"])
    return rows


def _beyond_note(facts: Mapping[str, Any]) -> list[str]:
    beyond = facts["loaded"] - facts["items"]
    if facts["items"] <= 0 or beyond <= FAR_BEYOND * facts["items"]:
        return []
    return [
        f"{number(beyond)} items more than asked were loaded: creates came faster than the load could be paused. "
        "They are in the times and the rate above."
    ]


def _volume_note(facts: Mapping[str, Any]) -> list[str]:
    start, end = facts["volume_start"], facts["volume_end"]
    if start is None:
        return [
            (
                "How much data the target held before is not known (target.data_volume), "
                "so volumes count the loaded items only."
            )
        ]
    if end is None:
        return []
    came, new = end - start, facts["loaded"] - facts["loaded_before"]
    if abs(came - new) <= max(1.0, 0.001 * new):
        return [f"The target's own count agrees: {number(start)} before, {number(end)} after."]
    return [
        (
            f"The target's own count went from {number(start)} to {number(end)}, "
            f"which is {number(came)} and not {number(new)}."
        )
    ]


def _next(facts: Mapping[str, Any], too_many: bool, run_path: str | None) -> list[str]:
    steps = []
    if too_many or facts["status"] == "failed":
        known = Failures(Counter(facts["causes"])).next_step()
        steps.append(known or "Look at the target's log of that time.")
    if facts["loaded"] < facts["items"] and facts["status"] != "failed":
        steps.append(f"Go on with the same command and --resume {run_path or 'RUN'}.")
    return steps


def _failure_objective(facts: Mapping[str, Any], share: float) -> dict[str, Any]:
    return {
        "operation": "create",
        "objective": f"error_rate<={100 * facts['allowed_failures']:g}%",
        "unit": "ratio",
        "verdict": "failed",
        "value": share,
        "words": f"{share_words(share)} failed",
        "met_up_to": None,
        "failed_from": None,
        "verdicts": [],
        "needs": None,
    }


def _forecast_json(ahead: Forecast | None) -> dict[str, Any] | None:
    if ahead is None:
        return None
    return {
        "total_s": ahead.total_s,
        "interval_s": [ahead.low_s, ahead.high_s],
        "confidence": ahead.confidence,
        "left_s": ahead.left_s,
        "family": ahead.growth.best.family,
    }


def _ageing(stretch: Stretch) -> dict[str, Any]:
    growth = stretch.growth
    if growth is None:
        few = f"{stretch.windows} windows{stretch.where}"
        words = f"It cannot be told: {few} are too few, {FEWEST_POINTS} at four volumes are needed."
        return {"answer": words, "ageing": None, "next": ["Load more items."]}
    fits = [
        {
            "family": one.family,
            "a": one.a,
            "b": one.b if FIT_UNITS[one.family][1] else None,
            "units": dict(zip(("a", "b"), FIT_UNITS[one.family], strict=True)),
            "cv": one.cv,
            "weight": one.weight,
        }
        for one in growth.fits
    ]
    grows = growth.rises
    about: dict[str, Any] = {
        "family": None if grows is None else growth.family,
        "grows": grows,
        "fits": fits,
        "from_volume": growth.low,
        "to_volume": growth.high,
        "change": growth.change,
        "points": stretch.windows,
    }
    ends = growth.best.at([growth.low, growth.high])
    span = f"from {_per_item(ends[0])} at {number(growth.low)} items to {_per_item(ends[1])} at {number(growth.high)}"
    others = " or ".join(family for family in growth.likely if family != "constant")
    if grows is None:
        best = f"by the best fit ({others}) {span}" if others else span
        why = (
            "but it scatters as much"
            if growth.family is None and "constant" in growth.likely
            else f"{percent_words(growth.change)}, and a host that slows during a load may make up to "
            f"{share_words(LEAST_RISE)}"
        )
        answer = f"Whether it grows cannot be told over this range{stretch.where}: {best}, {why}."
    elif growth.family is None:
        rise = f"It grows{stretch.where} by {percent_words(growth.change)}"
        answer = f"{rise}, but by which law cannot be told yet ({others}): {span}."
    elif growth.family == "constant":
        flat = f"does not depend on the volume of data{stretch.where}"
        answer = f"The time per item {flat}: {_per_item(ends.mean())} throughout."
    else:
        power = (
            f" (n^{exponent_words(growth.best.b)})"
            if growth.family == "power" and growth.best.family == "power"
            else ""
        )
        law = f"{FAMILY_WORDS[growth.family]}{power}{stretch.where}"
        answer = f"The time per item {law}, {span} ({percent_words(growth.change)})."
    ahead = predict(growth, 4 * growth.high) if stretch.to_end else None
    if ahead is None:
        why = "what fits so far would part by then" if stretch.to_end else "what follows the cliff is too little"
        answer += f" At {amount_words(4 * growth.high, 'item')} it cannot be said: {why}."
        about["at_four_times"] = None
    else:
        answer += (
            f" At {amount_words(4 * growth.high, 'item')} it would take {_per_item(ahead[0])} (90%: "
            f"{_per_item(ahead[1])} to {_per_item(ahead[2])}), if no cliff comes."
        )
        about["at_four_times"] = {"volume": 4 * growth.high, "per_item_s": ahead[0], "interval_s": list(ahead[1:])}
    found: dict[str, Any] = {"answer": answer, "ageing": about, "next": []}
    found["notes"] = [PER_ITEM]
    if growth.low > 0 and math.log10(growth.high / growth.low) < 0.5:
        found["notes"] += ["The data grew by less than a factor of three, so laws that differ later look alike here."]
    if about["family"] is None:
        found["next"] = ["Load more items: over ten times the volume the laws part."]
    if grows and growth.change > WORTH_A_PROFILE:
        found["next"].append(
            "Profile one create at the end: what it does once for each item that is there already (an index that is "
            "missing, a recount)."
        )
    return found


def _per_item(seconds: float) -> str:
    return f"{ms_words(1000 * float(seconds))} per item"


def _cores_slower(run: RunReader, windows: Sequence[Mapping[str, Any]], step: Cliff) -> float | None:
    """By which share the target's cores are slower from the step on, where that may make up half of it or more."""
    first = steady_windows(windows)[step.place]
    speeds = run.resource("core_speed", "work_per_cpu_s")
    slower = slower_from(first["second"] - first["seconds"], *speeds) if first in run.events("grow_window") else None
    return slower if slower is not None and -math.log(1 - slower) >= math.log(1 + step.rise) / 2 else None


def _cliff(step: Cliff | None, volume: np.ndarray, slower: float | None) -> dict[str, Any]:
    if volume.size < 16:
        return {"answer": f"It cannot be told: {volume.size} windows are too few.", "cliff": None, "next": []}
    if step is None:
        span = f"between {number(volume[0])} and {amount_words(volume[-1], 'item')}"
        return {
            "answer": f"No: the time per item changed nowhere at once by 15% or more {span}.",
            "cliff": None,
            "next": [],
        }
    answer = (
        f"Yes: from about {amount_words(step.at, 'item')} on the time per item (1 ÷ items per second) changes at once, "
        f"by {percent_words(step.rise)}."
    )
    steps = ["See what filled up there: memory, a cache, a disk; repeat with more of it to prove it."]
    if slower is not None:
        answer += (
            f" That may be the host and not the data: from then on the target's cores did {share_words(slower)} less "
            "work in the same CPU time."
        )
        steps = ["Load the items once more: what the data make comes back at the same volume, a slower host does not."]
    return {
        "answer": answer,
        "cliff": {
            "volume": step.at,
            "between": [step.low, step.high],
            "rise": step.rise,
            "t": step.t,
            "cores_slower": slower,
        },
        "evidence": as_data([_windows_used(volume), _step_seen(step, volume)]),
        "next": steps,
    }
