"""Numbers with units inside texts."""

from __future__ import annotations

import math

import pytest

from plimsoll.probes.quantities import Amount, amount_of


@pytest.mark.parametrize(
    ("given", "value", "kind"),
    [
        ("130.5 MB", 130.5e6, "bytes"),
        ("1.5GiB", 1.5 * 2**30, "bytes"),
        ("12 kb", 12e3, "bytes"),
        ("78.64%", 0.7864, "share"),
        ("1d 2h", 93_600, "time"),
        ("1d2h 3m 4s", 93_784, "time"),
        ("2 hours, 5 minutes", 7_500, "time"),
        ("350 ms", 0.35, "time"),
        ("01:02:03.5", 3723.5, "time"),
        ("3 days, 4:05", 273_900, "time"),
        ("PT1H2M", 3720, "time"),
        ("9.98 req/s", 9.98, "rate"),
        ("120 per minute", 2, "rate"),
        ("1,664", 1664, "count"),
        ("-3", -3, "count"),
        (".5", 0.5, "count"),
        (7, 7, "count"),
    ],
)
def test_a_text_is_a_number_in_our_unit(given: object, value: float, kind: str) -> None:
    found = amount_of(given)
    assert found is not None
    assert (found.value, found.kind) == (pytest.approx(value), kind)


@pytest.mark.parametrize(
    "given", ["", "n/a", "12 apples", "1d 2 apples", "1e999", "1.2.3", "12:75", True, None, math.nan, [], "9" * 200]
)
def test_what_is_no_number_with_a_known_unit_is_none(given: object) -> None:
    assert amount_of(given) is None


def test_a_gigantic_whole_number_is_none_and_not_an_error() -> None:
    assert amount_of(10**400) is None
    assert amount_of(10**15) == Amount(1e15, "count")
