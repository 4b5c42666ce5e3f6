"""The command line. `plimsoll run` goes without the machinery that reads the other verbs' flags, which takes as long to
load as all else that it needs."""

from __future__ import annotations

import gc
import sys

from plimsoll.cli.messages import EXIT_INTERRUPTED, say
from plimsoll.cli.signals import serve_signals
from plimsoll.errors import PlimsollError
from plimsoll.output_streams import make_tolerant, tell_losses
from plimsoll.own_programs import forget_current_folder

GC_THRESHOLD = 50_000


def main() -> None:
    """The entry point: errors that Plimsoll raises on purpose are a message and an exit code, not a traceback."""
    forget_current_folder()
    make_tolerant()
    gc.set_threshold(GC_THRESHOLD)  # imports make many objects that stay, and looking through them again is costly
    serve_signals()
    try:
        if sys.argv[1:2] == ["run"]:
            from plimsoll.cli.run import run

            sys.exit(run(sys.argv[2:]))
        from plimsoll.cli.app import app

        app()
    except PlimsollError as error:
        say(str(error), error)
        sys.exit(error.exit_code)
    except KeyboardInterrupt as error:
        say("interrupted.", error)
        sys.exit(EXIT_INTERRUPTED)
    finally:
        tell_losses()
