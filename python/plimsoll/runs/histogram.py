"""A histogram of times that merges exactly, over seconds, threads and hosts (law 6).

A value's bucket is the top 22 bits of its IEEE-754 double (sign, 11 of exponent, 10 of mantissa), so every bucket is
2⁻¹⁰ of its value wide and its middle is at most 2⁻¹¹ (0.049%) off. Unlike an HdrHistogram it has no range to
configure and no value it must refuse. Merging adds counts per bucket: associative,
commutative, and the same as having seen all the values.

    index(v) = bits(v) >> 42   for v > 0;   0 for 0;   −index(−v) for v < 0
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from plimsoll.runs.snapshot import Series

DROPPED_BITS = 42
_MOST_PENDING = 256  # additions kept apart before they are merged, so that memory stays bounded;
_MOST_PENDING_BUCKETS = 8192  # and this many buckets of them
_DENSE = 1 << 16  # buckets from the least to the greatest that are counted in an array, each in its place
_RANK_SLACK = 1e-9  # 0.07 × 100 is 7.000000000000001 in floats, and means rank 7


def bucket_of(values: ArrayLike) -> NDArray[np.int64]:
    """Bucket index of each finite value (any shape). Raises ValueError for NaN and infinity."""
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all():
        raise ValueError("a histogram takes finite values only; count NaN and infinity apart")
    index = np.abs(array).view(np.int64) >> DROPPED_BITS
    return np.where(array < 0, -index, index)


def bucket_edges(index: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lower and upper edge of each bucket, lower ≤ upper; bucket 0 is [0, 0]."""
    array = np.asarray(index, dtype=np.int64)
    inner = np.left_shift(np.abs(array), DROPPED_BITS).view(np.float64)
    outer = np.left_shift(np.abs(array) + 1, DROPPED_BITS).view(np.float64)
    outer = np.where(array == 0, 0.0, outer)
    return np.where(array < 0, -outer, inner), np.where(array < 0, -inner, outer)


def bucket_middle(index: ArrayLike) -> NDArray[np.float64]:
    """The value that stands for each bucket: the middle of its edges."""
    lower, upper = bucket_edges(index)
    return lower + (upper - lower) / 2


def merge_counts(index: NDArray[np.int64], count: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Bucket indices, ascending and each once, and the sum of their counts; arguments and results of shape (n,)."""
    if not index.size:
        return index, count
    low, high = int(index.min()), int(index.max())
    if high - low < max(_DENSE, 4 * index.size):  # an array of sums, exact up to 2⁵³, costs less than sorting
        sums = np.bincount(index - low, weights=count)
        place = np.flatnonzero(sums > 0)
        return place + low, sums[place].astype(np.int64)
    found, place = np.unique(index, return_inverse=True)
    return found, np.bincount(place, weights=count).astype(np.int64)


class Histogram:
    """Counts per bucket, with exact count, sum, minimum and maximum. Empty when made without arguments."""

    def __init__(self) -> None:
        self.count = 0
        self.sum = 0.0
        self.min = math.inf
        self.max = -math.inf
        self._index = np.empty(0, np.int64)
        self._count = np.empty(0, np.int64)
        self._pending: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        self._pending_buckets = 0

    @classmethod
    def from_values(cls, values: ArrayLike) -> Histogram:
        """The histogram of those values (any shape)."""
        array = np.asarray(values, dtype=np.float64).ravel()
        histogram = cls()
        if array.size:
            index, count = np.unique(bucket_of(array), return_counts=True)
            histogram._add(index, count, math.fsum(array), float(array.min()), float(array.max()))
        return histogram

    @classmethod
    def merge(cls, histograms: Iterable[Histogram]) -> Histogram:
        """One histogram as if it had seen the values of all; the arguments stay as they are."""
        merged = cls()
        for histogram in histograms:
            merged.add(histogram)
        return merged

    @classmethod
    def from_buckets(cls, pairs: Iterable[tuple[int, int]], total: float | None, maximum: float) -> Histogram:
        """Of (index, count) pairs, each index once; `total`: their sum, by the middles of the buckets where None."""
        array = np.asarray(list(pairs), dtype=np.int64).reshape(-1, 2)
        histogram = cls()
        if array.size:
            middles = bucket_middle(array[:, 0])
            summed = float(middles @ array[:, 1]) if total is None else total
            histogram._add(array[:, 0], array[:, 1], summed, float(bucket_edges(array[:, 0].min())[0]), maximum)
        return histogram

    def add(self, other: Histogram) -> None:
        """Add another histogram's values to this one."""
        if other.count:
            self._add(other.bucket_index, other.bucket_count, other.sum, other.min, other.max)

    def add_series(self, series: Series) -> None:
        """Add one trend series of a snapshot; other kinds and empty ones add nothing."""
        if series.kind != "trend" or not series.count:
            return
        pairs = np.asarray(series.buckets, dtype=np.int64).reshape(-1, 2)
        minimum = series.min if series.min is not None else float(bucket_middle(pairs[0, 0]))
        maximum = series.max if series.max is not None else float(bucket_middle(pairs[-1, 0]))
        self._add(pairs[:, 0], pairs[:, 1], float(series.sum or 0.0), minimum, maximum)

    def _add(
        self, index: NDArray[np.int64], count: NDArray[np.int64], total: float, minimum: float, maximum: float
    ) -> None:
        self._pending.append((index, count))
        self._pending_buckets += index.size
        self.count += int(count.sum())
        self.sum += total
        self.min, self.max = min(self.min, minimum), max(self.max, maximum)
        if len(self._pending) >= _MOST_PENDING or self._pending_buckets >= _MOST_PENDING_BUCKETS:
            self.settle()

    def settle(self) -> None:
        """Merge what was added since, which frees memory and changes no number."""
        if not self._pending:
            return
        index = np.concatenate([self._index, *(pair[0] for pair in self._pending)])
        count = np.concatenate([self._count, *(pair[1] for pair in self._pending)])
        self._pending, self._pending_buckets = [], 0
        self._index, self._count = merge_counts(index, count)

    @property
    def bucket_index(self) -> NDArray[np.int64]:
        """Indices of the buckets in use, ascending; shape (n,)."""
        self.settle()
        return self._index

    @property
    def bucket_count(self) -> NDArray[np.int64]:
        """Values in each of these buckets; shape (n,)."""
        self.settle()
        return self._count

    @property
    def mean(self) -> float:
        """Exact mean, from the sum; NaN without values."""
        return self.sum / self.count if self.count else math.nan

    def percentile(self, quantile: float) -> float:
        """The value at `quantile` in [0, 1]: middle of the smallest bucket that reaches it, within [min, max], which
        are the ends themselves.

        At most 0.049% off the sample's own order statistic; NaN without values.
        """
        return float(self.percentiles([quantile])[0])

    def percentiles(self, quantiles: ArrayLike) -> NDArray[np.float64]:
        """Like `percentile` for an array of quantiles, shape (n,)."""
        wanted = np.atleast_1d(np.asarray(quantiles, dtype=np.float64))
        if not ((wanted >= 0) & (wanted <= 1)).all():
            raise ValueError("a quantile lies in [0, 1]; divide percents by 100")
        if not self.count:
            return np.full(wanted.shape, np.nan)
        cumulative = np.cumsum(self.bucket_count)
        rank = wanted * self.count
        place = np.searchsorted(cumulative, np.maximum(rank - _RANK_SLACK * np.maximum(rank, 1), 1), side="left")
        found = np.clip(bucket_middle(self.bucket_index[place]), self.min, self.max)
        return np.where(wanted == 0, self.min, np.where(wanted == 1, self.max, found))

    def count_over(self, limit: float) -> int:
        """How many values lie above `limit`. Those in the limit's own bucket (within 0.1% of it) do not count as
        above, unless minimum or maximum tell; so counts add up over merges except where these do."""
        if not self.count or self.max <= limit:
            return 0
        if self.min > limit:
            return self.count
        return int(self.bucket_count[self.bucket_index > bucket_of(limit)].sum())

    def buckets(self) -> tuple[tuple[int, int], ...]:
        """(index, count) pairs, ascending, as a line of series.jsonl.zst holds them."""
        return tuple(zip(self.bucket_index.tolist(), self.bucket_count.tolist(), strict=True))

    def __eq__(self, other: object) -> bool:
        """Same values as far as buckets, minimum and maximum tell (sums differ by the order of adding)."""
        if not isinstance(other, Histogram):
            return NotImplemented
        return (self.buckets(), self.min, self.max) == (other.buckets(), other.min, other.max)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Histogram(count={self.count}, min={self.min:g}, p50={self.percentile(0.5):g}, max={self.max:g})"
