"""How does it grow? y = a xᵇ, a straight line of the logarithms (least squares), where the data have that form.

b = 0 does not depend on x, 1 is proportional, 2 quadratic. Points of the same x are repetitions: their scatter is the
pure error against which the line is tested for lack of fit (Draper and Smith 1998, ch. 2), F with (k − 2, n − k)
degrees of freedom for k different x. With very little scatter the test refuses lines that are good enough to use, so
one that passes within `close` of every mean is kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

Form = Literal["power", "none", "unchecked"]
FEWEST_TO_CHECK = 3
CLOSE = 0.10
LACK_OF_FIT = 0.01


@dataclass(frozen=True)
class PowerLaw:
    """`exponent` with its interval; `scale`: y at x = 1; `form`: "power" where it fits, "none" where it does not,
    "unchecked" with fewer than three different x; `farthest`: greatest relative distance of a mean from the line;
    `span`: greatest x ÷ smallest."""

    exponent: float
    low: float
    high: float
    scale: float
    form: Form
    farthest: float
    span: float

    def changes_at_most(self, share: float) -> bool:
        """Whether y changes by less than that share over the range of x, by the whole interval of the exponent."""
        ends = [self.span**exponent for exponent in (self.low, self.high)]
        return max(ends) < 1 + share and min(ends) > 1 / (1 + share)

    def at(self, x: float) -> float:
        """y on the line at x."""
        return self.scale * x**self.exponent


def power_law(x: ArrayLike, y: ArrayLike, confidence: float = 0.95, close: float = CLOSE) -> PowerLaw | None:
    """Fit points of shape (n,), above 0; None with fewer than two different x or three points. ValueError else."""
    from scipy.stats import f as fisher
    from scipy.stats import t as student

    xs, ys = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if xs.shape != ys.shape or not (np.isfinite(xs) & np.isfinite(ys) & (xs > 0) & (ys > 0)).all():
        raise ValueError("a power law needs x and y above zero, as many of each")
    places, where = np.unique(xs, return_inverse=True)
    if places.size < 2 or xs.size < 3:
        return None
    log_x, log_y = np.log(xs), np.log(ys)
    centred = log_x - log_x.mean()
    exponent = float(centred @ log_y / (centred @ centred))
    offset = float(log_y.mean() - exponent * log_x.mean())
    rest = log_y - offset - exponent * log_x
    means = np.array([log_y[where == place].mean() for place in range(places.size)])
    counts = np.bincount(where)
    lack = means - offset - exponent * np.log(places)
    farthest = float(np.abs(np.expm1(lack)).max())
    freedom = xs.size - 2
    error = math.sqrt(float(rest @ rest) / freedom / float(centred @ centred))
    half = float(student.ppf(0.5 + confidence / 2, freedom)) * error
    form: Form = "unchecked"
    if places.size >= FEWEST_TO_CHECK:
        form = "power" if farthest <= close else "none"
        repeated = xs.size - places.size
        pure = float(((log_y - means[where]) ** 2).sum()) / repeated if repeated else 0.0
        if form == "none" and pure > 0:
            lacking = float(counts @ lack**2) / (places.size - 2)
            if fisher.sf(lacking / pure, places.size - 2, repeated) >= LACK_OF_FIT:
                form = "power"
    return PowerLaw(
        exponent, exponent - half, exponent + half, math.exp(offset), form, farthest, float(places[-1] / places[0])
    )
