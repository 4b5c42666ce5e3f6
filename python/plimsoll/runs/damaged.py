"""Run directories that were changed by hand, cut or damaged: what cannot be understood of one is an error with its
place, and no traceback.

Readers pass over lines that are no JSON. A line that is JSON and means something else than its writer's (a text in
place of a number, a list in place of a mapping) shows only where it is used, anywhere in the findings, so that the door
catches it.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from plimsoll.errors import RunDirectoryError

_FAULTS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)
_LONGEST = 120


@contextmanager
def understood(path: Path) -> Iterator[None]:
    """RunDirectoryError in place of what Python raises where the run directory is not what its writer left."""
    try:
        yield
    except _FAULTS as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        words = " ".join(str(error).split())[:_LONGEST] or "no reason given"
        where = f"{Path(last.filename).stem}.py, line {last.lineno}"
        raise RunDirectoryError(
            f"{path} cannot be understood: {type(error).__name__}, {words} ({where})",
            "Its files were changed or are damaged: restore them, or make the run again. If nobody changed them, "
            "report this as a fault of Plimsoll.",
        ) from error
