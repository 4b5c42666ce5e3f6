"""`plimsoll compare`: is B slower than A?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli.flags.quantities import LoadTime, number, seconds
from plimsoll.cli.flags.shared import (
    ArrivalProcess,
    AsJson,
    Details,
    Env,
    Isolate,
    MaybeSource,
    Of,
    Quiet,
    Runs,
    Threads,
    Ui,
)
from plimsoll.cli.flags.trials import Rate, Resume, Seconds, Seed, Users, WarmUp
from plimsoll.study import bounds


def compare(
    source: MaybeSource = None,
    other: Annotated[Path | None, typer.Argument(help="the script that is B, if the first is A")] = None,
    a: Annotated[list[str] | None, typer.Option(help="A: NAME=value, a URL (BASE_URL), a variant of the study")] = None,
    b: Annotated[list[str] | None, typer.Option(help="B, likewise; both may be given several times")] = None,
    switch_a: Annotated[str | None, typer.Option(help="command that makes a script's target A")] = None,
    switch_b: Annotated[str | None, typer.Option(help="command that makes a script's target B")] = None,
    reset: Annotated[str | None, typer.Option(help="command before each trial that restores the target's data")] = None,
    runs_a: Annotated[list[Path] | None, typer.Option(help="a finished run that is A; give it for each")] = None,
    runs_b: Annotated[list[Path] | None, typer.Option(help="a finished run that is B; give it for each")] = None,
    skip: Annotated[
        float | None,
        typer.Option(
            parser=seconds("--skip"),
            metavar="TIME",
            help="time at the start of finished runs that does not count (default 0s)",
        ),
    ] = None,
    pairs: Annotated[
        int | None, typer.Option(min=2, max=bounds.MOST_REPEATS, help="pairs of trials at each level (default 10)")
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(
            parser=number("--margin", 0, 0.99, above=True),
            metavar="NUMBER",
            help="relative change that does not matter (default 0.05)",
        ),
    ] = None,
    primary: Annotated[
        str | None, typer.Option(help="statistics that decide, of mean, p50, p90, p95, p99 (default p50,p95)")
    ] = None,
    users: Users = None,
    rate: Rate = None,
    load_time: LoadTime = None,
    trial_s: Seconds = None,
    warm_up: WarmUp = None,
    of: Of = None,
    env: Env = None,
    arrival_process: ArrivalProcess = None,
    seed: Seed = 1,
    threads: Threads = 1,
    isolate: Isolate = False,
    resume: Resume = None,
    runs: Runs = Path("runs"),
    as_json: AsJson = False,
    details: Details = False,
    quiet: Quiet = False,
    ui: Ui = False,
) -> None:
    """Is B slower than A? Pairs of trials in random order, or finished runs, judged per operation and level.

    Exit codes: 0 not slower beyond the margin, or undecided; 99 slower, or fails more; 2 wrong input; 3 invalid; 130
    interrupted.
    """
    from plimsoll.cli.answers import show
    from plimsoll.cli.flags import trials as trial_flags
    from plimsoll.cli.flags.page_beside import page_beside
    from plimsoll.cli.flags.taking_part import taking_part
    from plimsoll.cli.progress import TrialLine, listening
    from plimsoll.plans.requests import CompareRequest
    from plimsoll.verbs.trials import compare as compare_verb

    request = CompareRequest(
        taking_part(source, of),
        other,
        tuple(a or ()),
        tuple(b or ()),
        switch_a,
        switch_b,
        reset,
        margin,
        None if primary is None else tuple(part.strip() for part in primary.split(",") if part.strip()),
        tuple(runs_a or ()),
        tuple(runs_b or ()),
        skip,
    )
    told = trial_flags.choices(
        users=users, rate=rate, for_s=load_time, trial_s=trial_s, warm_up_s=warm_up, repetitions=pairs, env=env,
        arrival_process=arrival_process, seed=seed, threads=threads, isolate=isolate, resume=resume, runs=runs,
    )  # fmt: skip
    with page_beside(ui, runs), listening(TrialLine(quiet=quiet)) as listeners:
        answer = compare_verb(request, told, listeners)
    show(answer, as_json, details)
