"""`plimsoll drain`: does the asynchronous consumer behind the target keep up?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli.flags.quantities import LoadTime, for_text, number, seconds
from plimsoll.cli.flags.quantities import duration as duration_of
from plimsoll.cli.flags.shared import (
    ArrivalSeed,
    AsJson,
    Details,
    Env,
    Held,
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


def drain(
    source: Source,
    backlog: Annotated[
        str | None,
        typer.Option(help="items waiting: URL#place, 'sql:DSN QUERY', 'log:FILE PATTERN', size:PATH or a command"),
    ] = None,
    produced: Annotated[
        str | None, typer.Option(help="counter of items put in (default: the load's own operations)")
    ] = None,
    consumed: Annotated[str | None, typer.Option(help="counter of items that the consumer has done")] = None,
    index: Annotated[str | None, typer.Option(help="bytes that the consumer keeps, as size:FOLDER")] = None,
    polls: Annotated[
        str | None, typer.Option(help="list of the consumer's polls: URL#place, items and seconds of each")
    ] = None,
    index_budget: Annotated[
        float | None,
        typer.Option(
            parser=number("--index-budget", 0, bounds.MOST_MIB, above=True),
            metavar="NUMBER",
            help="MiB that the index must not exceed",
        ),
    ] = None,
    memory_budget: Annotated[
        float | None,
        typer.Option(
            parser=number("--memory-budget", 0, bounds.MOST_MIB, above=True),
            metavar="NUMBER",
            help="MiB of memory that the processes must not exceed",
        ),
    ] = None,
    operation: Annotated[str | None, typer.Option(help="the operation that puts items in (default: all)")] = None,
    items_per_operation: Annotated[
        float | None,
        typer.Option(
            parser=number("--items-per-operation", 0, bounds.MOST_USERS, above=True),
            metavar="NUMBER",
            help="items that one operation puts in (default 1)",
        ),
    ] = None,
    users: Held = None,
    load_time: LoadTime = None,
    duration: Annotated[
        float | None,
        typer.Option(
            parser=duration_of("--duration", bare_s=True), metavar="TIME", help="time that counts (default 600s)"
        ),
    ] = None,
    warm_up: Annotated[
        float | None,
        typer.Option(
            parser=seconds("--warm-up"),
            metavar="TIME",
            help="warm-up, which does not count (default 10s)",
        ),
    ] = None,
    drain_limit: Annotated[
        float | None,
        typer.Option(
            parser=seconds("--drain-limit"),
            metavar="TIME",
            help="time to wait for the backlog after the load (default 300s)",
        ),
    ] = None,
    variant: TargetVariant = None,
    of: Of = None,
    env: Env = None,
    seed: ArrivalSeed = 1,
    probe: Probe = None,
    threads: Threads = 1,
    isolate: Isolate = False,
    runs: Runs = Path("runs"),
    as_json: AsJson = False,
    details: Details = False,
    quiet: Quiet = False,
    ui: Ui = False,
) -> None:
    """Load a target and follow its asynchronous consumer: keeping up or not, time to drain, growth of its index.

    Exit codes: 0 keeps up or cannot tell, 99 falls behind, 2 wrong input, 3 invalid, 130 interrupted.
    """
    from plimsoll.cli.answers import show
    from plimsoll.cli.flags.long_run import chosen
    from plimsoll.cli.flags.page_beside import page_beside
    from plimsoll.cli.flags.taking_part import taking_part
    from plimsoll.cli.progress import ProgressLine, listening
    from plimsoll.verbs.long_runs import drain as find

    choices = chosen(runs, env, seed, threads, isolate, variant, probe)
    part = taking_part(source, of)
    with page_beside(ui, runs), listening(ProgressLine(quiet=quiet)) as listeners:
        answer = find(
            part, choices, listeners, backlog=backlog, produced=produced, consumed=consumed, index=index,
            polls=polls,
            index_budget_mb=index_budget, memory_budget_mb=memory_budget, operation=operation,
            items_per_operation=items_per_operation, users=users, duration_s=duration, for_=for_text(load_time),
            warm_up_s=warm_up, drain_s=drain_limit,
        )  # fmt: skip
    show(answer, as_json, details)
