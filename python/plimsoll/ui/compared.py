"""Two runs side by side: what each answered, and their seconds. `plimsoll compare` tests whether one is slower."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plimsoll.plain_text import plain
from plimsoll.runs.kept.catalogue import stored_run
from plimsoll.ui.followed_run import FollowedRun
from plimsoll.ui.pages import row_of
from plimsoll.words import count_words, ms_words, number, share_words

NONE = "–"


def compared(names: Sequence[str], paths: Sequence[Path]) -> dict[str, Any]:
    """What the page of two runs shows."""
    runs = [stored_run(path) for path in paths]
    followed = [_read(path) for path in paths]
    told = [one.numbers() for one in followed]
    rows = [
        ("Verb", [plain(run.experiment) for run in runs]),
        ("Script or target", [plain(run.about) or NONE for run in runs]),
        ("Answer", [plain(run.answer) or NONE for run in runs]),
        ("Seconds of load", [count_words(one["seconds"]) for one in told]),
        ("Done", [f"{count_words(one['done'])}, {number(one['done_per_s'])}/s" for one in told]),
        ("Failed requests", [_failed(one) for one in told]),
        ("Median of the response times", [_ms(one["p50_ms"]) for one in told]),
        ("p95 of the response times", [_ms(one["p95_ms"]) for one in told]),
    ]
    return {
        "columns": [row_of(run, name) for run, name in zip(runs, names, strict=True)],
        "rows": rows,
        "courses": [one.course.whole() for one in followed],
        "command": f"plimsoll compare --runs-a {_quoted(paths[0])} --runs-b {_quoted(paths[1])}",
    }


def _read(path: Path) -> FollowedRun:
    run = FollowedRun(path)
    run.look_to_end()
    return run


def _failed(told: dict[str, Any]) -> str:
    if not told["requests"]:
        return NONE
    return f"{count_words(told['failed'])} ({share_words(told['failed'] / told['requests'])})"


def _ms(value: float | None) -> str:
    return NONE if value is None else ms_words(value)


def _quoted(path: Path) -> str:
    return shlex.quote(plain(path))
