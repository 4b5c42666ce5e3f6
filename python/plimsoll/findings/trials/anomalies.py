"""What a careful reader would notice in the trials of a comparison, in sentences: none of it changes a verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import deepcopy
from statistics import median
from typing import Any

from plimsoll.findings.trials.comparisons import Comparison
from plimsoll.stats.comparison.log_ratio import paired_log_ratio
from plimsoll.stats.growth.trend import theil_sen
from plimsoll.words import number, share_words

Trial = Mapping[str, Any]
ERROR_BURST, BURST_OVER_USUAL = 0.01, 5.0
DRIFT_CONFIDENCE = 0.99
_LEFT_OVER_S = 1.0


def anomalies(
    found: Sequence[Comparison], trials: Sequence[Trial], labels: Mapping[str, str], margin: float, *, is_open: bool
) -> list[str]:
    """Pairs far from the rest, drift over the session, bursts of errors, and levels that were not kept up with."""
    primary = [one for one in found if one.primary and one.effect is not None]
    return [
        *(sentence for one in primary for sentence in _odd_pairs(one, trials, margin)),
        *_drift(primary, margin),
        *_bursts(trials, labels),
        *(_left_over(trials, labels) if is_open else []),
    ]


def _odd_pairs(one: Comparison, trials: Sequence[Trial], margin: float) -> list[str]:
    found = one.odd_pairs()
    if not found:
        return []
    ratios = [b / a for a, b in zip(one.a, one.b, strict=True)]
    rest = [place for place in range(len(ratios)) if place not in found]
    usual = math.exp(sum(math.log(ratios[place]) for place in rest) / len(rest))
    numbers = [
        f"{one.repetitions[place]} (B ÷ A {number(ratios[place])}; trials "
        f"{_numbers(trials, one, one.repetitions[place])})"
        for place in found
    ]
    without = deepcopy(one)
    without.a, without.b = ([values[place] for place in rest] for values in (one.a, one.b))
    without.effect, without.verdict, without.reasons = paired_log_ratio(without.a, without.b), "undecided", []
    without.judge(margin)
    what = one.statistic if one.name == "all requests" else f"{one.statistic} of {one.name}"
    effect = "the verdict is the same" if without.verdict == one.verdict else f"the verdict would be {without.verdict}"
    plural = "s" if len(found) > 1 else ""
    return [
        f"{what} at {one.load}: pair{plural} {', '.join(numbers)} lie{'' if plural else 's'} far from the rest "
        f"({number(usual)}). {'They are' if plural else 'It is'} counted all the same. "
        f"Without {'them' if plural else 'it'}, {effect}."
    ]


def _numbers(trials: Sequence[Trial], one: Comparison, repetition: int) -> str:
    here = [trial for trial in trials if trial["level"] == one.level and trial["repetition"] == repetition]
    return " and ".join(str(trial["trial"]) for trial in here)


def _drift(primary: Sequence[Comparison], margin: float) -> list[str]:
    """Both arms moving over the session: the pairs cancel it, but the target or its machine is not steady."""
    sentences = []
    for one in primary:
        if not one.paired or one.statistic != primary[0].statistic:
            continue
        level = [math.log(a * b) / 2 for a, b in zip(one.a, one.b, strict=True)]
        trend = theil_sen(level, DRIFT_CONFIDENCE)
        change = math.expm1(trend.slope * (len(level) - 1))
        if (trend.low > 0 or trend.high < 0) and abs(change) > margin:
            way = "rose" if change > 0 else "fell"
            sentences.append(
                f"{one.statistic} at {one.load} {way} by {share_words(abs(change))} in A and B alike over the session. "
                "Pairs cancel that, but data that grow, caches that fill or a busier machine are part of these times."
            )
    return sentences


def _bursts(trials: Sequence[Trial], labels: Mapping[str, str]) -> list[str]:
    sentences = []
    for cell in dict.fromkeys((trial["variant"], trial["level"]) for trial in trials):
        here = [trial for trial in trials if (trial["variant"], trial["level"]) == cell]
        shares = [trial["failed"] / trial["requests"] if trial["requests"] else 0.0 for trial in here]
        usual = median(shares)
        for trial, share in zip(here, shares, strict=True):
            if len(here) > 2 and share >= ERROR_BURST and share > BURST_OVER_USUAL * usual:
                cause = max(trial["causes"], key=trial["causes"].get, default="no answer")
                sentences.append(
                    f"Trial {trial['trial']} ({labels.get(cell[0], cell[0])}, {trial['load']}) failed "
                    f"{share_words(share)} of its requests ({cause}), the others {share_words(usual)}: an error burst."
                )
    return sentences


def _left_over(trials: Sequence[Trial], labels: Mapping[str, str]) -> list[str]:
    sentences = []
    for cell in dict.fromkeys((trial["variant"], trial["level"]) for trial in trials):
        here = [trial for trial in trials if (trial["variant"], trial["level"]) == cell]
        behind = [
            trial
            for trial in here
            if trial["unfinished_end"] > max(5.0, _LEFT_OVER_S * trial["planned"] / max(1, trial["seconds"]))
            and trial["done"] < 0.97 * trial["planned"]
        ]
        if behind:
            sentences.append(
                f"{labels.get(cell[0], cell[0])} did not keep up at {here[0]['load']} in {len(behind)} of {len(here)} "
                "trials: its times there are those of a growing queue and depend on how long a trial lasts."
            )
    return sentences
