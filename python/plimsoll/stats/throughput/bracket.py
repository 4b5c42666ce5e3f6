"""Relevant bounds of trials that may contradict each other: each level is what most of its trials say.

The bounds are those of MLRsearch (draft-ietf-bmwg-mlrsearch): the upper is the lowest level that is bad, the lower the
highest good *below* it, so an inversion resolves conservatively. A level is bad where at least half of its trials are,
MLRsearch's exceed ratio of a half, counted in trials (docs/decisions/0012).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable


def relevant_bounds(trials: Iterable[tuple[float, bool]]) -> tuple[float | None, float | None]:
    """(highest good below the lowest bad, lowest bad) of trials (level, was it good); None where there is none."""
    votes: Counter[float] = Counter()
    for level, good in trials:
        votes[level] += 1 if good else -1
    bad = min((level for level, vote in votes.items() if vote <= 0), default=None)
    good_below = (level for level, vote in votes.items() if vote > 0 and (bad is None or level < bad))
    return max(good_below, default=None), bad
