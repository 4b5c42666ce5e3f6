"""The run directory: the open, versioned seam between measuring and answering."""

from plimsoll.runs.directory import latest, list_runs
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.machine import machine_facts
from plimsoll.runs.reader import RunReader
from plimsoll.runs.snapshot import Series, Snapshot
from plimsoll.runs.writer import RunFacts, RunWriter

__all__ = [
    "Histogram",
    "RunFacts",
    "RunReader",
    "RunWriter",
    "Series",
    "Snapshot",
    "latest",
    "list_runs",
    "machine_facts",
]
