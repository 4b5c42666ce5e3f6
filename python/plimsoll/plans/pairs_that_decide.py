"""How many pairs a comparison takes to decide, before any is made: by the power of its test at the usual scatter."""

from __future__ import annotations

import math
from collections.abc import Sequence

from plimsoll.findings.trials.comparisons import FAMILY, SINGLE
from plimsoll.stats.comparison.pairs_needed import (
    USUAL_SCATTER,
    difference_told,
    pairs_to_call_same,
    pairs_to_tell,
)
from plimsoll.words import ratio_words, share_words


def _alpha(comparisons: int) -> float:
    """The level of the strictest of so many that are declared."""
    return min(SINGLE, FAMILY / max(1, comparisons))


def pairs_that_decide(margin: float, comparisons: int) -> int:
    """Pairs that show a difference of the margin, and no difference as none, with 80% power each."""
    limit, alpha = math.log1p(margin), _alpha(comparisons)
    wanted = (
        pairs_to_tell(limit, USUAL_SCATTER, alpha),
        pairs_to_call_same(0.0, limit, USUAL_SCATTER, alpha),
    )
    return max(pairs for pairs in wanted if pairs is not None)


def few_pairs_words(pairs: int, margin: float, primary: Sequence[str], levels: int, pair_s: float) -> str:
    """What so few pairs can show, and how many would decide; empty where they do. `pair_s`: of all levels."""
    comparisons = len(primary) * levels
    wanted = pairs_that_decide(margin, comparisons)
    if pairs >= wanted:
        return ""
    least = difference_told(pairs, USUAL_SCATTER, _alpha(comparisons))
    shown = f"a difference below {ratio_words(math.exp(least))}" if least is not None else "any difference"
    noun = "1 pair" if pairs == 1 else f"{pairs} pairs"
    return (
        f"{noun} will hardly show {shown}, where pairs scatter by {share_words(USUAL_SCATTER)}, as they often do. "
        f"About {wanted} decide about the margin of {share_words(margin)}: {typed_pairs(wanted, pair_s)}."
    )


def typed_pairs(pairs: int, pair_s: float) -> str:
    """ "--pairs 10, 4 min of load"."""
    from plimsoll.experiments.capacity.time_plan import said

    return f"--pairs {pairs}, {said(pairs * pair_s)} of load"
