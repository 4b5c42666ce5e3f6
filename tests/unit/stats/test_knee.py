"""The knee against exact queues: it must not depend on the levels that were measured, and must not be guessed."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.stats.throughput.knee import Knee, NoKnee, closed_knee, open_knee

RANGES = ([0.1, 0.3, 0.5, 0.7, 0.9], [0.05, 0.1, 0.2, 0.4, 0.8, 0.95], [0.25, 0.5, 0.95], [0.1, 0.2, 0.94])


def response(servers: int, share: float) -> float:
    """Mean response time of M/M/c in service times (Erlang C)."""
    offered, blocked = servers * share, 1.0
    for count in range(1, servers + 1):
        blocked = offered * blocked / (count + offered * blocked)
    waits = blocked / (1 - share * (1 - blocked))
    return 1 + waits / (servers * (1 - share))


def true_knee(servers: int) -> float:
    shares = np.linspace(0.01, 0.99, 981)
    return float(shares[np.argmax([share / response(servers, share) for share in shares])])


@pytest.mark.parametrize("levels", RANGES)
@pytest.mark.parametrize("servers", [1, 2, 4, 16, 64])
def test_the_knee_of_an_exact_curve_is_right_within_3_percent_whatever_the_range(servers: int, levels: list[float]):
    means = [7.0 * response(servers, share) for share in levels]
    knee = open_knee([500 * share for share in levels], means, [20_000] * len(levels), 500, 0.012)
    assert isinstance(knee, Knee) and knee.interval is not None
    assert knee.level == pytest.approx(500 * true_knee(servers), rel=0.03)
    assert knee.interval[0] < 500 * true_knee(servers) < knee.interval[1] <= 500


@pytest.mark.parametrize(
    ("levels", "samples", "words"),
    [
        ([0.2, 0.8], 20_000, "fewer than 3 levels"),
        ([0.2, 0.8, 1.0, 1.1], 20_000, "fewer than 3 levels"),
        ([0.1, 0.2, 0.4], 20_000, "between half of the capacity"),
        ([0.1, 0.3, 0.9], 40, "anywhere between"),
    ],
)
def test_levels_that_do_not_identify_a_knee_give_the_reason(levels: list[float], samples: int, words: str):
    means = [response(1, min(share, 0.99)) for share in levels]
    found = open_knee(levels, means, [samples] * len(levels), 1.0, 0.02)
    assert isinstance(found, NoKnee) and words in found.reason


def closed_throughput(users: int, service_s: float, think_s: float) -> float:
    """Exact mean value analysis of one queueing station and a delay (Lazowska et al. 1984, ch. 6)."""
    queue = throughput = 0.0
    for count in range(1, users + 1):
        response_s = service_s * (1 + queue)
        throughput = count / (response_s + think_s)
        queue = throughput * response_s
    return throughput


def test_the_closed_knee_is_where_the_asymptotes_meet():
    levels = [1, 2, 4, 8, 16, 32]
    done = [60 * closed_throughput(users, 0.010, 0.090) for users in levels]
    knee = closed_knee(levels, done, [60] * 6)
    assert isinstance(knee, Knee) and knee.level == pytest.approx(10, rel=0.03)  # (D + Z) / D
    assert knee.interval[0] < 10 < knee.interval[1]


@pytest.mark.parametrize("reach", [1.2, 4, 8])
@pytest.mark.parametrize("spacing", [np.linspace, np.geomspace])
def test_the_closed_knee_does_not_depend_on_how_levels_are_spaced(spacing, reach: float):
    levels = np.unique(spacing(4, reach * 100, 12).round().astype(int))
    done = [60 * closed_throughput(users, 0.010, 0.990) for users in levels.tolist()]
    knee = closed_knee(levels, done, [60] * levels.size)
    assert isinstance(knee, Knee) and knee.level == pytest.approx(100, rel=0.02)


def test_a_level_near_the_closed_knee_makes_up_for_few_iterations_at_light_load():
    levels, rate = [4, 76, 148, 220], [closed_throughput(users, 0.010, 0.990) for users in (4, 76, 148, 220)]
    done = [1.2 * 60 * rate[0], *(60 * per_s for per_s in rate[1:])]  # a fifth too many of 240, by chance of 3 sigma
    knee = closed_knee(levels, done, [60] * 4)
    assert isinstance(knee, Knee) and knee.level == pytest.approx(100, rel=0.04)


@pytest.mark.parametrize(
    ("levels", "seconds", "words"),
    [([1, 32], 60, "fewer than 3"), ([8, 16, 32], 60, "too near the knee"), ([1, 2, 4, 32], 0.5, "Too few iterations")],
)
def test_a_closed_curve_that_does_not_tell_gives_the_reason(levels: list[int], seconds: float, words: str):
    done = [seconds * closed_throughput(users, 0.010, 0.090) for users in levels]
    found = closed_knee(levels, done, [seconds] * len(levels))
    assert isinstance(found, NoKnee) and words in found.reason
