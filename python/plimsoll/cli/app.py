"""The verbs of the command line, one file each. Imports of each verb are its own, so that `--help` is quick."""

from __future__ import annotations

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
from plimsoll.cli.messages import EXIT_INTERRUPTED, say
from plimsoll.cli.new import new
from plimsoll.cli.report import report, schema
from plimsoll.cli.runs import app as runs
from plimsoll.cli.size import size
from plimsoll.cli.study import study
from plimsoll.cli.sweep import sweep
from plimsoll.cli.ui import ui
from plimsoll.nearest_word import nearest


class _Verbs(TyperGroup):
    """The verbs; Ctrl-C that a verb did not serve itself ends it with a word on what was kept."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            say("interrupted.", error)
            raise typer.Exit(EXIT_INTERRUPTED) from None
        except Exception as error:
            _name_nearest_flag(error)
            raise


def _name_nearest_flag(error: Any) -> None:
    """Of a flag that the verb does not have, which typer's NoSuchOption tells; that class has no public name."""
    flag, context = getattr(error, "option_name", None), getattr(error, "ctx", None)
    if flag and context is not None and hasattr(error, "possibilities"):
        known = [spelling for parameter in context.command.params for spelling in parameter.opts if spelling[0] == "-"]
        error.message = f"There is no flag {flag}. {nearest(flag, known, '')}".rstrip()
        error.possibilities = None


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


@app.command(context_settings=_OWN_FLAGS)
def run(context: typer.Context) -> None:
    """Run a k6 script with k6's flags, or load one URL: plimsoll run --help."""
    from plimsoll.cli.run.verb import run as run_script

    raise typer.Exit(run_script(context.args))


app.command()(control)
app.command()(new)
app.command()(capacity)
app.command()(study)
app.command()(analyze)
app.command()(compare)
app.command()(decompose)
app.command()(sweep)
app.command()(hold)
app.command()(grow)
app.command()(drain)
app.command()(size)
app.command()(doctor)
app.command()(report)
app.add_typer(runs)
app.command()(ui)
app.command()(schema)
app.command(context_settings=_OWN_FLAGS)(lab)
