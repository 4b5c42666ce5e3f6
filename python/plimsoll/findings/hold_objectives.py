"""Objectives of a held load: met or failed only where the whole interval says so, else undecided with what would
settle it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.findings.capacity_words import number
from plimsoll.findings.hold_series import Watched
from plimsoll.findings.objectives import Wanted, needed_samples, statistic
from plimsoll.findings.words import ms_words, share_words, time_words
from plimsoll.stats.block_quantile import FEWEST_BEYOND, quantile_interval, share_interval
from plimsoll.stats.wilson import wilson_interval
from plimsoll.study.objectives import Limit

CONFIDENCE = 0.95


def held_objectives(
    wanted: Sequence[Wanted], seen: Sequence[Watched], held: Mapping[str, Any], unit: str
) -> list[dict[str, Any]]:
    """One entry per objective: operation or request, objective, verdict, value, interval (null: insufficient data,
    with the reason), samples, alone (the same statistic of the baseline), words, needs; `unit`: of value, interval and
    alone, "ms" or "ratio"; levels as the report's tables want them."""
    return [_entry(one, watched, held, unit) for one, watched in zip(wanted, seen, strict=True)]


def _entry(wanted: Wanted, seen: Watched, held: Mapping[str, Any], unit: str) -> dict[str, Any]:
    found = _error_rate(wanted.limit, seen) if wanted.limit.statistic == "error_rate" else _time(wanted.limit, seen)
    verdict, level = found["verdict"], float(held["level"])
    subject = {"request": wanted.request} if wanted.request else {"operation": wanted.operation}
    entry: dict[str, Any] = {
        **subject,
        "objective": wanted.text,
        "unit": wanted.limit.unit,
        **found,
        "at_level": level,
        "met_up_to": level if verdict == "met" else None,
        "failed_from": level if verdict == "failed" else None,
        "alone": statistic(wanted.limit, seen.alone) if wanted.limit.unit == "ms" else None,
        "verdicts": [{"level": level, **{key: found[key] for key in ("value", "samples", "needed", "verdict")}}],
    }
    if unit == "users":
        entry["met_up_to_users"] = entry["met_up_to"]
    entry["needs"] = _needs(entry, held) if verdict == "undecided" else None
    return entry


def _time(limit: Limit, seen: Watched) -> dict[str, Any]:
    value, count, needed = statistic(limit, seen.merged), seen.merged.count, needed_samples(limit)
    found: dict[str, Any] = {
        "value": value,
        "samples": count,
        "needed": needed,
        "interval": None,
        "verdict": "undecided",
    }
    if value is None:
        return found | {"words": "no request of it was seen", "reason": "No request of it was seen."}
    shown = ms_words(value)
    if limit.statistic == "max":
        verdict = "met" if limit.is_met_by(value) else "failed"
        return found | {"verdict": verdict, "words": f"{shown}, the longest of {number(count)}", "reason": ""}
    interval, reason, effective = _interval(limit, seen)
    if interval is None and count >= needed and (told := _by_share(limit, seen, effective)):
        return found | {"verdict": told[0], "words": f"{shown}; {told[1]}", "reason": reason}
    if interval is None or count < needed:
        reason = reason or f"{count} samples, {needed} are needed"
        words = f"{shown} of {number(count)} samples, insufficient data: {reason}"
        return found | {"words": words, "reason": reason, "times_longer": _times_longer(limit, count, effective)}
    low, high = interval
    verdict = "met" if limit.is_met_by(high) else "failed" if not limit.is_met_by(low) else "undecided"
    words = f"{shown} (95 %: {ms_words(low)} to {ms_words(high)})"
    return found | {"interval": [low, high], "verdict": verdict, "words": words, "reason": ""}


def _times_longer(limit: Limit, count: int, effective: float) -> float:
    """How many times as long a run would have the samples, and the independent ones, that are needed."""
    by_count = needed_samples(limit) / max(count, 1)
    if limit.quantile is None or effective <= 0:
        return max(2.0, by_count)
    return max(2.0, by_count, math.ceil(FEWEST_BEYOND / (effective * (1 - limit.quantile))))


def _by_share(limit: Limit, seen: Watched, effective: float) -> tuple[str, str] | None:
    """Verdict and words where the share of requests over the limit tells, though no interval of the percentile does."""
    if limit.quantile is None or effective < 1:
        return None
    share = seen.merged.share_over(limit.limit)
    low, high = share_interval(share, effective, 1.96)
    allowed, than = 1 - limit.quantile, ms_words(limit.limit)
    if high <= allowed:
        return "met", f"at most {share_words(high)} take longer than {than} (95 %)"
    return ("failed", f"at least {share_words(low)} take longer than {than} (95 %)") if low > allowed else None


def _interval(limit: Limit, seen: Watched) -> tuple[tuple[float, float] | None, str, float]:
    if limit.quantile is None:
        return (*_mean_interval(seen), 0.0)
    found = quantile_interval(seen.blocks, seen.merged, limit.quantile, CONFIDENCE)
    if found is None or found.low is None or found.high is None:
        return None, found.reason if found is not None else "no samples", found.effective if found is not None else 0.0
    return (found.low, found.high), "", found.effective


def _mean_interval(seen: Watched) -> tuple[tuple[float, float] | None, str]:
    """Batch means (Law 2015, § 9.5.3): Student's t over the means of the blocks."""
    import numpy as np
    from scipy.special import stdtrit

    means = np.array([block.mean for block in seen.blocks if block.count])
    if means.size < 10:
        return None, f"only {means.size} blocks of time have values, 10 are needed"
    half = float(stdtrit(means.size - 1, 0.5 + CONFIDENCE / 2)) * float(means.std(ddof=1)) / math.sqrt(means.size)
    return (seen.merged.mean - half, seen.merged.mean + half), ""


def _error_rate(limit: Limit, seen: Watched) -> dict[str, Any]:
    interval = wilson_interval(seen.failed, seen.requests)
    value = seen.failed / seen.requests if seen.requests else None
    verdict = "met" if interval.high <= limit.limit else "failed" if interval.low > limit.limit else "undecided"
    words = (
        (
            f"{share_words(value)} of {number(seen.requests)} (95 %: "
            f"{share_words(interval.low)} to {share_words(interval.high)})"
        )
        if value is not None
        else "no request of it was seen"
    )
    return {
        "value": value,
        "samples": seen.requests,
        "needed": needed_samples(limit),
        "verdict": verdict,
        "words": words,
        "interval": [interval.low, interval.high] if seen.requests else None,
        "reason": "",
    }


def _needs(entry: Mapping[str, Any], held: Mapping[str, Any]) -> str:
    """What would settle it, in a sentence."""
    subject = entry.get("request") or entry.get("operation") or "all requests"
    seconds = held["end_s"] - held["measured_from_s"]
    if not entry["samples"]:
        return f"{subject}, {entry['objective']}: no request of it was seen; check its name and the workload."
    if entry["interval"] is not None:
        return (
            f"{subject}, {entry['objective']}: the limit lies within the interval; a run four times as long halves it."
        )
    more = entry.get("times_longer") or max(2.0, entry["needed"] / entry["samples"])
    return f"{subject}, {entry['objective']}: too few samples; hold the load for about {time_words(seconds * more)}."
