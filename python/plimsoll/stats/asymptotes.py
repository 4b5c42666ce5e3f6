"""Asymptotic bounds of throughput (Denning and Buzen 1978; Lazowska et al. 1984, ch. 5).

    X(N) ≤ min(1 / D_max, N / (D + Z))

D_max is the largest service demand of a resource, the whole of it being 1; D + Z the time that one user takes for a
round alone, think time included. N of users who wait for their answers; of arrivals only the first bound holds. They
need no distribution, but demands that do not change with load. The bounds meet at N* = (D + Z) / D_max.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Asymptotes:
    """`most_per_s` = 1 / D_max; `round_s` = D + Z and `crossing` = N* where users wait, else None."""

    most_per_s: float
    round_s: float | None = None
    crossing: float | None = None

    def bound(self, level: float) -> float:
        """The most throughput at that level."""
        return self.most_per_s if self.round_s is None else min(self.most_per_s, level / self.round_s)


def asymptotes(
    largest_demand_s: float, light_level: float | None = None, light_per_s: float | None = None
) -> Asymptotes:
    """From the largest demand in seconds of the whole resource, and throughput at a light level of users who wait,
    which gives D + Z by the response time law. ValueError for numbers that are not above 0."""
    if largest_demand_s <= 0 or (light_level is not None and (light_level <= 0 or not light_per_s or light_per_s <= 0)):
        raise ValueError("demand, level and throughput are above 0")
    most = 1 / largest_demand_s
    if light_level is None or light_per_s is None:
        return Asymptotes(most)
    round_s = light_level / light_per_s
    return Asymptotes(most, round_s, round_s * most)
