"""`plimsoll sweep`: how does it depend on its parameters?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli.flags.quantities import LoadTime
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


def sweep(
    source: MaybeSource = None,
    over: Annotated[
        list[str] | None,
        typer.Option(help="NAME=1,10,100 for the script's __ENV; users=… and rate=… are levels; give it for each"),
    ] = None,
    repeats: Annotated[
        int | None, typer.Option(min=1, max=bounds.MOST_REPEATS, help="trials of each combination (default 3)")
    ] = None,
    stop_at_failure: Annotated[
        bool | None,
        typer.Option(
            "--stop-at-failure/--no-stop-at-failure", help="where nothing answers, try no larger values (default off)"
        ),
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
    """How do latency, memory and failures depend on parameters, and where does it stop answering?

    Exit codes: 0 answered, 2 wrong input, 3 invalid, 130 interrupted.
    """
    from plimsoll.cli.answers import show
    from plimsoll.cli.flags import trials as trial_flags
    from plimsoll.cli.flags.page_beside import page_beside
    from plimsoll.cli.flags.taking_part import taking_part
    from plimsoll.cli.progress import TrialLine, listening
    from plimsoll.plans.requests import SweepRequest
    from plimsoll.verbs.trials import sweep as sweep_verb

    part = taking_part(source, of)
    request = SweepRequest(part, trial_flags.values(over or [], "--over"), stop_at_failure)
    told = trial_flags.choices(
        users=users, rate=rate, for_s=load_time, trial_s=trial_s, warm_up_s=warm_up, repetitions=repeats, env=env,
        arrival_process=arrival_process, seed=seed, threads=threads, isolate=isolate, resume=resume, runs=runs,
    )  # fmt: skip
    with page_beside(ui, runs), listening(TrialLine(quiet=quiet)) as listeners:
        answer = sweep_verb(request, told, listeners)
    show(answer, as_json, details)
