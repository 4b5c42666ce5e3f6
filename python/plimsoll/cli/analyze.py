"""`plimsoll analyze`: the same answers from another tool's results, and a run's answers again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from plimsoll.cli.flags.quantities import number
from plimsoll.cli.flags.shared import AsJson, Details, Runs, named_run
from plimsoll.errors import InputError
from plimsoll.nearest_word import nearest
from plimsoll.plain_text import plain
from plimsoll.study import bounds


def analyze(
    files: Annotated[
        list[Path],
        typer.Argument(
            parser=named_run,
            metavar="FILE",
            help="results of JMeter, k6, Locust, Gatling, vegeta, oha, wrk, a table of levels (CSV), or runs/…",
        ),
    ],
    resources: Annotated[
        list[Path] | None,
        typer.Option(help="the server's side over time: Prometheus (text, range query as JSON) or CSV"),
    ] = None,
    offset: Annotated[
        float,
        typer.Option(
            parser=number("--offset", -bounds.MOST_OFFSET_S, bounds.MOST_OFFSET_S),
            metavar="NUMBER",
            help="seconds to add to the times of --resources, if clocks differ",
        ),
    ] = 0.0,
    objective: Annotated[
        list[str] | None, typer.Option(help='"p90<=500ms", or "GET /issues: p90<=500ms" for one request')
    ] = None,
    budget: Annotated[
        list[str] | None,
        typer.Option(help="RESOURCE=80%: how far it would go on that share; a+b=50% for two that share one"),
    ] = None,
    cores: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=bounds.MOST_CORES,
            help="of a run of capacity: how far it would go on a host with so many cores",
        ),
    ] = None,
    expected: Annotated[
        float | None,
        typer.Option(
            parser=number("--expected", 0, bounds.MOST_USERS),
            metavar="NUMBER",
            help="the load that headroom counts from",
        ),
    ] = None,
    model: Annotated[str | None, typer.Option(help="open or closed, where the file does not say")] = None,
    format: Annotated[str | None, typer.Option(help="name of the format; recognised by content if left out")] = None,
    level: Annotated[
        str | None, typer.Option(help="heading of the column of a table that is the load, where none is recognised")
    ] = None,
    together: Annotated[
        bool,
        typer.Option("--together", help="files are levels of one test; operations of a table ran at the same time"),
    ] = False,
    compare: Annotated[
        bool, typer.Option("--compare", help="two summaries or tables, A and B: what they are consistent with")
    ] = False,
    runs: Runs = Path("runs"),
    as_json: AsJson = False,
    details: Details = False,
) -> None:
    """Analyse another tool's results: each file becomes a run directory with findings and a report (docs/analyze.md). A
    run directory (runs/…) is judged again from what it holds, with other objectives, budgets or cores if given.

    Exit codes: 0 analysed, 99 an objective was missed or the expected load is not carried, 2 wrong input, 3 a run that
    is invalid.
    """
    import json

    from plimsoll.cli.answers import words_of
    from plimsoll.cli.flags.budgets import budgets_of
    from plimsoll.cli.live.waiting import Waiting
    from plimsoll.findings.exit_codes import exit_code_of
    from plimsoll.verbs.analysis import AnalysisChoices
    from plimsoll.verbs.analysis import analyze as analyse

    if model not in (None, "open", "closed"):
        raise InputError(
            f"--model {model} is neither open nor closed", nearest(model, ("open", "closed"), "Say one of them.")
        )
    choices = AnalysisChoices(
        runs=runs,
        format=format,
        resources=tuple(resources or ()),
        offset_s=offset,
        objectives=tuple(map(_objective, objective or ())),
        budgets=budgets_of(budget),
        cores=cores,
        expected=expected,
        level=level,
        together=together,
        compare=compare,
        model=model,  # type: ignore[arg-type]
    )
    with Waiting() as waiting:
        found = analyse(files, choices, waiting.tell)
    if as_json:
        print(json.dumps([finding for one in found for finding in one.findings], indent=2, ensure_ascii=False))
    else:
        for one in found:
            print(f"{plain(one.source)}\n")
            print(f"{words_of(one.findings, one.run_directory, one.report, details)}\n")
    raise typer.Exit(exit_code_of([one.findings for one in found]))


def _objective(text: str) -> dict[str, Any]:
    """ "p90<=500ms" or "name: p90<=500ms"."""
    subject, colon, rest = text.rpartition(":")
    return {"request": subject.strip(), "objective": rest.strip()} if colon else {"objective": text}
