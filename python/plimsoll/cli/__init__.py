"""The command line: one file per verb. Imports of each verb are its own, so that `--help` is quick."""

from __future__ import annotations

import sys

import typer

from plimsoll.cli.capacity import capacity
from plimsoll.cli.demo import demo
from plimsoll.cli.lab import lab
from plimsoll.cli.report import report, schema
from plimsoll.cli.run import run
from plimsoll.errors import PlimsollError

EXIT_INTERRUPTED = 130

app = typer.Typer(
    name="plimsoll",
    help="Finds how much load a running system carries, what stops it, and how much room is left.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.command()(demo)
app.command()(run)
app.command()(capacity)
app.command()(report)
app.command()(schema)
app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []})(lab)


def main() -> None:
    """The entry point: errors that Plimsoll raises on purpose are a message and an exit code, not a traceback."""
    try:
        app()
    except PlimsollError as error:
        print(f"plimsoll: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
