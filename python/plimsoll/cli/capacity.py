"""`plimsoll capacity`: how much load it carries, and what stops it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from plimsoll.session import Answer


def capacity(
    source: Annotated[Path, typer.Argument(help="a study file (.yaml) or a k6 script (.js)")],
    max_users: Annotated[
        float | None, typer.Option(help="never put on more; of a script without --users-at-1x: multiples or VUs")
    ] = None,
    max_rate: Annotated[float | None, typer.Option(help="never more arrivals per second than this")] = None,
    min_users: Annotated[float | None, typer.Option(help="begin no lower than this level")] = None,
    variant: Annotated[str | None, typer.Option(help="the study's variant of the target to switch to")] = None,
    width: Annotated[float | None, typer.Option(min=0.001, max=0.9, help="(bad − good) / bad to stop at; 0.10")] = None,
    step: Annotated[float | None, typer.Option(min=1, help="seconds a good step lasts at least; 10")] = None,
    users_at_1x: Annotated[float | None, typer.Option(help="a script's users at its declared load")] = None,
    env: Annotated[list[str] | None, typer.Option("-e", "--env", help="NAME=value for the script's __ENV")] = None,
    arrival_process: Annotated[str | None, typer.Option(help="poisson (default) or even (k6's)")] = None,
    seed: Annotated[int, typer.Option(help="for random arrivals")] = 1,
    threads: Annotated[int, typer.Option(min=1, help="threads of the engine")] = 1,
    isolate: Annotated[bool, typer.Option("--isolate", help="generator and target on different processors")] = False,
    awake: Annotated[
        bool,
        typer.Option(
            "--awake/--no-awake",
            help="with --isolate on a virtual machine, keep the generator's own processors from halting",
        ),
    ] = True,
    budget: Annotated[
        list[str] | None,
        typer.Option(help="NAME=80%: how far it would go on that share of cpu, disk, or a process's one busy thread"),
    ] = None,
    cores: Annotated[int | None, typer.Option(min=1, help="how far it would go on a host with so many cores")] = None,
    runs: Annotated[Path, typer.Option(help="folder of run directories")] = Path("runs"),
    as_json: Annotated[bool, typer.Option("--json", help="print the findings as JSON on stdout")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="no progress")] = False,
) -> None:
    """Find how much load a target carries: the highest level proven good, the lowest proven bad, and what stops it.

    Exit codes: 0 answered and objectives met, 99 an objective failed, 2 wrong input, 3 invalid, 130 interrupted.
    """
    from plimsoll.cli.budgets import budgets_of
    from plimsoll.cli.progress import ProgressLine
    from plimsoll.cli.run import pairs
    from plimsoll.plans import Choices
    from plimsoll.verbs import capacity as find_capacity

    choices = Choices(
        background=True,
        runs=runs,
        env=pairs(env or [], "--env"),
        variant=variant,
        width=width,
        step_s=step,
        min_level=min_users,
        max_level=max_users,
        max_rate_per_s=max_rate,
        users_at_1x=users_at_1x,
        arrival_process=arrival_process,
        seed=seed,
        threads=threads,
        isolate=isolate,
        awake=awake,
        budgets=budgets_of(budget),
        cores=cores,
    )
    progress = ProgressLine(quiet=quiet)
    try:
        answer = find_capacity(source, choices, progress, lambda text: progress.say(f"plimsoll: {text}"), progress.say)
    finally:
        progress.done()
    show(answer, as_json)


def show(answer: Answer, as_json: bool) -> None:
    """Print the answer and the report's path; ends the program with the answer's exit code."""
    from plimsoll.findings.capacity import exit_code
    from plimsoll.report.json_out import findings_json
    from plimsoll.report.text import answer_lines

    if as_json:
        print(findings_json(answer.run_directory))
    else:
        print(answer_lines(answer.findings))
        print(f"\nReport: {answer.report}")
    raise typer.Exit(exit_code(answer.findings[0]))
