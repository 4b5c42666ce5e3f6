"""`plimsoll hold`: is it stable at one load, and does it meet the objectives?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def hold(
    source: Annotated[Path, typer.Argument(help="a study file (.yaml) or a k6 script (.js)")],
    users: Annotated[
        float | None,
        typer.Option(help="the load; the study's expected users. Of a script: multiples of its load, or VUs"),
    ] = None,
    duration: Annotated[float | None, typer.Option(min=1, help="seconds to hold it; 600")] = None,
    warm_up: Annotated[float | None, typer.Option(min=0, help="seconds before that do not count; 30")] = None,
    baseline: Annotated[
        float | None, typer.Option(min=0, help="seconds of one user alone before; 30; 0 leaves it out")
    ] = None,
    memory_limit: Annotated[
        float | None, typer.Option(help="MiB of memory that the target must not reach; the host's free memory")
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
    """Hold one load: objectives with intervals, drift, periodic slowdowns, leaks, restarts, bursts of errors.

    Exit codes: 0 answered and objectives met, 99 an objective failed, 2 wrong input, 3 invalid, 130 interrupted.
    """
    from plimsoll.cli.long_run import answered, chosen, listening
    from plimsoll.long_runs import hold as find

    choices = chosen(runs, env, seed, threads, isolate, variant)
    with listening(quiet) as listeners:
        answer = find(
            source, choices, listeners, users=users, duration_s=duration, warm_up_s=warm_up, baseline_s=baseline,
            memory_limit_mb=memory_limit,
        )  # fmt: skip
    answered(answer, as_json)
