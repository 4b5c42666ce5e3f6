"""Regular expressions that a user wrote."""

from __future__ import annotations

import re
import warnings


def compiled(text: str, flags: int = 0) -> re.Pattern[str]:
    """The pattern; re.error, RecursionError or OverflowError where it is none. What Python says of sets that may mean
    something else in a later version is nothing to a user."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return re.compile(text, flags)
