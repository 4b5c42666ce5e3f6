"""`plimsoll drain`: does the asynchronous consumer behind the target keep up?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def drain(
    source: Annotated[Path, typer.Argument(help="a study file (.yaml) or a k6 script (.js)")],
    backlog: Annotated[
        str | None,
        typer.Option(help="items waiting: URL#place, 'sql:DSN QUERY', 'log:FILE PATTERN', size:PATH or a command"),
    ] = None,
    produced: Annotated[str | None, typer.Option(help="counter of items put in; the load's own operations")] = None,
    consumed: Annotated[str | None, typer.Option(help="counter of items that the consumer has done")] = None,
    index: Annotated[str | None, typer.Option(help="bytes that the consumer keeps, as size:FOLDER")] = None,
    index_budget: Annotated[float | None, typer.Option(help="MiB that the index must not exceed")] = None,
    memory_budget: Annotated[
        float | None, typer.Option(help="MiB of memory that the processes must not exceed")
    ] = None,
    operation: Annotated[str | None, typer.Option(help="the operation that puts items in; all")] = None,
    items_per_operation: Annotated[float | None, typer.Option(help="items that one puts in; 1")] = None,
    users: Annotated[
        float | None,
        typer.Option(help="the load; the study's expected users. Of a script: multiples of its load, or VUs"),
    ] = None,
    duration: Annotated[float | None, typer.Option(min=1, help="seconds of load; 600")] = None,
    warm_up: Annotated[float | None, typer.Option(min=0, help="seconds before that do not count; 10")] = None,
    drain_limit: Annotated[
        float | None, typer.Option(min=0, help="seconds to wait for the backlog after it; 300")
    ] = None,
    variant: Annotated[str | None, typer.Option(help="the study's variant of the target to switch to")] = None,
    env: Annotated[list[str] | None, typer.Option("-e", "--env", help="NAME=value for the script's __ENV")] = None,
    seed: Annotated[int, typer.Option(help="for random arrivals")] = 1,
    threads: Annotated[int, typer.Option(min=1, help="threads of the engine")] = 1,
    isolate: Annotated[bool, typer.Option("--isolate", help="generator and target on different processors")] = False,
    runs: Annotated[Path, typer.Option(help="folder of run directories")] = Path("runs"),
    as_json: Annotated[bool, typer.Option("--json", help="print the findings as JSON on stdout")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="no progress")] = False,
) -> None:
    """Load a target and follow its asynchronous consumer: keeping up or not, time to drain, growth of its index.

    Exit codes: 0 keeps up or cannot tell, 99 falls behind, 2 wrong input, 3 invalid, 130 interrupted.
    """
    from plimsoll.cli.long_run import answered, chosen, listening
    from plimsoll.long_runs import drain as find

    choices = chosen(runs, env, seed, threads, isolate, variant)
    with listening(quiet) as listeners:
        answer = find(
            source, choices, listeners, backlog=backlog, produced=produced, consumed=consumed, index=index,
            index_budget_mb=index_budget, memory_budget_mb=memory_budget, operation=operation,
            items_per_operation=items_per_operation, users=users, duration_s=duration,
            warm_up_s=warm_up, drain_s=drain_limit,
        )  # fmt: skip
    answered(answer, as_json)
