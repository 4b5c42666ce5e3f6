"""The most that a curve of throughput against level reaches, from noisy points around its top.

The greatest of several noisy points is too high by chance and, as levels are apart, too low by distance. So a parabola
in the log of the level is laid through the greatest point and its neighbours (successive parabolic interpolation: Brent
1973, ch. 5), and its vertex, where that lies between them, is the top; its standard deviation is that of the same
weighted sum of the three points. Where they may as well be the same but for chance, the vertex is too high and their
mean is right: the top is the average of both by their Akaike weights (Burnham & Anderson 2002, ch. 2), its variance
the unconditional one (Burnham & Anderson 2004, Sociological Methods & Research 33, p. 261–304), so that the doubt which
of them it is counts. Without a neighbour on each side near enough it is the greatest point itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

NEAR = 1.6
MORE_PARAMETERS = 2  # of a parabola than of a mean


@dataclass(frozen=True)
class Top:
    """The greatest value, its standard deviation, and the level at which it is reached."""

    level: float
    value: float
    sd: float


def top_of(levels: Sequence[float], values: Sequence[float], sds: Sequence[float]) -> Top:
    """The top of `values` (with standard deviations `sds` > 0) at distinct `levels` (> 0), all of shape (n,), n ≥ 1.

    Neighbours farther off than a factor of NEAR are not used. Raises ValueError without a point, or with one whose
    standard deviation is not above 0.
    """
    if not levels:
        raise ValueError("no point is given")
    if not all(sd > 0 for sd in sds):
        raise ValueError("a point has no standard deviation above 0")
    points = sorted(zip(levels, values, sds, strict=True))
    place = max(range(len(points)), key=lambda one: points[one][1])
    level, value, sd = points[place]
    if place in (0, len(points) - 1):
        return Top(level, value, sd)
    below, above = points[place - 1], points[place + 1]
    if level / below[0] > NEAR or above[0] / level > NEAR:
        return Top(level, value, sd)
    three = (below, points[place], above)
    mean, mean_sd, misfit = _mean_of(three)
    left, right = math.log(level / below[0]), math.log(above[0] / level)
    rise, fall = (value - below[1]) / left, (above[1] - value) / right
    bend = (fall - rise) / (left + right)
    slope = (rise * right + fall * left) / (left + right)
    at = min(max(-slope / (2 * bend), -left), right)
    weights = (
        at * (at - right) / (left * (left + right)),
        (at + left) * (right - at) / (left * right),
        at * (at + left) / (right * (left + right)),
    )
    vertex = math.fsum(weight * one[1] for weight, one in zip(weights, three, strict=True))
    vertex_sd = math.sqrt(math.fsum((weight * one[2]) ** 2 for weight, one in zip(weights, three, strict=True)))
    flat = 1 / (1 + math.exp(min(misfit / 2 - MORE_PARAMETERS, 700)))
    top = flat * mean + (1 - flat) * vertex
    doubt = flat * (mean_sd**2 + (mean - top) ** 2) + (1 - flat) * (vertex_sd**2 + (vertex - top) ** 2)
    return Top(level * math.exp(at), top, math.sqrt(doubt))


def _mean_of(points: Sequence[tuple[float, float, float]]) -> tuple[float, float, float]:
    """Mean of points with the weights of their variances, its standard deviation, and χ² of their being the same."""
    parts = [1 / one[2] ** 2 for one in points]
    mean = math.fsum(part * one[1] for part, one in zip(parts, points, strict=True)) / math.fsum(parts)
    misfit = math.fsum(part * (one[1] - mean) ** 2 for part, one in zip(parts, points, strict=True))
    return mean, 1 / math.sqrt(math.fsum(parts)), misfit
