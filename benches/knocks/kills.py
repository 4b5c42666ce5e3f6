"""kill -9 at a random moment of any verb."""

from __future__ import annotations

import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from commands import Commands, Hung, wait_until
from knock import Bench, Try, knock
from verbs import LOADING, OTHERS, Verb, finished_run, of, server, write_inputs
from written import MOST_LOST_S, lost_s, unreadable

STOPPED_S = 30.0
TIMES = 4


@knock(
    "kill -9",
    f"The run opens and reports, with all but its last {MOST_LOST_S:g} s at most. Nothing is left running; the "
    "target's stop command has run. What verbs that only read had begun to write leaves the run as it was.",
    limit_s=3600.0,
)
def kills(bench: Bench) -> Iterator[Try]:
    finished = finished_run(bench.try_folder())
    verbs = [*LOADING, *OTHERS]
    with server() as url:
        for number in range(bench.kills):
            verb = verbs[number % len(verbs)]
            yield _kill(bench, verb, url, finished)


def _kill(bench: Bench, verb: Verb, url: str, finished: Path) -> Try:
    """A kill that met the verb at work: at an earlier moment, where it had ended by itself."""
    moment_s = bench.chance.uniform(0.0, verb.within_s)
    for _ in range(TIMES):
        found = _killed(bench.try_folder(), verb, url, finished, moment_s)
        if found.skipped == "":
            return found
        moment_s *= 0.6
    return found


def _killed(folder: Path, verb: Verb, url: str, finished: Path, moment_s: float) -> Try:
    write_inputs(folder)
    shutil.copytree(finished, folder / "finished")
    case = f"{verb.name} after {moment_s:.2f} s"
    with Commands(folder) as commands:
        running = commands.begin(*of(verb, url))
        time.sleep(moment_s)
        killed_unix_s = time.time()
        running.send(signal.SIGKILL)
        ended = running.end()
        # `doctor` ends with 1 where other work runs beside, as here.
        if ended.code in (0, 1) and verb in OTHERS and not ended.mistakes():
            return Try(case, skipped="it had ended before")
        broken = ended.mistakes(-signal.SIGKILL) + commands.left_behind()
        if (folder / "started").exists() and not wait_until((folder / "stopped").exists, STOPPED_S):
            broken.append("the target's stop command did not run")
        measured: dict[str, float] = {}
        for run in commands.runs():
            broken += _of_run(commands, run, verb, killed_unix_s, measured)
        if verb in OTHERS:
            broken += _of_finished(commands)
    return Try(case, tuple(broken), measured)


def _of_run(commands: Commands, run: Path, verb: Verb, killed_unix_s: float, measured: dict[str, float]) -> list[str]:
    broken = unreadable(run, "killed", "finished", "failed")
    if broken:
        return broken
    lost = (
        lost_s(run, killed_unix_s) if verb.continuous and '"running"' in (run / "manifest.json").read_text() else None
    )
    if lost is not None:
        measured["s lost"] = lost
        broken += [f"{lost:.2f} s were lost"] if lost > MOST_LOST_S else []
    return broken + _reports(commands, run)


def _of_finished(commands: Commands) -> list[str]:
    """The run that a verb was reading when it was killed, and what it may have written there."""
    run = commands.folder / "finished"
    return unreadable(run, "finished") or _reports(commands, run)


def _reports(commands: Commands, run: Path) -> list[str]:
    try:
        ended = commands.run("report", run, limit_s=120.0)
    except Hung as hung:
        return [f"its report {hung}"]
    there = (run / "report.html").is_file()
    return [f"its report: {text}" for text in [*ended.mistakes(0), *([] if there else ["no file"])]]
