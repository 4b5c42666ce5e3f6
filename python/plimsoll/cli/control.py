"""`plimsoll control`: live control of a run that goes on in another terminal."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.words import count_words


def control(
    run_directory: Annotated[
        Path, typer.Argument(help="its run directory; or the folder of runs, for the newest that goes on")
    ],
    verb: Annotated[str, typer.Argument(help="pause, resume, level N (times the declared load), or stop")],
    value: Annotated[float | None, typer.Argument(help="N of level, at most a million")] = None,
) -> None:
    """Pause, resume, stop or change the level of a `plimsoll run` that goes on.

    Arrivals and VUs follow at once. A pause lets running iterations end, and the plan's time goes on.
    """
    from plimsoll.errors import InputError
    from plimsoll.nearest_word import nearest
    from plimsoll.runs.control import VERBS, newest, tell
    from plimsoll.study.bounds import MOST_LEVEL

    if verb not in VERBS:
        raise InputError(f"control: there is no '{verb}'", nearest(verb, VERBS, f"Say one of {', '.join(VERBS)}."))
    is_level = value is not None and 0 <= value <= MOST_LEVEL
    if is_level != (verb == "level") or (value is not None and not is_level):
        wrong = f"a number from 0 to {count_words(MOST_LEVEL)} belongs there" if verb == "level" else "takes no number"
        raise InputError(f"control {verb}: {wrong}", "Say for example: plimsoll control runs level 1.5.")
    found = run_directory if os.path.isfile(run_directory / "manifest.json") else newest(run_directory)
    print(tell(found, verb, value)["answer"])
