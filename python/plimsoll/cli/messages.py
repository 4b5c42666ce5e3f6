"""How the command line ends: a message on stderr and an exit code."""

from __future__ import annotations

import os
import re
import sys

EXIT_INTERRUPTED = 130
EXIT_UNWRITTEN = EXIT_UNREADABLE = 2
_STEERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # a terminal; line breaks and tabs are ours


def say(message: str, error: BaseException) -> None:
    """The message, then what was noted on the way up, such as where the run was kept; without the secrets of the
    command line, and without control characters, which a name in it may have."""
    from plimsoll.cli.run.told_secrets import redactor_of_words

    text = "\n".join([f"plimsoll: {message}", *getattr(error, "__notes__", ())])
    hidden = redactor_of_words(sys.argv[1:], os.environ).message(text)
    print(_STEERS.sub("\N{REPLACEMENT CHARACTER}", hidden), file=sys.stderr)
