"""Several names in a sentence: "a, b, c and 2 more". It imports nothing of the package."""

from __future__ import annotations

from collections.abc import Sequence


def listed(names: Sequence[str], most: int, between: str = ", ") -> str:
    """The first `most` names with `between` them, and how many more there are."""
    more = len(names) - most
    return between.join(names[:most]) + (f" and {more:,} more" if more > 0 else "")
