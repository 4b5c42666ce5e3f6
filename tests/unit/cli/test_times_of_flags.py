"""Every flag that is a time takes 90s and 5m as `--for` does, and a number of seconds as before."""

from __future__ import annotations

import pytest

from plimsoll.cli.flags.quantities import duration, seconds
from plimsoll.errors import InputError
from plimsoll.study.bounds import MOST_AGE_S


@pytest.mark.parametrize(("text", "expected"), [("3s", 3.0), ("1m30s", 90.0), ("500ms", 0.5), ("10", 10.0), ("0", 0.0)])
def test_a_time_has_a_unit_or_means_seconds(text: str, expected: float) -> None:
    assert seconds("--warm-up")(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("soon", "--trial: 'soon' is not a duration"),
        ("-3", "--trial: -3 is not at least 1"),
        ("500ms", "--trial: 500ms is not at least 1"),
        ("nan", "--trial: nan is not at least 1"),
        ("90d", "--trial: '90d' is over 30 days"),
    ],
)
def test_what_is_no_time_of_that_flag_says_what_is(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        seconds("--trial", 1)(text)


def test_the_age_of_a_run_may_be_years() -> None:
    age = duration("--older-than", most_s=MOST_AGE_S)
    assert age("31d") == 31 * 86_400 and age("36500d") == 36_500 * 86_400
    with pytest.raises(InputError, match="--older-than: '40000d' is over 36,525 days"):
        age("40000d")
    with pytest.raises(InputError, match="--for: '31d' is over 30 days"):
        duration("--for")("31d")


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e999"])
@pytest.mark.parametrize("bare_s", [True, False])
def test_what_is_no_number_has_no_unit_to_miss(text: str, bare_s: bool) -> None:
    with pytest.raises(InputError, match=r"is not a duration\. Write it like 90s"):
        duration("--for", bare_s=bare_s)(text)
