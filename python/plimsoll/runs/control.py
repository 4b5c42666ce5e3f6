"""Words to a run that goes on, and its answers: both are lines of files in its run directory.

`plimsoll control` appends a line {"id", "verb", "level"} to control.jsonl; the run, which looks there several times a
second, carries it out and answers with an event `control` of that id.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plimsoll.errors import InputError, RunDirectoryError
from plimsoll.runs import directory
from plimsoll.runs.format.damaged import understood
from plimsoll.runs.format.lines import numbered_lines, read_lines
from plimsoll.runs.format.small_files import read_small
from plimsoll.study.bounds import MOST_LEVEL
from plimsoll.written_files import new_private

CONTROL = "control.jsonl"
VERBS = ("pause", "resume", "level", "stop")
_ANSWER_WITHIN_S = 10.0
_LOOK_AGAIN_S = 0.02
_REPORT = "plimsoll report shows what it measured."


@dataclass(frozen=True)
class Word:
    """One word to a run; `level` with the verb "level" only."""

    id: str
    verb: str
    level: float | None = None


class Listener:
    """The run's side: yields each word once."""

    def __init__(self, run_dir: Path) -> None:
        self._path = run_dir / CONTROL
        self._read_to = 0

    def words(self) -> Iterator[Word]:
        """What came since the last call; a line that is none of ours is passed over, and a file that cannot be read now
        is read later: the run goes on."""
        with contextlib.suppress(RunDirectoryError):
            for end, line in numbered_lines(self._path, self._read_to):
                self._read_to = end
                word = _word(line)
                if word is not None:
                    yield word


def _word(line: dict[str, Any]) -> Word | None:
    level = line.get("level")
    try:
        word = Word(str(line["id"]), str(line["verb"]), None if level is None else float(level))
    except (ValueError, KeyError, TypeError, OverflowError):
        return None
    is_level = word.level is not None and 0 <= word.level <= MOST_LEVEL
    return word if word.verb in VERBS and is_level == (word.verb == "level") else None


def newest(run_root: Path) -> Path:
    """The newest run below `run_root` that goes on; where none does, the newest. RunDirectoryError if there is none."""
    going_on = (one for one in reversed(directory.list_runs(run_root)) if _goes_on(one))
    return next(going_on, None) or directory.latest(run_root)


def _goes_on(run_dir: Path) -> bool:
    series = directory.file_of(run_dir, directory.SERIES)
    return series.is_file() and directory.is_being_written(series)


def tell(
    run_dir: Path,
    verb: str,
    level: float | None = None,
    *,
    within_s: float = _ANSWER_WITHIN_S,
    sleep: Callable[[float], None] = time.sleep,
) -> dict[str, Any]:
    """Say a word to the run in `run_dir`, and its answer, the event `control`.

    Raises InputError where no run goes on there, or where it does not answer.
    """
    series = directory.file_of(run_dir, directory.SERIES)
    if not series.is_file():
        raise InputError(
            f"{run_dir} is no run directory", "Give the folder that plimsoll run made, as in runs/20261122-…."
        )
    if not directory.is_being_written(series):
        raise InputError(f"the run in {run_dir} has ended", _REPORT)
    with understood(run_dir):
        experiment = json.loads(read_small(run_dir / directory.MANIFEST)).get("experiment")
    if experiment != "run":
        raise InputError(
            f"{run_dir} is a run of plimsoll {experiment}, which sets its level itself", "Ctrl-C stops it."
        )
    word = Word(secrets.token_hex(4), verb, level)
    line = json.dumps({"id": word.id, "verb": verb, "level": level}).encode() + b"\n"
    try:
        file = new_private(run_dir / CONTROL, append=True)
    except OSError as error:
        raise InputError(
            f"cannot write {run_dir / CONTROL}: {error.strerror}", "Only the user who runs it may."
        ) from None
    with file:
        file.write(line)
    deadline_s = time.monotonic() + within_s
    while True:
        is_running = directory.is_being_written(series)
        for event in read_lines(run_dir / directory.EVENTS):
            if event.get("kind") == "control" and event.get("id") == word.id:
                return event
        if not is_running:
            raise InputError(f"the run in {run_dir} ended before it heard that", _REPORT)
        if time.monotonic() >= deadline_s:
            step = "It has much else to do or stands still: see its terminal. The word waits for it."
            raise InputError(f"the run in {run_dir} did not answer within {within_s:g} s", step)
        sleep(_LOOK_AGAIN_S)
