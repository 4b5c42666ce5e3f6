"""Reads a file by its format, as `plimsoll analyze` does, without writing a run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plimsoll.runs.histogram import Histogram
from plimsoll.runs.importers.catalogue import format_of
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.importers.source import Format
from plimsoll.runs.importers.spill import Spill
from plimsoll.runs.snapshot import Snapshot

DATA = Path(__file__).parent / "data"


@dataclass
class Imported:
    """What a file with samples gave."""

    format: Format
    snapshots: list[Snapshot]
    notes: list[str]
    spill: Spill
    returned: Any

    def times(self, metric: str = "http_req_duration", **tags: str) -> Histogram:
        """All times with these tags, in ms."""
        return Histogram.merge(
            series.histogram()
            for snapshot in self.snapshots
            for series in snapshot.series
            if series.metric == metric and all(series.tags.get(key) == value for key, value in tags.items())
        )

    def total(self, metric: str) -> float:
        """The sum of a counter."""
        return sum(s.value or 0 for snapshot in self.snapshots for s in snapshot.series if s.metric == metric)

    def failed(self) -> int:
        """Failed requests."""
        rates = (s for snapshot in self.snapshots for s in snapshot.series if s.metric == "http_req_failed")
        return sum(series.passes or 0 for series in rates)


def imported(path: Path, name: str | None = None) -> Imported:
    """Read a file with samples or seconds."""
    with _spilled() as spill:
        file = SourceFile(path)
        found = format_of(file, name)
        returned = found.read(file, spill)
        return Imported(found, list(spill.snapshots()), file.notes, spill, returned)


@contextmanager
def _spilled() -> Iterator[Spill]:
    with Spill() as spill:
        yield spill


def table_of(path: Path, name: str | None = None) -> Any:
    """Read a summary: (format, step table, notes)."""
    file = SourceFile(path)
    found = format_of(file, name)
    return found, found.read(file, None), file.notes
