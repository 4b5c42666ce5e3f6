"""`plimsoll hold`: is it stable at one load, and does it meet the objectives?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli.flags.quantities import LoadTime, count, for_text, number, seconds
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


def hold(
    source: Source,
    users: Held = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            help='steer the load to the highest at which this is met: "p95<=300ms", "detail: p95<=20ms", "errors<=1%"'
        ),
    ] = None,
    max_users: Annotated[
        float | None,
        typer.Option(
            parser=count("--max-users"), metavar="NUMBER", help="of a steered load: never more than this, as 2k"
        ),
    ] = None,
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
            help="warm-up, which does not count (default 30s)",
        ),
    ] = None,
    baseline: Annotated[
        float | None,
        typer.Option(
            parser=seconds("--baseline"),
            metavar="TIME",
            help="length of the single-user baseline before it (default 30s, 0 skips it)",
        ),
    ] = None,
    memory_limit: Annotated[
        float | None,
        typer.Option(
            parser=number("--memory-limit", 0, bounds.MOST_MIB, above=True),
            metavar="NUMBER",
            help="MiB of memory that the target must not reach (default: the host's free memory)",
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
    """Hold one load: objectives with intervals, drift, periodic slowdowns, leaks, restarts, bursts of errors. With
    --keep, which may be repeated, find the highest load at which the objectives are met, and follow it over time.

    Exit codes: 0 answered and objectives met, 99 an objective failed, 2 wrong input, 3 invalid, 130 interrupted.
    """
    from plimsoll.cli.answers import show
    from plimsoll.cli.flags.long_run import chosen
    from plimsoll.cli.flags.page_beside import page_beside
    from plimsoll.cli.flags.taking_part import taking_part
    from plimsoll.cli.progress import ProgressLine, listening
    from plimsoll.verbs.long_runs import hold as find

    choices = chosen(runs, env, seed, threads, isolate, variant, probe)
    part = taking_part(source, of)
    with page_beside(ui, runs), listening(ProgressLine(quiet=quiet)) as listeners:
        answer = find(
            part, choices, listeners, users=users, duration_s=duration, warm_up_s=warm_up, baseline_s=baseline,
            memory_limit_mb=memory_limit, keep=keep, max_users=max_users, for_=for_text(load_time),
        )  # fmt: skip
    show(answer, as_json, details)
