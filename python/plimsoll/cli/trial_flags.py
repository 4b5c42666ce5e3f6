"""Flags that compare, decompose and sweep share, and how their words become values."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from plimsoll.session import Answer
    from plimsoll.trial_verbs import Hooks

Users = Annotated[
    str | None, typer.Option(help="levels, as in 10,50: users of a study, VUs of a script; expected or declared load")
]
Rate = Annotated[str | None, typer.Option(help="levels of a load with arrival rates, as arrivals per second: 50,100")]
Seconds = Annotated[float | None, typer.Option("--trial", help="seconds each trial is held and counts; 10")]
WarmUp = Annotated[float | None, typer.Option(help="seconds before them that do not count; 2")]
Env = Annotated[list[str] | None, typer.Option("-e", "--env", help="NAME=value for the script's __ENV")]
ArrivalProcess = Annotated[str | None, typer.Option(help="poisson (default) or even (k6's)")]
Seed = Annotated[int, typer.Option(help="for the order of trials and random arrivals")]
Threads = Annotated[int, typer.Option(min=1, help="threads of the engine")]
Isolate = Annotated[bool, typer.Option("--isolate", help="generator and target on different processors")]
Resume = Annotated[Path | None, typer.Option(help="go on with this run: complete trials are kept")]
Runs = Annotated[Path, typer.Option(help="folder of run directories")]
AsJson = Annotated[bool, typer.Option("--json", help="print the findings as JSON on stdout")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="no progress")]


def numbers(text: str | None, flag: str) -> tuple[float, ...]:
    """ "10,50" as numbers. Raises InputError that names the flag."""
    from plimsoll.errors import InputError

    if text is None:
        return ()
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"{flag} {text}: not a list of numbers", f"Write {flag} 10,50,100.") from None


def values(texts: list[str], flag: str) -> dict[str, tuple[str, ...]]:
    """`NAME=1,10,100` of a repeatable flag. Raises InputError that names the flag."""
    from plimsoll.cli.run import pairs
    from plimsoll.errors import InputError

    found = pairs(texts, flag)
    if len(found) < len(texts):
        raise InputError(f"{flag}: a name is there twice", "Give all its values at once, as in NAME=1,10,100.")
    return {name: tuple(part.strip() for part in text.split(",") if part.strip()) for name, text in found.items()}


def hooks(quiet: bool) -> Hooks:
    """Progress and notes on stderr."""
    from plimsoll.cli.progress import TrialLine
    from plimsoll.trial_verbs import Hooks

    line = TrialLine(quiet=quiet)
    return Hooks(line, lambda text: line.say(f"plimsoll: {text}"), line.done)


def show(answer: Answer, as_json: bool) -> None:
    """Print the answer and the report's path; ends the program with the answer's exit code."""
    from plimsoll.findings.of_trials import exit_code
    from plimsoll.report.json_out import findings_json
    from plimsoll.report.text import answer_lines

    if as_json:
        print(findings_json(answer.run_directory))
    else:
        print(answer_lines(answer.findings))
        print(f"\nReport: {answer.report}")
    raise typer.Exit(exit_code(answer.findings[0]))


def choices(**told: Any) -> Any:
    """TrialChoices of the shared flags."""
    from plimsoll.cli.run import pairs
    from plimsoll.trial_requests import TrialChoices

    users, rate, env = told.pop("users"), told.pop("rate"), told.pop("env")
    return TrialChoices(
        users=numbers(users, "--users"),
        rate=numbers(rate, "--rate"),
        env=pairs(env or [], "--env"),
        background=True,
        **told,
    )
