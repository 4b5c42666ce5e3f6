"""The command line: one file per verb. Imports of each verb are its own, so that `--help` is quick."""

from __future__ import annotations

import gc
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from plimsoll.cli.analyze import analyze
from plimsoll.cli.capacity import capacity
from plimsoll.cli.compare import compare
from plimsoll.cli.control import control
from plimsoll.cli.decompose import decompose
from plimsoll.cli.demo import demo
from plimsoll.cli.doctor import doctor
from plimsoll.cli.drain import drain
from plimsoll.cli.grow import grow
from plimsoll.cli.hold import hold
from plimsoll.cli.lab import lab
from plimsoll.cli.report import report, schema
from plimsoll.cli.run import run
from plimsoll.cli.signals import serve_signals
from plimsoll.cli.sweep import sweep
from plimsoll.errors import PlimsollError

EXIT_INTERRUPTED = 130
GC_THRESHOLD = 50_000


class _Verbs(TyperGroup):
    """The verbs; Ctrl-C that a verb did not serve itself ends it with a word on what was kept."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            _say("interrupted.", error)
            raise typer.Exit(EXIT_INTERRUPTED) from None


app = typer.Typer(
    name="plimsoll",
    cls=_Verbs,
    help="Finds how much load a running system carries, what stops it, and how much room is left.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"plimsoll {version('plimsoll-line')}")
        raise typer.Exit


@app.callback()
def _plimsoll(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:
    pass


# Verbs that read their flags themselves.
_OWN_FLAGS: dict[str, Any] = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
app.command()(demo)
app.command(context_settings=_OWN_FLAGS)(run)
app.command()(control)
app.command()(capacity)
app.command()(analyze)
app.command()(compare)
app.command()(decompose)
app.command()(sweep)
app.command()(hold)
app.command()(grow)
app.command()(drain)
app.command()(doctor)
app.command()(report)
app.command()(schema)
app.command(context_settings=_OWN_FLAGS)(lab)


def main() -> None:
    """The entry point: errors that Plimsoll raises on purpose are a message and an exit code, not a traceback."""
    gc.set_threshold(GC_THRESHOLD)  # imports make many objects that stay, and looking through them again is costly
    serve_signals()
    try:
        app()
    except PlimsollError as error:
        _say(str(error), error)
        sys.exit(error.exit_code)


def _say(message: str, error: BaseException) -> None:
    """The message on stderr, then what was noted on the way up, such as where the run was kept."""
    print("\n".join([f"plimsoll: {message}", *getattr(error, "__notes__", ())]), file=sys.stderr)
