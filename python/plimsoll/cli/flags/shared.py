"""Flags that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli.flags.page_beside import UI_HELP
from plimsoll.cli.flags.quantities import count
from plimsoll.study import bounds


def named_run(text: str) -> Path:
    """A path, or a run by the end of its name in runs/, or the latest."""
    from plimsoll.verbs import stored

    return stored.named_run(text)


Source = Annotated[Path, typer.Argument(help="a study file (.yaml) or a k6 script (.js)")]
MaybeSource = Annotated[Path | None, typer.Argument(help="a study file (.yaml) or a k6 script (.js)")]
Held = Annotated[
    float | None,
    typer.Option(
        parser=count("--users"),
        metavar="NUMBER",
        help="the load (default: the study's expected users); of a script: multiples of its load, or VUs",
    ),
]
Of = Annotated[list[str] | None, typer.Option("--of", help="an operation or group of the study; these alone take part")]
TargetVariant = Annotated[str | None, typer.Option(help="the study's variant of the target to switch to")]
Env = Annotated[list[str] | None, typer.Option("-e", "--env", help="NAME=value for the script's __ENV")]
ArrivalProcess = Annotated[str | None, typer.Option(help="poisson (default) or even (k6's)")]
ArrivalSeed = Annotated[int, typer.Option(min=0, max=bounds.MOST_SEED, help="for random arrivals")]
Probe = Annotated[
    list[str] | None,
    typer.Option(help="postgresql=DSN or mysql=DSN: a database to watch; better postgresql=env:NAME, of a variable"),
]
Threads = Annotated[int, typer.Option(min=1, max=bounds.MOST_THREADS, help="threads of the engine")]
Isolate = Annotated[bool, typer.Option("--isolate", help="generator and target on different processors")]
Awake = Annotated[
    bool,
    typer.Option(
        "--awake/--no-awake",
        help="with --isolate on a virtual machine, keep the generator's own processors from halting",
    ),
]
Runs = Annotated[Path, typer.Option(help="folder of run directories")]
AsJson = Annotated[bool, typer.Option("--json", help="print the findings as JSON on stdout")]
Details = Annotated[
    bool, typer.Option("--details", help="print all answers whole, with evidence and notes, not one screen")
]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="no progress")]
Ui = Annotated[bool, typer.Option("--ui", help=UI_HELP)]
