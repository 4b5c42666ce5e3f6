"""Is the q-quantile above or below a limit? Exact tests of the share of values above it, with a stated error each way.

The q-quantile is at most a limit exactly when the share of values above the limit is at most 1 − q ("allowed"), so an
objective on a percentile is a test of a binomial share, as one on an error rate is. 73 values of which none is above
the limit of a p90 would come with probability 0.9⁷³ = 0.0005 if more than 10% of all were above.

    fixed        how many values there are does not depend on them: Clopper and Pearson 1934, one side at a time. The
                 chance to say "met" where the share is above what is allowed, and that to say "violated" where it is
                 not, are each at most `error`.
    sequential   looked at as often as one likes, stopped when it has decided: the likelihood ratio of a mixture of
                 shares beside the allowed one is an e-process (Robbins 1970; Ville 1939), which passes 1 ÷ error with
                 a probability of at most `error` at any time. Five shares a side are within 1.3 times the samples of
                 the best test, which knows the true share (Wald 1945; docs/decisions/0014).

Counts need not be whole numbers: of values that depend on each other, give as many independent ones as they are worth
(effective_count.py). Pure; arguments are counts and shares.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Verdict = Literal["met", "violated", "undecided"]
Test = Callable[[float, float, float, float], bool]

ERROR = 0.01
# Shares below the allowed one, as parts of it, and above it, by their odds; tried out for few samples at all of them.
_BELOW = np.array([0.0, 0.2, 0.45, 0.7, 0.88])
_BELOW_WEIGHTS = np.array([0.3, 0.25, 0.2, 0.15, 0.1])
_ABOVE_ODDS = np.array([1.25, 1.7, 2.6, 5.0, 11.0, 1e6])
_ABOVE_WEIGHTS = np.array([0.7, 0.9, 1.1, 1.2, 1.5, 0.6]) / 6.0
# A value above the limit moves the ratio in leaps, which overshoot its border: that much less errs in 1% all the same,
# by exact sums over 1,000 ÷ allowed values where the share is what is allowed (O1 in tests/accuracy).
_OVERSHOOT = 0.25


def chance_of_at_most(over: float, count: float, share: float) -> float:
    """P(at most `over` of `count`) where each is above the limit with probability `share`; 1 without any count."""
    from scipy.special import betainc  # scipy takes a third of a second to import

    if not 0 <= over <= count:
        raise ValueError(f"{over} of {count} is impossible")
    return 1.0 if over >= count else float(betainc(count - over, over + 1, 1 - share))


def chance_of_at_least(over: float, count: float, share: float) -> float:
    """P(at least `over` of `count`); 1 for none."""
    from scipy.special import betainc

    if not 0 <= over <= count:
        raise ValueError(f"{over} of {count} is impossible")
    return 1.0 if over <= 0 else float(betainc(over, count - over + 1, share))


def share_bounds(over: float, count: float, error: float = ERROR) -> tuple[float, float]:
    """Clopper and Pearson's bounds of the share, each wrong with probability `error` at most; (0, 1) without any."""
    from scipy.special import betaincinv

    if count <= 0:
        return 0.0, 1.0
    low = float(betaincinv(over, count - over + 1, error)) if over > 0 else 0.0
    high = float(betaincinv(over + 1, count - over, 1 - error)) if over < count else 1.0
    return low, high


def is_below(over: float, count: float, allowed: float, error: float = ERROR) -> bool:
    """Whether the share is proven to be at most `allowed`, in (0, 1), by a fixed number of values."""
    return count > 0 and chance_of_at_most(over, count, allowed) <= error


def is_above(over: float, count: float, allowed: float, error: float = ERROR) -> bool:
    """Whether the share is proven to be above `allowed`, by a fixed number of values."""
    return count > 0 and chance_of_at_least(over, count, allowed) <= error


def is_below_at_any_time(over: float, count: float, allowed: float, error: float = ERROR) -> bool:
    """As `is_below`, and as safe if it is asked after each value and the first yes ends the test."""
    return _log_ratio(over, count, allowed, allowed * _BELOW, _BELOW_WEIGHTS) >= -math.log(error)


def is_above_at_any_time(over: float, count: float, allowed: float, error: float = ERROR) -> bool:
    """As `is_above`, asked as often as one likes."""
    odds = allowed / (1 - allowed) * _ABOVE_ODDS
    return _log_ratio(over, count, allowed, odds / (1 + odds), _ABOVE_WEIGHTS) >= -math.log(error) - _OVERSHOOT


def _log_ratio(over: float, count: float, allowed: float, shares: Array, weights: Array) -> float:
    """Logarithm of the mixture's likelihood over that of the allowed share."""
    from scipy.special import xlog1py, xlogy

    if not 0 <= over <= count:
        raise ValueError(f"{over} of {count} is impossible")
    each = (
        xlogy(over, shares)
        + xlog1py(count - over, -shares)
        - xlogy(over, allowed)
        - xlog1py(count - over, -allowed)
        + np.log(weights)
    )
    most = float(each.max())
    return most + math.log(float(np.exp(each - most).sum()))


def judge_share(over: float, count: float, allowed: float, error: float = ERROR, any_time: bool = False) -> Verdict:
    """Whether the share above the limit is at most `allowed` ("met") or more ("violated"), each wrong with probability
    `error` at most. `any_time`: the sequential test. Of an allowed share of 0 any value above violates, and none in
    those that were seen meets it, which is no proof for others."""
    if allowed <= 0:
        return "violated" if over > 0 else "met" if count > 0 else "undecided"
    if allowed >= 1:
        return "met" if count > 0 else "undecided"
    below, above = (is_below_at_any_time, is_above_at_any_time) if any_time else (is_below, is_above)
    if below(over, count, allowed, error):
        return "met"
    return "violated" if above(over, count, allowed, error) else "undecided"


def fewest_samples(allowed: float, error: float = ERROR) -> int:
    """Fewest independent values that let a share be found at most `allowed`, in (0, 1): none of them is above."""
    return math.ceil(math.log(error) / math.log1p(-allowed) - 1e-9)
