"""Is B slower than A? From the trials of a run to the finding; it reads what the run directory holds and no more."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from plimsoll.findings.evidence import TRIALS, Evidence
from plimsoll.findings.trials.anomalies import anomalies
from plimsoll.findings.trials.comparisons import (
    THROUGHPUT,
    Comparison,
    FailureChange,
    compare_trials,
    failure_changes,
    figure_of,
)
from plimsoll.findings.trials.same_work import request_changes, request_words
from plimsoll.findings.trials.trials import Figure, first_steps, sound_trials, trials_finding
from plimsoll.runs.interrupted import SAME
from plimsoll.runs.readings.endpoints import QUANTILES
from plimsoll.runs.snapshot import Snapshot
from plimsoll.words import (
    amount_words,
    confidence_words,
    interval_words,
    joined,
    ms_words,
    number,
    ratio_words,
    share_words,
    time_words,
)

QUESTION = "Is B slower than A?"
_SAMPLES_BEYOND = 20
TOO_LONG_S, TIMES_SPENT = 3600.0, 10.0  # what nobody waits for to settle one comparison
_TOO_FEW = "Fewer than two trials of A and of B are complete and have answers to compare."


@dataclass(frozen=True)
class PairTime:
    """How long a pair takes at all levels, and all trials of this comparison took, in seconds."""

    pair_s: float
    spent_s: float

    @classmethod
    def of(cls, trials: Sequence[Mapping[str, Any]], levels: int) -> PairTime | None:
        """As these trials took, with what is done between them; None without any."""
        if not trials or any("end_s" not in trial for trial in trials):
            return None
        load_s = [float(trial["end_s"] - trial["start_s"]) for trial in trials]
        ends = sorted(float(trial["ended_unix"]) for trial in trials if trial.get("ended_unix"))
        each = [after - before for before, after in pairwise(ends)] or load_s
        trial_s = max(statistics.median(each), statistics.median(load_s))
        return cls(2 * levels * trial_s, len(trials) * trial_s)

    def words(self, pairs: int) -> str:
        """ "about 5 h"."""
        return f"about {time_words(pairs * self.pair_s)}"

    def is_too_long(self, pairs: int) -> bool:
        """Whether other advice comes first: over an hour, and ten times of what this one took."""
        needed_s = pairs * self.pair_s
        return needed_s > TOO_LONG_S and needed_s > TIMES_SPENT * self.spent_s


def compare_finding(
    plan: Mapping[str, Any],
    trials: Sequence[Mapping[str, Any]],
    snapshots: Iterable[Snapshot] = (),
    rows: Iterable[Mapping[str, Any]] = (),
    *,
    status: str = "finished",
    run_path: str | None = None,
    notes: Iterable[str] = (),
) -> dict[str, Any]:
    """The finding of `plan` (plan.json) and its complete `trials`. Ratios are B ÷ A, times in ms."""
    analysis = plan["analysis"]
    margin, primary, paired = analysis["margin"], analysis["primary"], analysis.get("paired", True)
    labels = {variant["name"]: variant["label"] for variant in plan["variants"]}
    rests_on: Figure = "tail" if "tail" in map(figure_of, primary) else "middle"
    sound = sound_trials([_with_paths(trial, plan) for trial in trials], snapshots, rows, rests_on=rests_on)
    counted = sound.of("counts")
    found = compare_trials(sound.of, primary, margin, paired=paired, closed=not plan["open"]) if counted else []
    failures = failure_changes([*counted, *sound.silent])
    works = request_changes(counted)
    other_work = request_words(works)  # that B is slower stands by itself; any other verdict means little without
    verdict = _verdict([one for one in found if one.primary])
    answered = any(one.effect is not None for one in found if one.primary)
    pairs = PairTime.of(trials, len(plan["levels"])) if paired else None
    own = {
        "verdict": verdict,
        "a": labels.get("a", "A"),
        "b": labels.get("b", "B"),
        "margin": margin,
        "pairs_planned": plan["repetitions"],
        "sentences": [_sentence(one, margin, pairs) for one in found if one.primary],
        "comparisons": [one.to_json(margin) for one in found],
        "pairs": _pairs(found),
        "failures": [{"load": one.load, "a": one.a, "b": one.b, "p": one.p} for one in failures],
        "request_changes": [{"load": one.load, "a": one.a, "b": one.b} for one in works],
        "anomalies": anomalies(found, counted, labels, margin, is_open=plan["open"]),
    }
    return trials_finding(
        "compare",
        QUESTION,
        " ".join(
            [
                *([SAME] if analysis.get("same") else []),
                *([] if verdict == "slower" else other_work),
                *_failure_words(failures),
                _answer(found, verdict, labels, margin),
                *(other_work if verdict == "slower" else []),
            ]
        ),
        own,
        sound,
        status=status,
        valid=answered,
        invalid_because=sound.words(labels.get) or [_TOO_FEW],
        notes=[*_notes(found, plan), *(sound.words(labels.get) if answered else []), *notes],
        next_steps=[*first_steps(sound, status, run_path, plan), *_next_steps(verdict, found, margin, status, pairs)],
        run_path=run_path,
        level_unit=plan.get("unit", "users"),
        evidence=_evidence(found, plan),
    )


def _evidence(found: Sequence[Comparison], plan: Mapping[str, Any]) -> list[Evidence]:
    """What each primary comparison is made of."""
    return [
        Evidence(
            min(len(one.a), len(one.b)), "pairs" if one.paired else "trials", TRIALS,
            f"{one.statistic} of {'A and B' if one.paired else 'each of A and B'}, "
            f"at least {amount_words(one.fewest_samples, 'request')} in each",
            levels=(one.level, one.level), level_unit=plan.get("unit", "users"),
        )
        for one in found if one.primary
    ]  # fmt: skip


def _failure_words(failures: Sequence[FailureChange]) -> list[str]:
    words = []
    for more in (True, False):
        many = [f"{share_words(one.b)} at {one.load} (A {share_words(one.a)})" for one in failures if one.more == more]
        if many:
            words.append(f"B fails {'more' if more else 'fewer'} requests: {joined(many)}.")
    return words


def _with_paths(trial: Mapping[str, Any], plan: Mapping[str, Any]) -> Mapping[str, Any]:
    """The trial with requests called by their path where their name is a URL below one of the arm's own addresses, so
    that A's and B's are the same request."""
    facts: Mapping[str, Any] = next((one["facts"] for one in plan["variants"] if one["name"] == trial["variant"]), {})
    bases = [str(value).rstrip("/") for value in facts.get("variables", {}).values() if "://" in str(value)]
    endpoints = []
    for one in trial["endpoints"]:
        base = next((base for base in bases if str(one["request"] or "").startswith(base)), "")
        endpoints.append({**one, "request": (one["request"][len(base) :] or "/") if base else one["request"]})
    return {**trial, "endpoints": endpoints}


def _verdict(primary: Sequence[Comparison]) -> str:
    """The worst that was shown: slower, else undecided where nothing else is left, else faster, else same."""
    seen = {one.verdict for one in primary}
    for verdict in ("slower", "faster", "undecided", "same"):
        if verdict in seen:
            return verdict
    return "undecided"


def _answer(found: Sequence[Comparison], verdict: str, labels: Mapping[str, str], margin: float) -> str:
    primary = [one for one in found if one.primary and one.effect is not None]
    a, b = labels.get("a", "A"), labels.get("b", "B")
    if not primary:
        return f"Cannot tell whether B ({b}) is slower than A ({a}): not two trials of each can be compared."
    parts = {
        kind: [one for one in primary if one.verdict == kind] for kind in ("slower", "faster", "same", "undecided")
    }
    if verdict == "slower":
        text = f"Yes: B ({b}) is slower than A ({a}): {joined([_brief(one) for one in parts['slower']])}."
    elif verdict == "faster":
        text = f"No, B ({b}) is faster than A ({a}): {joined([_brief(one) for one in parts['faster']])}."
    elif verdict == "same":
        text = (
            f"No: B ({b}) and A ({a}) are the same to within the margin of {share_words(margin)}: "
            f"{joined([_brief(one) for one in parts['same']])}."
        )
    else:
        text = (
            f"Undecided whether B ({b}) is slower than A ({a}): {joined([_brief(one) for one in parts['undecided']])}."
        )
    if verdict != "same":
        others = [(kind, parts[kind]) for kind in ("faster", "same", "undecided") if kind != verdict and parts[kind]]
        text += "".join(f" {kind.capitalize()}: {joined([_place(one) for one in many])}." for kind, many in others)
    return text


def _place(one: Comparison) -> str:
    what = one.statistic if one.name == "all requests" else f"{one.statistic} of {one.name}"
    return f"{what} at {one.load}"


def _brief(one: Comparison) -> str:
    return f"{_place(one)} {_change(one)}"


def _change(one: Comparison) -> str:
    """ "by 19.8% (99% interval 19.1 to 20.5%, 10 pairs)"."""
    assert one.effect is not None
    low, high = one.bounds
    ratio = one.effect.ratio
    unit = "pairs" if one.paired else "runs of each"
    interval = interval_words(low, high)
    colon = "" if "%" in interval or "times" in interval else ":"
    how_sure = f"{confidence_words(1 - one.alpha)} interval{colon} {interval}"
    return f"{ratio_words(ratio)} ({how_sure}, {min(len(one.a), len(one.b))} {unit})"


def _sentence(one: Comparison, margin: float, pairs: PairTime | None) -> str:
    """One comparison in a sentence, with its values, its verdict and what would settle it."""
    if one.effect is None:
        return f"{_place(one)}: cannot tell. {' '.join(one.reasons)}"
    a, b = (sum(map(math.log, values)) / len(values) for values in (one.a, one.b))
    unit = (lambda value: f"{number(value)}/s") if one.statistic == THROUGHPUT else ms_words
    text = f"{_place(one)}: A {unit(math.exp(a))}, B {unit(math.exp(b))}, {_change(one)}: {one.verdict}"
    if one.verdict in ("slower", "faster") and one.within(margin):
        text += f", by less than the margin of {share_words(margin)}"
    text += "."
    if one.reasons:
        return f"{text} {' '.join(one.reasons)}"
    wanted = one.pairs_to_settle(margin)
    if one.verdict == "undecided":
        have = min(len(one.a), len(one.b))
        unit_words = "pairs" if one.paired else "runs of each"
        text += (
            f" About {wanted:,} {unit_words} ({wanted - have:,} more{_long(pairs, wanted)}) would settle it, if it is "
            "what it seems."
            if wanted is not None
            else " No number of pairs that anybody makes would settle it at this scatter."
        )
    return text


def _pairs(found: Sequence[Comparison]) -> list[dict[str, Any]]:
    """Every pair's ratio of the primary comparisons, for the chart: what the interval rests on."""
    return [
        {"load": one.load, "statistic": one.statistic, "repetition": at, "ratio": b / a}
        for one in found
        if one.primary and one.paired
        for at, a, b in zip(one.repetitions, one.a, one.b, strict=True)
    ]


def _notes(found: Sequence[Comparison], plan: Mapping[str, Any]) -> list[str]:
    notes = []
    exploratory = [one for one in found if not one.primary and one.verdict in ("slower", "faster")]
    for verdict in ("slower", "faster"):
        many = sorted((one for one in exploratory if one.verdict == verdict), key=lambda one: -abs(one.slowdown))
        if many:
            more = f", and {len(many) - 5} more" if len(many) > 5 else ""
            notes.append(
                f"Beside the question, B is also {verdict} in {joined([_brief(one) for one in many[:5]])}{more} "
                "(exploratory: not declared before)."
            )
    few = [one for one in found if one.primary and one.fewest_samples < _needed(one.statistic)]
    if few:
        worst = min(few, key=lambda one: one.fewest_samples / _needed(one.statistic))
        notes.append(
            f"{_place(worst)} rests on {worst.fewest_samples:,} requests in a trial, {_needed(worst.statistic):,} are "
            "wanted for that percentile: longer trials scatter less."
        )
    if not plan["analysis"].get("paired", True):
        notes.append(
            "A's runs and B's do not alternate in time: whatever else changed between them looks like a difference."
        )
    if any(one.effect is not None and one.effect.error == 0 for one in found if one.primary):
        notes.append("Every pair has the very same ratio: are A and B copies of the same runs?")
    return notes


def _needed(statistic: str) -> int:
    quantile = QUANTILES.get(f"{statistic}_ms")
    return math.ceil(_SAMPLES_BEYOND / (1 - quantile) - 1e-9) if quantile else 1


def _long(pairs: PairTime | None, wanted: int) -> str:
    return f"; {wanted:,} take {pairs.words(wanted)}" if pairs is not None else ""


def _next_steps(
    verdict: str, found: Sequence[Comparison], margin: float, status: str, pairs: PairTime | None
) -> list[str]:
    steps = []
    wanted = [one.pairs_to_settle(margin) for one in found if one.primary]
    known = [pairs for pairs in wanted if pairs is not None]
    if known and status != "interrupted":
        is_paired = bool(found) and found[0].paired
        how = f"by the same command with --pairs {max(known)}" if is_paired else f"with {max(known)} runs of each"
        takes = f" ({pairs.words(max(known))})" if pairs is not None else ""
        if pairs is not None and pairs.is_too_long(max(known)):
            steps.append(
                "Make the trials scatter less: on a quieter machine, or longer (--trial). Or ask a coarser question, "
                f"with a larger --margin than {share_words(margin)}. "
                f"As it is, it would take --pairs {max(known)}{takes}."
            )
        else:
            steps.append(
                f"Make a new comparison {how}{takes}: adding to this one until it shows something would raise "
                "false alarms."
            )
    if verdict == "slower":
        steps.append("Find the operations that became slower in the table of all comparisons, and profile those.")
    return steps
