"""How the command line ends: a message on stderr and an exit code."""

from __future__ import annotations

import os
import sys

EXIT_INTERRUPTED = 130
EXIT_UNWRITTEN = 2


def say(message: str, error: BaseException) -> None:
    """The message, then what was noted on the way up, such as where the run was kept; without the secrets of the
    command line."""
    from plimsoll.cli.told_secrets import redactor_of_words

    text = "\n".join([f"plimsoll: {message}", *getattr(error, "__notes__", ())])
    print(redactor_of_words(sys.argv[1:], os.environ).message(text), file=sys.stderr)
