"""How a note says that something of the target was restarted, and how a finding knows such a note again: here alone."""

from __future__ import annotations

_WAS_RESTARTED = " was restarted"


def restart_note(what: str, how: str) -> str:
    """As in "app was restarted: process 1 is now 2", where `how` is ": process 1 is now 2"."""
    return f"{what}{_WAS_RESTARTED}{how}"


def tells_of_restart(message: str) -> bool:
    """Whether a note is one of a restart."""
    return _WAS_RESTARTED in message
