"""Which columns that nothing is judged by tell tests apart: a version, a host, a number of cores.

A column does so if rows of one level and operation differ in it while its values come again at other levels. Words that
differ in every row are remarks. Numbers that count runs of one level (“run”, “repeat”) tell repeats, not tests.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from plimsoll.runs.importers.units import MISSING
from plimsoll.runs.readings.step_table import Row

_REPEATS = re.compile(
    r"^(#|no\.?|nr\.?|run|repeat|repetition|round|trial|iteration|sample|try|attempt|seed)s?( ?(no\.?|number|#|id))?$"
)


def telling_apart(rows: Sequence[Row], cells: Sequence[Mapping[str, str]]) -> tuple[str, ...]:
    """The headings of those columns, in order; `cells`: of each row what stands in the columns not judged."""
    headings = list(cells[0]) if cells else []
    return tuple(name for name in headings if not _REPEATS.match(name.strip().lower()) and _tells(name, rows, cells))


def _tells(name: str, rows: Sequence[Row], cells: Sequence[Mapping[str, str]]) -> bool:
    at: dict[tuple[float | None, str | None], set[str]] = {}
    levels: dict[str, set[float | None]] = {}
    for row, others in zip(rows, cells, strict=True):
        value = others[name]
        if value.lower() in MISSING:
            return False
        at.setdefault((row.level, row.operation), set()).add(value)
        levels.setdefault(value, set()).add(row.level)
    comes_again = all(len(found) > 1 for found in levels.values())
    return comes_again and any(len(values) > 1 for values in at.values())
