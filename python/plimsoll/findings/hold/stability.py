"""Does it stay as it is? Drift, periodic slowdowns, leaks and bursts of errors of a held load, one finding each;
restarts.py has the restarts.

A finding has `trouble`, a short clause for the main answer, where there is something to worry about.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plimsoll.findings.evidence import RESOURCES, SERIES, Evidence, as_data, of_seconds
from plimsoll.findings.hold.series import HoldSeries
from plimsoll.runs.readings.failures import judged_noun, requests_words
from plimsoll.stats.growth.drift import FEWEST_BLOCKS, Drift, drift
from plimsoll.stats.pulses.bursts import bursts
from plimsoll.stats.pulses.periodic import PeriodicPulse, periodic_pulse
from plimsoll.words import (
    MIB,
    change_words,
    count_words,
    ms_words,
    number,
    percent_words,
    share_words,
    size_words,
    time_words,
)

LEAST_DRIFT = 0.03
STOLEN_IN_A_SECOND = 0.02  # of a core: in such a second a hypervisor, not the target, may have made it slow
LARGEST_TOLD = 10.0
LEAST_LEAK_BYTES_PER_S = 100.0
LEAST_RISE, FEWEST_IN_QUARTER = 0.10, 5
MOST_SHOWN = 5


def drift_finding(series: HoldSeries) -> dict[str, Any]:
    """Does it get slower? The mean response time over the seconds; those in which a hypervisor took time are left out
    where at least half are without."""
    mean_ms, left_out = _undisturbed(series)
    found = _drift_finding(series.seconds, mean_ms)
    with_answers = series.seconds[np.isfinite(mean_ms)]
    found["evidence"] = as_data([of_seconds(with_answers, "Mean response time of each second with answers")])
    if left_out:
        seconds = "1 second" if left_out == 1 else f"{left_out} seconds"
        found["notes"] = [
            f"{seconds} in which a hypervisor took more than {share_words(STOLEN_IN_A_SECOND)} of a core left out."
        ]
    return found


def _undisturbed(series: HoldSeries) -> tuple[NDArray[np.float64], int]:
    """The means, NaN where they are left out, and how many those are."""
    if series.stolen is None:
        return series.mean_ms, 0
    disturbed = (series.stolen > STOLEN_IN_A_SECOND) & np.isfinite(series.mean_ms)
    left_out = int(disturbed.sum())
    if 2 * left_out > int(np.isfinite(series.mean_ms).sum()):
        return series.mean_ms, 0
    return np.where(disturbed, np.nan, series.mean_ms), left_out


def _drift_finding(seconds: NDArray[np.float64], mean_ms: NDArray[np.float64]) -> dict[str, Any]:
    base: dict[str, Any] = {"question": "Does it get slower over time?", "drift": None, "next": []}
    found = drift(seconds, mean_ms)
    if found is None:
        known = int(np.isfinite(mean_ms).sum())
        few = "1 second has" if known == 1 else f"{count_words(known)} seconds have"
        why = (
            f"{'only ' * bool(known)}{few} answers"
            if known < FEWEST_BLOCKS
            else "the response time wanders for longer than this run shows"
        )
        return base | {"answer": f"It cannot be told: {why}.", "next": ["Hold the load longer (--duration)."]}
    low, high = found.share_interval
    interval = f"99%: {percent_words(max(low, -1.0))} to {percent_words(high)}"  # no time falls below nothing
    about = {
        "share": found.share,
        "interval": [low, high],
        "confidence": found.confidence,
        "verdict": found.verdict,
        "smallest_detectable": found.smallest_detectable if math.isfinite(found.smallest_detectable) else None,
        "start_ms": found.start,
        "end_ms": found.end,
        "dependence": found.dependence,
        "blocks": found.blocks,
    }
    words = (
        f"the mean response time changed by {percent_words(found.share)} over {time_words(found.span_s)} ({interval})"
    )
    if found.verdict == "undecided":
        shows = f"only a drift of {percent_words(found.smallest_detectable)} or more shows in a run like this one"
        if found.smallest_detectable > LARGEST_TOLD:
            words = f"the mean response time may have changed by anything ({interval})"
            shows = f"it scatters too much for a drift to show within {time_words(found.span_s)}"
        step = "Hold the load longer (--duration): four times the time shows half the drift."
        return base | {"drift": about, "answer": f"It cannot be told: {words}; {shows}.", "next": [step]}
    if found.verdict == "steady":
        shows = f"one of {percent_words(found.smallest_detectable)} would have shown"
        return base | {"drift": about, "answer": f"No drift beyond chance: {words}; {shows}."}
    went = f"from {ms_words(found.start)} to {ms_words(found.end)}"
    if abs(found.share) < LEAST_DRIFT:
        return base | {"drift": about, "answer": f"Hardly: {words}, {went}."}
    if found.share < 0:
        step = "Give it a longer warm-up (--warm-up) if that is what it was."
        return base | {"drift": about, "answer": f"No, it gets faster: {words}, {went}.", "next": [step]}
    return base | {
        "drift": about,
        "answer": f"Yes: {words}, {went}.",
        "trouble": f"It gets slower, by {percent_words(found.share)} over {time_words(found.span_s)}",
        "next": [
            (
                "See what grows with it: data (target.data_volume), "
                "memory, connections; "
                "then hold it longer to see whether it goes on."
            )
        ],
    }


def _measured_words(seconds: int) -> str:
    """ "only 40 s were measured", the warm-up left out."""
    if not seconds:
        return "nothing was measured"
    return f"only {time_words(seconds)} {'was' if seconds == 1 else 'were'} measured"


def periodic_finding(series: HoldSeries) -> dict[str, Any]:
    """Does something slow it down periodically? Pulses in the logarithm of each second's mean response time."""
    rests_on = of_seconds(series.seconds, "Mean response time of each second")
    base: dict[str, Any] = {
        "question": "Does something slow it down periodically?",
        "periodic": None,
        "evidence": as_data([rests_on]),
        "next": [],
    }
    if series.seconds.size < 60:
        return base | {
            "answer": f"It cannot be told: {_measured_words(series.seconds.size)}, and a minute is needed.",
            "next": ["Hold the load longer."],
        }
    every = np.full(int(series.seconds[-1] - series.seconds[0]) + 1, np.nan)
    every[(series.seconds - series.seconds[0]).astype(int)] = series.mean_ms
    found = periodic_pulse(np.log(np.where(every > 0, every, np.nan)))
    if found is None:
        longest = time_words(series.seconds.size / 3)
        return base | {
            "answer": (
                "No period was found. A job that comes "
                "back less often than "
                f"every {longest} would not show in this run, "
                "and neither would one that costs less than the response times scatter."
            )
        }
    first = float(series.seconds[0])
    inside, outside = _pulse_and_calm_ms(every, found)
    about = {
        "period_s": found.period_s,
        "interval_s": [found.low_s, found.high_s],
        "width_s": found.width_s,
        "cycles": found.cycles,
        "times_s": [first + moment for moment in found.times_s],
        "inside_ms": inside,
        "outside_ms": outside,
        "z": found.z,
    }
    answer = (
        f"Yes: about every {time_words(found.period_s)} "
        f"(95%: {number(found.low_s)} "
        f"to {number(found.high_s)} s, {found.cycles} times seen) "
        f"the mean response time rises from {ms_words(outside)} "
        f"to {ms_words(inside)} "
        f"for about {time_words(found.width_s)}, "
        f"which is {share_words(found.width_s / found.period_s)} of the time."
    )
    return base | {
        "periodic": about,
        "answer": answer,
        "trouble": (
            f"Every {time_words(found.period_s)} it takes "
            f"{number(inside / outside)} "
            f"times as long for {time_words(found.width_s)}"
        ),
        "evidence": as_data([rests_on, _pulses(found, first)]),
        "next": [
            (
                "Look for a job of that period in the target: "
                "a scheduler, a checkpoint, "
                "a cache that expires, a garbage collection."
            )
        ],
    }


def _pulses(found: PeriodicPulse, first: float) -> Evidence:
    """When each pulse began, and how far that is from chance."""
    at = ", ".join(number(first + moment) for moment in found.times_s[:8])
    about = f"Pulses began at {at} s; z = {number(found.z)}, chance stays below {number(found.border)}"
    begins = [first + moment for moment in found.times_s]
    return Evidence(len(begins), "pulses", SERIES, about, min(begins), max(begins) + found.width_s)


def _pulse_and_calm_ms(every: NDArray[np.float64], found: PeriodicPulse) -> tuple[float, float]:
    """Mean response times within a pulse and between pulses. Medians, each pulse beside the calm before it: a stall of
    the target that is no part of it must not look like a pulse, nor like calm."""
    ratios, end = [], 0
    calm = np.ones(every.size, dtype=bool)
    for moment in found.times_s:
        begin = int(moment)
        before, pulse = every[end:begin], every[begin : begin + found.width_s]
        end = begin + found.width_s
        calm[begin:end] = False
        if np.isfinite(before).any() and np.isfinite(pulse).any():
            ratios.append(float(np.nanmean(pulse) / np.nanmedian(before)))
    outside = float(np.nanmedian(every[calm]))
    return outside * float(np.median(ratios)) if ratios else math.nan, outside


def leak_finding(series: HoldSeries, limit_bytes: float | None) -> dict[str, Any]:
    """Does it leak memory? Resident memory of each process over the whole time and over its second half."""
    rests_on = [of_seconds(at, f"Resident memory of {name}", RESOURCES) for name, (at, _) in series.memory.items()]
    base: dict[str, Any] = {
        "question": "Does it leak memory?",
        "memory": [],
        "evidence": as_data(rests_on or [Evidence(0, "processes", RESOURCES, "Resident memory")]),
        "next": [],
    }
    if not series.memory:
        step = "Name the target's processes in the study (target.processes), or give its URL, if it runs on this host."
        return base | {"answer": "It cannot be told: no process of the target was probed.", "next": [step]}
    limit = limit_bytes or series.host_memory_bytes
    rows = [
        _leak_row(name, *points, limit, limit_bytes is not None, series.memory_free_bytes)
        for name, points in series.memory.items()
    ]
    leaking = [row for row in rows if row["leaks"]]
    answer = " ".join(row["words"] for row in (leaking or rows)[:MOST_SHOWN])
    found = base | {"memory": rows, "answer": answer}
    if leaking:
        worst = max(leaking, key=lambda row: row["bytes_per_s"])
        found["trouble"] = f"Memory of {worst['process']} grows by {size_words(3600 * worst['bytes_per_s'])} an hour"
        found["next"] = [
            "Hold it longer, to see whether it goes on after caches are full, and take a heap profile at both ends."
        ]
    return found


def _leak_row(
    name: str, seconds: Any, values: Any, limit: float | None, is_stated: bool, free: float | None
) -> dict[str, Any]:
    whole, late = drift(seconds, values), None
    half = seconds >= (seconds[0] + seconds[-1]) / 2
    if half.sum() >= FEWEST_BLOCKS:
        late = drift(seconds[half], values[half])
    slope, low, high, rises = _growth(whole, late, seconds, values)
    now = float(values[-1])
    row: dict[str, Any] = {
        "process": name,
        "leaks": False,
        "now_bytes": now,
        "bytes_per_s": None,
        "interval": None,
        "limit_bytes": limit,
        "limit_in_s": None,
    }
    if slope is None or low is None or high is None:
        return row | {
            "words": (
                f"{name}: it cannot be told; {len(seconds)} "
                "s of memory are too "
                "few, or it changes in a few large steps."
            )
        }
    row |= {"bytes_per_s": slope, "interval": [low, high]}
    rate = f"{_an_hour(slope)} MiB an hour in the second half (99%: {_an_hour(low)} to {_an_hour(high)})"
    if not (rises and low > LEAST_LEAK_BYTES_PER_S):
        return row | {"words": f"{name}: no growth beyond chance, {rate}; {size_words(now)} at the end."}
    words = f"{name} grows by {rate}; {size_words(now)} at the end."
    room = limit - now if is_stated and limit is not None else free
    if room is not None:
        what = f"the limit of {size_words(limit)}" if is_stated and limit is not None else "all free memory of the host"
        if room <= 0:
            words += f" It is above {what} already."
            row["limit_in_s"] = 0.0
        else:
            earliest, middle = room / high, room / slope
            latest = room / low if low > 0 else math.inf
            row["limit_in_s"], row["limit_interval_s"] = middle, [earliest, latest if math.isfinite(latest) else None]
            words += (
                f" It reaches {what} in {time_words(middle)} "
                "if that goes on "
                f"({time_words(earliest)} to {time_words(latest)})."
            )
    return row | {"leaks": True, "words": words}


def _growth(
    whole: Drift | None, late: Drift | None, seconds: Any, values: Any
) -> tuple[float | None, float | None, float | None, bool]:
    """Slope of the second half with its interval, all None where they cannot be told, and whether it rises for all of
    the time: beyond chance, or from quarter to quarter without ever coming back and by LEAST_RISE in all. What such a
    series scatters by adds up, which the interval of a drift takes for chance."""
    climbs = _climbs(values)
    if whole is not None and late is not None:
        return late.slope, late.low, late.high, whole.low > 0 or climbs
    if not climbs:
        return None, None, None, False
    parts = [part for part in np.array_split(np.arange(values.size), 4)[2:] if part.size > 1]
    slopes = [float(np.polyfit(seconds[part], values[part], 1)[0]) for part in parts]
    return sum(slopes) / len(slopes), min(slopes), max(slopes), True


def _climbs(values: Any) -> bool:
    """Whether each quarter of the series lies above all of the one before, and the last much above the first."""
    if values.size < 4 * FEWEST_IN_QUARTER:
        return False
    quarters = np.array_split(np.asarray(values, dtype=float), 4)
    apart = all(after.min() > before.max() for before, after in pairwise(quarters))
    return bool(apart and np.median(quarters[-1]) >= (1 + LEAST_RISE) * np.median(quarters[0]))


def _an_hour(bytes_per_s: float) -> str:
    """MiB in an hour with its sign; nothing is 0 and not +0."""
    value = bytes_per_s * 3600 / MIB
    return change_words(value) if abs(value) >= 0.0005 else "0"


def bursts_finding(series: HoldSeries) -> dict[str, Any]:
    """Do errors come in bursts? Counts of failed requests per second."""
    found = bursts(series.seconds, series.failed, series.requests)
    failed, requests = float(series.failed.sum()), float(series.requests.sum())
    rows = [
        {"start_s": one.start_s, "end_s": one.end_s, "failed": one.failed, "requests": one.requests} for one in found
    ]
    noun = judged_noun(series.broke, requests)
    in_all = Evidence(requests, noun, SERIES, f"{number(failed)} failed of all")
    base: dict[str, Any] = {
        "question": "Do requests fail in bursts?",
        "bursts": rows,
        "evidence": as_data([of_seconds(series.seconds, f"Failed {noun} of each second"), in_all]),
        "next": [],
    }
    if not requests:
        return base | {"answer": "It cannot be told: the script made no request."}
    if not failed:
        during = f" in {time_words(series.seconds.size)}" if series.seconds.size else ""
        return base | {"answer": f"No: none of {requests_words(requests)}{during} failed."}
    of_all = requests_words(requests) if noun == "requests" else f"{count_words(requests)} {noun}"
    share = f"{number(failed)} of {of_all} failed ({share_words(failed / max(requests, 1))})"
    if not rows:
        worry = (
            {"trouble": f"{share_words(failed / max(requests, 1))} of the {noun} fail"}
            if failed > 0.01 * requests
            else {}
        )
        return base | {"answer": f"No bursts: {share}, spread as chance spreads them.", **worry}
    listed = "; ".join(f"{row['failed']} from {row['start_s']} to {row['end_s']} s" for row in rows[:MOST_SHOWN])
    return base | {
        "answer": f"Yes, {len(rows)}: {listed}. In all {share}.",
        "trouble": f"{noun.capitalize()} failed in {len(rows)} burst{'s' if len(rows) > 1 else ''}",
        "next": ["See what happened then: the target's log, a restart, a deployment, a job."],
    }
