"""What the steps of a capacity run tell beyond the bracket: the interval of the capacity, and the knee.

Both are null, with the reason in words, where the data do not identify them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.findings.resources import Step
from plimsoll.runs.readings.failures import says_failing
from plimsoll.stats.throughput.knee import Knee, NoKnee, closed_knee, open_knee
from plimsoll.stats.throughput.plateau import Plateau, capacity_interval

CONFIDENCE = 0.95
INTERVAL_WORDS = "95%, from the completions of the overloaded steps and their scatter, no wider than the bracket"
OPEN_KNEE_WORDS = "the load of greatest throughput ÷ mean response time (Kleinrock), from a fitted queueing curve"
CLOSED_KNEE_WORDS = "where throughput would reach its plateau if users never waited for each other (N*)"


def interval_facts(facts: Mapping[str, Any]) -> dict[str, Any]:
    """`interval` [low, high] in levels with `confidence` and `interval_means`; null without an estimate or a bound."""
    reason = None
    if not facts["open"]:
        reason = "Users who wait show where throughput stops rising, not how much the target could finish."
    elif facts.get("collapse"):
        reason = (
            "Overloaded, the target finishes less than it carries, so its overloaded steps do not show its capacity."
        )
    elif facts["estimate"] is None:
        reason = (
            "How much the target finishes at most is not known: no overloaded step was long enough, or they differ."
        )
    elif facts["good"] is None or facts["bad"] is None:
        reason = "The bracket is open on one side."
    elif _stopped_by_errors(facts):
        reason = "Requests failed before the target was full, so what it finishes under overload is not its capacity."
    if reason is not None:
        return {"interval": None, "confidence": None, "interval_means": reason}
    found = capacity_interval(_estimate(facts), facts["good"], facts["bad"], _rate_relative_sd(facts), CONFIDENCE)
    if found == (facts["good"], facts["bad"]):
        reason = "What the overloaded steps finished does not narrow the bracket."
        return {"interval": None, "confidence": None, "interval_means": reason}
    return {"interval": list(found), "confidence": CONFIDENCE, "interval_means": INTERVAL_WORDS}


def knee_facts(facts: Mapping[str, Any], steps: Sequence[Step]) -> dict[str, Any]:
    """`knee` in levels with `knee_interval` and `knee_means`; null with the reason where the steps do not tell."""
    found = _open(facts, steps) if facts["open"] else _closed(facts, steps)
    if isinstance(found, NoKnee):
        return {"knee": None, "knee_interval": None, "knee_means": found.reason}
    words = OPEN_KNEE_WORDS if facts["open"] else CLOSED_KNEE_WORDS
    return {"knee": found.level, "knee_interval": list(found.interval), "knee_means": words}


def _open(facts: Mapping[str, Any], steps: Sequence[Step]) -> Knee | NoKnee:
    if facts["estimate"] is None:
        why = (
            "No step was overloaded"
            if facts["bad"] is None
            else "The overloaded steps do not tell what it does at most"
        )
        return NoKnee(f"{why}, so the capacity that the response times bend towards is not known.")
    sums: dict[float, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for step in steps:
        mean, samples = step.get("mean_ms"), step.get("samples") or 0
        if mean and samples and step["verdict"] != "bad":
            sums[step["level"]][0] += mean * samples
            sums[step["level"]][1] += samples
    levels = sorted(sums)
    means, counts = [sums[level][0] / sums[level][1] for level in levels], [sums[level][1] for level in levels]
    top = _estimate(facts)
    return open_knee(levels, means, counts, top.level, math.hypot(top.relative_sd, _rate_relative_sd(facts)))


def _closed(facts: Mapping[str, Any], steps: Sequence[Step]) -> Knee | NoKnee:
    if facts["bad"] is None:
        return NoKnee("Throughput never stopped rising, so its plateau is not known.")
    if facts.get("collapse"):
        return NoKnee("Overloaded, the target finishes less than it carries, so its plateau is not known.")
    if _stopped_by_errors(facts):
        return NoKnee("Requests failed before throughput stopped rising, so its plateau is not known.")
    return closed_knee(*closed_counts(steps))


def closed_counts(steps: Sequence[Step]) -> tuple[list[float], list[float], list[float]]:
    """(levels, iterations done, seconds) of the steps in which nothing failed."""
    healthy = [step for step in steps if not step.get("given_up") and not step.get("error_share")]
    seconds = [step["end_s"] - step["measured_from_s"] for step in healthy]
    done = [step["done_per_s"] * length for step, length in zip(healthy, seconds, strict=True)]
    return [step["level"] for step in healthy], done, seconds


def _stopped_by_errors(facts: Mapping[str, Any]) -> bool:
    at_bad = (step for step in facts["steps"] if step["level"] == facts["bad"] and step["verdict"] == "bad")
    return any(says_failing(step["reasons"]) for step in at_bad)


def _estimate(facts: Mapping[str, Any]) -> Plateau:
    return Plateau(facts["estimate"], facts["estimate_sd"] / facts["estimate"])


def _rate_relative_sd(facts: Mapping[str, Any]) -> float:
    """Of the arrival rate at level 1: none if it was declared, that of a Poisson count if it was measured."""
    arrivals = facts.get("rate_arrivals")
    return 1 / math.sqrt(arrivals) if arrivals else 0.0
