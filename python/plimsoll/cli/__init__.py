"""The command line. `plimsoll run` goes without the machinery that reads the other verbs' flags, which takes as long to
load as all else that it needs."""

from __future__ import annotations

import gc
import sys

from plimsoll.cli.messages import EXIT_INTERRUPTED, EXIT_UNREADABLE, EXIT_UNWRITTEN, say
from plimsoll.cli.signals import serve_signals
from plimsoll.errors import PlimsollError
from plimsoll.output_streams import make_tolerant, tell_losses
from plimsoll.report.columns import follow

GC_THRESHOLD = 50_000
STDOUT = 1


def main() -> None:
    """A verb: errors that Plimsoll raises on purpose are a message and an exit code, not a traceback. A verb
    that ended well, but whose answer standard output did not take, has not succeeded."""
    make_tolerant()
    follow(STDOUT)
    gc.set_threshold(GC_THRESHOLD)  # imports make many objects that stay, and looking through them again is costly
    serve_signals()
    try:
        code = _code_of_verb()
    finally:
        is_lost = tell_losses()
    sys.exit(code or (EXIT_UNWRITTEN if is_lost else 0))


def _code_of_verb() -> str | int | None:
    try:
        if sys.argv[1:2] == ["run"]:
            from plimsoll.cli.run.verb import run

            return run(sys.argv[2:])
        from plimsoll.cli.app import app

        app()
    except SystemExit as end:
        return end.code
    except PlimsollError as error:
        say(str(error), error)
        return error.exit_code
    except KeyboardInterrupt as error:
        say("interrupted.", error)
        return EXIT_INTERRUPTED
    except OSError as error:
        if error.filename is None:
            raise
        say(f"{error.filename}: {error.strerror}. Correct the path, or see to what is there.", error)
        return EXIT_UNREADABLE
    return 0
