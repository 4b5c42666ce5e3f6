"""The seam between experiments and whatever makes load: the engine, a cluster, or a simulator in virtual time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

from plimsoll.runs.snapshot import Snapshot


@runtime_checkable
class LoadSource(Protocol):
    """Load whose level is changed while it runs. All times are elapsed seconds of the source's own clock.

    `unit` is what one step of level means: "users", "multiple" (of a script's declared load) or "vus"; `open` says
    whether arrivals come by a plan (open model) or each user waits for its answer (closed model).
    """

    unit: str
    open: bool

    def start(self) -> None:
        """Begin at level 0 and start the clock."""

    def set_level(self, level: float) -> None:
        """Put this level on from now; 0 pauses new work."""

    def snapshots(self, until_s: float) -> Iterator[Snapshot]:
        """Yield each second's snapshot once, in order, those still unread first, up to elapsed `until_s`; blocks.

        Leaving the iterator early loses nothing: the next call goes on.
        """

    def drain(self, limit_s: float) -> float:
        """Level 0, then wait until nothing waits or runs; seconds taken, or infinity if the limit came first."""

    def stop(self, graceful: bool = True) -> None:
        """End the load; graceful lets running iterations finish."""

    def now(self) -> float:
        """Elapsed seconds since start."""


@runtime_checkable
class PausingSource(LoadSource, Protocol):
    """Load that pauses by itself at a moment that was foreseen, whatever its caller is busy with then."""

    def pause_at(self, at_s: float) -> bool:
        """Level 0 at elapsed `at_s`, in place of the moment that was given before, until a level is set again; whether
        an earlier such moment has come since this was last called."""
