"""Is there a job that comes back? Periodic pulses in a series of one value a second, against a noise that remembers.

Folding at trial periods (box least squares: Kovács, Zucker and Mazeh 2002), with three changes. The noise of response
times remembers (AR(1)), which would make chance look periodic; so the series is whitened with its own coefficient φ,
and what is looked for is a whitened pulse, whose first second stands out most (its end is not used: a queue drains
slowly). Response times have long tails; so a second counts at most 4 standard deviations and 1.2 times what its rank
would be in a normal sample. And a single stall is not three cycles; so what a pulse scores above 5 counts a tenth, and
the fold must do without its best pulse. For a pulse of w seconds at phase s and period P,

    z(P, s, w) = Σ over cycles of the matched filter of the pulse ÷ √(cycles)

is about standard normal without a job. The pulses themselves look like memory, so the best folds, one for each of some
widths, are scored again for all widths, each with φ and the scatter of the seconds outside its own pulses. The greatest
score is compared with a border that noise without a job exceeds in less than 1% of runs (simulated, white, AR(1) and
long tails: `BORDER`). At least 3 cycles, of which two thirds each rise by themselves. The period is then refined as the
slope of the pulses' times, near where the best fold has them, over their numbers, and told with the interval of that
regression. A few stark stalls, which the limits above keep from counting, have a test of their own
(regular_stalls.py). Runs of more than twenty minutes are looked at in steps of more than a second, at most 1,200. What
breaks it: a period that wanders by more than a pulse's width over the run.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plimsoll.stats.pulses.regular_stalls import MOST_CHANCE, RegularStalls, regular_stalls

SEARCHED_WIDTHS = (1, 2, 3, 5, 8, 12, 20, 32)
WIDTHS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 25, 32)
WIDTHS_IN_SERIES = 12
START_REACH = 3
FINE_STEPS = 20
LEAST_CALM = 6  # a pulse longer than this part of the period leaves too few seconds to tell the noise from
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
    """A pulse of `width_s` seconds every `period_s` (with its 95% interval), first at `first_s`, seen `cycles` times;
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
    folds = [_profiled(series, known, fold) for fold in _search(series, known)]
    best = max((fold for fold in folds if fold is not None), key=lambda fold: fold.z, default=None)
    border = BORDER[0] + BORDER[1] * math.log(series.size)
    if best is not None and best.z >= border:
        return _refined(series, known, best, border, step)
    stalls = regular_stalls(series, known, SHORTEST_PERIOD)
    return None if stalls is None else _of_stalls(series, known, stalls, step)


def _of_stalls(
    series: NDArray[np.float64], known: NDArray[np.bool_], stalls: RegularStalls, step: int
) -> PeriodicPulse:
    """Stark stalls at even gaps as a pulse: the period and its interval from the regression of their times."""
    numbers, times = np.arange(stalls.starts.size), stalls.starts * float(step)
    period, first = np.polyfit(numbers, times, 1)
    rest = times - (first + period * numbers)
    sd = math.sqrt(max(float(rest @ rest) / (numbers.size - 2), step**2 / 12))
    half = 1.96 * sd / math.sqrt(float(((numbers - numbers.mean()) ** 2).sum()))
    inside = np.zeros(series.size, dtype=bool)
    for start in stalls.starts:
        inside[start : start + stalls.width] = True
    within, without = float(series[known & inside].mean()), float(series[known & ~inside].mean())
    normal = NormalDist()
    return PeriodicPulse(
        float(period), float(period - half), float(period + half), stalls.width * step, float(times[0]),
        int(times.size), within - without, within, without, normal.inv_cdf(1 - stalls.chance),
        normal.inv_cdf(1 - MOST_CHANCE), tuple(float(moment) for moment in times),
    )  # fmt: skip


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


def _search(series: NDArray[np.float64], known: NDArray[np.bool_]) -> list[_Fold]:
    """The best fold of each width, of noise whose memory and scale are those of all known places."""
    white, phi = _whitened(series, known, known)
    if white is None:
        return []
    widths = [width for width in SEARCHED_WIDTHS if width <= series.size / WIDTHS_IN_SERIES]
    return [_best_period(_matched(white, phi, width), width) for width in widths]


def _profiled(series: NDArray[np.float64], known: NDArray[np.bool_], fold: _Fold) -> _Fold | None:
    """The fold with the width and the start nearby that score best, of noise as it is outside the pulses."""
    best: _Fold | None = None
    for width in WIDTHS:
        if width > series.size / WIDTHS_IN_SERIES or 3 * width > fold.period:
            break
        calm = known
        if LEAST_CALM * width <= fold.period:
            calm = known & ~_inside(series.size, replace(fold, width=width))
        white, phi = _whitened(series, known, calm)
        if white is None:
            continue
        score = _matched(white, phi, width)
        z = _folded(score, fold.period)
        place = _best_near(z, fold.start)
        if best is None or z[place] > best.z:
            best = _Fold(float(z[place]), fold.period, place, width, score)
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
    template = np.concatenate(([1.0], np.full(width - 1, 1 - phi)))
    padded = np.concatenate([white, np.zeros(template.size - 1)])
    score = np.correlate(padded, template, mode="valid") / math.sqrt(float(template @ template))
    return np.where(score > FULL_SCORE, FULL_SCORE + BEYOND * (score - FULL_SCORE), score)


def _best_period(score: NDArray[np.float64], width: int) -> _Fold:
    """The best fold of the scores of that width."""
    count = score.size
    shortest, longest = max(SHORTEST_PERIOD, 3 * width), count / FEWEST_CYCLES
    best = _Fold(-math.inf, shortest, 0, width, score)
    for period in _trial_periods(shortest, longest, count, width):
        z = _folded(score, period)
        place = int(z.argmax())
        if z[place] > best.z:
            best = _Fold(float(z[place]), float(period), place, width, score)
    return best


def _folded(score: NDArray[np.float64], period: float) -> NDArray[np.float64]:
    """z of pulses that begin at each phase of the period, shape (phases,); −∞ with fewer than three cycles."""
    at = np.arange(score.size)
    phase = np.rint(at - period * np.floor(at / period)).astype(np.int64)  # a third of the time of at % period
    sums, cycles = np.bincount(phase, weights=score), np.bincount(phase)
    return np.where(cycles >= FEWEST_CYCLES, sums / np.sqrt(np.maximum(cycles, 1)), -np.inf)


def _best_near(z: NDArray[np.float64], start: int) -> int:
    """The phase of the greatest z near `start`; a shorter period has fewer phases, so that `start` may be gone."""
    first = max(0, min(start, z.size - 1) - START_REACH)
    return first + int(z[first : start + START_REACH + 1].argmax())


def _trial_periods(shortest: float, longest: float, count: int, width: int) -> NDArray[np.float64]:
    """Periods so dense that the last cycle is at most width / PER_WIDTH off: dP = w P / (1.5 n)."""
    ratio = 1 + width / (PER_WIDTH * count)
    steps = max(0, int(math.log(longest / shortest) / math.log(ratio))) if longest > shortest else 0
    return np.asarray(shortest * ratio ** np.arange(steps + 1))


def _refined(
    series: NDArray[np.float64], known: NDArray[np.bool_], fold: _Fold, border: float, step: int
) -> PeriodicPulse | None:
    """Locate each pulse near where the fold expects it; regress its time on its number."""
    period, start = _finely(fold)
    width, score = fold.width, fold.score
    expected = np.arange(start, series.size - width / 2, period)
    reach = max(1, int(min(width / 3, period / 6)))
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


def _finely(fold: _Fold) -> tuple[float, int]:
    """Period and start of the best fold between the trial periods beside that of `fold`."""
    apart = fold.width / (PER_WIDTH * fold.score.size)
    best = -math.inf, fold.period, fold.start
    for period in fold.period * np.linspace(1 - apart, 1 + apart, 2 * FINE_STEPS + 1):
        z = _folded(fold.score, float(period))
        place = _best_near(z, fold.start)
        best = max(best, (float(z[place]), float(period), place))
    return best[1:]


def _slope(number: NDArray[np.int64], seen: NDArray[np.float64], period: float) -> tuple[float, float]:
    """Slope of the pulses' times with half of its 95% interval; times are whole seconds, which counts as 0.3 s."""
    from scipy.special import stdtrit

    if number.size < FEWEST_CYCLES:
        return period, period / 10
    line = np.polyfit(number, seen, 1)
    rest = seen - np.polyval(line, number)
    freedom = number.size - 2
    variance = max(float(rest @ rest) / freedom, 0.3**2)
    sd = math.sqrt(variance / float(((number - number.mean()) ** 2).sum()))
    return float(line[0]), float(stdtrit(freedom, 0.975)) * sd
