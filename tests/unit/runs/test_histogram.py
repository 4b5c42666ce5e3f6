"""The mergeable histogram: exact merging, 0.1% percentiles. Random cases, seeded."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest

from plimsoll.runs import Histogram, Series
from plimsoll.runs.histogram import bucket_edges, bucket_middle, bucket_of

SEEDS = range(12)


def draw(seed: int) -> np.ndarray:
    """Values of very different shapes and scales: lognormal, exponential, constant, with zeros, tiny and huge."""
    random = np.random.default_rng(seed)
    size = int(random.integers(1, 20_000))
    shapes = [
        lambda: random.lognormal(random.uniform(-5, 8), random.uniform(0.01, 3), size),
        lambda: random.exponential(10 ** random.uniform(-6, 6), size),
        lambda: np.full(size, 10 ** random.uniform(-9, 9)),
        lambda: random.integers(0, 50, size).astype(float),
        lambda: np.concatenate([random.pareto(1.1, size), [0.0, 1e-300, 1e300]]),
    ]
    return shapes[seed % len(shapes)]()


def order_statistic(values: np.ndarray, quantile: float) -> float:
    return float(np.sort(values)[max(1, math.ceil(quantile * len(values) - 1e-9)) - 1])


@pytest.mark.parametrize("seed", SEEDS)
def test_merging_any_split_in_any_order_equals_having_seen_all_values(seed):
    random = np.random.default_rng(seed + 100)
    values = draw(seed)
    parts = np.array_split(random.permutation(values), int(random.integers(1, 600)))
    histograms = [Histogram.from_values(part) for part in parts]
    whole = Histogram.from_values(values)
    assert Histogram.merge(histograms) == whole
    assert Histogram.merge(histograms[::-1]) == whole
    middle = len(histograms) // 2
    left, right = Histogram.merge(histograms[:middle]), Histogram.merge(histograms[middle:])
    assert Histogram.merge([left, right]) == whole
    assert Histogram.merge([right, left, Histogram()]) == whole
    assert whole.count == len(values)
    assert Histogram.merge(histograms).sum == pytest.approx(float(values.sum()))


@pytest.mark.parametrize("seed", SEEDS)
def test_percentiles_are_within_a_thousandth_of_the_samples_own(seed):
    values = draw(seed)
    histogram = Histogram.from_values(values)
    for quantile in (0, 0.001, 0.07, 0.25, 0.5, 0.9, 0.99, 0.999, 0.9999, 1):
        expected = order_statistic(values, quantile)
        assert abs(histogram.percentile(quantile) - expected) <= 0.001 * abs(expected) + 1e-300


@pytest.mark.parametrize("seed", SEEDS)
def test_percentiles_never_fall_and_stay_within_the_extremes(seed):
    values = draw(seed)
    percentiles = Histogram.from_values(values).percentiles(np.linspace(0, 1, 101))
    assert (np.diff(percentiles) >= 0).all()
    assert percentiles[0] == values.min() and percentiles[-1] == values.max(), "the ends are known exactly"


@pytest.mark.parametrize("seed", SEEDS)
def test_the_count_over_a_limit_is_exact_but_for_the_limits_own_bucket(seed):
    values = draw(seed)
    histogram = Histogram.from_values(values)
    for limit in (0.0, float(np.median(values)), float(values.max()), float(values.mean())):
        over = histogram.count_over(limit)
        assert (values > limit * (1 + 2**-10)).sum() <= over <= (values > limit).sum()


@pytest.mark.parametrize("value", [1.0, 17.3, 0.001, 5e-324, 1e308, 123456.789])
def test_the_bucket_is_the_top_22_bits_of_the_double(value):
    bits = struct.unpack("<q", struct.pack("<d", value))[0]
    assert int(bucket_of(value)) == bits >> 42
    assert int(bucket_of(-value)) == -(bits >> 42)
    assert int(bucket_of(0.0)) == 0


def test_edges_enclose_their_values_and_are_a_thousandth_wide():
    values = np.concatenate([10 ** np.random.default_rng(1).uniform(-9, 9, 5000), [1.0, 2.0, 4.0]])
    values = np.concatenate([values, -values])
    lower, upper = bucket_edges(bucket_of(values))
    assert ((lower <= values) & (values <= upper)).all()
    assert (np.abs(bucket_middle(bucket_of(values)) / values - 1) <= 2**-11).all()
    assert bucket_of(0.0) == 0
    assert bucket_middle(0) == 0


def test_negative_values_are_ordered_too():
    histogram = Histogram.from_values([-100.0, -10.0, 0.0, 10.0])
    assert histogram.percentiles([0.25, 0.5, 0.75, 1]) == pytest.approx([-100, -10, 0, 10], rel=1e-3)


def test_an_empty_histogram_says_nothing():
    empty = Histogram()
    assert math.isnan(empty.percentile(0.5))
    assert math.isnan(empty.mean)
    assert empty.count_over(1) == 0
    assert empty == Histogram.from_values([])


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_values_that_are_not_finite_are_refused(value):
    with pytest.raises(ValueError, match="finite"):
        Histogram.from_values([1.0, value])


@pytest.mark.parametrize("quantile", [-0.1, 1.1, 90, math.nan])
def test_a_quantile_outside_zero_to_one_is_refused(quantile):
    with pytest.raises(ValueError, match="quantile"):
        Histogram.from_values([1.0]).percentile(quantile)


def test_a_series_gives_back_the_histogram_it_was_made_of():
    histogram = Histogram.from_values(draw(0))
    series = Series.of_trend("http_req_duration", {"scenario": "a"}, histogram)
    assert Series.from_json(series.to_json()) == series
    assert series.histogram() == histogram
    assert Series("http_reqs", "counter", value=3).histogram().count == 0
