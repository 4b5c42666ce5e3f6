"""Any file of resources, recognised by its content."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.errors import InputError
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.importers.resources import prometheus, table
from plimsoll.runs.importers.resources.points import Point


def read_resources(file: SourceFile) -> Iterator[Point]:
    """Its points, as they are read. InputError with file, line and column for what cannot be."""
    head = file.head().decode("utf-8-sig", errors="replace")
    if prometheus.is_range_query(head):
        return prometheus.range_query(file)
    if table.is_table(head):
        return table.table(file)
    if prometheus.is_text(head):
        return prometheus.text(file)
    step = "Give the JSON of a range query, Prometheus' text with timestamps, or a CSV whose first column is the time."
    raise InputError("this is no resource series that is known", step, file=file.path)
