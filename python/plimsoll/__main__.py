"""The command `plimsoll`, which is `python -m plimsoll` too. An interruption before it can serve one ends it at once,
without a traceback: nothing has begun."""

import signal

from plimsoll.own_programs import forget_current_folder


def main() -> None:
    """The entry point: `plimsoll.cli` without the modules of the current folder."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    forget_current_folder()
    from plimsoll.cli import main as command

    command()


if __name__ == "__main__":
    main()
