"""Objectives: how often "met" and "violated" are wrong, how seldom nothing is said, and how many samples it takes.

Independent values: the share above the limit is what is allowed (an error either way at 1%), or a multiple of it; the
sequential test is asked after each value. The best possible test knows that multiple: Wald's one-sided likelihood ratio
with the lowest border that is wrong in at most 1%, by exact sums (Wald 1945; Lorden 1970: no other stops earlier).

Requests of a queue: M/M/1 in virtual time (Lindley's recursion), from its steady state, whose response times are
exponential, so that the limit of any share is known. Errors are counted of all trials, where the true share is twice or
half of what is allowed; at 1.05 and 0.95 times they are only published. A step of which the last look comes when its
objective is decided or after 60 s is judged as `capacity` does, at half the error for each.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache, partial

import numpy as np
from score_line import Job, Line, Lines, Ratio

from plimsoll.runs.histogram import Histogram
from plimsoll.runs.readings.objective_samples import Samples
from plimsoll.stats.estimates.quantile_test import ERROR, is_above_at_any_time, is_below_at_any_time
from plimsoll.study.objectives import Limit

Array = np.ndarray
ALLOWED = (0.1, 0.05, 0.01)
MULTIPLES = (0.0, 0.25, 0.5, 2.0, 4.0, 8.0)
WITHIN = 1.3
HORIZON = 1000  # values, in units of 1 ÷ allowed
REPEAT, QUEUES, PEEKED = 4000, 300, 60
LONGEST_S, FAR = 60, 1e-6


# --- independent values -------------------------------------------------------------------------------------------


@cache
def borders(allowed: float, most: int) -> tuple[Array, Array]:
    """Most values above the limit that mean "met" (-1: none does), fewest that mean "violated", after 1 … `most`
    values; neither falls with their number."""
    met, violated, low, high = [], [], -1, 1
    for count in range(1, most + 1):
        while low < count and is_below_at_any_time(low + 1, count, allowed):
            low += 1
        while high <= count and not is_above_at_any_time(high, count, allowed):
            high += 1
        met.append(low)
        violated.append(high)
    return np.array(met), np.array(violated)


def passed(share: float, met: Array, violated: Array) -> tuple[float, float, float]:
    """(mean number of values until the end, P(met), P(violated)) by exact sums over the paths."""
    chance, top = np.zeros(met.size + 2), 1
    chance[0] = 1.0
    mean = below = above = 0.0
    for low, high in zip(met.tolist(), violated.tolist(), strict=True):
        mean += float(chance[:top].sum())
        after = np.zeros(top + 1)
        after[:top] = chance[:top] * (1 - share)
        after[1:] += chance[:top] * share
        below += float(after[: max(0, low + 1)].sum())
        above += float(after[high:].sum())
        after[: max(0, low + 1)] = 0.0
        after[high:] = 0.0
        alive = np.flatnonzero(after > 1e-13)
        if not alive.size:
            break
        top = int(alive[-1]) + 1
        chance[:top] = after[:top]
    return mean, below, above


@cache
def best_possible(allowed: float, multiple: float) -> float:
    """Mean number of values of the one-sided test that knows the share and errs in at most 1%."""
    share, most = min(1 - 1e-9, allowed * multiple), round(150 / allowed)
    up = share > allowed
    over = math.log(share / allowed) if share else -math.inf
    other = math.log((1 - share) / (1 - allowed))
    counts = np.arange(1, most + 1)

    def ended(log_border: float, at: float) -> tuple[float, float]:
        if not up:
            none = np.where(counts * other >= log_border, 0, -1)
            reached = np.floor((log_border - counts * other) / (over - other)) if share else none
            mean, wrong, _ = passed(at, np.minimum(reached, counts).astype(int), np.full(most, most + 1))
        else:
            reached = np.ceil((log_border - counts * other) / (over - other) - 1e-9)
            mean, _, wrong = passed(at, np.full(most, -1), np.maximum(reached, 0).astype(int))
        return mean, wrong

    low, high = 0.0, -math.log(ERROR) + 0.5
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (low, middle) if ended(middle, allowed)[1] <= ERROR else (middle, high)
    return ended(high, share)[0]


def samples_it_takes(allowed: float, multiple: float, repeat: int, seed: int) -> Lines:
    """The sequential test's number of samples over the best possible one."""
    most = round(60 / allowed) if multiple < 2 else round(40 / allowed)
    met, violated = borders(allowed, most)
    random = np.random.default_rng([seed, round(1000 * allowed), round(100 * multiple)])
    ends = np.array([_end(random, allowed * multiple, met, violated) for _ in range(repeat)], dtype=float)
    best = best_possible(allowed, multiple)
    middles = np.sort([random.choice(ends, ends.size).mean() for _ in range(400)]) / best
    words = "none" if not multiple else f"{multiple:g} times as many as allowed"
    what = f"p{100 * (1 - allowed):g}, {words} above the limit: samples over the best possible"
    return [Ratio("O2", what, float(ends.mean()) / best, float(middles[10]), float(middles[389]), repeat, WITHIN)]


def _end(random: np.random.Generator, share: float, met: Array, violated: Array) -> int:
    over = np.cumsum(random.random(met.size) < share)
    ended = np.flatnonzero((over <= met) | (over >= violated))
    return int(ended[0]) + 1 if ended.size else met.size


def wrong_at_the_border(allowed: float, trials: int) -> Lines:
    """By exact sums, told as of `trials` trials: the chance that the sequential test says either at the very border."""
    most = round(HORIZON / allowed) if allowed >= 0.05 else round(HORIZON / 5 / allowed)
    _, below, above = passed(allowed, *borders(allowed, most))
    name = f"p{100 * (1 - allowed):g}, the limit is the percentile: the sequential test says"
    return [
        Line("O1", f"{name} {word} within {most:,} samples", round(chance * trials), trials, trials, "≤", ERROR)
        for word, chance in (("met", below), ("violated", above))
    ]


# --- requests of a queue ------------------------------------------------------------------------------------------


def queue(load: float, per_s: float, seconds: int, seed: int) -> tuple[Array, Array]:
    """End and response time, in s and ms, of each request of M/M/1 that ends within `seconds` of its steady state."""
    random = np.random.default_rng(seed)
    before = 50 / (per_s * (1 - load) ** 2)
    count = random.poisson(load * per_s * (seconds + before))
    arrivals = np.sort(random.random(count)) * (seconds + before)
    work = random.exponential(1 / per_s, count)
    steps = np.concatenate(([0.0], np.cumsum(work[:-1] - np.diff(arrivals))))
    times = steps - np.minimum.accumulate(steps) + work
    ends = arrivals + times - before
    kept = (ends >= 0) & (ends < seconds)
    return ends[kept], 1000 * times[kept]


def limit_of(share: float, load: float, per_s: float) -> float:
    """Response time in ms that this share of all requests exceeds."""
    return -1000 * math.log(share) / (per_s * (1 - load))


def samples_of(ends: Array, times: Array, seconds: int, limit: Limit) -> list[Samples]:
    """What an objective has seen after each second."""
    at = ends.astype(int)
    parts = {second: Histogram.from_values(times[at == second]) for second in range(seconds)}
    found = []
    for length in range(1, seconds + 1):
        kept = {second: parts[second] for second in range(length)}
        count = sum(part.count for part in kept.values())
        whole_ms = sum(part.sum for part in kept.values())
        found.append(Samples(limit, length, kept, all_count=count, all_ms=whole_ms))
    return found


def whole_step(seen: list[Samples]) -> str:
    """The verdict of a step whose length was fixed before."""
    return seen[-1].judged().verdict


def peeked_step(seen: list[Samples]) -> str:
    """The verdict of a step that ends when its objective is decided, after ten seconds at least."""
    for samples in seen[9:-1]:
        if samples.judged(ERROR / 2, any_time=True).verdict != "undecided":
            return samples.judged(ERROR / 2).verdict
    return seen[-1].judged(ERROR / 2).verdict


def queues(load: float, per_s: float, seconds: int, peek: bool, repeat: int, first_seed: int) -> Lines:
    """Errors clearly off the limit, errors near it, and how often anything is said."""
    counts = {multiple: {"met": 0, "violated": 0, "undecided": 0} for multiple in (2.0, 0.5, 1.05, 0.95, 0.01, FAR)}
    verdict = peeked_step if peek else whole_step
    for seed in range(first_seed, first_seed + repeat):
        ends, times = queue(load, per_s, seconds, seed)
        for multiple, told in counts.items():
            for allowed in ALLOWED:
                ms = limit_of(allowed * multiple, load, per_s)
                limit = Limit(f"p{100 * (1 - allowed):g}", ms, "ms", 1 - allowed)
                told[verdict(samples_of(ends, times, seconds, limit))] += 1
    trials = repeat * len(ALLOWED)
    how = f"looked at each second for {seconds} s" if peek else f"{seconds} s"
    where = f"M/M/1 at {load:g} of {per_s:g}/s, {how}, p90, p95 and p99"

    def line(what: str, hits: int, target: float | None = None) -> Line:
        return Line("O3", f"{where}: {what}", hits, trials, trials, "≤", target)

    return [
        line("met, though twice as many as allowed are above", counts[2.0]["met"], ERROR),
        line("violated, though half as many as allowed are above", counts[0.5]["violated"], ERROR),
        line("met, though 1.05 times as many are above", counts[1.05]["met"]),
        line("violated, though 0.95 times as many are above", counts[0.95]["violated"]),
        line("violated is said where twice as many are above", counts[2.0]["violated"]),
        line("met is said where a hundredth as many are above", counts[0.01]["met"]),
        line("met is said where a millionth as many are above", counts[FAR]["met"]),
    ]


CELLS = (
    (0.5, 300, 10, False),
    (0.8, 300, 10, False),
    (0.9, 300, 10, False),
    (0.5, 300, 30, False),
    (0.8, 300, 30, False),
    (0.9, 300, 30, False),
    (0.5, 30, 30, False),
    (0.9, 30, 10, False),
    (0.5, 300, LONGEST_S, True),
    (0.8, 300, LONGEST_S, True),
    (0.9, 300, LONGEST_S, True),
)


def jobs(scale: float, first_seed: int) -> Iterator[Job]:
    """2,000 tests of independent values, 300 queues and 100 that are looked at each second, a cell at scale 1."""
    for load, per_s, seconds, peek in CELLS:
        repeat = max(20, math.ceil((PEEKED if peek else QUEUES) * scale))
        name = f"O3 objectives M/M/1 {load:g} {per_s:g}/s {seconds} s" + (" peeked" if peek else "")
        yield Job(name, partial(queues, load, per_s, seconds, peek, repeat, first_seed))
    for allowed in ALLOWED:
        yield Job(f"O1 objectives border {allowed:g}", partial(wrong_at_the_border, allowed, 10_000))
        for multiple in MULTIPLES:
            repeat = max(200, math.ceil(REPEAT * scale))
            name = f"O2 objectives samples {allowed:g} {multiple:g}"
            yield Job(name, partial(samples_it_takes, allowed, multiple, repeat, first_seed))
