"""`plimsoll ui`: a folder of runs in a browser, live while they go on."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli.flags.page_beside import LOOPBACK


def ui(
    folder: Annotated[Path, typer.Argument(help="folder of run directories")] = Path("runs"),
    host: Annotated[str, typer.Option(help="address to listen at; another than loopback asks for a token")] = LOOPBACK,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="port (default: 6570, or the next that is free; 0: any)")
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="PLIMSOLL_UI_TOKEN",
            help="what a visitor must bring, of 16 characters or more (default: a new one, where --host is not "
            "loopback); better in PLIMSOLL_UI_TOKEN",
        ),
    ] = None,
) -> None:
    """Show the runs of a folder in a browser: live while they go on, with pause, level, note and stop; the others to
    search, compare, tag and delete. Ctrl-C ends it."""
    import asyncio

    from plimsoll.errors import InputError
    from plimsoll.ui.server import LEAST_TOKEN, LOWER, address_of, check_installed, listening_socket, serve, token_for

    check_installed()
    if token is not None and len(token) < LEAST_TOKEN:
        raise InputError(f"--token has {len(token)} characters", f"Use {LEAST_TOKEN} or more, or leave it out.")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is no folder", "Give a folder of run directories, as runs.")
    if not folder.exists():
        print(f"plimsoll: There is no folder {folder} yet: its runs are shown once they begin.", file=sys.stderr)
    from plimsoll.ui.app import LivePage

    os.nice(LOWER)
    token = token_for(host, token)
    listening = listening_socket(host, port)
    page = LivePage(folder, host, listening.getsockname()[1], token)
    print(f"The runs in {folder}: {address_of(listening, token)}  (Ctrl-C ends this)", file=sys.stderr, flush=True)
    with suppress(KeyboardInterrupt):  # before it serves
        asyncio.run(serve(listening, page, asyncio.Event().wait))
