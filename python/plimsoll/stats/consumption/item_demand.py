"""How much CPU does an item cost that comes in and is worked on later?

    U = U₀ + a p + d q        p items put in and q items done per second, by least squares over blocks of time

Weights are the seconds of the blocks. An item that comes in and is done costs a + d, which blocks at rest, under load
and while a backlog drains tell together; a and d apart only where p and q did not go together. A U₀ below nothing is
left out. The interval is Student's t for blocks − coefficients. Beyond the most that was done, the demand may differ by
the prior of stats/throughput/demand_curve.py.

What breaks it: work that is left for later than the blocks (a merge of the index), and a U₀ that comes with the load.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from plimsoll.stats.throughput.demand_curve import RISE, RISE_SD, WITHIN

FEWEST_BLOCKS = 5
MOST_TOGETHER = 0.9
CONFIDENCE = 0.95


@dataclass(frozen=True)
class ItemDemand:
    """CPU seconds `per_item` that is put in and done, with its 95% `interval`, and `idle` cores without any;
    `per_done`: of doing it alone, None where that cannot be told apart; `most_per_s`: the most that was done."""

    idle: float
    per_item: float
    interval: tuple[float, float]
    per_done: float | None
    blocks: int
    most_per_s: float
    _covariance: tuple[tuple[float, float], tuple[float, float]]
    _t: float

    def at(self, per_s: float) -> tuple[float, tuple[float, float]]:
        """(cores, their interval) at that many items per second in and out; beyond what was seen with the prior."""
        row = np.array([1.0, per_s])
        half = self._t * float(np.sqrt(max(0.0, row @ np.array(self._covariance) @ row)))
        items = self.per_item * per_s
        if per_s > WITHIN * self.most_per_s:
            half = float(np.hypot(half, 1.96 * RISE_SD * items))
            items *= 1 + RISE
        used = self.idle + items
        return max(0.0, used), (max(0.0, used - half), max(0.0, used + half))


def item_demand(used: ArrayLike, put_per_s: ArrayLike, done_per_s: ArrayLike, seconds: ArrayLike) -> ItemDemand | None:
    """Of blocks of shape (n,). None below FEWEST_BLOCKS, where nothing was done, or where use did not rise with it."""
    cores, put, done, weight = (np.asarray(one, dtype=float) for one in (used, put_per_s, done_per_s, seconds))
    if cores.size < FEWEST_BLOCKS or done.max() <= 0:
        return None
    apart = not _go_together(put, done)
    columns = [put, done] if apart else [(put + done) / 2]
    found, covariance, freedom = _fitted(cores, columns, weight, with_idle=True)
    if found[0] < 0:
        found, covariance, freedom = _fitted(cores, columns, weight, with_idle=False)
    to_sum = np.zeros((2, found.size))
    to_sum[0, 0], to_sum[1, 1:] = 1.0, 1.0
    idle, per_item = (float(one) for one in to_sum @ found)
    pair = to_sum @ covariance @ to_sum.T
    if freedom < 1 or per_item <= 0:
        return None
    t = _t(freedom)
    half = t * float(np.sqrt(pair[1, 1]))
    rows = ((float(pair[0, 0]), float(pair[0, 1])), (float(pair[1, 0]), float(pair[1, 1])))
    per_done = float(found[2]) if apart else None
    interval = (max(0.0, per_item - half), per_item + half)
    return ItemDemand(idle, per_item, interval, per_done, int(cores.size), float(max(put.max(), done.max())), rows, t)


def _go_together(put: np.ndarray, done: np.ndarray) -> bool:
    """Whether blocks with more put in are those with more done, so that nothing tells the two apart."""
    if np.ptp(put) <= 0 or np.ptp(done) <= 0:
        return True
    return abs(float(np.corrcoef(put, done)[0, 1])) > MOST_TOGETHER


def _fitted(
    used: np.ndarray, columns: list[np.ndarray], weight: np.ndarray, *, with_idle: bool
) -> tuple[np.ndarray, np.ndarray, int]:
    """(idle and slopes, their covariance, degrees of freedom); without `with_idle` idle is 0."""
    design = np.column_stack([np.ones_like(used) if with_idle else np.zeros_like(used), *columns])
    root = np.sqrt(weight / weight.mean())[:, None]
    inverse = np.linalg.pinv((design * root).T @ (design * root))
    found = inverse @ (design * root).T @ (used * root[:, 0])
    rest = (used - design @ found) * root[:, 0]
    freedom = used.size - design.shape[1] + (0 if with_idle else 1)
    return found, inverse * float(rest @ rest) / max(1, freedom), freedom


def _t(freedom: int) -> float:
    from scipy.stats import t as student

    return float(student.ppf(0.5 + CONFIDENCE / 2, freedom))
