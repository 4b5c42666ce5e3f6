"""Does unfinished work grow within a step, or does it only wander?

Above capacity a queue grows in proportion to time; below, it wanders. At the border it behaves like a reflected
Brownian motion (Kingman's heavy traffic; Whitt 2002, ch. 5), so the scale of chance after n arrivals is

    √(n · (c_a² + c_s²))      c_a², c_s²: variance per arrival and per completion; 1 + 1 for M/M/c

Two numbers are judged together, because each is blind to something:

    shortfall z = (λ T − completions) / √(n c_s²)     completions against the *nominal* rate λ, which carries no noise
    growth z    = (unfinished at the end − at the start) / √(n (c_a² + c_s²))

A target below capacity has no shortfall but the luck of arrivals, and then no growth. Above it both rise as √n:
5% overload reaches a shortfall z of 4.7 after 9,000 arrivals. Looking every second would find chance excursions, so
early looks need more: the border is multiplied by √(n_full / n) (O'Brien and Fleming 1979). From ten seconds on it is
no higher than 4 standard deviations of the shortfall, which no number of looks reaches by chance (Haybittle 1971; Peto
1976): a target whose completions scatter much would else be held for minutes though a fifth of its work is missing.

A host whose speed drifts lets the same target finish more in one second than in the next. Where that speed is known
(stats/throughput/host_speed.py), the completions of a second in which work waited throughout are divided by it: all of
the above then speaks of the target on a host of mean speed. A second in which the queue emptied says what arrived,
whatever the speed, and is left alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

SHORTFALL_Z = 2.05
GROWTH_Z = 1.0
HIGHEST_Z, HIGHEST_FROM_S = 4.0, 10
AGAIN = 0.8  # of the border: a verdict does not come and go with the estimate of chance
POWER_Z = 1.65
CALM_Z = 0.8
SETTLED_Z = 0.11
NOISE_RANGE = (0.3, 60.0)
PRIOR_SECONDS = 6.0
BUSY_Z, BUSY_SHARE = 1.5, 0.05
MOST_LAGS = 20
FEWEST_FOR_LINE = 6
PLAIN_SHARE = 0.08
PLAIN_BACKLOG_S = 3.0
PLAIN_Z = 3.0
LEAST_BEFORE, LEAST_AFTER, FALL_SHARE, FALL_Z = 2, 3, 0.25, 4.0


@dataclass(frozen=True)
class Growth:
    """What a window of one step says; counts are arrivals, times seconds.

    `expected`: nominal arrivals λT; `done`: completions; `unfinished_start`, `unfinished_end`: work in the system;
    `shortfall_z`, `growth_z` as above; on the scale of growth also `calm_z`: mean unfinished work above the start
    in the second half, and `queue_z`: mean unfinished work above what the arrivals keep inside without any waiting;
    `service_noise`, `arrival_noise`: variance per event; `busy_done`, `busy_s`: completions and length of the seconds
    in which work waited, `busy_share` of all seconds, `busy_noise`: variance per completion of `busy_done`. z, noise
    and `busy_s` are those of a host of mean speed.
    """

    seconds: float
    expected: float
    done: float
    unfinished_start: float
    unfinished_end: float
    shortfall_z: float
    growth_z: float
    calm_z: float
    queue_z: float
    service_noise: float
    arrival_noise: float
    busy_done: float
    busy_s: float
    busy_share: float
    busy_noise: float

    @property
    def growth_share(self) -> float:
        """Growth of unfinished work ÷ nominal arrivals: about the overload ρ − 1."""
        return (self.unfinished_end - self.unfinished_start) / self.expected if self.expected else 0.0


def growth(
    planned: ArrayLike,
    done: ArrayLike,
    unfinished_start: float,
    rate_per_s: float,
    host_speed: ArrayLike | None = None,
    least_noise: float = 0.0,
    idle_unfinished: float | None = None,
    work: ArrayLike | None = None,
) -> Growth:
    """Judge a window of whole seconds: `planned` and `done` per second, shape (n,), n ≥ 1.

    `unfinished_start`: arrivals planned and not finished when the window opens; `rate_per_s`: nominal arrival rate;
    `host_speed`: of each second, 1 being the mean, shape (n,); `least_noise`: variance per completion that the whole
    run has shown, for a short window alone underrates it; `idle_unfinished`: work in the system at this rate if none
    waited, by Little's law (rate × time of an iteration at low load); the least of the window where that is not known;
    `work`: what the target did in each second, in completions, shape (n,), where that is more than what ended.
    """
    arrivals, finished = np.asarray(planned, dtype=float), np.asarray(done, dtype=float)
    if arrivals.shape != finished.shape or arrivals.ndim != 1 or arrivals.size == 0:
        raise ValueError("planned and done must be series of the same length of at least one second")
    speed = np.ones(finished.size) if host_speed is None else np.asarray(host_speed, dtype=float)
    waiting = unfinished_start + np.concatenate(([0.0], np.cumsum(arrivals - finished)))
    queued = max(0.0, unfinished_start - (idle_unfinished or 0.0))  # what is inside without waiting keeps nobody busy
    busy = busy_seconds(arrivals, finished, queued)
    adjusted = at_mean_speed(arrivals, finished, queued, speed)
    seconds, expected = float(arrivals.size), rate_per_s * arrivals.size
    own, arriving = variance_per_event(adjusted), variance_per_event(arrivals)
    service = max(own, least_noise)
    worked = finished if work is None else np.asarray(work, dtype=float)
    scale = math.sqrt(max(expected, 1.0) * (arriving + service))
    narrow_scale = math.sqrt(max(expected, 1.0) * (arriving + own))
    gain = np.cumsum(arrivals - adjusted)
    idle = float(waiting.min()) if idle_unfinished is None else idle_unfinished
    return Growth(
        seconds=seconds,
        expected=expected,
        done=float(finished.sum()),
        unfinished_start=float(unfinished_start),
        unfinished_end=float(waiting[-1]),
        shortfall_z=float((expected - adjusted.sum()) / math.sqrt(max(expected, 1.0) * service)),
        growth_z=float(gain[-1] / scale),
        calm_z=float(gain[gain.size // 2 :].mean() / scale),
        queue_z=float((waiting.mean() - idle) / narrow_scale),
        service_noise=service,
        arrival_noise=arriving,
        busy_done=float(worked[busy].sum()),
        busy_s=float(speed[busy].sum()),
        busy_share=float(busy.mean()),
        busy_noise=service if work is None else max(variance_per_event(worked / speed), least_noise),
    )


def busy_seconds(planned: ArrayLike, done: ArrayLike, unfinished_start: float) -> np.ndarray:
    """Whether each second began with so much work waiting that the target will not have run out of it, shape (n,).

    Told at its beginning, so that these seconds are not chosen for what was finished in them: a queue of 1.5
    standard deviations of what a second brings and takes, and a twentieth of a second's work for a level below the
    capacity.
    """
    arrivals, finished = np.asarray(planned, dtype=float), np.asarray(done, dtype=float)
    waiting = unfinished_start + np.concatenate(([0.0], np.cumsum(arrivals - finished)))
    least = BUSY_Z * math.sqrt(2 * finished.mean()) + BUSY_SHARE * finished.mean()
    return np.asarray(waiting[:-1] >= max(1.0, least))


def at_mean_speed(planned: ArrayLike, done: ArrayLike, unfinished_start: float, host_speed: ArrayLike) -> np.ndarray:
    """Completions per second as a host of mean speed would have had them, shape (n,); see the module."""
    finished = np.asarray(done, dtype=float)
    busy = busy_seconds(planned, finished, unfinished_start)
    return np.where(busy, finished / np.asarray(host_speed, dtype=float), finished)


def variance_per_event(counts: ArrayLike) -> float:
    """Long-run variance of a series of counts ÷ its mean, shrunk towards 1 (Poisson) while the series is short.

    Neighbouring seconds depend on each other when a target stalls; the covariances of lags 1 and 2 are added
    (Newey and West 1987) where they raise the variance. A straight line is taken out first: completions that fall
    step by step under a growing backlog are what an overload looks like, not chance.
    """
    series = np.asarray(counts, dtype=float)
    mean = float(series.mean())
    if series.size < 2 or mean <= 0:
        return 1.0
    straight = series.size >= FEWEST_FOR_LINE
    deviation = series - mean
    if straight:
        time = np.arange(series.size) - (series.size - 1) / 2
        deviation -= time * (time @ deviation) / (time @ time)
    plain = float(deviation @ deviation) / (series.size - (2 if straight else 1))
    long_run = plain
    for lag, weight in ((1, 2 / 3), (2, 1 / 3)):
        if series.size > 4 * lag:
            long_run += 2 * weight * float(deviation[lag:] @ deviation[:-lag]) / (series.size - lag)
    ratio = (PRIOR_SECONDS + series.size * max(plain, long_run) / mean) / (PRIOR_SECONDS + series.size)
    return float(min(max(ratio, NOISE_RANGE[0]), NOISE_RANGE[1]))


def pooled_noise(steps: Iterable[ArrayLike]) -> float:
    """Variance per completion, long-run, over the busy seconds of several steps: each completions per second, (n,).

    Each deviates from its own mean: steps whose means differ say that the target is another one at another level, as
    where it collapses, and not that chance is large. The covariances of neighbouring seconds are added up to the first
    that is not positive (Geyer 1992), within 20 s; shrunk towards 1 as above.
    """
    parts = [part for part in (np.asarray(step, dtype=float) for step in steps) if part.size > 1 and part.sum() > 0]
    if not parts:
        return 1.0
    size, mean = sum(part.size for part in parts), float(np.concatenate(parts).mean())
    deviations = [part - part.mean() for part in parts]
    total = sum(float(part @ part) * part.size / (part.size - 1) for part in deviations)
    for lag in range(1, MOST_LAGS + 1):
        pairs = sum(float(part[lag:] @ part[:-lag]) for part in deviations if part.size > lag)
        if pairs <= 0:
            break
        total += 2 * pairs
    ratio = (PRIOR_SECONDS + total / mean) / (PRIOR_SECONDS + size)
    return float(min(max(ratio, NOISE_RANGE[0]), NOISE_RANGE[1]))


def falls_within(done: ArrayLike) -> bool:
    """Whether completions per second of a busy target, shape (n,), fall for good within a step: by a quarter or more
    from one second on, at least three before the end (two of four), and by 4 standard deviations of these counts. That
    is a collapse under way, and no chance.
    """
    series = np.asarray(done, dtype=float)
    splits = np.arange(LEAST_BEFORE, series.size - max(LEAST_BEFORE, min(LEAST_AFTER, series.size // 2)) + 1)
    if splits.size == 0:
        return False
    total = np.cumsum(series)
    before, after = total[splits - 1] / splits, (total[-1] - total[splits - 1]) / (series.size - splits)
    sd = np.sqrt(before * (1 / splits + 1 / (series.size - splits)))
    return bool(np.any(before - after >= np.maximum(FALL_SHARE * before, FALL_Z * sd)) and total[-1] > 0)


def arrivals_to_decide(overload: float, service_noise: float = 1.0) -> float:
    """Arrivals after which an overload of share `overload` (> 0) is seen with 95% power.

    False alarms, simulated: below 1% at 3% under the capacity, about 7% at exactly the capacity.
    """
    if overload <= 0:
        raise ValueError("an overload to be seen must be above zero")
    return service_noise * ((SHORTFALL_Z + POWER_Z) / overload) ** 2


def smallest_overload(arrivals: float, service_noise: float = 1.0) -> float:
    """The inverse: the smallest overload that so many arrivals can show."""
    return (SHORTFALL_Z + POWER_Z) * math.sqrt(service_noise / max(arrivals, 1.0))


def is_growing(seen: Growth, full_arrivals: float, least_share: float = 0.0, again: bool = False) -> bool:
    """Whether growth and shortfall both exceed their borders, which are wider before `full_arrivals`. `again`: they did
    when the step ended, and later steps only changed what chance is taken to be."""
    border = max(1.0, math.sqrt(full_arrivals / max(seen.expected, 1.0)))
    if seen.seconds >= HIGHEST_FROM_S:
        border = min(border, HIGHEST_Z / SHORTFALL_Z)
    border *= AGAIN if again else 1.0
    beyond = seen.shortfall_z >= SHORTFALL_Z * border and seen.growth_z >= GROWTH_Z * border
    return beyond and seen.growth_share >= least_share


def is_plainly_overloaded(
    planned: ArrayLike, done: ArrayLike, unfinished_start: float, rate_per_s: float, window_s: int
) -> bool:
    """Whether the last `window_s` seconds alone leave no doubt, so that nobody needs to wait for the border above.

    Completions fell short of the nominal rate, and unfinished work grew, by 8% of the arrivals or more in each third
    of the window; it ends at 3 s of work or more above its least, and grew by 3 times what chance does. A pause of the
    target, however long, shows in one third or drains in the next. `planned`, `done`: counts per second, shape (n,).
    """
    arrivals, finished = np.asarray(planned, dtype=float), np.asarray(done, dtype=float)
    third = math.ceil(window_s / 3)
    if arrivals.size < 3 * third or rate_per_s <= 0:
        return False
    unfinished = unfinished_start + np.concatenate(([0.0], np.cumsum(arrivals - finished)))
    edges = unfinished[[-1 - 3 * third, -1 - 2 * third, -1 - third, -1]]
    nominal = rate_per_s * third
    completed = finished[-3 * third :].reshape(3, third).sum(axis=1)
    lasting = bool(np.all(np.diff(edges) >= PLAIN_SHARE * nominal) and np.all(completed <= (1 - PLAIN_SHARE) * nominal))
    work_s = (unfinished[-1] - unfinished.min()) / max(completed.sum() / (3 * third), 1 / third)
    noise = variance_per_event(arrivals[-3 * third :]) + variance_per_event(finished[-3 * third :])
    return bool(
        lasting and work_s >= PLAIN_BACKLOG_S and edges[-1] - edges[0] >= PLAIN_Z * math.sqrt(3 * nominal * noise)
    )


def is_calm(seen: Growth, border: float = CALM_Z) -> bool:
    """Whether unfinished work stayed within what a target below capacity shows."""
    return (
        seen.growth_z < border
        and seen.calm_z < border
        and (seen.shortfall_z < SHORTFALL_Z or seen.growth_z < border / 3)
    )


def is_settled(seen: Growth) -> bool:
    """Whether the queue stayed so short that this step alone rules out a target at or beyond its capacity.

    At the capacity the queue is a reflected Brownian motion and its mean over n arrivals a fixed share of the scale.
    Looked at each second from 10 s on, one step in twenty at exactly the capacity falls below 0.11, and none of 2,000
    at 3% above it; a target with 8% to spare gets there in 10 to 16 s at 300/s, one with 5% in 17 to 50 s
    (tests/accuracy/step_scorecard.py).
    """
    return seen.queue_z <= SETTLED_Z
