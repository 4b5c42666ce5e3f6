"""`plimsoll size`: what hardware the expected load needs, by a finished run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli.shared_flags import AsJson


def size(
    runs: Annotated[
        list[Path],
        typer.Argument(help="a run of capacity or hold (runs/…), and runs of grow for memory and disk by items"),
    ],
    expected: Annotated[
        float | None, typer.Option(help="the load, in the run's unit; else its expected users, else what it carried")
    ] = None,
    rate: Annotated[float | None, typer.Option(help="the load as operations per second instead")] = None,
    items: Annotated[
        float | None, typer.Option(help="how many items it shall hold, where a run of grow is given")
    ] = None,
    cores: Annotated[
        list[float] | None, typer.Option(help="also what so many cores (0.5 is a quota) would carry; may be repeated")
    ] = None,
    reserve: Annotated[str, typer.Option(help="share of the hardware to be left unused")] = "30%",
    as_json: AsJson = False,
) -> None:
    """Say what CPU and memory the target needs for the load, and for 2, 5 and 10 times of it (docs/size.md). The answer
    is added to the run and its report.

    Exit codes: 0 answered, 2 wrong input, 3 the run is invalid.
    """
    import json

    from plimsoll.cli.budgets import share_of
    from plimsoll.report.text import answer_lines, table_lines
    from plimsoll.verbs.sizing import SizeChoices
    from plimsoll.verbs.sizing import size as size_of

    sized = size_of(runs, SizeChoices(expected, rate, items, share_of(reserve, "--reserve", "30%"), tuple(cores or ())))
    if as_json:
        print(json.dumps(sized.findings, indent=2, ensure_ascii=False))
    else:
        print(answer_lines(sized.findings))
        print(table_lines(sized.findings))
        print(f"\nReport: {sized.report}")
    raise typer.Exit(0 if sized.findings[0]["valid"] else 3)
