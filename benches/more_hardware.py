"""Is the capacity on more CPU what a run on less of it predicts? A real app under CPU quotas of a control group.

    python benches/more_hardware.py [SEEDS]        1 if left out; about five minutes each; needs root and cgroup 1

The app (benches/planted/app.py, one busy thread, about 4 ms of CPU per request) gets a quota of 0.25 core. `plimsoll
capacity` finds what it carries, `plimsoll size --cores 0.5 --cores 1` says what it would carry with more, and then it
gets that quota and is measured. The goal is 15 %; each line says whether it was met. Both numbers are the highest level
proven good; a bracket of 10 % is part of the difference. With one core and a generator beside it that is the end here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from target import ROOT, await_listening, free_port

GROUPS = Path("/sys/fs/cgroup/cpu")
FIRST, MORE = 0.25, (0.5, 1.0)
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


@contextmanager
def app(cores: float) -> Iterator[str]:
    """The URL of the app under that quota."""
    port = free_port()
    command = [sys.executable, str(ROOT / "benches/planted/app.py"), "--port", str(port), "--cpu-ms", str(CPU_MS)]
    with group("app") as limited:
        (limited / "cpu.cfs_period_us").write_text(str(PERIOD_US))
        (limited / "cpu.cfs_quota_us").write_text(str(round(cores * PERIOD_US)))
        server = subprocess.Popen(command)
        try:
            (limited / "cgroup.procs").write_text(str(server.pid))
            await_listening(port)
            yield f"http://127.0.0.1:{port}/"
        finally:
            server.kill()
            server.wait()


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


def capacity(cores: float, seed: int, folder: Path) -> dict[str, Any]:
    """The capacity finding of the app under that quota."""
    with app(cores) as url:
        flags = ["-e", f"URL={url}", "--isolate", "--step", 8, "--seed", seed, "-q", "--runs", folder / "runs"]
        return plimsoll("capacity", folder / "script.js", *flags)[0]


def main() -> None:
    if not (GROUPS / "cpu.cfs_quota_us").exists():
        sys.exit(f"skipped: there is no {GROUPS} (cgroup 1) here")
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    print(f"One busy thread, {CPU_MS} ms of CPU per request and what HTTP takes; predicted from {FIRST:g} core.\n")
    print(
        "| seed | quota, cores | predicted, /s (95 %) | measured, /s | apart | within 15 % |\n|---|---|---|---|---|---|"
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "script.js").write_text(SCRIPT)
        for seed in range(1, seeds + 1):
            first = capacity(FIRST, seed, folder)
            carried = first["capacity"]["rate_per_s"]
            print(
                f"| {seed} | {FIRST:g} | – | {carried or 0:.1f} ({first['limited_by']['kind']}) | – | – |", flush=True
            )
            cores = [word for value in MORE for word in ("--cores", value)]
            [sized] = plimsoll("size", first["run"], *cores)
            for one in sized["sizing"]["carries"]:
                found = capacity(one["cores"], seed, folder)["capacity"]["rate_per_s"]
                show(seed, one, found)


def show(seed: int, one: dict[str, Any], found: float | None) -> None:
    if one["per_s"] is None or not found:
        told = one["why"] or f"{one['per_s']:.1f}"
        print(f"| {seed} | {one['cores']:g} | {told} | {found or 'no level proven good'} | – | no |", flush=True)
        return
    apart = one["per_s"] / found - 1
    low, high = one["interval"]
    to = f"{low:.1f} to {high:.1f}" if high is not None else f"{low:.1f} or more"
    verdict = "yes" if abs(apart) <= GOAL else "no"
    print(
        f"| {seed} | {one['cores']:g} | {one['per_s']:.1f} ({to}) | {found:.1f} | {apart:+.1%} | {verdict} |",
        flush=True,
    )


if __name__ == "__main__":
    main()
