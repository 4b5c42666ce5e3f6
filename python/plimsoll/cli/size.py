"""`plimsoll size`: what hardware the expected load needs, by a finished run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli.flags.quantities import number
from plimsoll.cli.flags.shared import AsJson, Details, named_run
from plimsoll.study import bounds

SECONDS_OF = {"s": 1, "min": 60, "h": 3600, "d": 86_400}


def size(
    runs: Annotated[
        list[Path],
        typer.Argument(
            parser=named_run,
            metavar="RUN",
            help="a run of capacity, hold or drain (runs/…, or latest), and runs of grow for memory and disk by items",
        ),
    ],
    expected: Annotated[
        float | None,
        typer.Option(
            parser=number("--expected", 0, bounds.MOST_USERS, above=True),
            metavar="NUMBER",
            help="the load, in the run's unit (default: its expected users, else what it carried)",
        ),
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option(help="the load as operations (of drain: items) per second instead; 198000/h and 5000000/d do too"),
    ] = None,
    items: Annotated[
        float | None,
        typer.Option(
            parser=number("--items", 0, bounds.MOST_ITEMS, above=True),
            metavar="NUMBER",
            help="how many items it shall hold, where a run of grow is given",
        ),
    ] = None,
    cores: Annotated[
        list[float] | None,
        typer.Option(
            parser=number("--cores", 0, bounds.MOST_CORES, above=True),
            metavar="NUMBER",
            help="also what so many cores (0.5 is a quota) would carry; may be repeated",
        ),
    ] = None,
    process: Annotated[
        list[str] | None, typer.Option(help="count this process of the target alone (its label); may be repeated")
    ] = None,
    reserve: Annotated[str, typer.Option(help="share of the hardware to be left unused")] = "30%",
    as_json: AsJson = False,
    details: Details = False,
) -> None:
    """Say what CPU and memory the target needs for the load, and for 2, 5 and 10 times of it (docs/size.md). The answer
    is added to the run and its report.

    Exit codes: 0 answered, 2 wrong input, 3 the run is invalid.
    """
    import json

    from plimsoll.cli.answers import words_of
    from plimsoll.cli.flags.budgets import share_of
    from plimsoll.report.text import table_lines
    from plimsoll.verbs.sizing import SizeChoices
    from plimsoll.verbs.sizing import size as size_of

    choices = SizeChoices(
        expected=expected,
        per_s=None if rate is None else _per_s(rate),
        items=items,
        reserve=share_of(reserve, "--reserve", "30%"),
        cores=tuple(cores or ()),
        processes=tuple(process or ()),
    )
    sized = size_of(runs, choices)
    if as_json:
        print(json.dumps(sized.findings, indent=2, ensure_ascii=False))
    else:
        if details:
            print(table_lines(sized.findings))
        print(words_of(sized.findings, sized.run_directory, sized.report, details))
    raise typer.Exit(0 if sized.findings[0]["valid"] else 3)


def _per_s(text: str) -> float:
    """ "55", "55/s", "198000/h", "5000000/d"."""
    from plimsoll.errors import InputError

    count, _, unit = text.strip().partition("/")
    try:
        per_s = float(count) / SECONDS_OF[unit or "s"]
    except (ValueError, KeyError):
        raise InputError(f"--rate {text[:60]!r} is no rate", "Write it like 55, 198000/h or 5000000/d.") from None
    return bounds.checked_number(per_s, "--rate", most=bounds.MOST_USERS, is_above=True, given=text)
