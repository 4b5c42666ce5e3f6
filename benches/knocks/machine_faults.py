"""Faults of the machine below a run: memory that is limited, a clock that jumps, a stop, work of others."""

from __future__ import annotations

import multiprocessing
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from commands import Commands, Ended, Hung, wait_until
from knock import Bench, CannotTry, Try, knock
from stops import seconds_written
from verbs import LOADING, of, server, write_inputs
from written import findings, unreadable

sys.path.insert(0, str(Path(__file__).parents[1] / "planted"))
from confined import Skipped, memory_limit

GROUP_MIB = 400
HOARD = """import http from 'k6/http';
import { sleep } from 'k6';
const all = { executor: 'constant-vus', vus: 4, duration: '20s', gracefulStop: '2s' };
export const options = { scenarios: { all } };
const kept = [];
export default function () { http.get(`${__ENV.BASE_URL}/`); kept.push(new Uint8Array(4 << 20).fill(1)); sleep(0.05); }
"""
STEADY = """import http from 'k6/http';
export const options = { scenarios: { a: { executor: 'constant-arrival-rate', rate: 100, timeUnit: '1s',
  duration: '%ds', preAllocatedVUs: 20, maxVUs: 40, gracefulStop: '2s' } } };
export default function () { http.get(`${__ENV.BASE_URL}/${__ENV.X || ''}`); }
"""
BY_NAME = {verb.name: verb for verb in LOADING}


@knock(
    "memory-limited group",
    f"In {GROUP_MIB} MiB a usual load runs. A script that hoards is cut off by --vu-memory; without that the kernel "
    "ends the run as kill -9 does: it opens and reports, and nothing is left running.",
)
def memory_limited(bench: Bench) -> Iterator[Try]:
    try:
        with memory_limit(GROUP_MIB) as before, server() as url:
            yield _confined(bench, "a usual load", before, url, STEADY % 6, [], may_be_killed=False)
            yield _confined(
                bench, "hoarding, 32 MB a VU", before, url, HOARD, ["--vu-memory", "32MB"], may_be_killed=False
            )
            yield _confined(
                bench, "hoarding without bounds", before, url, HOARD, ["--vu-memory", "4GB"], may_be_killed=True
            )
    except Skipped as skipped:
        raise CannotTry(str(skipped)) from skipped


def _confined(
    bench: Bench, case: str, before: list[str], url: str, script: str, more: list[str], *, may_be_killed: bool
) -> Try:
    folder = bench.try_folder()
    write_inputs(folder, script)
    with Commands(folder) as commands:
        try:
            ended = commands.run("run", "-q", *more, "-e", f"BASE_URL={url}", "script.js", before=before, limit_s=60.0)
        except Hung as hung:
            return Try(case, (f"it {hung}",))
        killed = ended.code in (-signal.SIGKILL, 128 + signal.SIGKILL)
        broken = ["the kernel killed it"] if killed and not may_be_killed else []
        broken += [] if killed else ended.mistakes()
        for run in commands.runs():
            broken += unreadable(run, *(["killed"] if killed else ["finished", "interrupted", "failed"]))
            broken += commands.run("report", run, limit_s=120.0).mistakes(0)
        broken += commands.left_behind()
    return Try(case + (", killed" if killed else ""), tuple(broken), {"MiB": ended.peak_mib})


@knock(
    "clock jump",
    "A wall clock that is set an hour on or back while a load runs changes neither the load nor its times: as many "
    "seconds and requests as planned. The run says that it jumped.",
)
def clock_jump(bench: Bench) -> Iterator[Try]:
    shim = _clock_shim(bench)
    with server() as url:
        for jump_s in (3600.0, -3600.0):
            for verb in ("run", "hold", "capacity"):
                yield _jumped(bench, shim, verb, jump_s, url)


def _clock_shim(bench: Bench) -> Path:
    shim = bench.try_folder() / "clock_shim.so"
    source = Path(__file__).with_name("clock_shim.c")
    try:
        made = subprocess.run(
            ["cc", "-shared", "-fPIC", "-O2", "-o", str(shim), str(source)], capture_output=True, text=True, check=False
        )
    except FileNotFoundError as error:
        raise CannotTry("there is no C compiler for the shim that moves the clock of one process") from error
    if made.returncode:
        raise CannotTry(f"the shim that moves the clock of one process cannot be made: {made.stderr[:200]}")
    return shim


def _jumped(bench: Bench, shim: Path, name: str, jump_s: float, url: str) -> Try:
    case, seconds = f"{name}, {jump_s:+,.0f} s", 10
    folder = bench.try_folder()
    write_inputs(folder, STEADY % seconds)
    clock = folder / "clock"
    clock.write_bytes(struct.pack("d", 0.0))
    words = {"run": of(BY_NAME["run"], url), "hold": ["hold", "-q", "--details", "study.yaml", "--duration", seconds],
             "capacity": ["capacity", "-q", "--details", "study.yaml", "--for", "60s"]}[name]  # fmt: skip
    with Commands(folder) as commands:
        environment = {"LD_PRELOAD": str(shim), "KNOCK_CLOCK": str(clock)}
        running = commands.begin(*words, environment=environment)
        if not wait_until(lambda: seconds_written(commands) >= 4, 60.0):
            return Try(case, ("no load within 60 s",))
        with clock.open("r+b") as file:
            file.write(struct.pack("d", jump_s))
        try:
            ended = running.end(120.0)
        except Hung as hung:
            return Try(case, (f"it {hung}",))
        broken = ended.mistakes(0, 3, 99)
        for run in commands.runs():
            broken += unreadable(run, "finished")
        if name == "run":
            broken += _load_as_planned(commands.runs()[0], seconds, 100)
        told = " ".join([ended.text, *(str(found) for run in commands.runs() for found in findings(run))])
        broken += [] if "clock jumped" in told else ["that the clock jumped is not told"]
    return Try(case, tuple(broken))


def _load_as_planned(run: Path, seconds: int, per_s: int) -> list[str]:
    from plimsoll.runs.reader import RunReader

    found = list(RunReader(run).snapshots(metrics=()))
    done = sum(one.done for one in found)
    broken = [] if abs(done - seconds * per_s) <= 0.02 * seconds * per_s else [f"{done} of {seconds * per_s} were done"]
    return broken + ([] if seconds <= len(found) <= seconds + 3 else [f"{len(found)} seconds of {seconds}"])


FROZEN_S = 4.0


@knock(
    "frozen generator",
    "A generator that is stopped for seconds (SIGSTOP, docker pause, a migration) says so with its length, in every "
    "verb, and does not blame the target.",
)
def frozen_generator(bench: Bench) -> Iterator[Try]:
    with server("--service-ms", 1) as url:
        for name in ("run", "hold", "capacity", "drain", "compare", "sweep"):
            yield _frozen(bench, name, url)


def _frozen(bench: Bench, name: str, url: str) -> Try:
    words = {
        "run": of(BY_NAME["run"], url),
        "hold": ["hold", "-q", "--details", "study.yaml", "--duration", 15],
        "capacity": ["capacity", "-q", "--details", "study.yaml", "--for", "60s"],
        "drain": ["drain", "-q", "--details", "study.yaml", "--backlog", "echo 0", "--duration", 15, "--warm-up", 1],
        "compare": ["compare", "-q", "--details", "study.yaml", "--a", "X=1", "--b", "X=2", "--pairs", 2, "--trial", 6],
        "sweep": ["sweep", "-q", "--details", "study.yaml", "--over", "X=1,2", "--repeats", 1, "--trial", 8],
    }[name]
    folder = bench.try_folder()
    write_inputs(folder, STEADY % 14)
    with Commands(folder) as commands:
        running = commands.begin(*words)
        if not wait_until(lambda: seconds_written(commands) >= 4, 60.0):
            return Try(name, ("no load within 60 s",))
        running.send(signal.SIGSTOP)
        time.sleep(FROZEN_S)
        running.send(signal.SIGCONT)
        try:
            ended = running.end(180.0)
        except Hung as hung:
            return Try(name, (f"it {hung}",))
        broken = ended.mistakes(0, 3, 99)
        broken += [] if "stood still" in _told(commands, ended) else ["that the generator stood still is not told"]
        answers = " ".join(found["answer"] for run in commands.runs() for found in findings(run))
        broken += ["the target is blamed"] if "target became slow" in f"{ended.text} {answers}" else []
    return Try(name, tuple(broken))


@knock(
    "foreign CPU",
    "Work of others that takes the processors from generator or target is named in the answer, and an answer that it "
    "may have changed is not valid.",
)
def foreign_cpu(bench: Bench) -> Iterator[Try]:
    with server("--service-ms", 1) as url:
        for name in ("run", "hold", "capacity"):
            yield _beside_others(bench, name, url)


def _beside_others(bench: Bench, name: str, url: str) -> Try:
    words = {"run": of(BY_NAME["run"], url), "hold": ["hold", "-q", "--details", "study.yaml", "--duration", 15],
             "capacity": ["capacity", "-q", "--details", "study.yaml", "--for", "60s"]}[name]  # fmt: skip
    folder = bench.try_folder()
    write_inputs(folder, STEADY % 12)
    with Commands(folder) as commands, _all_cores_busy():
        try:
            ended = commands.run(*words, limit_s=180.0)
        except Hung as hung:
            return Try(name, (f"it {hung}",))
        broken = ended.mistakes(0, 3, 99)
        told = _told(commands, ended).lower()
        named = any(text in told for text in ("other work", "other processes", "work of others", "foreign"))
        broken += [] if named else [f"the work of others is not named: {ended.text[-300:]!r}"]
        broken += [] if _is_doubted(commands) else ["every finding is valid"]
    return Try(name, tuple(broken))


@contextmanager
def _all_cores_busy() -> Iterator[None]:
    """Two processes a core that compute without a pause."""
    workers = [multiprocessing.Process(target=_compute, daemon=True) for _ in range(2 * (os.cpu_count() or 1))]
    for worker in workers:
        worker.start()
    try:
        yield
    finally:
        for worker in workers:
            worker.kill()
            worker.join()


def _compute() -> None:
    until = time.monotonic() + 300.0
    while time.monotonic() < until:
        sum(range(10_000))


def _told(commands: Commands, ended: Ended) -> str:
    """What the command and the findings of its runs say."""
    return " ".join([ended.text, *(str(found) for run in commands.runs() for found in findings(run))])


def _is_doubted(commands: Commands) -> bool:
    """Whether a finding, or a part that it rests on, is not valid, or within an error only."""
    every = [found for run in commands.runs() for found in findings(run)]
    parts = [part for found in every for part in found.get("validity", [])]
    return any(not found["valid"] for found in every) or any(part["verdict"] != "valid" for part in parts)
