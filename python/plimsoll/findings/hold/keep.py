"""How much does a target carry while an objective just holds? From the steered seconds of `hold --keep`.

The level is a slowly wandering process whose loop forgets in LOOP_S (experiments/long_runs/keep.py), so that its mean
over D seconds has the standard error σ √(2 LOOP_S ÷ D), as of an AR(1); the share of bad requests has one too, which ÷
b is one of the level. The level at which just the allowed share is bad lies ln(bad ÷ allowed) ÷ b lower than the mean
one, b being the arrivals in the limit's time, or as much higher where fewer were bad: of these LEAST_RATIO counts at
most for the level, all for the upper end of its interval (a load that still climbs had few), and none where a collapse
kept the level down. Windows are as long as the statistic needs samples.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from plimsoll.runs.histogram import Histogram, bucket_of
from plimsoll.runs.readings.objective_samples import TIMES, Wanted, needed_samples, statistic
from plimsoll.study.objectives import Limit, parse_objective

if TYPE_CHECKING:
    from plimsoll.runs.reader import RunReader

Array = NDArray[np.float64]
PIECE_S = 10
MOST_PIECES = 360
SETTLE_S = 30  # after the climb, before its end counts
FEWEST_KEPT_S = 60
LOOP_S = 120.0
LEAST_SLOPE = 2.0
LEAST_RATIO = 0.8
Z_INTERVAL, Z_DRIFT = 2.0, 3.0
LEAST_DRIFT = 0.05
SLOPE_DOUBT = 1.5  # b is the slope of a queue near saturation; before that it is flatter
HELD_SHARE = 1.25  # bad ÷ allowed over the kept time up to which the objective counts as held


@dataclass
class Piece:
    """Some seconds of the steered load: mean level, iterations done per second, and what each objective saw."""

    from_s: float
    seconds: int = 0
    level: float = 0.0
    done: float = 0.0
    times: list[Histogram] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)
    requests: list[int] = field(default_factory=list)


def kept_objectives_of(run: RunReader) -> list[dict[str, Any]]:
    """The objectives that the run's load was steered to; none where its level was held."""
    started = run.events("keep_started")
    return list(started[-1]["objectives"]) if started else []


def is_unreachable(run: RunReader) -> bool:
    """Whether no level kept the objectives."""
    return bool(run.events("keep_unreachable"))


def kept(run: RunReader, held: Mapping[str, Any], objectives: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the steered load carried, as docs/findings.md has it under `keep`; levels in the run's unit.

    `held`: its step; `objectives`: as `kept_objectives_of` gives them. `level` is None where too little was kept.
    """
    wanted = [_wanted(one) for one in objectives]
    settled = [float(event["second"]) for event in run.events("keep_settled")]
    lost = [float(event["second"]) for event in run.events("keep_lost")]
    overloads = [_overload(event) for event in run.events("keep_overload")]
    from_s = max(float(held["measured_from_s"]), settled[0] + SETTLE_S) if settled else math.inf
    found: dict[str, Any] = {
        "objectives": [dict(one) for one in objectives],
        "settled_at_s": settled[0] if settled else None,
        "unreachable": is_unreachable(run),
        "lost_at_s": lost[0] if lost else None,
        "overloads": overloads,
        "windows": [],
        "level": None,
        "interval": None,
    }
    end_s = overloads[-1]["at_s"] if lost else float(held["end_s"])
    if not settled or end_s - from_s < FEWEST_KEPT_S:
        return found
    pieces = _pieces(run, wanted, from_s, end_s)
    if len(pieces) < 3:
        return found
    return found | _judged(pieces, wanted, found)


def _wanted(objective: Mapping[str, Any]) -> Wanted:
    text = str(objective["objective"])
    return Wanted(parse_objective(text), text, objective.get("operation"), objective.get("request"))


def _overload(event: Mapping[str, Any]) -> dict[str, Any]:
    names = ("level", "done_per_s", "calm_per_s", "wait_s", "collapsed")
    wait_s = float(event["wait_s"])
    found = {"at_s": float(event["second"]), **{name: event[name] for name in names}}
    return found | {"wait_s": wait_s if math.isfinite(wait_s) else None}


def _pieces(run: RunReader, wanted: Sequence[Wanted], from_s: float, end_s: float) -> list[Piece]:
    """Equal pieces of the kept time, with the histograms of each objective."""
    length = max(PIECE_S, math.ceil((end_s - from_s) / MOST_PIECES / PIECE_S) * PIECE_S)
    count = int((end_s - from_s) // length)
    pieces = [Piece(from_s + place * length) for place in range(count)]
    for piece in pieces:
        piece.times = [Histogram() for _ in wanted]
        piece.failed, piece.requests = [0] * len(wanted), [0] * len(wanted)
    metric = run.first_metric(TIMES)
    edges = [math.ceil(piece.from_s) for piece in pieces] + [math.ceil(from_s + count * length)]
    names = [(one.request, one.operation) for one in wanted]
    for block in run.blocks((metric or "", "http_req_failed")):
        for snapshot in block.whole_seconds(with_buckets=False):
            place = int((snapshot.second - edges[0]) // length)
            if edges[0] <= snapshot.second < edges[-1] and place < count:
                pieces[place].seconds += 1
                pieces[place].level += snapshot.level
                pieces[place].done += snapshot.done
        for merged in block.merged(edges, ("scenario", "name")):
            place = int((merged.from_s - edges[0]) // length)
            if not edges[0] <= merged.from_s < edges[-1] or place >= count:
                continue
            for series in merged.series:
                tags = (series.tags.get("name"), series.tags.get("scenario"))
                for number, (request, operation) in enumerate(names):
                    if (request is not None and request not in tags) or operation not in (None, tags[1]):
                        continue
                    if series.metric == metric and series.count:
                        pieces[place].times[number].add_series(series)
                    elif series.metric == "http_req_failed":
                        pieces[place].failed[number] += int(series.passes or 0)
                        pieces[place].requests[number] += int(series.total or 0)
    return [piece for piece in pieces if piece.seconds]


def _judged(pieces: Sequence[Piece], wanted: Sequence[Wanted], found: Mapping[str, Any]) -> dict[str, Any]:
    seconds = np.array([piece.seconds for piece in pieces], dtype=float)
    levels = np.array([piece.level for piece in pieces]) / seconds
    kept_s = float(seconds.sum())
    statistics = [_statistics(pieces, place, one.limit) for place, one in enumerate(wanted)]
    ruling = max(range(len(wanted)), key=lambda place: statistics[place]["bad_share"] / statistics[place]["allowed"])
    ratio = statistics[ruling]["bad_share"] / statistics[ruling]["allowed"]
    per_s = statistics[ruling]["samples"] / kept_s
    mean = float(np.average(levels, weights=seconds))
    slope = _slope(wanted[ruling].limit, per_s)
    at_ceiling = any(one["collapsed"] for one in found["overloads"])
    one_bad = 1 / max(1.0, statistics[ruling]["samples"] * statistics[ruling]["allowed"])
    middle, highest = (
        mean * math.exp(-math.log(max(ratio, 1.0 if at_ceiling else least)) / slope) for least in (LEAST_RATIO, one_bad)
    )
    wandering = float(np.std(np.log(levels))) * _share_of_noise(kept_s)
    share_error = SLOPE_DOUBT * _share_error(pieces, ruling, wanted[ruling].limit) / slope
    half = Z_INTERVAL * math.hypot(wandering, share_error)
    windows = _windows(pieces, wanted[ruling].limit, ruling)
    violated = sum(one["seconds"] for one in windows if not one["met"])
    return {
        "kept_s": kept_s,
        "from_s": pieces[0].from_s,
        "level": middle,
        "interval": [middle * math.exp(-half), highest * math.exp(half)],
        "mean_level": mean,
        "done_per_s": float(sum(piece.done for piece in pieces)) / kept_s,
        "ruling": ruling,
        "seen": statistics,
        "held": ratio <= HELD_SHARE,
        "violated_s": violated,
        "violated_share": violated / sum(one["seconds"] for one in windows),
        "drift": _drift(levels, seconds),
        "windows": windows,
    }


def _slope(limit: Limit, per_s: float) -> float:
    """b of experiments/long_runs/keep.py, from the rate of requests over the whole kept time."""
    arrivals_in_limit = per_s * limit.limit / 1000 if limit.unit == "ms" else 1 / limit.limit
    return max(LEAST_SLOPE, arrivals_in_limit)


def _share_of_noise(seconds: float) -> float:
    return min(1.0, math.sqrt(2 * LOOP_S / seconds))


def _share_error(pieces: Sequence[Piece], place: int, limit: Limit) -> float:
    """Standard error of the share of bad requests over the allowed one, from the scatter of the pieces."""
    found = [_bad(limit, piece.times[place], piece.failed[place], piece.requests[place]) for piece in pieces]
    counts = np.array([one["samples"] for one in found], dtype=float)
    ratios = np.array([one["bad_share"] / one["allowed"] for one in found])
    if not counts.sum():
        return 0.0
    mean = float(np.average(ratios, weights=counts))
    return float(np.sqrt(np.sum((counts * (ratios - mean)) ** 2)) / counts.sum())


def _relative_sd(levels: Array, seconds: Array) -> float:
    """Scatter of ln level around its straight line."""
    at, logs = np.cumsum(seconds), np.log(levels)
    line = np.polyfit(at, logs, 1) if logs.size > 2 else np.array([0.0, logs.mean()])
    return float(np.std(logs - np.polyval(line, at)))


def _drift(levels: Array, seconds: Array) -> dict[str, Any] | None:
    """Change of the kept level from the first third of the time to the last."""
    if levels.size < 6:
        return None
    third = levels.size // 3
    change = float(np.log(levels[-third:].mean() / levels[:third].mean()))
    wandering = _relative_sd(levels, seconds) * _share_of_noise(float(seconds[:third].sum()))
    noise = math.sqrt(2) * wandering
    smallest = max(LEAST_DRIFT, Z_DRIFT * noise)
    return {
        "share": math.exp(change) - 1,
        "interval": [math.exp(change - smallest) - 1, math.exp(change + smallest) - 1],
        "smallest_detectable": math.exp(smallest) - 1,
        "drifts": abs(change) > smallest,
    }


def _statistics(pieces: Sequence[Piece], place: int, limit: Limit) -> dict[str, Any]:
    """Of an objective over the kept time: its statistic, the share of bad requests, and which share is allowed."""
    times = Histogram.merge(piece.times[place] for piece in pieces)
    failed, requests = sum(piece.failed[place] for piece in pieces), sum(piece.requests[place] for piece in pieces)
    found = _bad(limit, times, failed, requests)
    value = failed / requests if limit.unit == "ratio" and requests else statistic(limit, times)
    return {"value": value, "unit": limit.unit, **found}


def _bad(limit: Limit, times: Histogram, failed: int, requests: int) -> dict[str, Any]:
    if limit.unit == "ratio":
        return {"samples": requests, "bad_share": failed / max(1, requests), "allowed": limit.limit}
    if limit.quantile is None:
        return {"samples": times.count, "bad_share": times.mean / limit.limit if times.count else 0.0, "allowed": 1.0}
    above = times.bucket_index > int(bucket_of(limit.limit))
    share = float(times.bucket_count[above].sum()) / max(1, times.count)
    return {"samples": times.count, "bad_share": share, "allowed": 1 - limit.quantile}


def _windows(pieces: Sequence[Piece], limit: Limit, place: int) -> list[dict[str, Any]]:
    """Adjacent pieces joined until the statistic has the samples it needs; the rest joins the last window."""
    needed, windows = needed_samples(limit), []
    groups: list[list[Piece]] = []
    open_: list[Piece] = []
    for piece in pieces:
        open_.append(piece)
        samples = sum(one.requests[place] if limit.unit == "ratio" else one.times[place].count for one in open_)
        if samples >= needed:
            groups.append(open_)
            open_ = []
    if open_:
        groups = [*groups[:-1], [*groups[-1], *open_]] if groups else [open_]
    for group in groups:
        seen = _statistics(group, place, limit)
        value = seen["value"]
        windows.append(
            {
                "from_s": group[0].from_s,
                "seconds": float(sum(piece.seconds for piece in group)),
                "level": sum(piece.level for piece in group) / sum(piece.seconds for piece in group),
                "done_per_s": sum(piece.done for piece in group) / sum(piece.seconds for piece in group),
                "value": value,
                "unit": limit.unit,
                "met": value is None or limit.is_met_by(value),
            }
        )
    return windows
