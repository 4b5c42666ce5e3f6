"""Every flag that is a time takes 90s and 5m as `--for` does, and a number of seconds as before."""

from __future__ import annotations

import pytest

from plimsoll.cli.quantities import seconds
from plimsoll.errors import InputError


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
