"""Statistics of long runs against known answers; how often they are right is tests/accuracy's matter."""

from __future__ import annotations

import math

import numpy as np
import pytest

from plimsoll.runs.histogram import Histogram
from plimsoll.stats.consumption.keeping_up import keeping_up, time_to_drain_s
from plimsoll.stats.estimates.block_quantile import quantile_interval
from plimsoll.stats.growth.cliff import cliff
from plimsoll.stats.growth.drift import dependence, drift
from plimsoll.stats.growth.growth_family import growth_of, predict
from plimsoll.stats.growth.load_forecast import forecast
from plimsoll.stats.pulses.bursts import bursts
from plimsoll.stats.pulses.periodic import periodic_pulse

RANDOM = np.random.default_rng


def test_a_line_without_scatter_is_its_slope() -> None:
    found = drift(range(100), [5 + 0.25 * second for second in range(100)])
    assert found is not None and found.significant
    assert found.slope == pytest.approx(0.25) and found.share == pytest.approx(0.25 * found.span_s / found.start)


def test_white_noise_does_not_drift_and_nine_values_cannot_tell() -> None:
    found = drift(np.arange(400), 100 + RANDOM(3).standard_normal(400))
    assert found is not None and not found.significant and found.low < 0 < found.high
    assert drift(range(9), range(9)) is None


def test_a_series_is_called_steady_only_if_a_drift_of_a_fifth_would_have_shown() -> None:
    at = np.arange(400)
    calm = drift(at, 100 + RANDOM(3).standard_normal(400))
    assert calm is not None and calm.verdict == "steady" and calm.smallest_detectable < 0.02
    wild = drift(at, 100 + 60 * RANDOM(3).standard_normal(400))
    assert wild is not None and wild.verdict == "undecided" and wild.smallest_detectable > 0.2
    low, high = wild.share_interval
    assert wild.smallest_detectable == pytest.approx((high - low) / 2 * (2.576 + 1.645) / 2.576, rel=1e-3)
    rising = drift(at, 100 + 0.1 * at + RANDOM(3).standard_normal(400))
    assert rising is not None and rising.verdict == "drifts"


def test_gaps_and_unknown_values_are_left_out() -> None:
    values = np.where(np.arange(200) % 3 == 0, np.nan, np.arange(200) * 2.0)
    found = drift(np.arange(200), values)
    assert found is not None and found.slope == pytest.approx(2.0)


def test_memory_widens_the_interval() -> None:
    noise = RANDOM(5).standard_normal(600)
    slow = np.convolve(noise, np.ones(20) / 20, mode="same") * 20**0.5
    plain, remembering = drift(np.arange(600), noise), drift(np.arange(600), slow)
    assert plain is not None and remembering is not None
    assert remembering.dependence > plain.dependence and remembering.high - remembering.low > plain.high - plain.low
    assert dependence(np.tile([1.0, -1.0], 20)) == 0.0


def test_an_interval_of_a_quantile_needs_blocks_and_holds_the_truth_for_independent_values() -> None:
    blocks = [Histogram.from_values(RANDOM([1, place]).exponential(10.0, 500)) for place in range(40)]
    found = quantile_interval(blocks, Histogram.merge(blocks), 0.9)
    assert found is not None and found.low is not None and found.high is not None
    assert found.low < 10 * math.log(10) < found.high and found.value == pytest.approx(10 * math.log(10), rel=0.05)
    few = quantile_interval(blocks[:5], Histogram.merge(blocks[:5]), 0.9)
    assert few is not None and not few.known and "blocks of time" in few.reason
    assert quantile_interval([], Histogram(), 0.9) is None


def test_blocks_that_differ_much_are_insufficient_data() -> None:
    scale = RANDOM(9).lognormal(0, 1.5, 40)
    blocks = [Histogram.from_values(scale[place] * RANDOM(place).exponential(1, 200)) for place in range(40)]
    found = quantile_interval(blocks, Histogram.merge(blocks), 0.99)
    assert found is not None and not found.known and "independent ones" in found.reason


def test_a_pulse_every_forty_seconds_is_found_where_it_is() -> None:
    series = RANDOM(1).standard_normal(400)
    for start in range(13, 400, 40):
        series[start : start + 5] += 3
    found = periodic_pulse(series)
    assert found is not None
    assert found.low_s <= 40 <= found.high_s and found.period_s == pytest.approx(40, rel=0.02)
    assert found.first_s == pytest.approx(13, abs=2) and found.cycles >= 9 and found.height == pytest.approx(3, abs=0.7)


@pytest.mark.parametrize("series", [np.zeros(300), np.full(300, np.nan), np.arange(300.0), np.ones(30), []])
def test_nothing_periodic_is_in_what_does_not_scatter(series: object) -> None:
    assert periodic_pulse(np.asarray(series, dtype=float)) is None


def test_a_pulse_that_the_memory_of_the_noise_hides_is_found_by_the_noise_outside_it() -> None:
    noise, series = RANDOM(12).standard_normal(600), np.zeros(600)
    for second in range(1, 600):
        series[second] = 0.5 * series[second - 1] + math.sqrt(0.75) * noise[second]
    for start in range(20, 600, 97):
        series[start : start + 10] += 2.5
    found = periodic_pulse(series)
    assert found is not None and found.period_s == pytest.approx(97, rel=0.02) and 6 <= found.width_s <= 16


def test_one_stall_is_no_period() -> None:
    series = RANDOM(2).standard_normal(300)
    series[100:110] += 50
    assert periodic_pulse(series) is None


SIZES = np.repeat(np.geomspace(1_000, 100_000, 6), 5)


@pytest.mark.parametrize(
    ("family", "law"),
    [
        ("constant", lambda n: 7 + 0 * n),
        ("logarithmic", lambda n: 2 + np.log(n)),
        ("linear", lambda n: 5 + n / 1_000),
        ("n log n", lambda n: n * np.log(n) / 10_000),
        ("power", lambda n: n**1.5),
    ],
)
def test_the_family_of_growth_is_recognised_and_extrapolated(family: str, law) -> None:
    found = growth_of(SIZES, law(SIZES) * np.exp(0.03 * RANDOM(4).standard_normal(SIZES.size)))
    assert found is not None and found.family == family
    ahead = predict(found, 400_000)
    assert ahead is not None and ahead[1] <= ahead[0] <= ahead[2]
    assert ahead[0] == pytest.approx(float(law(np.array([4e5]))[0]), rel=0.1)


@pytest.mark.parametrize(("family", "law"), [("linear", lambda n: n / 200), ("n log n", lambda n: n * np.log(n) / 1e4)])
def test_a_law_through_the_origin_is_no_power(family: str, law) -> None:
    found = growth_of(SIZES, law(SIZES) * np.exp(0.03 * RANDOM(4).standard_normal(SIZES.size)))
    assert found is not None and found.family == family and found.likely[0] == family


def test_curves_that_cannot_be_told_apart_are_named() -> None:
    sizes = np.geomspace(1_000, 100_000, 5)
    between = np.sqrt((5 + sizes / 2_000) * (5.2 + sizes * np.log(sizes) / 23_000))
    found = growth_of(sizes, between * np.array([1.03, 0.97, 1.0, 1.03, 0.99]))
    assert found is not None and found.family is None and set(found.likely) == {"linear", "n log n"}


def test_three_volumes_are_too_few_and_wild_scatter_is_not_extrapolated() -> None:
    assert growth_of([1, 2, 3], [1, 2, 3]) is None
    found = growth_of([1e3, 2e3, 4e3, 8e3, 1.6e4], [5.0, 1.0, 9.0, 2.0, 11.0])
    assert found is not None and predict(found, 1e6) is None


def test_a_cliff_is_found_where_it_is_and_none_in_a_smooth_curve() -> None:
    volume = np.linspace(1_000, 50_000, 80)
    smooth = (5 + volume / 10_000) * np.exp(0.03 * RANDOM(7).standard_normal(80))
    assert cliff(volume, smooth) is None
    found = cliff(volume, np.where(volume > 30_000, 1.6 * smooth, smooth))
    assert found is not None and found.low < 30_500 and found.high > 29_500
    assert found.rise == pytest.approx(0.6, abs=0.12)


@pytest.mark.parametrize(("first", "then", "at"), [(1.4, 0.4, 15_000), (0.4, 1.4, 35_000), (1.4, 1.4, None)])
def test_a_cliff_beside_another_step_is_found(first: float, then: float, at: float | None) -> None:
    volume = np.linspace(600, 50_000, 80)
    levels = np.where(volume > 15_000, first, 1) * np.where(volume > 35_000, then, 1)
    for seed in range(20):
        found = cliff(volume, (5 + volume / 1e4) * levels * np.exp(0.05 * RANDOM(seed).standard_normal(80)))
        assert found is not None and found.rise == pytest.approx(0.4, abs=0.15)
        assert min(abs(found.at - place) for place in ([at] if at else [15_000, 35_000])) < 1_000
        assert volume[found.settled] == pytest.approx(35_000, abs=1_000), "what comes after the last step goes on"


def _remembering(seed: int, count: int, phi: float) -> np.ndarray:
    """An AR(1) series of variance 1."""
    values = RANDOM(seed).standard_normal(count + 100)
    for place in range(1, values.size):
        values[place] = phi * values[place - 1] + math.sqrt(1 - phi * phi) * values[place]
    return values[100:]


@pytest.mark.parametrize(("phi", "most"), [(0.0, 0.01), (0.5, 0.02), (0.8, 0.04)])
@pytest.mark.parametrize("down", [1.0, 0.6])
def test_a_smooth_curve_and_one_with_a_step_downwards_rarely_have_a_cliff(phi: float, most: float, down: float) -> None:
    volume = np.linspace(600, 50_000, 80)
    smooth = (5 + volume / 1e4) * np.where(volume > 25_000, down, 1)
    found = [cliff(volume, smooth * np.exp(0.1 * _remembering(seed, 80, phi))) for seed in range(400)]
    assert sum(one is not None for one in found) <= 400 * most + 2 * math.sqrt(400 * most)


def test_the_forecast_is_the_integral_of_the_cost() -> None:
    volume = np.linspace(100, 10_000, 60)
    cost = (2 + volume / 5_000) / 1_000 * np.exp(0.02 * RANDOM(8).standard_normal(60))
    truth = sum((2 + n / 5_000) / 1_000 for n in range(40_000))
    elapsed = sum((2 + n / 5_000) / 1_000 for n in range(10_000))
    found = forecast(volume, cost, elapsed, 10_000, 40_000)
    assert found is not None and found.low_s <= truth <= found.high_s and found.total_s == pytest.approx(truth, rel=0.1)
    assert forecast(volume, cost, elapsed, 1_000, 40_000) is None, "a fortieth of the items is too little"
    done = forecast(volume, cost, elapsed, 40_000, 40_000)
    assert done is not None and done.left_s == 0 and done.total_s == elapsed


def test_a_consumer_that_is_short_of_a_tenth_falls_behind_and_an_idle_one_keeps_up() -> None:
    behind = keeping_up(np.full(120, 100), np.full(120, 90), 0)
    assert behind.verdict == "falls behind" and behind.overload == pytest.approx(0.1)
    assert behind.busy_per_s == pytest.approx(90) and behind.backlog_end == 1_200
    steady = keeping_up(np.full(600, 100), np.full(600, 100), 3)
    assert steady.verdict == "keeps up" and steady.smallest_detectable < 0.05
    few = keeping_up([1, 0, 1], [0, 1, 0], 0)
    assert few.verdict == "undecided"


def test_draining_takes_the_backlog_by_the_spare_rate() -> None:
    assert time_to_drain_s(1_000, 50, 30) == pytest.approx(50)
    assert time_to_drain_s(1_000, 30, 50) == math.inf


def test_a_burst_is_where_failures_gather() -> None:
    failed = np.zeros(300)
    failed[120:126] = 20
    [found] = bursts(np.arange(300), failed, np.full(300, 100))
    assert (found.start_s, found.end_s, found.failed) == (120, 126, 120)
    spread = (np.arange(300) % 10 == 0).astype(float)
    assert bursts(np.arange(300), spread, np.full(300, 100)) == []
    assert bursts([], [], []) == []


@pytest.mark.parametrize(("seconds", "share"), [(60, 0.001), (600, 0.001), (600, 0.1), (3_600, 0.0003)])
def test_evenly_spread_failures_are_seldom_a_burst(seconds: int, share: float) -> None:
    draw, alarms = np.random.default_rng(7), 0
    for _ in range(200):
        requests = draw.poisson(100, seconds)
        alarms += bool(bursts(np.arange(seconds), draw.binomial(requests, share), requests))
    assert alarms <= 6  # 1% of 200 are 2; more than 6 come once in 200 times


def test_a_small_burst_is_seen_beside_a_great_one() -> None:
    draw, share = np.random.default_rng(7), np.full(600, 0.001)
    share[100:220], share[400:403] = 0.5, 0.1
    requests = draw.poisson(100, 600)
    found = bursts(np.arange(600), draw.binomial(requests, share), requests)
    assert [round(one.start_s, -1) for one in found] == [100, 400]


def test_a_series_of_so_little_own_information_that_nothing_bounds_its_slope_is_none() -> None:
    wave = 2 * np.sin(np.arange(20) / 1.5)
    assert drift(range(20), 3 * np.arange(20) + wave) is None
    assert drift(range(20), 3 * np.arange(20) + RANDOM(3).permutation(wave)) is not None


def test_times_that_grow_late_did_not_begin_below_nothing() -> None:
    """Seen: a drift "from -1,012 ms"."""
    at = np.arange(600.0)
    times = 5 + 3000 * (at / 600) ** 2 + np.random.default_rng(1).exponential(300, 600)
    found = drift(at, times)
    assert found is not None and found.verdict == "drifts" and found.start > 0 and found.end > 2000
