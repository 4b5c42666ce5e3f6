"""`plimsoll decompose`: where does the time go?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli.flags.quantities import LoadTime
from plimsoll.cli.flags.shared import AsJson, Details, Env, Isolate, Of, Quiet, Runs, Threads, Ui
from plimsoll.cli.flags.trials import Rate, Resume, Seconds, Seed, Users, WarmUp
from plimsoll.study import bounds


def decompose(
    sources: Annotated[
        list[Path] | None, typer.Argument(help="a study or script with --variant, or scripts, the whole first")
    ] = None,
    variant: Annotated[
        list[str] | None,
        typer.Option(help="the whole first: an exported function, a study's variant, or NAME:form as in compare --a"),
    ] = None,
    parts: Annotated[
        bool | None,
        typer.Option(
            "--parts/--nested",
            help="the other variants are separate parts of the first, or each contains the next (default nested)",
        ),
    ] = None,
    statistic: Annotated[
        str | None, typer.Option(help="statistic of the iteration duration: mean or p50 (default mean)")
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(min=2, max=bounds.MOST_REPEATS, help="rounds, each with a trial of every variant (default 10)"),
    ] = None,
    users: Users = None,
    rate: Rate = None,
    load_time: LoadTime = None,
    trial_s: Seconds = None,
    warm_up: WarmUp = None,
    of: Of = None,
    env: Env = None,
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
    """Where does the time go? The same work in several forms, from the whole to the least; shares add to 100%.

    Exit codes: 0 answered, 2 wrong input, 3 invalid, 130 interrupted.
    """
    from plimsoll.cli.answers import show
    from plimsoll.cli.flags import trials as trial_flags
    from plimsoll.cli.flags.page_beside import page_beside
    from plimsoll.cli.flags.taking_part import taking_part
    from plimsoll.cli.progress import TrialLine, listening
    from plimsoll.plans.requests import DecomposeRequest
    from plimsoll.verbs.trials import decompose as decompose_verb

    of_part = tuple(part for one in sources or (None,) if (part := taking_part(one, of)) is not None)
    request = DecomposeRequest(of_part, tuple(variant or ()), parts, statistic)
    told = trial_flags.choices(
        users=users, rate=rate, for_s=load_time, trial_s=trial_s, warm_up_s=warm_up, repetitions=rounds, env=env,
        seed=seed, threads=threads, isolate=isolate, resume=resume, runs=runs,
    )  # fmt: skip
    with page_beside(ui, runs), listening(TrialLine(quiet=quiet)) as listeners:
        answer = decompose_verb(request, told, listeners)
    show(answer, as_json, details)
