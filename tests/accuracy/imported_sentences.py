"""Every sentence about another tool's levels held against the levels themselves, as its page draws them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from plimsoll.findings.imported.shown import good_per_s, judged_as, rows_of

NUMBER = r"(\d[\d,]*(?:\.\d+)?)"
ROUNDED = 0.006  # three digits
LEVEL_AT = re.compile(rf"{NUMBER} (?:users?|VUs?) \({NUMBER}/s")
RATE_AT = re.compile(rf"{NUMBER}/s at {NUMBER} (?:users?|VUs?)")
PLATEAU = re.compile(rf"{NUMBER}/s, the mean of (\d+) levels(?: \({NUMBER} to {NUMBER}/s\))?")
FALL = re.compile(rf"it falls, by {NUMBER}% to {NUMBER}/s")


def contradictions(findings: list[dict[str, Any]]) -> Iterator[str]:
    """What the answers of one test say that its levels, or its other answers, do not."""
    main = next(one for one in findings if "capacity" in one)
    drawn = {level: done / seconds for level, (done, seconds) in sums_of(main).items()}
    yield from _numbers(main["answer"], drawn)
    yield from _shape(main, drawn)
    yield from _facts(main)
    yield from _marks(main)
    yield from _others(main, findings)


def sums_of(main: Mapping[str, Any]) -> dict[float, list[float]]:
    """Good answers and seconds of each level that counts, of its steps together, in order of level."""
    sums: dict[float, list[float]] = {}
    for step in main["steps"]:
        seconds = (step["end_s"] - step["start_s"]) if step.get("end_s") is not None else 1.0
        if step["verdict"] != "mixed":
            here = sums.setdefault(step["level"], [0.0, 0.0])
            here[0] += (good_per_s(step) or 0.0) * seconds
            here[1] += seconds
    return dict(sorted(sums.items()))


def _numbers(answer: str, drawn: Mapping[float, float]) -> Iterator[str]:
    """A rate that stands with a level is that level's mean."""
    told = [(level, rate) for level, rate in LEVEL_AT.findall(answer)]
    told += [(level, rate) for rate, level in RATE_AT.findall(answer)]
    for level, rate in told:
        known = [per_s for at, per_s in drawn.items() if _same(at, level)]
        if known and not any(_same(per_s, rate) for per_s in known):
            yield f"{rate}/s at {level}, where the chart has {known}"


def _shape(main: Mapping[str, Any], drawn: Mapping[float, float]) -> Iterator[str]:
    answer, capacity = main["answer"], main["capacity"] or {}
    rates, levels = list(drawn.values()), list(drawn)
    if "does not rise" in answer and ("Throughput rises" in answer or max(rates) > 1.4 * min(rates)):
        yield f"does not rise, from {min(rates)} to {max(rates)}"
    if "the most that was tried" in answer and "falls" in answer:
        yield "falls, and is told of the most that was tried"
    for mean, count, low, high in PLATEAU.findall(answer):
        bad = None if "does not rise" in answer else capacity["bad"]
        among = [rate for level, rate in drawn.items() if bad is None or level >= bad]
        of_them = [one for level, one in sums_of(main).items() if bad is None or level >= bad]
        whole = sum(done for done, _ in of_them) / sum(seconds for _, seconds in of_them)
        if len(among) != int(count) or not _same(whole, mean):
            yield f"a plateau of {mean} over {count} levels; drawn: {among}"
        if low and not (_same(min(among), low) and _same(max(among), high)):
            yield f"a plateau from {low} to {high}; drawn: {min(among)} to {max(among)}"
        if max(rates) > 1.05 * max(among):
            yield f"no more from {bad} on, and the most, {max(rates)}, lies below it"
    for share, last in FALL.findall(answer):
        if not _same(rates[-1], last) or not _same(100 * (1 - rates[-1] / max(rates)), share, 0.05):
            yield f"falls by {share}% to {last}; drawn: {max(rates)} to {rates[-1]}"
    if "still rises" in answer and rates[-1] < 0.95 * max(rates):
        yield f"still rises at {levels[-1]}, where it is below {max(rates)}"
    if capacity and not _same(capacity["most_per_s"], str(max(rates))):
        yield f"the most is {capacity['most_per_s']}; drawn: {max(rates)}"


def _facts(main: Mapping[str, Any]) -> Iterator[str]:
    """Where it begins to flatten lies within the bracket; the knee is no further from it than its interval."""
    capacity = main["capacity"] or {}
    good, bad = capacity.get("good"), capacity.get("bad")
    for _, words in main["facts"]:
        low, high = (_value(text) for text in re.findall(NUMBER, words))
        if (good is not None and low < 0.99 * good) or (bad is not None and high > 1.01 * bad):
            yield f"flattens {words}, beside the bracket {good} to {bad}"
    if capacity.get("knee") is not None:
        low, high = capacity["knee_interval"]
        if good is None or bad is None or high < 0.9 * good or low > bad:
            yield f"a knee of {low} to {high}, beside the bracket {good} to {bad}"


def _marks(main: Mapping[str, Any]) -> Iterator[str]:
    """No level is marked as not carried, and rows say what the answer says."""
    marks = {judged_as(step, main) for step in main["steps"]}
    if marks & {"good", "bad"}:
        yield f"marks of levels that nobody judged: {marks}"
    rows = {row[0]: row[2] for row in rows_of(main)}
    for badge, words in (("levels off", ("no more throughput", "flattens", "waiting", "no higher")),
                         ("does not rise", ("does not rise",)), ("still rises", ("still rises", "rises in proportion",
                         "less than proportion")), ("cannot tell", ("Cannot tell",))):  # fmt: skip
        if rows["throughput"] == badge and not any(one in main["answer"] for one in words):
            yield f"the row says {badge}, the answer {main['answer']}"
    if "Cannot tell" in main["answer"] and rows["throughput"] != "cannot tell":
        yield f"cannot tell, and the row says {rows['throughput']}"


def _others(main: Mapping[str, Any], findings: list[dict[str, Any]]) -> Iterator[str]:
    """The law of scaling and the next steps do not go against the levels."""
    law = next((one["answer"] for one in findings if one.get("scalability")), "")
    if "more users bring less" in law and not (main["capacity"] or {}).get("falls_by"):
        yield f"{law}, and the levels do not fall: {main['answer']}"
    steps = main["next"]
    if len(set(steps)) < len(steps):
        yield f"a step twice: {steps}"
    for low, high in re.findall(rf"Measure between {NUMBER} (?:users?|VUs?) and {NUMBER} ", " ".join(steps)):
        if _value(high) - _value(low) <= 1:
            yield f"nothing lies between {low} and {high}"


def _same(value: float, told: str, within: float = ROUNDED) -> bool:
    return abs(value - _value(told)) <= within * max(abs(value), 1e-9)


def _value(text: str) -> float:
    return float(text.replace(",", ""))
