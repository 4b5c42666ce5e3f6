"""A CSV of resources: the first column is the time (seconds or ms since 1970, or ISO), each other one a value.

"gc cpu (%)" is the cpu_share of source "gc"; a heading of one word is a value of the source "server".
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from plimsoll.runs.importers.clock import moment
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.importers.resources.points import Point, check_share
from plimsoll.runs.importers.source import BadRecord
from plimsoll.runs.importers.units import MISSING, UNITS, quantity

TIMES = ("time", "timestamp", "t", "date", "datetime", "t_unix", "_time")
_WHAT = re.compile(r"^(?:(.*?)[ _])?(cpu|disk|memory|mem|util(?:isation|ization)?)(?:[ _](.*))?$", re.IGNORECASE)


def is_table(head: str) -> bool:
    """Whether the first heading is a time."""
    first = head.partition("\n")[0].split(",")[0].split(";")[0].strip().strip('"').lower()
    return first in TIMES


def table(file: SourceFile) -> Iterator[Point]:
    """The points of all columns, row by row; empty cells are none."""
    head = file.head().decode("utf-8-sig", errors="replace").partition("\n")[0]
    delimiter = max(",;\t", key=head.count)
    rows = file.rows(delimiter)
    header = [cell.strip() for cell in next(rows)]
    is_empty = True

    def points(cells: list[str]) -> list[Point]:
        if not cells or not any(cell.strip() for cell in cells):
            return []
        if len(cells) != len(header):
            raise BadRecord(f"{len(cells)} cells under {len(header)} headings")
        at_s = moment(cells[0], header[0])
        named = zip(header[1:], cells[1:], strict=True)
        return [
            _point(at_s, heading, cell, delimiter)
            for heading, cell in named
            if cell.strip().lower() not in (*MISSING, "nan")
        ]

    for found in file.made(rows, points):
        is_empty = is_empty and not found
        yield from found
    if is_empty:
        raise file.error(BadRecord("there are no values in it"))


def _point(at_s: float, heading: str, cell: str, delimiter: str) -> Point:
    found = quantity(cell, heading, delimiter)
    assert found is not None
    value, name = found.value, heading
    if found.unit == "%":
        name = heading if "%" in heading else f"{heading} (%)"
    elif found.unit in UNITS and UNITS[found.unit][0] == "bytes":
        value, name = value * UNITS[found.unit][1], f"{heading}_bytes"
    elif found.unit:
        raise BadRecord(f"the unit {found.unit!r} is not known", heading, "Use %, B, MB or GB, or a number alone.")
    if not math.isfinite(value):
        raise BadRecord(f"{cell!r} is no number", heading)
    check_share(name, value, heading)
    return Point(at_s, *_source_and_name(name), value)


def _source_and_name(heading: str) -> tuple[str, str]:
    unit = " (%)" if re.search(r"\(%\)|%$", heading) else ""
    bare = (heading.removesuffix("(%)") if heading.endswith("(%)") else heading.removesuffix("%")).strip()
    found = _WHAT.match(bare)
    if found is None or not unit:
        return "server", bare + unit
    before, what, after = found.groups()
    return " ".join(part for part in (before, after) if part) or "server", what.lower() + unit
