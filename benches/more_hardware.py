"""Is the capacity on more CPU what a run on less of it predicts? A real app under CPU quotas of a control group.

    python benches/more_hardware.py [SEEDS]        1 if left out; about eight minutes each; needs root and cgroup 1

The app (benches/planted/app.py, one busy thread, about 4 ms of CPU per request) gets a quota of 0.25 core. `plimsoll
capacity` finds what it carries, `plimsoll size --cores 0.5 --cores 1` says what it would carry with more, and then it
gets that quota and is measured. Then one process with a quota of 0.4 core, and two such on one port (SO_REUSEPORT; each
request has a connection of its own, as the system deals out connections). The goal is 15%; each line says whether it
was met. Measured is the highest level proven good, which may lie well below what the app carries: the lowest proven to
be too much is told beside it. With one core and a generator beside it that is the end here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from target import ROOT, await_listening, free_port

GROUPS = Path("/sys/fs/cgroup/cpu")
GOAL = 0.15
PERIOD_US = 20_000
CPU_MS = 4
SHARES = 8192  # of its processor: other work of the machine takes little of the quota
SCRIPT = """import http from 'k6/http';
export const options = { scenarios: { s: { executor: 'constant-arrival-rate', rate: 10, duration: '1m' } } };
export default function () { http.get(__ENV.URL); }
"""


@contextmanager
def group(name: str) -> Iterator[Path]:
    """A control group that other work of the machine takes little from."""
    folder = GROUPS / f"plimsoll-more-hardware-{os.getpid()}-{name}"
    folder.mkdir()
    try:
        (folder / "cpu.shares").write_text(str(SHARES))
        yield folder
    finally:
        folder.rmdir()


@dataclass(frozen=True)
class Hardware:
    """Processes of the app, each with so many cores."""

    cores: float
    processes: int = 1

    @property
    def words(self) -> str:
        return f"{self.processes} × {self.cores:g}" if self.processes > 1 else f"{self.cores:g}"


# What is measured first, what is predicted from it, and the variables of the script.
CASES: tuple[tuple[Hardware, tuple[Hardware, ...], tuple[str, ...]], ...] = (
    (Hardware(0.25), (Hardware(0.5), Hardware(1.0)), ()),
    (Hardware(0.4), (Hardware(0.4, 2),), ("-e", "NO_REUSE=1")),
)


@contextmanager
def app(hardware: Hardware) -> Iterator[str]:
    """The URL of the app on that hardware."""
    port = free_port()
    command = [sys.executable, str(ROOT / "benches/planted/app.py"), "--port", str(port), "--cpu-ms", str(CPU_MS)]
    with ExitStack() as stack:
        for number in range(hardware.processes):
            limited = stack.enter_context(group(f"app-{number}"))
            (limited / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (limited / "cpu.cfs_quota_us").write_text(str(round(hardware.cores * PERIOD_US)))
            server = subprocess.Popen([*command, "--share-port"])
            stack.callback(server.wait)
            stack.callback(server.kill)
            (limited / "cgroup.procs").write_text(str(server.pid))
            await_listening(port)
        yield f"http://127.0.0.1:{port}/"


def plimsoll(*arguments: object) -> list[dict[str, Any]]:
    """Findings of a command as JSON; ends the bench where there are none."""
    command = [sys.executable, "-m", "plimsoll", *map(str, arguments), "--json"]
    with group("generator") as preferred:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        (preferred / "cgroup.procs").write_text(str(process.pid))
        out, error = process.communicate()
    try:
        return json.loads(out)
    except json.JSONDecodeError:
        sys.exit(f"no finding from {' '.join(command)}:\n{out}{error}")


def capacity(hardware: Hardware, variables: tuple[str, ...], seed: int, folder: Path) -> dict[str, Any]:
    """The capacity finding of the app on that hardware."""
    with app(hardware) as url:
        flags = ["-e", f"URL={url}", *variables, "--isolate", "--step", 8, "--seed", seed, "-q"]
        return plimsoll("capacity", folder / "script.js", *flags, "--runs", folder / "runs")[0]


def main() -> None:
    if not (GROUPS / "cpu.cfs_quota_us").exists():
        sys.exit(f"skipped: there is no {GROUPS} (cgroup 1) here")
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    print(f"One busy thread a process, {CPU_MS} ms of CPU per request and what HTTP takes.\n")
    print(
        "| seed | processes and quota, cores | predicted, /s (95%) | measured, /s | too much, /s | apart "
        "| within 15% |\n"
        "|---|---|---|---|---|---|---|"
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "script.js").write_text(SCRIPT)
        for seed in range(1, seeds + 1):
            for first, more, variables in CASES:
                predicted_and_measured(first, more, variables, seed, folder)


def predicted_and_measured(
    first: Hardware, more: tuple[Hardware, ...], variables: tuple[str, ...], seed: int, folder: Path
) -> None:
    """Measures the first, predicts the others from it, and measures them."""
    found = capacity(first, variables, seed, folder)
    carried, too_much = bracket(found)
    limit = found["limited_by"]["kind"]
    print(f"| {seed} | {first.words} | – | {carried or 0:.1f} ({limit}) | {too_much} | – | – |", flush=True)
    wanted = [word for one in more for word in ("--cores", one.cores * one.processes)]
    [sized] = plimsoll("size", found["run"], *wanted)
    for one, predicted in zip(more, sized["sizing"]["carries"], strict=True):
        show(seed, one, predicted, capacity(one, variables, seed, folder))


def bracket(found: dict[str, Any]) -> tuple[float | None, str]:
    """Operations per second of the highest level proven good, and of the lowest proven to be too much in words."""
    about = found["capacity"]
    if not about["rate_per_s"] or not about["bad"]:
        return about["rate_per_s"], "–"
    return about["rate_per_s"], f"{about['rate_per_s'] * about['bad'] / about['good']:.1f}"


def show(seed: int, hardware: Hardware, one: dict[str, Any], measured: dict[str, Any]) -> None:
    """A line of the table."""
    found, too_much = bracket(measured)
    if one["per_s"] is None or not found:
        told = one["why"] or f"{one['per_s']:.1f}"
        nothing = "no level proven good"
        print(f"| {seed} | {hardware.words} | {told} | {found or nothing} | {too_much} | – | no |", flush=True)
        return
    apart = one["per_s"] / found - 1
    low, high = one["interval"]
    to = f"{low:.1f} to {high:.1f}" if high is not None else f"{low:.1f} or more"
    verdict = "yes" if abs(apart) <= GOAL else "no"
    seen = f"{one['per_s']:.1f} ({to}) | {found:.1f} | {too_much}"
    print(f"| {seed} | {hardware.words} | {seen} | {apart:+.1%} | {verdict} |", flush=True)


if __name__ == "__main__":
    main()
