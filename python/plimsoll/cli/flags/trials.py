"""Flags of compare, decompose and sweep, and how their words become values."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from plimsoll.cli.flags.quantities import seconds
from plimsoll.study import bounds

Users = Annotated[
    str | None,
    typer.Option(
        help="levels, as in 10,50: users of a study, VUs of a script (default: the expected or declared load)"
    ),
]
Rate = Annotated[str | None, typer.Option(help="levels of a load with arrival rates, as arrivals per second: 50,100")]
Seconds = Annotated[
    float | None,
    typer.Option(
        "--trial",
        parser=seconds("--trial", 1),
        metavar="TIME",
        help="time for which each trial is held and counts (default 10s)",
    ),
]
WarmUp = Annotated[
    float | None,
    typer.Option(
        parser=seconds("--warm-up"),
        metavar="TIME",
        help="warm-up before each trial, which does not count (default 2s)",
    ),
]
Seed = Annotated[int, typer.Option(min=0, max=bounds.MOST_SEED, help="for the order of trials and random arrivals")]
Resume = Annotated[Path | None, typer.Option(help="go on with this run: complete trials are kept")]


def numbers(text: str | None, flag: str) -> tuple[float, ...]:
    """ "10,50" as numbers. Raises InputError that names the flag."""
    from plimsoll.errors import InputError

    if text is None:
        return ()
    parts = text.split(",")
    if len(parts) > bounds.MOST_PARTS:
        raise InputError(f"{flag}: {len(parts):,} levels are too many", f"Give at most {bounds.MOST_PARTS:,}.")
    most = bounds.MOST_PER_S if flag == "--rate" else bounds.MOST_USERS
    return tuple(bounds.number_of(part, flag, most=most, is_above=True, example=f"{flag} 10,50,100") for part in parts)


def values(texts: list[str], flag: str) -> dict[str, tuple[str, ...]]:
    """`NAME=1,10,100` of a repeatable flag. Raises InputError that names the flag."""
    from plimsoll.cli.run.verb import pairs
    from plimsoll.errors import InputError

    found = pairs(texts, flag)
    if len(found) < len(texts):
        raise InputError(f"{flag}: a name is there twice", "Give all its values at once, as in NAME=1,10,100.")
    return {name: tuple(part.strip() for part in text.split(",") if part.strip()) for name, text in found.items()}


def choices(**told: Any) -> Any:
    """TrialChoices of the shared flags."""
    from plimsoll.cli.run.verb import pairs
    from plimsoll.plans.requests import TrialChoices

    users, rate, env = told.pop("users"), told.pop("rate"), told.pop("env")
    return TrialChoices(
        users=numbers(users, "--users"),
        rate=numbers(rate, "--rate"),
        env=pairs(env or [], "--env"),
        background=True,
        **told,
    )
