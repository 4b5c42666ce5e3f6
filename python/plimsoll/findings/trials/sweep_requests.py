"""Which requests take longer or shorter as a parameter of a sweep grows? What is behind the time of the whole.

Each request's mean times at the values of a parameter, at each setting of the others, get a power law as the whole
does; and once more beside the other requests of the same trials, from three requests on. A host that is slower in one
trial slows all of them: each trial's part in common, the median over the requests of how far each lies from its own
mean (of logarithms), is taken off, so that what is left tells a request that grows from a machine that changes.

As many are looked at, each interval is that of 1 − 0.05 ÷ their number (Bonferroni), so that all of them hold together
in 95%. Requests of which a trial saw fewer than 20 do not count there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from plimsoll.findings.trials.sweep_cells import lines_over, number_of, where_words
from plimsoll.stats.growth.power_law import PowerLaw, power_law
from plimsoll.words import confidence_words, exponent_words, joined, ms_words

TOGETHER = 0.95
LEAST_FACTOR = 1.10
LEAST_COUNT = 20
FEWEST_BESIDE = 3
MOST_SAID = 3
Times = Mapping[str, float]


@dataclass(frozen=True)
class _Points:
    """One request over one parameter at one setting of the others: its values, and mean times in ms; `beside`: the same
    without what all requests of a trial have in common."""

    parameter: str
    others: dict[str, str]
    request: str
    values: list[float]
    times: list[float]
    beside: list[float] | None


def times_of_requests(trials: Sequence[Mapping[str, Any]]) -> list[dict[str, float]]:
    """Of each trial the mean times in ms of its requests by name."""
    return [
        {
            str(one["request"]): one["mean_ms"]
            for one in trial["endpoints"]
            if one["request"] is not None and one["operation"] is None and one["count"] >= LEAST_COUNT
        }
        for trial in trials
    ]


def request_dependencies(
    cells: Sequence[dict[str, Any]], over: Mapping[str, Sequence[str]]
) -> list[dict[str, Any]] | None:
    """Those that depend on a parameter, the steepest first; None where there are not two requests to be told apart."""
    looked_at = list(_looked_at(cells, over))
    if len({one.request for one in looked_at}) < 2:
        return None
    confidence = 1 - (1 - TOGETHER) / sum(2 if one.beside else 1 for one in looked_at)
    found = [law for one in looked_at if (law := _dependency(one, confidence)) is not None]
    return sorted(found, key=lambda one: -abs(math.log(one["factor"])))


def request_sentences(found: Sequence[Mapping[str, Any]] | None, over: Mapping[str, Any]) -> list[str]:
    """What a reader is told of them."""
    if found is None:
        return []
    if not found:
        return [f"No single request is seen to take longer or shorter with {joined(list(over))}."]
    rest = len(found) - MOST_SAID
    more = [f"{rest} more {'depends' if rest == 1 else 'depend'} on a parameter; the findings have them all."]
    return [*(one["words"] for one in found[:MOST_SAID]), *(more if rest > 0 else [])]


def _looked_at(cells: Sequence[dict[str, Any]], over: Mapping[str, Sequence[str]]) -> Iterator[_Points]:
    """All requests over all parameters with two values or more, all of them above 0."""
    for name in over:
        numbers = {text: number_of(text) or 0.0 for text in over[name]}
        if not all(value > 0 for value in numbers.values()):
            continue
        for others, line in lines_over(cells, name):
            trials = [(numbers[cell["parameters"][name]], times) for cell in line for times in cell["requests_ms"]]
            beside = _without_what_is_common(trials)
            for request in dict.fromkeys(request for _, times in trials for request in times):
                seen = [(x, times[request]) for x, times in trials if request in times]
                if len({x for x, _ in seen}) >= 2:
                    values, means = [x for x, _ in seen], [y for _, y in seen]
                    yield _Points(name, others, request, values, means, beside.get(request))


def _without_what_is_common(trials: Sequence[tuple[float, Times]]) -> dict[str, list[float]]:
    """By request that every trial saw, its times as they would be in trials alike; empty with too few requests, or
    where what they have in common goes with the parameter."""
    seen = [times for _, times in trials]
    requests = [request for request in (seen[0] if seen else ()) if all(request in times for times in seen)]
    if len(requests) < FEWEST_BESIDE:
        return {}
    logs = np.log([[times[request] for times in seen] for request in requests])
    common = np.median(logs - logs.mean(axis=1, keepdims=True), axis=0)
    if _depends(power_law([x for x, _ in trials], np.exp(common), TOGETHER)):
        return {}
    return {request: np.exp(row).tolist() for request, row in zip(requests, logs - common, strict=True)}


def _depends(law: PowerLaw | None) -> bool:
    if law is None or law.form == "none" or law.low <= 0 <= law.high:
        return False
    return law.span ** abs(law.exponent) >= LEAST_FACTOR


def _dependency(points: _Points, confidence: float) -> dict[str, Any] | None:
    """How it depends, by the narrower interval of those that show it: of its times, and of them beside the others."""
    shown = [
        (law.high - law.low, beside, law)
        for beside, times in ((False, points.times), (True, points.beside))
        if times is not None and (law := power_law(points.values, times, confidence)) is not None and _depends(law)
    ]
    if not shown:
        return None
    _, beside, law = min(shown, key=lambda one: one[0])
    name, least, most = points.parameter, min(points.values), max(points.values)
    way = f"takes {'longer' if law.exponent > 0 else 'shorter'} the larger {name}{where_words(points.others)}"
    against = ", beside the other requests of the same trials" if beside else ""
    bounds = f"{exponent_words(law.low)} to {exponent_words(law.high)}"
    interval = f"{name}^{exponent_words(law.exponent)}, {confidence_words(confidence)} interval {bounds}"
    ends = f"{ms_words(law.at(least))} at {name}={least:g}, {ms_words(law.at(most))} at {name}={most:g}"
    return {
        "parameter": name,
        "request": points.request,
        "at": points.others,
        "exponent": law.exponent,
        "interval": [law.low, law.high],
        "confidence": confidence,
        "factor": law.at(most) / law.at(least),
        "beside_others": beside,
        "words": f"{points.request} {way}{against}: {ends} ({interval}).",
    }
