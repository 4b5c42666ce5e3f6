"""Several names in a sentence."""

from __future__ import annotations

import pytest

from plimsoll.listed_names import listed


@pytest.mark.parametrize(
    ("names", "most", "words"),
    [
        ([], 3, ""),
        (["a"], 3, "a"),
        (["a", "b", "c"], 3, "a, b, c"),
        (["a", "b", "c", "d"], 3, "a, b, c and 1 more"),
        (["a", "b", "c", "d", "e"], 1, "a and 4 more"),
        ([str(number) for number in range(2_000)], 2, "0, 1 and 1,998 more"),
    ],
)
def test_the_first_names_are_told_and_how_many_more_there_are(names: list[str], most: int, words: str) -> None:
    assert listed(names, most) == words


def test_names_with_commas_stand_apart_by_semicolons() -> None:
    assert listed(["a, b", "c", "d"], 2, "; ") == "a, b; c and 1 more"
