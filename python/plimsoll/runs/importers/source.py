"""What a format of another tool's result is: how it is recognised and read, and what it can support."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from plimsoll.runs.importers.lines import SourceFile

Shape = Literal["samples", "seconds", "summary"]
Loop = Literal["open", "closed", "unknown"]

HIDES_QUEUEING = (
    "Its users wait for each answer before they ask again, so a slow target is asked less. The queue that independent "
    "users would meet is not in these times (coordinated omission)."
)
LOOP_UNKNOWN = (
    "The file does not say whether users wait for their answers (closed) or come whatever happens (open). It is taken "
    "as closed: such times hide the queue that independent users would meet. --model open says otherwise."
)
FAILURES_UNKNOWN = "How many requests failed is not known: {key} is missing or cannot be read."
NO_ARRIVAL_TIMES = (
    "It does not record when a request should have been sent, so a generator that sent late cannot be seen."
)
NO_GENERATOR = "It has nothing about the generator's own health, so that cannot be ruled out as the limit."
ONE_SUMMARY = (
    "A summary has no times of single requests: so no interval, no drift, no periodic spikes, no bursts of failures. "
    "No warm-up is cut away, and resources over time cannot be put beside it."
)
ONE_RUN = (
    "One run per level says nothing about how much runs differ: differences are consistent with a change, not a proof."
)


@dataclass(frozen=True)
class Format:
    """One format. `read` takes the file and what it fills: a Spill for "samples" and "seconds"; for "summary" it
    gets None and returns a StepTable.

    `looks_like`: whether the beginning of a file (text, up to 64 KiB) is of this format; `loop`: whether its users wait
    for answers; `cannot`: what it does not support, as sentences; `supports`: what it does, in a few words.
    """

    name: str
    title: str
    shape: Shape
    loop: Loop
    looks_like: Callable[[str], bool]
    read: Callable[[SourceFile, Any], Any]
    supports: str
    cannot: tuple[str, ...]
    counts: str = "requests"


class BadRecord(Exception):
    """A record that cannot be read: `what` is wrong, in which `column`, and the `next_step`."""

    def __init__(self, what: str, column: str | None = None, next_step: str = "Correct it, or export it anew.") -> None:
        super().__init__(what)
        self.what, self.column, self.next_step = what, column, next_step
