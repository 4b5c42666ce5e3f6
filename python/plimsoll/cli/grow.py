"""`plimsoll grow`: how long does loading N items take, and how does it age?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def grow(
    source: Annotated[Path, typer.Argument(help="a study file (.yaml) or a k6 script (.js)")],
    items: Annotated[int | None, typer.Option(min=1, help="items to load in all")] = None,
    function: Annotated[
        str | None, typer.Option("--exec", help="the script's function that creates an item; first operation, default")
    ] = None,
    min_users: Annotated[int | None, typer.Option(min=1, help="creates at a time at the least; 1")] = None,
    max_users: Annotated[int | None, typer.Option(min=1, help="creates at a time at the most")] = None,
    counter: Annotated[
        str | None, typer.Option(help="a Counter of the script that counts items, where a call creates several")
    ] = None,
    allowed_failures: Annotated[
        float | None, typer.Option(min=0, max=0.99, help="share of creates that may fail; 0")
    ] = None,
    resume: Annotated[Path | None, typer.Option(help="an earlier run to go on from: its items count")] = None,
    variant: Annotated[str | None, typer.Option(help="the study's variant of the target to switch to")] = None,
    env: Annotated[list[str] | None, typer.Option("-e", "--env", help="NAME=value for the script's __ENV")] = None,
    seed: Annotated[int, typer.Option(help="for what scripts draw at random")] = 1,
    threads: Annotated[int, typer.Option(min=1, help="threads of the engine")] = 1,
    isolate: Annotated[bool, typer.Option("--isolate", help="generator and target on different processors")] = False,
    runs: Annotated[Path, typer.Option(help="folder of run directories")] = Path("runs"),
    as_json: Annotated[bool, typer.Option("--json", help="print the findings as JSON on stdout")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="no progress")] = False,
) -> None:
    """Load items as fast as the target takes them without failing; forecast, growth of the time per item, cliffs.

    Exit codes: 0 loaded, 99 more creates failed than allowed, 2 wrong input, 3 invalid, 130 interrupted.
    """
    from plimsoll.cli.long_run import answered, chosen, listening
    from plimsoll.long_runs import grow as find

    choices = chosen(runs, env, seed, threads, isolate, variant)
    with listening(quiet) as listeners:
        answer = find(
            source, choices, listeners, resume, items=items, exec=function, min_users=min_users, max_users=max_users,
            counter=counter, allowed_failures=allowed_failures,
        )  # fmt: skip
    answered(answer, as_json)
