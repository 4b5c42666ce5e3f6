"""`plimsoll grow`: how long does loading N items take, and how does it age?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli.flags.quantities import LoadTime, for_text, number
from plimsoll.cli.flags.shared import (
    AsJson,
    Details,
    Env,
    Isolate,
    Of,
    Probe,
    Quiet,
    Runs,
    Source,
    TargetVariant,
    Threads,
    Ui,
)
from plimsoll.study import bounds


def grow(
    source: Source,
    items: Annotated[int | None, typer.Option(min=1, max=bounds.MOST_ITEMS, help="items to load in all")] = None,
    function: Annotated[
        str | None,
        typer.Option("--exec", help="exported function that creates one item (default: the first operation)"),
    ] = None,
    min_users: Annotated[
        int | None, typer.Option(min=1, max=bounds.MOST_VUS, help="fewest creates at a time (default 1)")
    ] = None,
    max_users: Annotated[
        int | None, typer.Option(min=1, max=bounds.MOST_VUS, help="creates at a time at the most")
    ] = None,
    load_time: LoadTime = None,
    counter: Annotated[
        str | None, typer.Option(help="a Counter of the script that counts items, where a call creates several")
    ] = None,
    allowed_failures: Annotated[
        float | None,
        typer.Option(
            parser=number("--allowed-failures", 0, 0.99),
            metavar="NUMBER",
            help="share of creates that may fail (default 0)",
        ),
    ] = None,
    resume: Annotated[Path | None, typer.Option(help="an earlier run to go on from: its items count")] = None,
    variant: TargetVariant = None,
    of: Of = None,
    env: Env = None,
    seed: Annotated[int, typer.Option(min=0, max=bounds.MOST_SEED, help="for what scripts draw at random")] = 1,
    probe: Probe = None,
    threads: Threads = 1,
    isolate: Isolate = False,
    runs: Runs = Path("runs"),
    as_json: AsJson = False,
    details: Details = False,
    quiet: Quiet = False,
    ui: Ui = False,
) -> None:
    """Load items as fast as the target takes them without failing; forecast, growth of the time per item, cliffs.

    Exit codes: 0 loaded, 99 more creates failed than allowed, 2 wrong input, 3 invalid, 130 interrupted.
    """
    from plimsoll.cli.answers import show
    from plimsoll.cli.flags.long_run import chosen
    from plimsoll.cli.flags.page_beside import page_beside
    from plimsoll.cli.flags.taking_part import taking_part
    from plimsoll.cli.progress import ProgressLine, listening
    from plimsoll.verbs.long_runs import grow as find

    choices = chosen(runs, env, seed, threads, isolate, variant, probe)
    part = taking_part(source, of)
    with page_beside(ui, runs), listening(ProgressLine(quiet=quiet)) as listeners:
        answer = find(
            part, choices, listeners, resume, items=items, exec=function, min_users=min_users, max_users=max_users,
            counter=counter, allowed_failures=allowed_failures, for_=for_text(load_time),
        )  # fmt: skip
    show(answer, as_json, details)
