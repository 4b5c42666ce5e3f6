"""`plimsoll capacity`: how much load it carries, and what stops it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli.flags.quantities import LoadTime, count, for_text, number, seconds
from plimsoll.cli.flags.shared import (
    ArrivalProcess,
    ArrivalSeed,
    AsJson,
    Awake,
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


def capacity(
    source: Source,
    max_users: Annotated[
        float | None,
        typer.Option(
            parser=count("--max-users"),
            metavar="NUMBER",
            help="never put on more, as 2000 or 2k; of a script without --users-at-1x: multiples or VUs",
        ),
    ] = None,
    max_rate: Annotated[
        float | None,
        typer.Option(
            parser=count("--max-rate", bounds.MOST_PER_S),
            metavar="NUMBER",
            help="never more arrivals per second than this",
        ),
    ] = None,
    min_users: Annotated[
        float | None,
        typer.Option(parser=count("--min-users"), metavar="NUMBER", help="begin no lower than this level"),
    ] = None,
    variant: TargetVariant = None,
    load_time: LoadTime = None,
    width: Annotated[
        float | None,
        typer.Option(
            parser=number("--width", 0.001, 0.9),
            metavar="NUMBER",
            help="relative width of the bracket, (bad − good) / bad, at which to stop (default 0.10)",
        ),
    ] = None,
    step: Annotated[
        float | None,
        typer.Option(
            parser=seconds("--step", 1),
            metavar="TIME",
            help="shortest time that a good step is held (default 10s)",
        ),
    ] = None,
    users_at_1x: Annotated[
        float | None,
        typer.Option(
            parser=count("--users-at-1x"), metavar="NUMBER", help="a script's users at its declared load, as 200 or 2k"
        ),
    ] = None,
    of: Of = None,
    env: Env = None,
    arrival_process: ArrivalProcess = None,
    seed: ArrivalSeed = 1,
    probe: Probe = None,
    threads: Threads = 1,
    isolate: Isolate = False,
    awake: Awake = True,
    budget: Annotated[
        list[str] | None,
        typer.Option(help="NAME=80%: how far it would go on that share of cpu, disk, or a process's one busy thread"),
    ] = None,
    cores: Annotated[
        int | None, typer.Option(min=1, max=bounds.MOST_CORES, help="how far it would go on a host with so many cores")
    ] = None,
    negligible_below: Annotated[
        str | None,
        typer.Option(help="SHARE, as 5%: say whether these operations take less of the target at the expected load"),
    ] = None,
    recovery: Annotated[
        bool | None,
        typer.Option(
            "--recovery/--no-recovery",
            help="overload a target that collapses once more, to find where it recovers (default yes)",
        ),
    ] = None,
    verify: Annotated[
        str | None,
        typer.Option(help="a command: find the capacity, run it, find it again, and say what it changed"),
    ] = None,
    runs: Runs = Path("runs"),
    as_json: AsJson = False,
    details: Details = False,
    quiet: Quiet = False,
    ui: Ui = False,
) -> None:
    """Find how much load a target carries: the highest level proven good, the lowest proven bad, and what stops it.

    Exit codes: 0 answered and objectives met, 99 an objective failed or the expected load is not carried, 2 wrong
    input, 3 invalid, 130 interrupted.
    """
    from dataclasses import replace

    from plimsoll.cli.answers import show
    from plimsoll.cli.flags.budgets import budgets_of, share_of
    from plimsoll.cli.flags.long_run import chosen
    from plimsoll.cli.flags.page_beside import page_beside
    from plimsoll.cli.flags.taking_part import taking_part
    from plimsoll.cli.progress import ProgressLine, listening
    from plimsoll.verbs.capacity import capacity as find

    choices = replace(
        chosen(runs, env, seed, threads, isolate, variant, probe),
        users_at_1x=users_at_1x,
        arrival_process=arrival_process,
        awake=awake,
    )
    options = {
        "width": width,
        "step_s": step,
        "for_": for_text(load_time),
        "min_users": min_users,
        "max_users": max_users,
        "max_rate": max_rate,
        "budgets": budgets_of(budget) or None,
        "cores": cores,
        "negligible_below": None
        if negligible_below is None
        else share_of(negligible_below, "--negligible-below", "5%"),
        "recovery": recovery,
        "verify": verify,
    }
    part = taking_part(source, of)
    with page_beside(ui, runs), listening(ProgressLine(quiet=quiet)) as listeners:
        answer = find(part, choices, listeners, **options)
    show(answer, as_json, details)
