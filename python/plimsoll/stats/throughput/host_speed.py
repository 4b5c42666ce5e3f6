"""How the speed of a drifting host enters what a target finishes.

Neighbours on a shared machine slow its cores by a tenth and more, for seconds or minutes, and no counter of the kernel
shows it. A probe that times a fixed piece of work on the target's cores does (probes/processes/core_speed.py). What a
saturated target finishes in a second goes with a power of that speed,

    done = C (s / s̄)^b      s: speed in that second, s̄: its mean while loaded, C: capacity on a host of mean speed

s̄ is taken over the seconds that loaded the target: a core that wakes up for each request does less work in a CPU
second than a busy one (seen on a shared virtual machine: a fifth less), which is no drift of the host.

b is 0 for a target that waits for something else than its cores, 1 to 2 for one that computes. It
is the slope of a regression of done on s over the seconds that kept the target busy, with two corrections. The probe
looks at a small part of each second only and errs by a known share e, which would flatten the slope: n e² is taken off
the spread of s (errors in variables; Fuller 1987, ch. 1). And where s hardly changed, the slope is not known: it is
drawn to 1.5 with a prior standard deviation of 0.75, which matters little, as little is to be explained then.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

PRIOR, PRIOR_SD = 1.5, 0.75
LEAST_T_OF_SLOWER = 3.0
FEWEST_EACH_SIDE = 5
LARGEST_EXPONENT = 3.0
FEWEST_SECONDS = 3


@dataclass(frozen=True)
class HostSpeed:
    """b and the mean of s^b over the seconds under load."""

    exponent: float = 0.0
    mean_power: float = 1.0

    def factors(self, speeds: ArrayLike) -> np.ndarray:
        """(s / s̄)^b of each second, shape (n,); 1 where the speed is not known (NaN)."""
        seen = np.asarray(speeds, dtype=float)
        return np.where(np.isfinite(seen), seen**self.exponent / self.mean_power, 1.0)


UNKNOWN = HostSpeed()


def host_speed(busy: Iterable[tuple[ArrayLike, ArrayLike]], speeds: ArrayLike, error_share: float) -> HostSpeed:
    """Fit `busy` steps, each (completions, speeds) per second in which work waited, both of shape (n,); `speeds` of all
    seconds that s̄ is the mean of, shape (m,); `error_share`: e. NaN is a second whose speed is not known."""
    pairs = [np.asarray(step, dtype=float) for step in busy]
    done, speed = np.concatenate(pairs, axis=1) if pairs else np.zeros((2, 0))
    done, speed = done[np.isfinite(speed)], speed[np.isfinite(speed)]
    if done.size < FEWEST_SECONDS or done.mean() <= 0:
        return UNKNOWN
    x, y = speed / speed.mean() - 1, done / done.mean() - 1
    weight = float(y @ y) / y.size / PRIOR_SD**2
    spread = max(float(x @ x) - x.size * error_share**2, 0.0)
    exponent = (float(x @ y) + weight * PRIOR) / (spread + weight) if spread + weight > 0 else PRIOR
    exponent = min(max(exponent, 0.0), LARGEST_EXPONENT)
    seen = np.asarray(speeds, dtype=float)
    return HostSpeed(exponent, float(np.mean(seen[np.isfinite(seen)] ** exponent)))


def slower_from(second: float, seconds: ArrayLike, speeds: ArrayLike) -> float | None:
    """By which share (0 to 1) the cores are slower from `second` on than before, from speeds (> 0) at seconds, both of
    shape (n,); None where it is not told. Welch's t of the logarithms must exceed 3: neighbouring seconds remember
    each other, so that its usual border would be passed too often."""
    at, seen = np.asarray(seconds, dtype=float), np.asarray(speeds, dtype=float)
    known = np.isfinite(seen) & (seen > 0)
    before, after = np.log(seen[known & (at < second)]), np.log(seen[known & (at >= second)])
    if min(before.size, after.size) < FEWEST_EACH_SIDE:
        return None
    fell = float(before.mean() - after.mean())
    sd = float(np.sqrt(before.var(ddof=1) / before.size + after.var(ddof=1) / after.size))
    return 1 - float(np.exp(-fell)) if fell > LEAST_T_OF_SLOWER * sd else None
