"""Interval of a quantile when the values depend on each other: blocks of time, and as many independent values as they
show.

Requests of one run are no independent sample. The run is cut into k blocks; in each, the share of values above the
quantile Q̂ of all is counted. How these shares scatter gives the variance of the share above Q̂ (a ratio estimator over
blocks, Cochran 1977 ch. 6), with the covariance of neighbouring blocks where it is positive, and so the number of
independent values that would scatter as much. Wilson's interval of the share 1 − q for that number, with Student's t of
k − 1 degrees in place of z, is turned into values by the sample's own quantiles (Woodruff 1952): it is as skewed as the
tail is.

Twenty blocks tell a variance badly, and to answer only where it looks small would choose the runs that look better
than they are. So whether there are enough data is asked of a lower quantile, 1 − 10 (1 − q) and at least the median,
over twice as many blocks: its effective number of values times 1 − q must reach 20. Else the interval is None
("insufficient data"), as it is with fewer than 20 blocks, or where neighbouring blocks go together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from plimsoll.words import count_words, number

Array = NDArray[np.float64]

BLOCKS = 40
FEWEST_BLOCKS = 20
FEWEST_BEYOND = 20.0
MOST_LAG_ONE = 0.5


class Block(Protocol):
    """The part of runs.Histogram that is needed."""

    count: int

    def count_over(self, limit: float) -> int:
        """How many values lie above `limit`."""

    def percentile(self, quantile: float) -> float:
        """The value at `quantile` in [0, 1]."""


@dataclass(frozen=True)
class QuantileInterval:
    """`value` at the quantile with its interval, None where the data do not suffice, and then `reason`;
    `effective`: independent values that would scatter as much as these did."""

    value: float
    low: float | None
    high: float | None
    confidence: float
    samples: int
    effective: float
    reason: str = ""

    @property
    def known(self) -> bool:
        """Whether there is an interval."""
        return self.low is not None


def quantile_interval(
    blocks: Sequence[Block], merged: Block, quantile: float, confidence: float = 0.95
) -> QuantileInterval | None:
    """Interval of `quantile` in (0, 1) from blocks of time in order and all of them `merged`; None without values."""
    from scipy.special import stdtrit  # scipy.stats takes most of a second to import

    if not merged.count:
        return None
    value = merged.percentile(quantile)
    nominal = 1 - quantile

    def unknown(reason: str, effective: float = 0.0) -> QuantileInterval:
        return QuantileInterval(value, None, None, confidence, merged.count, effective, reason)

    filled = [block for block in blocks if block.count]
    if len(filled) < FEWEST_BLOCKS:
        return unknown(f"only {len(filled)} blocks of time have values, {FEWEST_BLOCKS} are needed")
    lower = max(0.5, 1 - 10 * nominal)
    counts, over = _counts(filled, merged.percentile(lower))
    general, neighbours = _effective(counts, over, lower)
    if neighbours > MOST_LAG_ONE:
        return unknown(
            "neighbouring blocks go together: the run is too short for how long the target remembers", general
        )
    if general * nominal < FEWEST_BEYOND:
        more = max(2, math.ceil(FEWEST_BEYOND / max(general * nominal, 1e-3)))
        return unknown(
            f"the values beyond it are worth {number(general * nominal)} independent ones, "
            f"{count_words(FEWEST_BEYOND)} are needed: a run about {more} times as long may do",
            general,
        )
    paired = [
        (counts[at : at + 2], over[at : at + 2])
        for counts, over in [_counts(filled, value)]
        for at in range(0, len(filled), 2)
    ]
    pair_counts = np.array([part.sum() for part, _ in paired])
    effective, _ = _effective(pair_counts, np.array([part.sum() for _, part in paired]), quantile)
    z = float(stdtrit(pair_counts.size - 1, 0.5 + confidence / 2))
    low_share, high_share = share_interval(nominal, effective, z)
    return QuantileInterval(
        value,
        merged.percentile(max(0.0, 1 - high_share)),
        merged.percentile(min(1.0, 1 - low_share)),
        confidence,
        merged.count,
        effective,
    )


def _counts(blocks: Sequence[Block], limit: float) -> tuple[Array, Array]:
    """Values, and values above the limit, in each block."""
    counts = np.array([block.count for block in blocks], dtype=float)
    return counts, np.array([block.count_over(limit) for block in blocks], dtype=float)


def _effective(counts: Array, over: Array, quantile: float) -> tuple[float, float]:
    """(independent values that would scatter as much, correlation of neighbouring blocks)."""
    rest = over - over.sum() / counts.sum() * counts
    square = float(rest @ rest)
    if square <= 0:
        return float(counts.sum()), 0.0
    neighbours = float(rest[1:] @ rest[:-1]) / square
    variance = square * counts.size / (counts.size - 1) * (1 + 2 * max(0.0, neighbours)) / counts.sum() ** 2
    return float(min(counts.sum(), quantile * (1 - quantile) / variance)), neighbours


def share_interval(share: float, count: float, z: float) -> tuple[float, float]:
    """Wilson's interval of a share of `count` trials, which need not be a whole number."""
    weight = z * z / count
    centre = (share + weight / 2) / (1 + weight)
    half = z * math.sqrt(share * (1 - share) / count + weight / (4 * count)) / (1 + weight)
    return max(0.0, centre - half), min(1.0, centre + half)
