"""The command `plimsoll`, which is `python -m plimsoll` too. An interruption before it can serve one ends it at once,
without a traceback: nothing has begun. One that comes when all is done leaves the exit code as it is."""

import atexit
import signal

from plimsoll.own_programs import forget_current_folder


def main() -> None:
    """The entry point: `plimsoll.cli` without the modules of the current folder."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    atexit.register(_ignore_interruptions)  # the first that is registered is called last
    forget_current_folder()
    from plimsoll.cli import main as command

    command()


def _ignore_interruptions() -> None:
    """Python sets them back to end the process while it takes itself down, which lasts a tenth of a second; it leaves
    what is ignored."""
    for interrupting in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(interrupting, signal.SIG_IGN)


if __name__ == "__main__":
    main()
