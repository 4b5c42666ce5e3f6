"""The objective language."""

from __future__ import annotations

import pytest

from plimsoll.errors import InputError
from plimsoll.study import parse_objective


@pytest.mark.parametrize(
    ("text", "statistic", "quantile", "limit", "unit"),
    [
        ("p90<=1000ms", "p90", 0.9, 1000.0, "ms"),
        ("p99.9 < 2s", "p99.9", 0.999, 2000.0, "ms"),
        ("median<=500us", "p50", 0.5, 0.5, "ms"),
        ("avg <= 0.5 min", "mean", None, 30000.0, "ms"),
        ("max≤3s", "max", None, 3000.0, "ms"),
        ("error_rate<=1%", "error_rate", None, 0.01, "ratio"),
        ("error_rate<0.02", "error_rate", None, 0.02, "ratio"),
        ("error_rate<=0%", "error_rate", None, 0.0, "ratio"),
    ],
)
def test_an_objective_is_read_with_its_statistic_limit_and_unit(text, statistic, quantile, limit, unit):
    parsed = parse_objective(text.replace("≤", "<="))
    assert (parsed.statistic, parsed.unit) == (statistic, unit)
    assert parsed.quantile == (None if quantile is None else pytest.approx(quantile))
    assert parsed.limit == pytest.approx(limit)


@pytest.mark.parametrize("text", ["p90<=1000ms", "p99.9<2000ms", "mean<=30000ms", "error_rate<=1%", "max<3ms"])
def test_an_objective_written_out_reads_back_the_same(text):
    parsed = parse_objective(text)
    assert str(parsed) == text
    assert parse_objective(str(parsed)) == parsed


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("p90<=1000", "p90<=1000ms"),
        ("p90>=1000ms", "<="),
        ("p100<=1s", "max"),
        ("p0<=1s", "between"),
        ("p90<=1parsec", "us, ms, s or min"),
        ("p90<=0ms", "above zero"),
        ("error_rat<=1%", "error_rate"),
        ("error_rate<=5", "5%"),
        ("error_rate<=101%", "100%"),
        ("error_rate<=5ms", "%"),
        ("fast please", "p90<=1000ms"),
        ("", "p90<=1000ms"),
    ],
)
def test_an_unreadable_objective_says_what_to_write(text, step):
    with pytest.raises(InputError) as caught:
        parse_objective(text)
    assert step in caught.value.next_step


def test_a_limit_includes_its_own_value_only_with_the_equals_sign():
    assert parse_objective("p90<=10ms").is_met_by(10.0)
    assert not parse_objective("p90<10ms").is_met_by(10.0)
    assert not parse_objective("p90<=10ms").is_met_by(float("nan"))
