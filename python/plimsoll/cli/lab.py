"""`plimsoll lab NAME`: a reference target to try everything on."""

from __future__ import annotations

import typer


def lab(context: typer.Context) -> None:
    """Serve a reference target, such as the issue tracker: plimsoll lab tracker --help."""
    from plimsoll.lab.__main__ import main

    raise typer.Exit(main(context.args))
