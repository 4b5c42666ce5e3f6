"""What the page may tell a run that goes on, and how it is told.

A `plimsoll run` takes words (runs/control.py). Other verbs choose their levels themselves and can only be stopped, and
that by the process beside them (`--ui`) alone: as Ctrl-C does it.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from plimsoll.runs.control import VERBS, tell
from plimsoll.runs.kept.catalogue import StoredRun
from plimsoll.study.bounds import MOST_LEVEL
from plimsoll.ui.folder import Folder
from plimsoll.ui.requests import Refused
from plimsoll.words import count_words

STOPS = "stopping, as Ctrl-C does: what was measured is judged and kept"


class Owner:
    """The verb beside which this process is: its process, and the run that it has begun last."""

    def __init__(self, process: int) -> None:
        self._process = process
        self.runs: list[Path] = []

    def name_of_run(self, folder: Folder) -> str | None:
        """The name of its newest run; None before there is one."""
        return folder.name_of(self.runs[-1]) if self.runs else None

    def newest(self) -> Path:
        """Its newest run; it has begun one."""
        return self.runs[-1]

    def owns(self, run: Path) -> bool:
        """Whether that is a run of this verb."""
        return any(os.path.abspath(one) == os.path.abspath(run) for one in self.runs)

    def interrupt(self) -> None:
        """As Ctrl-C. Refused where it is no longer this process's parent: another may have its number."""
        if os.getppid() != self._process:
            raise Refused("The run has ended.", 409)
        with suppress(ProcessLookupError):
            os.kill(self._process, signal.SIGINT)


@dataclass(frozen=True)
class Control:
    """What the page offers: all words, or to stop alone; `why_not`, where it offers less."""

    words: bool
    stop: bool
    why_not: str


def control_of(run: StoredRun, owner: Owner | None) -> Control:
    """What can be told to a run."""
    if run.status != "running":
        return Control(False, False, "")
    if run.experiment == "run":
        return Control(True, True, "")
    why_not = f"plimsoll {run.experiment} chooses its levels itself, so pause and level are not offered."
    if owner is not None and owner.owns(run.path):
        return Control(False, True, why_not)
    return Control(False, False, f"{why_not} Ctrl-C in its terminal stops it.")


def tell_run(run: StoredRun, owner: Owner | None, verb: str, level_text: str) -> str:
    """Tell a run a word; its answer. Raises Refused, InputError."""
    if verb not in VERBS:
        raise Refused(f"There is no such word. Say one of {', '.join(VERBS)}.")
    if run.experiment != "run" and verb == "stop" and owner is not None and owner.owns(run.path):
        owner.interrupt()
        return STOPS
    level = _level(level_text) if verb == "level" else None
    return str(tell(run.path, verb, level)["answer"])


def _level(text: str) -> float:
    try:
        level = float(text)
    except ValueError:
        level = -1.0
    if not 0 <= level <= MOST_LEVEL:
        raise Refused(f"A level is a number from 0 to {count_words(MOST_LEVEL)}: times the declared load.")
    return level
