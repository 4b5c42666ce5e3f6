"""Log ratios of few pairs that scatter."""

from __future__ import annotations

import math

from plimsoll.stats.comparison.log_ratio import paired_log_ratio, welch_log_ratio


def test_an_interval_beyond_what_a_float_holds_is_bounded_and_not_an_error() -> None:
    for found in (paired_log_ratio([1, 1], [1e-3, 1e3]), welch_log_ratio([1, 1e6], [1e-6, 1e6])):
        assert found is not None
        low, high = found.interval(0.001)
        assert 0 <= low < found.ratio < high < math.inf and high > 1e100
