"""The statistics behind compare, decompose and sweep, against tables, closed forms and scipy's own."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from plimsoll.stats.comparison.log_ratio import paired_log_ratio, welch_log_ratio
from plimsoll.stats.comparison.multiple_comparisons import benjamini_hochberg_level, holm_levels
from plimsoll.stats.comparison.outliers import outliers
from plimsoll.stats.comparison.pairs_needed import pairs_to_call_same, pairs_to_tell, power_of_pairs
from plimsoll.stats.comparison.shares import larger, layer_shares, shares_per_repetition
from plimsoll.stats.growth.power_law import power_law

A = [100.0, 103.0, 98.0, 101.0, 99.0]
B = [121.0, 122.0, 119.0, 120.0, 118.0]


def test_a_paired_ratio_is_scipys_paired_t_of_the_logarithms() -> None:
    found = paired_log_ratio(A, B)
    expected = stats.ttest_rel(np.log(B), np.log(A))
    assert found is not None
    assert found.p == pytest.approx(expected.pvalue)
    low, high = expected.confidence_interval(0.99)
    assert found.interval(0.01) == pytest.approx((math.exp(low), math.exp(high)))
    assert found.ratio == pytest.approx(stats.gmean(B) / stats.gmean(A))


def test_a_ratio_of_two_sets_is_scipys_welch_t_of_the_logarithms() -> None:
    found = welch_log_ratio(A, B[:4])
    expected = stats.ttest_ind(np.log(B[:4]), np.log(A), equal_var=False)
    assert found is not None and found.p == pytest.approx(expected.pvalue)


def test_exchanging_a_and_b_turns_the_ratio_round() -> None:
    there, back = paired_log_ratio(A, B), paired_log_ratio(B, A)
    assert there is not None and back is not None
    assert there.ratio * back.ratio == pytest.approx(1) and there.p == pytest.approx(back.p)


def test_the_very_same_numbers_are_no_difference_and_a_constant_factor_is_a_certain_one() -> None:
    same, double = paired_log_ratio(A, A), paired_log_ratio([1.0, 2.0, 3.0], [2.0, 4.0, 6.0])
    assert same is not None and (same.p, same.interval(0.01)) == (1.0, (1.0, 1.0))
    assert double is not None and double.ratio == pytest.approx(2) and double.p < 1e-12


@pytest.mark.parametrize("values", [[0.0, 1.0], [-1.0, 1.0], [math.nan, 1.0], [math.inf, 1.0]])
def test_ratios_of_what_is_no_time_are_refused(values: list[float]) -> None:
    with pytest.raises(ValueError, match="above zero"):
        paired_log_ratio(values, [1.0, 1.0])


def test_one_pair_tells_nothing() -> None:
    assert paired_log_ratio([1.0], [2.0]) is None and welch_log_ratio([1.0], [2.0, 3.0]) is None


def test_holms_levels_are_those_of_the_step_down() -> None:
    assert holm_levels([0.03, 0.001, 0.2, 0.012], 0.05, 0.05) == pytest.approx([0.025, 0.0125, 0.025, 0.05 / 3])
    assert holm_levels([0.5], 0.04, 0.01) == [0.01]
    assert holm_levels([0.001, 0.009], 0.04, 0.01) == [0.01, 0.01], "none is tested at more than the single level"


def test_benjamini_and_hochberg_reject_as_scipy_does() -> None:
    draw = np.random.default_rng(1)
    for _ in range(50):
        p = draw.random(12) ** 3
        level = benjamini_hochberg_level(list(p), 0.1)
        assert list(p <= level) == list(stats.false_discovery_control(p) <= 0.1)


def test_power_of_pairs_is_that_of_the_noncentral_t_and_needs_as_many_pairs_as_methods_say() -> None:
    freedom, shift = 9, math.log(1.05) / 0.0283 * math.sqrt(10)
    exact = float(stats.nct.sf(stats.t.ppf(0.995, freedom), freedom, shift))
    assert power_of_pairs(10, math.log(1.05), 0.0283, 0.01) == pytest.approx(exact, abs=2e-3)
    assert exact == pytest.approx(0.96, abs=0.01)
    assert power_of_pairs(10, 0.0, 0.0283, 0.01) == pytest.approx(0.01, abs=1e-3)
    assert power_of_pairs(128, 0.138, 0.051, 0.01) == pytest.approx(1.0)


def test_the_fewest_pairs_have_the_power_and_one_less_has_not() -> None:
    pairs = pairs_to_tell(math.log(1.02), 0.0283, 0.01, 0.9)
    assert pairs is not None
    assert power_of_pairs(pairs, math.log(1.02), 0.0283, 0.01) >= 0.9
    assert power_of_pairs(pairs - 1, math.log(1.02), 0.0283, 0.01) < 0.9
    assert pairs_to_tell(0.0, 0.0283, 0.01) is None
    assert pairs_to_call_same(0.06, 0.05, 0.0283, 0.01) is None, "a difference beyond the margin is never the same"


def test_rosners_own_example_has_its_three_outliers() -> None:
    rosner = [
        -0.25, 0.68, 0.94, 1.15, 1.20, 1.26, 1.26, 1.34, 1.38, 1.43, 1.49, 1.49, 1.55, 1.56, 1.58, 1.65, 1.69, 1.70,
        1.76, 1.77, 1.81, 1.91, 1.94, 1.96, 1.99, 2.06, 2.09, 2.10, 2.14, 2.15, 2.23, 2.24, 2.26, 2.35, 2.37, 2.40,
        2.47, 2.54, 2.62, 2.64, 2.90, 2.92, 2.92, 2.93, 3.21, 3.26, 3.30, 3.59, 3.68, 4.30, 4.64, 5.34, 5.42, 6.01,
    ]  # fmt: skip
    assert outliers(rosner, 0.05) == [51, 52, 53], "Rosner (1983), as in the NIST handbook 1.3.5.17.3"
    assert outliers([1.0] * 10) == [] and outliers([1.0, 9.0]) == []


def test_shares_add_up_nested_and_as_parts() -> None:
    kiwi = np.array([[1120.0, 333.0, 234.0]] * 2)
    nested, parts = shares_per_repetition(kiwi, nested=True), shares_per_repetition(kiwi, nested=False)
    assert nested.sum(axis=1) == pytest.approx(1) and parts.sum(axis=1) == pytest.approx(1)
    assert nested[0] == pytest.approx([787 / 1120, 99 / 1120, 234 / 1120])
    assert parts[0] == pytest.approx([0.494, 0.297, 0.209], abs=1e-3), "50, 30 and 20%, as the kiwi report has it"


def test_a_layer_that_takes_nothing_is_not_there_and_an_order_that_is_wrong_is_negative() -> None:
    draw = np.random.default_rng(3)
    noise = 1 + 0.01 * draw.standard_normal((10, 3))
    nothing = layer_shares(shares_per_repetition(np.array([100.0, 60.0, 60.0]) * noise, nested=True))
    wrong = layer_shares(shares_per_repetition(np.array([100.0, 60.0, 80.0]) * noise, nested=True))
    assert nothing is not None and wrong is not None
    assert not nothing[1].is_there and not nothing[1].is_negative and nothing[0].is_there
    assert wrong[1].is_negative
    assert layer_shares([[0.5, 0.5]]) is None


def test_the_larger_layer_is_told_only_beyond_chance() -> None:
    clear = [[0.60, 0.40], [0.61, 0.39], [0.59, 0.41]]
    close = [[0.52, 0.48], [0.47, 0.53], [0.51, 0.49]]
    assert larger(clear, 0, 1) and not larger(clear, 1, 0) and not larger(close, 0, 1)


def test_a_power_law_gives_its_exponent_back_and_a_bend_is_no_power_law() -> None:
    x = np.repeat([1.0, 3.0, 10.0, 30.0, 100.0], 3)
    noise = np.exp(0.02 * np.random.default_rng(5).standard_normal(x.size))
    square = power_law(x, 7 * x**2 * noise)
    bend = power_law(x, (50 + x**2) * noise)
    assert square is not None and square.form == "power" and square.low <= 2 <= square.high
    assert square.scale == pytest.approx(7, rel=0.05)
    assert bend is not None and bend.form == "none"
    flat = power_law(x, 20 * noise)
    assert flat is not None and flat.changes_at_most(0.1) and not square.changes_at_most(0.1)


def test_two_values_fit_any_law_and_are_said_to_be_unchecked() -> None:
    found = power_law([1, 1, 10, 10], [5, 5.1, 50, 51])
    assert found is not None and found.form == "unchecked"
    assert power_law([1, 1, 1], [1, 2, 3]) is None
    with pytest.raises(ValueError, match="above zero"):
        power_law([0, 1, 2], [1, 1, 1])
