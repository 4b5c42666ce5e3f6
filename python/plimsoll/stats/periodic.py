"""Is there a job that comes back? Periodic pulses in a series of one value a second, against a noise that remembers.

Folding at trial periods (box least squares: Kovács, Zucker and Mazeh 2002), with three changes. The noise of response
times remembers (AR(1)), which would make chance look periodic; so the series is whitened with its own coefficient φ,
and what is looked for is a whitened pulse, whose first second stands out most. Response times have long tails; so a
second counts at most 4 standard deviations and 1.2 times what its rank would be in a normal sample. And a single stall
is not three cycles; so what a pulse scores above 5 counts a tenth, and the fold must do without its best pulse. For a
pulse of w seconds at phase s and period P,

    z(P, s, w) = Σ over cycles of the matched filter of the pulse ÷ √(cycles)

is about standard normal without a job. The pulses themselves look like memory, so φ is estimated again without the
seconds of the best fold, and the search repeated. Its greatest value is compared with a border that noise without a
job exceeds in less than 1 % of runs (simulated, white and AR(1): `BORDER`). At least 3 cycles, of which two thirds each
rise by themselves. The period is then refined as the slope of the pulses' times over their numbers, and told with the
interval of that regression. Runs of more than twenty minutes are looked at in steps of more than a second, 1,200 in
all. What breaks it: a period that wanders by more than a pulse's width over the run.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

WIDTHS = (1, 2, 3, 5, 8, 12, 20, 32)
SHORTEST_PERIOD = 8
MOST_POINTS = 1200
FEWEST_CYCLES = 3
CLIP = 4.0
TAIL = 1.2
FULL_SCORE, BEYOND = 5.0, 0.1
WITHOUT_BEST = 0.7
PER_WIDTH = 1.5
BORDER = (5.2, 0.15)  # z = a + b ln(points); see tests/accuracy/longrun_scorecard.py
RISING_CYCLES = 2 / 3


@dataclass(frozen=True)
class PeriodicPulse:
    """A pulse of `width_s` seconds every `period_s` (with its 95 % interval), first at `first_s`, seen `cycles` times;
    `height`: mean of the values within pulses less the mean outside; `inside`, `outside`: these means."""

    period_s: float
    low_s: float
    high_s: float
    width_s: int
    first_s: float
    cycles: int
    height: float
    inside: float
    outside: float
    z: float
    border: float
    times_s: tuple[float, ...]


def periodic_pulse(values: ArrayLike) -> PeriodicPulse | None:
    """The clearest periodic pulse upwards in `values`, one a second, shape (n,); NaN where nothing was measured.

    None without one beyond chance, or with less than a minute or a third of the seconds known.
    """
    every = np.asarray(values, dtype=float)
    if every.size < 60 or np.isfinite(every).sum() < every.size / 3:
        return None
    step = math.ceil(every.size / MOST_POINTS)
    series = _in_steps(every, step)
    known = np.isfinite(series)
    first = _search(series, known, known)
    if first is None:
        return None
    calm = known & ~_inside(series.size, first)
    best = _search(series, known, calm) or first
    border = BORDER[0] + BORDER[1] * math.log(series.size)
    if best.z < border:
        return None
    return _refined(series, known, best, border, step)


@dataclass(frozen=True)
class _Fold:
    """The best fold of a search: its z, period, first place and width, and the score of a pulse at each place."""

    z: float
    period: float
    start: int
    width: int
    score: NDArray[np.float64]


def _in_steps(every: NDArray[np.float64], step: int) -> NDArray[np.float64]:
    """Means of `step` neighbours, NaN where none is known."""
    if step == 1:
        return every
    padded = np.concatenate([every, np.full(-every.size % step, np.nan)]).reshape(-1, step)
    counts = np.isfinite(padded).sum(axis=1)
    return np.where(counts > 0, np.nansum(padded, axis=1) / np.maximum(counts, 1), np.nan)


def _search(series: NDArray[np.float64], known: NDArray[np.bool_], calm: NDArray[np.bool_]) -> _Fold | None:
    """The best fold over all widths, of noise whose memory and scale are those of the `calm` places."""
    white, phi = _whitened(series, known, calm)
    if white is None:
        return None
    best: _Fold | None = None
    for width in WIDTHS:
        if width > series.size / 12:
            break
        found = _best_period(_matched(white, phi, width), width)
        if best is None or found.z > best.z:
            best = found
    return best


def _inside(count: int, fold: _Fold) -> NDArray[np.bool_]:
    """Which places lie within the pulses of a fold."""
    inside = np.zeros(count, dtype=bool)
    for moment in np.arange(fold.start, count, fold.period):
        inside[round(moment) : round(moment) + fold.width] = True
    return inside


def _whitened(
    series: NDArray[np.float64], known: NDArray[np.bool_], calm: NDArray[np.bool_]
) -> tuple[NDArray[np.float64] | None, float]:
    """Innovations in robust standard deviations, clipped, 0 where unknown, None without scatter; and φ."""
    if calm.sum() < 10:
        return None, 0.0
    line = np.polynomial.Polynomial.fit(np.flatnonzero(calm), series[calm], 1)(np.arange(series.size))
    rest = np.where(known, series - line, 0.0)
    rest = np.where(known, rest - np.median(rest[calm]), 0.0)
    spread = _robust_sd(rest[calm])
    if spread <= 0:
        return None, 0.0
    limited = np.clip(rest, -2.5 * spread, 2.5 * spread)
    pairs = calm[1:] & calm[:-1]
    square = float((limited[calm] ** 2).mean())
    phi = float((limited[1:] * limited[:-1])[pairs].mean()) / square if pairs.any() else 0.0
    phi = min(0.95, max(0.0, phi))
    follows = np.concatenate(([False], known[:-1]))
    innovation = np.where(
        follows, rest - phi * np.concatenate(([0.0], rest[:-1])), rest * math.sqrt(1 - phi**2)
    )  # after an unknown second all of the deviation is new
    sd = _robust_sd(innovation[known & calm])
    if sd <= 0:
        return None, phi
    white = np.clip(innovation / sd, -CLIP, CLIP)
    white[known] = np.minimum(white[known], TAIL * np.maximum(_normal_scores(white[known]), 1.0))
    return np.where(known, white, 0.0), phi


def _normal_scores(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """What each value would be if its rank were that of a normal sample (van der Waerden 1952)."""
    from scipy.special import ndtri

    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    mean_rank = np.cumsum(counts) - (counts - 1) / 2
    return np.asarray(ndtri((mean_rank[place] - 0.5) / values.size))


def _robust_sd(values: NDArray[np.float64]) -> float:
    return float(1.4826 * np.median(np.abs(values - np.median(values)))) if values.size else 0.0


def _matched(white: NDArray[np.float64], phi: float, width: int) -> NDArray[np.float64]:
    """Score of a pulse that begins at each second, standard normal in white noise, shape (n,)."""
    template = np.concatenate(([1.0], np.full(width - 1, 1 - phi), [-phi]))
    padded = np.concatenate([white, np.zeros(template.size - 1)])
    score = np.correlate(padded, template, mode="valid") / math.sqrt(float(template @ template))
    return np.where(score > FULL_SCORE, FULL_SCORE + BEYOND * (score - FULL_SCORE), score)


def _best_period(score: NDArray[np.float64], width: int) -> _Fold:
    """The best fold of the scores of that width."""
    count = score.size
    shortest, longest = max(SHORTEST_PERIOD, 3 * width), count / FEWEST_CYCLES
    best = _Fold(-math.inf, shortest, 0, width, score)
    at = np.arange(count)
    for period in _trial_periods(shortest, longest, count, width):
        phase = np.rint(at % period).astype(np.int64)
        sums = np.bincount(phase, weights=score)
        cycles = np.bincount(phase)
        z = np.where(cycles >= FEWEST_CYCLES, sums / np.sqrt(np.maximum(cycles, 1)), -np.inf)
        place = int(z.argmax())
        if z[place] > best.z:
            best = _Fold(float(z[place]), float(period), place, width, score)
    return best


def _trial_periods(shortest: float, longest: float, count: int, width: int) -> NDArray[np.float64]:
    """Periods so dense that the last cycle is at most width / PER_WIDTH off: dP = w P / (1.5 n)."""
    ratio = 1 + width / (PER_WIDTH * count)
    steps = max(0, int(math.log(longest / shortest) / math.log(ratio))) if longest > shortest else 0
    return np.asarray(shortest * ratio ** np.arange(steps + 1))


def _refined(
    series: NDArray[np.float64], known: NDArray[np.bool_], fold: _Fold, border: float, step: int
) -> PeriodicPulse | None:
    """Locate each pulse near where the fold expects it; regress its time on its number."""
    period, start, width, score = fold.period, fold.start, fold.width, fold.score
    expected = np.arange(start, series.size - width / 2, period)
    reach = max(1, int(min(width, period / 6)))
    times = []
    for moment in expected:
        low, high = max(0, int(moment) - reach), min(series.size, int(moment) + reach + 1)
        times.append(low + int(score[low:high].argmax()))
    at = np.array(times, dtype=float)
    rising = score[at.astype(int)] > 0.5
    each = np.sort(score[np.minimum(np.rint(expected).astype(int), series.size - 1)])
    without_best = float(each[:-1].sum()) / math.sqrt(max(1, each.size - 1))
    if without_best < WITHOUT_BEST * border:
        return None
    if expected.size < FEWEST_CYCLES or rising.mean() < RISING_CYCLES:
        return None
    number, seen = np.arange(at.size)[rising], at[rising]
    slope, half = _slope(number, seen, period)
    inside = np.zeros(series.size, dtype=bool)
    for moment in at.astype(int):
        inside[moment : moment + width] = True
    within, without = series[inside & known], series[~inside & known]
    if not within.size or not without.size:
        return None
    return PeriodicPulse(
        period_s=slope * step,
        low_s=(slope - half) * step,
        high_s=(slope + half) * step,
        width_s=width * step,
        first_s=float(at[0]) * step,
        cycles=int(rising.sum()),
        height=float(within.mean() - without.mean()),
        inside=float(within.mean()),
        outside=float(without.mean()),
        z=fold.z,
        border=border,
        times_s=tuple(float(moment) * step for moment in at),
    )


def _slope(number: NDArray[np.int64], seen: NDArray[np.float64], period: float) -> tuple[float, float]:
    """Slope of the pulses' times with half of its 95 % interval; times are whole seconds, which counts as 0.3 s."""
    from scipy.special import stdtrit

    if number.size < FEWEST_CYCLES:
        return period, period / 10
    line = np.polyfit(number, seen, 1)
    rest = seen - np.polyval(line, number)
    freedom = number.size - 2
    variance = max(float(rest @ rest) / freedom, 0.3**2)
    sd = math.sqrt(variance / float(((number - number.mean()) ** 2).sum()))
    return float(line[0]), float(stdtrit(freedom, 0.975)) * sd
