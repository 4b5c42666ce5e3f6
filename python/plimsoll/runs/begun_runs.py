"""Who is told of each run directory that this process begins to write: the live page beside a verb."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_told: list[Callable[[Path], None]] = []


@contextmanager
def told_of_runs(tell: Callable[[Path], None]) -> Iterator[None]:
    """Within, `tell` hears of each; it must return at once and raise nothing."""
    _told.append(tell)
    try:
        yield
    finally:
        _told.remove(tell)


def begun(run_dir: Path) -> None:
    """A run directory is there, and is written from now on."""
    for tell in list(_told):
        tell(run_dir)
