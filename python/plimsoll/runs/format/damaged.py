"""Run directories that were changed by hand, cut or damaged: what cannot be understood of one is an error with its
place, and no traceback.

Readers pass over lines that are no JSON. A line that is JSON and means something else than its writer's (a text in
place of a number, a list in place of a mapping) shows only where it is used, anywhere in the findings, so that the door
catches it. It names the line whose data a function on the way to the fault had in hand, where there was one.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from plimsoll.errors import RunDirectoryError
from plimsoll.runs import directory
from plimsoll.runs.format.lines import placed_lines

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
_MOST_BYTES = 4 << 20  # of a file that is searched


@contextmanager
def understood(path: Path) -> Iterator[None]:
    """RunDirectoryError in place of what Python raises where the run directory is not what its writer left."""
    try:
        yield
    except _FAULTS as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        words = " ".join(str(error).split())[:_LONGEST] or "no reason given"
        where = f"{Path(last.filename).stem}.py, line {last.lineno}"
        place = _place_in_run(path, error) or path
        raise RunDirectoryError(
            f"{place} cannot be understood: {type(error).__name__}, {words} ({where})",
            "Its files were changed or are damaged: restore them, or make the run again. If nobody changed them, "
            "report this as a fault of Plimsoll.",
        ) from error


def _place_in_run(path: Path, error: BaseException) -> str | None:
    """File and line, or file and field, of the data that was worked on; None where no function held it as it stands."""
    try:
        places = {_same(data): place for place, data in _data_of(path)}
        frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
        for frame in reversed(frames):
            for value in frame.f_locals.values():
                if isinstance(value, Mapping) and value and (place := places.get(_same(value))):
                    return place
    except (OSError, RunDirectoryError, *_FAULTS):  # the search for the fault is no reason for another one
        pass
    return None


def _data_of(path: Path) -> Iterator[tuple[str, Any]]:
    for name in (directory.EVENTS, directory.TRIALS):
        if _is_small(path / name):
            for number, (_, raw) in enumerate(placed_lines(path / name), 1):
                with suppress(ValueError, RecursionError):
                    data = json.loads(raw)
                    kind = f" ({data['kind']})" if isinstance(data, dict) and isinstance(data.get("kind"), str) else ""
                    yield f"{path / name}, line {number}{kind}", data
    for name in (directory.FINDINGS, directory.PLAN, directory.MANIFEST):
        if _is_small(path / name):
            whole = json.loads((path / name).read_bytes())
            yield str(path / name), whole
            fields = whole.items() if isinstance(whole, dict) else enumerate(whole) if isinstance(whole, list) else ()
            yield from ((f"{path / name}, {field!r}", data) for field, data in fields if isinstance(data, dict))


def _is_small(file: Path) -> bool:
    return file.is_file() and file.stat().st_size <= _MOST_BYTES


def _same(data: Any) -> str:
    """What two equal values have in common, also where they hold NaN."""
    return repr(sorted(data.items(), key=repr)) if isinstance(data, Mapping) else ""
