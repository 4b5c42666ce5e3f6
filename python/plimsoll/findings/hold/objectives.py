"""Objectives of a held load: met or failed where the exact test says so with an error of 1%, else undecided with how
much longer would decide it. The interval beside the value is of 95%."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.findings.hold.series import Watched
from plimsoll.findings.objectives import VERDICTS, longer_words, no_data_words, undecided_words, value_words
from plimsoll.runs.readings.objective_samples import Samples, Wanted, needed_samples, statistic
from plimsoll.stats.estimates.block_quantile import quantile_interval
from plimsoll.stats.estimates.objective_test import Judged
from plimsoll.stats.estimates.wilson import wilson_interval
from plimsoll.study.objectives import Limit
from plimsoll.words import level_words, ms_words, number, share_words

CONFIDENCE = 0.95


def held_objectives(
    wanted: Sequence[Wanted],
    seen: Sequence[Watched],
    held: Mapping[str, Any],
    unit: str,
    *,
    all_count: int = 0,
    all_ms: float = 0.0,
    names: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """One entry per objective: operation or request, objective, verdict, value, interval (null: insufficient data,
    with the reason), samples, alone (the same statistic of the baseline), words, needs; `unit`: of value, interval and
    alone, "ms" or "ratio"; levels as the report's tables want them.

    `all_count` requests of the whole load took `all_ms` together; `names`: of requests and operations that were seen.
    """
    return [
        _entry(one, watched, held, unit, (all_count, all_ms), names) for one, watched in zip(wanted, seen, strict=True)
    ]


def _entry(
    wanted: Wanted,
    seen: Watched,
    held: Mapping[str, Any],
    unit: str,
    load: tuple[int, float],
    names: Sequence[str],
) -> dict[str, Any]:
    seconds = held["end_s"] - held["measured_from_s"]
    samples = _samples(wanted.limit, seen, seconds, load)
    judged = samples.judged()
    found = _told(wanted.limit, seen, samples, judged)
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
        "verdicts": [
            {
                "level": level,
                **{key: found[key] for key in ("value", "samples", "needed", "verdict")},
                "over": judged.over,
                "effective": judged.effective,
            }
        ],
    }
    if unit == "users":
        entry["met_up_to_users"] = entry["met_up_to"]
    entry["needs"] = None
    if verdict == "undecided":
        entry["times_longer"] = judged.times_longer
        entry["needs"] = _needs(wanted, samples, judged, seconds, level_words(level, unit), names)
    return entry


def _samples(limit: Limit, seen: Watched, seconds: float, load: tuple[int, float]) -> Samples:
    """What the held load showed of it, by blocks of time."""
    filled = {at: block for at, block in enumerate(seen.blocks) if block.count}
    whole = max(1, math.ceil(seconds))
    return Samples(limit, whole, filled, dict(seen.failures), dict(seen.totals), seen.unanswered, *load)


def _told(limit: Limit, seen: Watched, samples: Samples, judged: Judged) -> dict[str, Any]:
    """The verdict with value, interval and words."""
    value = samples.value
    found: dict[str, Any] = {
        "value": value,
        "samples": samples.count,
        "needed": needed_samples(limit),
        "interval": None,
        "verdict": VERDICTS[judged.verdict],
        "reason": "",
    }
    if value is None:
        words = value_words(limit, {"samples": 0, "unanswered": samples.unanswered})
        return found | {"words": words, "reason": f"{words[:1].upper()}{words[1:]}."}
    interval, reason = _interval(limit, seen, samples)
    found |= {"interval": interval, "reason": reason}
    return found | {"words": _words(limit, found, judged)}


def _words(limit: Limit, found: Mapping[str, Any], judged: Judged) -> str:
    interval, count = found["interval"], number(found["samples"])
    if limit.statistic == "max":
        return f"{ms_words(found['value'])}, the longest of {count}"
    show = share_words if limit.unit == "ratio" else ms_words
    shown = show(found["value"]) + (f" of {count}" if limit.unit == "ratio" else "")
    if interval is not None:
        return f"{shown} (95%: {show(interval[0])} to {show(interval[1])})"
    if limit.quantile is None:
        return f"{shown} of {count} samples, insufficient data: {found['reason']}"
    than = ms_words(limit.limit)
    if judged.verdict == "met":
        return f"{shown}; at most {share_words(1 - limit.quantile)} take longer than {than} (99%)"
    if judged.verdict == "violated":
        return f"{shown}; at least {share_words(judged.share_low)} take longer than {than} (99%)"
    seen = {**found, "over": judged.over, "effective": judged.effective}
    return f"{value_words(limit, seen)}, {undecided_words(seen)}"


def _interval(limit: Limit, seen: Watched, samples: Samples) -> tuple[list[float] | None, str]:
    """Of 95%, of the value; None with the reason."""
    if limit.statistic == "max":
        return None, ""
    if limit.statistic == "error_rate":
        found = wilson_interval(sum(seen.failures.values()), samples.count, CONFIDENCE)
        return [found.low, found.high], ""
    if limit.quantile is None:
        return _mean_interval(seen)
    of_quantile = quantile_interval(seen.blocks, seen.merged, limit.quantile, CONFIDENCE)
    if of_quantile is None or of_quantile.low is None or of_quantile.high is None:
        return None, of_quantile.reason if of_quantile is not None else "no samples"
    return [of_quantile.low, of_quantile.high], ""


def _mean_interval(seen: Watched) -> tuple[list[float] | None, str]:
    """Batch means (Law 2015, § 9.5.3): Student's t over the means of the blocks."""
    import numpy as np
    from scipy.special import stdtrit

    means = np.array([block.mean for block in seen.blocks if block.count])
    if means.size < 10:
        return None, f"only {means.size} blocks of time have values, 10 are needed"
    half = float(stdtrit(means.size - 1, 0.5 + CONFIDENCE / 2)) * float(means.std(ddof=1)) / math.sqrt(means.size)
    return [seen.merged.mean - half, seen.merged.mean + half], ""


def _needs(wanted: Wanted, samples: Samples, judged: Judged, seconds: float, where: str, names: Sequence[str]) -> str:
    """What would settle it, in a sentence."""
    subject = f"{wanted.subject}, {wanted.text}"
    if not samples.count:
        return f"{subject}: {no_data_words(wanted, names, samples.unanswered > 0)}"
    return f"{subject}: {longer_words(judged.times_longer, seconds, where)}."
