"""Which requests take longer or shorter as a parameter of a sweep grows? What is behind the time of the whole.

Each request's mean times at the values of a parameter, at each setting of the others, get a power law as the whole
does. As many are looked at, each interval is that of 1 − 0.05 ÷ their number (Bonferroni), so that all of them hold
together in 95 %.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from plimsoll.findings.trials import joined, ms, percent
from plimsoll.stats.power_law import PowerLaw, power_law

TOGETHER = 0.95
LEAST_FACTOR = 1.10
MOST_SAID = 3
Cell = Mapping[str, Any]


def times_of_requests(trials: Sequence[Mapping[str, Any]]) -> dict[str, list[float]]:
    """Mean times in ms of each request by its name, one of each of these trials that saw it."""
    found: dict[str, list[float]] = {}
    for trial in trials:
        for one in trial["endpoints"]:
            if one["request"] is not None and one["operation"] is None and one["mean_ms"]:
                found.setdefault(str(one["request"]), []).append(one["mean_ms"])
    return found


def request_dependencies(cells: Sequence[Cell], over: Mapping[str, Sequence[str]]) -> list[dict[str, Any]] | None:
    """Those that depend on a parameter, the steepest first; None where there are not two requests to be told apart."""
    looked_at = list(_points(cells, over))
    if len({request for _, _, request, _, _ in looked_at}) < 2:
        return None
    confidence = 1 - (1 - TOGETHER) / len(looked_at)
    found = []
    for name, others, request, xs, ys in looked_at:
        law = power_law(xs, ys, confidence)
        if law is not None and _depends(law):
            found.append(_dependency(name, others, request, xs, law, confidence))
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


def _points(
    cells: Sequence[Cell], over: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, dict[str, str], str, list[float], list[float]]]:
    """(parameter, the others, request, its values, mean times) where there are two values or more, all above 0."""
    for name in over:
        numbers = {text: _number(text) for text in over[name]}
        if not all(value > 0 for value in numbers.values()):
            continue
        for others in dict.fromkeys(
            tuple((k, v) for k, v in cell["parameters"].items() if k != name) for cell in cells
        ):
            line = [cell for cell in cells if all(cell["parameters"][key] == value for key, value in others)]
            for request in dict.fromkeys(request for cell in line for request in cell["requests_ms"]):
                pairs = [
                    (numbers[cell["parameters"][name]], value)
                    for cell in line
                    for value in cell["requests_ms"].get(request, ())
                ]
                if len({x for x, _ in pairs}) >= 2:
                    yield name, dict(others), request, [x for x, _ in pairs], [y for _, y in pairs]


def _number(text: str) -> float:
    """A finite number, else 0."""
    try:
        value = float(text)
    except ValueError:
        return 0.0
    return value if math.isfinite(value) else 0.0


def _depends(law: PowerLaw) -> bool:
    factor = law.span ** abs(law.exponent)
    return law.form != "none" and not law.low <= 0 <= law.high and factor >= LEAST_FACTOR


def _dependency(
    name: str, others: dict[str, str], request: str, xs: Sequence[float], law: PowerLaw, confidence: float
) -> dict[str, Any]:
    least, most = min(xs), max(xs)
    where = f" at {joined([f'{key}={value}' for key, value in others.items()])}" if others else ""
    interval = f"{percent(confidence, 3)} interval {law.low:.2f} to {law.high:.2f}"
    longer = "longer" if law.exponent > 0 else "shorter"
    return {
        "parameter": name,
        "request": request,
        "at": others,
        "exponent": law.exponent,
        "interval": [law.low, law.high],
        "confidence": confidence,
        "factor": law.at(most) / law.at(least),
        "words": (
            f"{request} takes {longer} the larger {name}{where}: {ms(law.at(least))} at {name}={least:g}, "
            f"{ms(law.at(most))} at {name}={most:g} ({name}^{law.exponent:.2f}, {interval})."
        ),
    }
