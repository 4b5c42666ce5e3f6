"""Where does the time go? From rounds of the same work in several forms to the share of each layer."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plimsoll.findings.evidence import TRIALS, Evidence
from plimsoll.findings.trials.trials import SoundTrials, first_steps, sound_trials, trials_finding
from plimsoll.runs.snapshot import Snapshot
from plimsoll.stats.comparison.shares import Share, larger, layer_shares, shares_per_repetition
from plimsoll.words import joined, ms_words, share_words

QUESTION = "Where does the time go?"
ALPHA = 0.05
FAILED_MATTERS = 0.01
FINE = 0.01


def decompose_finding(
    plan: Mapping[str, Any],
    trials: Sequence[Mapping[str, Any]],
    snapshots: Iterable[Snapshot] = (),
    rows: Iterable[Mapping[str, Any]] = (),
    *,
    status: str = "finished",
    run_path: str | None = None,
    notes: Iterable[str] = (),
) -> dict[str, Any]:
    """The finding of `plan` (plan.json) and its complete `trials`: shares of an iteration's duration, at each level."""
    names = [variant["label"] for variant in plan["variants"]]
    keys = [variant["name"] for variant in plan["variants"]]
    parts = bool(plan["analysis"]["parts"])
    sound = sound_trials(trials, snapshots, rows, rests_on="middle")
    levels = [_level(level, keys, names, sound, plan) for level in plan["levels"]]
    answered = [level for level in levels if level["layers"]]
    label = dict(zip(keys, names, strict=True)).get
    notes = [*_notes(levels, names, parts), *sound.words(label, "middle"), *notes]
    own = {
        "parts": parts,
        "levels": levels,
        "sentences": [sentence for level in answered for sentence in level["sentences"]],
    }
    return trials_finding(
        "decompose",
        QUESTION,
        " ".join(level["answer"] for level in (answered or levels)),
        own,
        sound,
        status=status,
        valid=bool(answered),
        invalid_because=[level["answer"] for level in levels],
        notes=[*notes],
        next_steps=[*first_steps(sound, status, run_path, plan), *_next_steps(levels, plan)]
        or ["Look into the layer that takes the most, with a profiler or its own operations as variants."],
        run_path=run_path,
        level_unit=plan.get("unit", "users"),
        evidence=[
            Evidence(
                level["rounds"], "rounds", TRIALS, f"{level['statistic']} of {len(names)} variants",
                levels=(level["level"], level["level"]), level_unit=plan.get("unit", "users"),
            )
            for level in levels
        ],
    )  # fmt: skip


def layer_names(names: Sequence[str], parts: bool) -> list[str]:
    """Names of the layers, in the order of the shares."""
    if parts:
        return [f"the rest of {names[0]}", *names[1:]]
    pairs = itertools.pairwise(names)
    return [*(f"{whole} without {inner}" for whole, inner in pairs), names[-1]]


def _level(
    level: Mapping[str, Any], keys: Sequence[str], names: Sequence[str], sound: SoundTrials, plan: Mapping[str, Any]
) -> dict[str, Any]:
    """What the rounds at one level say."""
    here = [trial for trial in sound.of("middle") if trial["level"] == level["level"]]
    values = _rounds(here, keys, plan["analysis"]["statistic"])
    found: dict[str, Any] = {
        "level": level["level"],
        "load": level["words"],
        "rounds": len(values),
        "statistic": plan["analysis"]["statistic"],
        "layers": [],
        "sentences": [],
        "failed_shares": {name: _failed(here, key) for key, name in zip(keys, names, strict=True)},
        "ms": {name: float(values[:, place].mean()) if len(values) else None for place, name in enumerate(names)},
    }
    shares = (
        layer_shares(per_round := shares_per_repetition(values, not plan["analysis"]["parts"]), ALPHA)
        if len(values)
        else None
    )
    if shares is None:
        found["answer"] = (
            f"Cannot tell at {level['words']}: fewer than two rounds are complete in which every variant answered."
        )
        return found
    layers = layer_names(names, plan["analysis"]["parts"])
    whole_ms = float(values[:, 0].mean())
    found["layers"] = [
        {
            "layer": name,
            "share": share.share,
            "interval": [share.low, share.high],
            "confidence": 1 - ALPHA,
            "ms": share.share * whole_ms,
            "verdict": _verdict(share),
        }
        for name, share in zip(layers, shares, strict=True)
    ]
    found["sentences"] = [
        f"{level['words']}: {_layer_sentence(name, share, place, names, whole_ms, plan['analysis']['parts'])}"
        for place, (name, share) in enumerate(zip(layers, shares, strict=True))
    ]
    found["order"] = _order(layers, shares, per_round)
    found["answer"] = _answer(found, layers, shares, names[0], whole_ms)
    return found


def _rounds(trials: Sequence[Mapping[str, Any]], keys: Sequence[str], statistic: str) -> NDArray[np.float64]:
    """Durations in ms, shape (complete rounds, variants)."""
    by_round: dict[int, dict[str, float]] = {}
    for trial in trials:
        value = trial["work"][f"{statistic}_ms"]
        if value and value > 0:
            by_round.setdefault(trial["repetition"], {})[trial["variant"]] = float(value)
    complete = [[seen[key] for key in keys] for _, seen in sorted(by_round.items()) if all(key in seen for key in keys)]
    return np.array(complete, dtype=float).reshape(-1, len(keys))


def _failed(trials: Sequence[Mapping[str, Any]], key: str) -> float:
    seen = [trial for trial in trials if trial["variant"] == key]
    judged = sum(trial["requests"] for trial in seen)
    return sum(trial["failed"] for trial in seen) / judged if judged else 0.0


def _verdict(share: Share) -> str:
    return "there" if share.is_there else "below zero" if share.is_negative else "cannot separate"


def _share_words(value: float, share: Share) -> str:
    """A percentage with a digit more where the interval of that share would round to one number."""
    return share_words(value, 3 if share.high - share.low < FINE else 2)


def _layer_sentence(name: str, share: Share, place: int, names: Sequence[str], whole_ms: float, parts: bool) -> str:
    low, high = _share_words(share.low, share), _share_words(share.high, share)
    text = (
        f"{name} takes {_share_words(share.share, share)} ({100 * (1 - ALPHA):g}% interval {low} to {high}) of "
        f"{names[0]}, {ms_words(abs(share.share * whole_ms))}."
    )
    if share.is_there:
        return text
    if parts and place == 0:
        more = (
            "take more than it together, so they are not separate parts of it"
            if share.is_negative
            else "may be all of it"
        )
        return f"{text} The parts {more}."
    if place + 1 < len(names) and not parts:
        if share.is_negative:
            return f"{text} {names[place + 1]} took longer than {names[place]}: it is no part of it."
        return f"{text} Cannot separate {names[place]} from {names[place + 1]}: the difference is not significant."
    return text


def _order(layers: Sequence[str], shares: Sequence[Share], per_round: NDArray[np.float64]) -> list[dict[str, Any]]:
    """Layers from the largest to the smallest, and whether each is larger than the next beyond chance."""
    places = sorted(range(len(layers)), key=lambda place: -shares[place].share)
    return [
        {
            "layer": layers[place],
            "larger_than_next": larger(per_round, place, following, ALPHA) if following is not None else None,
        }
        for place, following in zip(places, [*places[1:], None], strict=True)
    ]


def _answer(
    found: Mapping[str, Any], layers: Sequence[str], shares: Sequence[Share], whole: str, whole_ms: float
) -> str:
    wrong = [name for name, share in zip(layers, shares, strict=True) if share.is_negative]
    listed = joined([f"{name} {_share_words(share.share, share)}" for name, share in zip(layers, shares, strict=True)])
    text = f"At {found['load']}, of {ms_words(whole_ms)} per iteration of {whole}: {listed} ({found['rounds']} rounds)."
    if wrong:
        return f"{text} This does not add up: {joined(wrong)} would be below zero."
    unclear = [name for name, share in zip(layers, shares, strict=True) if not share.is_there]
    if unclear:
        return f"{text} Not significant: {joined(unclear)}."
    first = found["order"][0]
    if first["larger_than_next"]:
        return f"{text} {first['layer'][0].upper()}{first['layer'][1:]} takes the most."
    second = found["order"][1]["layer"]
    return f"{text} Whether {first['layer']} or {second} takes the most cannot be told."


def _notes(levels: Sequence[Mapping[str, Any]], names: Sequence[str], parts: bool) -> list[str]:
    assumed = (
        f"It is assumed that {joined(names[1:])} are separate parts of {names[0]}."
        if parts
        else f"It is assumed that each of {joined(names)} does all that the next one does, and more."
    )
    notes = [f"{assumed} No measurement can show that; the variants' code does."]
    for level in levels:
        failing = {name: share for name, share in level["failed_shares"].items() if share >= FAILED_MATTERS}
        if failing:
            listed = joined([f"{name} {share_words(share)}" for name, share in failing.items()])
            notes.append(f"At {level['load']} requests failed: {listed}. A request that fails does less work.")
    return notes


def _next_steps(levels: Sequence[Mapping[str, Any]], plan: Mapping[str, Any]) -> list[str]:
    steps = []
    unclear = [layer for level in levels for layer in level["layers"] if layer["verdict"] == "cannot separate"]
    if unclear:
        half = max((layer["interval"][1] - layer["interval"][0]) / 2 for layer in unclear)
        smallest = max(0.01, min(abs(layer["share"]) for layer in unclear))
        wanted = int(plan["repetitions"] * (half / smallest) ** 2 * 1.2) + 1
        steps.append(
            f"About {wanted:,} rounds would separate a share of {share_words(smallest)}; the same command with "
            f"--rounds {wanted} makes them."
            if wanted <= 1000
            else "More rounds do not help at this scatter: choose variants that differ by more, or a quieter machine."
        )
    if any(layer["verdict"] == "below zero" for level in levels for layer in level["layers"]):
        steps.append("Put the variants in another order, or say --parts if they are separate parts of the whole.")
    return steps
