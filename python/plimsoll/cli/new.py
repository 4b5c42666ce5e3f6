"""`plimsoll new`: a first study and its script, from an access log, an OpenAPI description or a running service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

MUCH_BYTES = 100 << 20  # some ten seconds of reading


def new(
    url: Annotated[
        str | None, typer.Argument(metavar="URL", help="where the service under test answers, as http://127.0.0.1:8080")
    ] = None,
    access_log: Annotated[
        list[str] | None,
        typer.Option(
            "--access-log",
            metavar="FILE",
            help="access log, may be gzip, - is standard input; operations, rates and users come from its sessions; "
            "may be repeated, oldest first",
        ),
    ] = None,
    openapi: Annotated[
        str | None,
        typer.Option("--openapi", metavar="FILE", help="OpenAPI 2.0 or 3 description, JSON or YAML: a file or a URL"),
    ] = None,
    har: Annotated[
        Path | None,
        typer.Option(
            "--har", metavar="FILE", help="recording of a browser: its requests, with ids from earlier answers"
        ),
    ] = None,
    jmx: Annotated[
        Path | None,
        typer.Option("--jmx", metavar="FILE", help="test plan of JMeter: its thread groups, requests and data files"),
    ] = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="folder to write to")] = Path("load"),
    least: Annotated[
        str,
        typer.Option(
            metavar="SHARE",
            help="leave out operations below this share of requests and time that few sessions use; 0% keeps all",
        ),
    ] = "1%",
    token: Annotated[
        str | None,
        typer.Option(
            metavar="env:NAME",
            help="variable with a token, sent to the service as `Authorization: Bearer …`, never written",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="write over files that are there")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print what was found as JSON on stdout")] = False,
) -> None:
    """Write a first study and k6 script (docs/new.md). Both come from an access log, a browser's recording, a
    JMeter test plan, an OpenAPI description or a running service. A service is asked by GET alone.

    Exit codes: 0 written, 2 wrong input.
    """
    import os

    from plimsoll.cli.flags.budgets import share_of
    from plimsoll.errors import InputError
    from plimsoll.runs.directory import json_text
    from plimsoll.verbs.drafting import new as draft_of

    variable = (token or "").removeprefix("env:")
    if token is not None and (not token.startswith("env:") or not os.environ.get(variable)):
        given = f"the variable {variable} is not set" if token.startswith("env:") else "it is no env:NAME"
        raise InputError(f"--token: {given}", "Put the token into a variable: export NAME=…; --token env:NAME.")
    _say_size(access_log or [])
    draft = draft_of(
        url,
        access_log=access_log or None,
        openapi=openapi,
        har=har,
        jmx=jmx,
        output=output,
        force=force,
        least_share=share_of(least, "--least", "1%"),
        token=os.environ[variable] if token is not None else None,
    )
    print(json_text(draft.to_json(), indent=2) if as_json else draft)


def _say_size(logs: list[str]) -> None:
    """That it takes a while, where it does."""
    import sys

    from plimsoll.words import size_words

    size = sum(path.stat().st_size for path in map(Path, logs) if path.is_file())
    if size >= MUCH_BYTES:
        print(f"plimsoll: reading {size_words(size)} of access logs; a gigabyte takes some minutes.", file=sys.stderr)
