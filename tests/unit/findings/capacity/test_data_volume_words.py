"""What is said of CPU per operation where the data grew."""

from __future__ import annotations

import pytest

from plimsoll.findings.capacity.data_volume import _demand_words
from plimsoll.stats.growth.covariate import DemandChange


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (DemandChange(0.02, -0.1, 0.14, 0.6), "did not change with it beyond chance (99%: -10% to +14%"),
        (DemandChange(12.0, -22.64, 54.77, 0.4), "is inconclusive: the confidence interval is too wide"),
        (DemandChange(6.0, 3.0, 9.0, 0.001), "changed with it beyond chance, by +600%"),
    ],
)
def test_an_interval_that_allows_everything_says_nothing(change: DemandChange, words: str) -> None:
    assert words in _demand_words(change, grew=True)
