"""How the command line ends: a message on stderr and an exit code."""

from __future__ import annotations

import sys

EXIT_INTERRUPTED = 130


def say(message: str, error: BaseException) -> None:
    """The message, then what was noted on the way up, such as where the run was kept."""
    print("\n".join([f"plimsoll: {message}", *getattr(error, "__notes__", ())]), file=sys.stderr)
