"""How wide the lines of an answer are: as the terminal on which they are printed, and WIDEST anywhere else.

Only the command line follows a terminal. It is asked when the lines are made, as a load may last for hours, and a
window changes meanwhile.
"""

from __future__ import annotations

import math
import os
from contextvars import ContextVar

WIDEST, NARROWEST = 100, 40
_terminal: ContextVar[int | None] = ContextVar("terminal", default=None)


def follow(descriptor: int | None) -> None:
    """From now on lines are as wide as the terminal behind that descriptor, if it is one; None follows none."""
    _terminal.set(descriptor)


def columns() -> int:
    """Columns of a line, from NARROWEST to WIDEST."""
    descriptor = _terminal.get()
    if descriptor is None:
        return WIDEST
    try:
        found = os.get_terminal_size(descriptor).columns
    except OSError:  # a pipe or a file
        return WIDEST
    return min(WIDEST, max(NARROWEST, found)) if found else WIDEST


def lines_for(most: int) -> int:
    """How many lines hold as much as `most` lines of WIDEST do; one stays one."""
    return most if most <= 1 else math.ceil(most * WIDEST / columns())
