"""The run directory: the open, versioned seam between measuring and answering."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_MODULES = {
    "directory": ("latest", "list_runs"),
    "histogram": ("Histogram",),
    "machine": ("machine_facts",),
    "reader": ("RunReader",),
    "snapshot": ("Series", "Snapshot"),
    "writer": ("RunFacts", "RunWriter"),
}


def __getattr__(name: str) -> Any:
    """Imported at first use: who writes a run needs no numpy, which who reads one does."""
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
