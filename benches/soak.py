"""Hours of load on a target that dies every minute and breaks one connection in twenty: does Plimsoll stay small?

    make soak                                      8 hours at 500/s
    SOAK_HOURS=2 SOAK_RATE=1400 make soak          10 million requests
    python benches/soak.py --hours 0.1             a try; nothing is kept

`plimsoll hold` of a script of 20 operations runs on the testkit's site, which is killed and started again each minute;
5% of the requests go to a path that resets the connection. The script declares as many VUs as arrive in a second:
more are made only for a host that stands still for longer, and are counted. Memory and open files of the generator are
read every ten seconds. Flat is: growth in the second half under 1 MiB, or 1 file, an hour beyond twice its standard
error. Then the report is made anew, and timed. What was found is docs/soak.md.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import psutil
from bench_page import machine
from target import ROOT, await_listening, free_port

from plimsoll.runs.reader import RunReader

TESTKIT = ROOT / "target" / "release" / "plimsoll-testkit"
PAGE = ROOT / "docs" / "soak.md"
LOOK_S, LIVES_S = 10.0, 60.0
GOAL_REPORT_S, GOAL_MIB_PER_HOUR = 5.0, 10.0
SCRIPT = """import http from 'k6/http';
import { check } from 'k6';
export const options = { scenarios: { load: { executor: 'constant-arrival-rate', rate: %d, timeUnit: '1s',
  duration: '1h', preAllocatedVUs: %d, maxVUs: 4000 } } };
export default function () {
  const number = Math.floor(Math.random() * 20);
  const path = Math.random() < 0.05 ? '/reset' : `/echo?${number}`;
  const answer = http.get(`${__ENV.BASE_URL}${path}`, { tags: { name: `thing ${number}` }, timeout: '5s' });
  check(answer, { 'is there': (r) => r.status === 200 });
}
"""


@dataclass
class Looks:
    """What the generator took, look by look: seconds, MiB, open files."""

    at_s: list[float] = field(default_factory=list)
    mib: list[float] = field(default_factory=list)
    files: list[float] = field(default_factory=list)

    def growth(self, values: list[float]) -> tuple[float, float]:
        """(growth an hour in the second half, twice its standard error), by least squares over ten-minute means, as
        neighbours are alike."""
        half = len(values) // 2
        blocks = max(3, min(30, (len(values) - half) // 60))
        at = [part.mean() for part in np.array_split(np.asarray(self.at_s[half:]) / 3600, blocks)]
        level = [part.mean() for part in np.array_split(np.asarray(values[half:]), blocks)]
        slope, offset = np.polyfit(at, level, 1)
        rest = np.asarray(level) - slope * np.asarray(at) - offset
        error = np.sqrt(rest @ rest / max(1, blocks - 2) / np.sum((at - np.mean(at)) ** 2))
        return float(slope), float(2 * error)

    def until(self, end_s: float) -> Looks:
        """Those of the load: what it takes to judge it afterwards comes once."""
        many = sum(at < end_s for at in self.at_s)
        return Looks(self.at_s[:many], self.mib[:many], self.files[:many])


class MortalTarget:
    """The testkit's site on one port, killed and started again each minute."""

    def __init__(self) -> None:
        self.port = free_port()
        self.deaths = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._live, daemon=True)
        self._thread.start()
        await_listening(self.port)

    def _live(self) -> None:
        while not self._over.is_set():
            command = [str(TESTKIT), "--site", "--port", str(self.port)]
            with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as life:
                self._over.wait(LIVES_S)
                life.kill()
                self.deaths += 1

    def end(self) -> None:
        self._over.set()
        self._thread.join()


def watched(process: subprocess.Popen[str], limit_s: float) -> Looks:
    """Looks at the command's process until it ends; after the limit it is told to end."""
    looks, began = Looks(), time.monotonic()
    while process.poll() is None:
        with suppress(psutil.Error):
            seen = psutil.Process(process.pid)
            mib, files = seen.memory_info().rss / 2**20, float(seen.num_fds())
            looks.at_s.append(time.monotonic() - began)
            looks.mib.append(mib)
            looks.files.append(files)
        if time.monotonic() - began > limit_s:
            process.send_signal(signal.SIGINT)
            limit_s = float("inf")
        with suppress(subprocess.TimeoutExpired):
            process.wait(LOOK_S)
    return looks


def soak(hours: float, rate: int) -> list[str]:
    """The page's lines."""
    with tempfile.TemporaryDirectory(prefix="soak-") as made:
        folder = Path(made)
        (folder / "load.js").write_text(SCRIPT % (rate, rate))
        target = MortalTarget()
        load_s = hours * 3600
        words = [
            "hold",
            "-q",
            "--for",
            f"{load_s:.0f}s",
            "--baseline",
            "0",
            "-e",
            f"BASE_URL=http://127.0.0.1:{target.port}",
        ]
        try:
            process = subprocess.Popen(
                [sys.executable, "-m", "plimsoll", *words, "load.js"],
                cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            )  # fmt: skip
            told: list[str] = []
            reading = threading.Thread(target=lambda: told.append(process.stdout.read() if process.stdout else ""))
            reading.start()
            looks = watched(process, load_s + 600)
            reading.join()
        finally:
            target.end()
        [run] = (folder / "runs").iterdir()
        return [
            *_lines(run, looks, hours, rate, target.deaths, process.returncode),
            "",
            "```",
            "".join(told).strip(),
            "```",
        ]


def _lines(run: Path, looks: Looks, hours: float, rate: int, deaths: int, code: int) -> list[str]:
    began, cpu = time.monotonic(), psutil.Process().cpu_times()
    subprocess.run([sys.executable, "-m", "plimsoll", "report", str(run)], check=True, stdout=subprocess.DEVNULL)
    took_s, after = time.monotonic() - began, psutil.Process().cpu_times()
    cpu_s = after.children_user + after.children_system - cpu.children_user - cpu.children_system
    size_mib = sum(path.stat().st_size for path in run.rglob("*") if path.suffix == ".zst") / 2**20
    at_end, looks = looks, looks.until(hours * 3600)
    (mib, mib_error), (files, files_error) = looks.growth(looks.mib), looks.growth(looks.files)
    vus = RunReader(run).per_second("vus_max")["vus_max"]
    generator = json.loads((run / "findings.json").read_text())[0].get("generator", {})
    requests = rate * hours * 3600
    rows = [
        ("requests asked for", f"{requests / 1e6:.1f} M", ""),
        ("target killed", f"{deaths} times", ""),
        ("exit code", str(code), "99: requests failed"),
        (
            "memory of the generator",
            f"{looks.mib[len(looks.mib) // 2]:.0f} MiB in the middle, {max(looks.mib):.0f} at most; "
            f"{max(at_end.mib):.0f} while it judged",
            "",
        ),
        ("growth of memory, second half", f"{mib:+.1f} MiB an hour (± {mib_error:.1f})", _met(mib - mib_error < 1)),
        ("VUs", f"{rate} declared, {vus[len(vus) // 2]:.0f} in the middle, {max(vus):.0f} at most", ""),
        ("open files", f"{max(looks.files):.0f} at most", ""),
        (
            "growth of open files, second half",
            f"{files:+.1f} an hour (± {files_error:.1f})",
            _met(files - files_error < 1),
        ),
        (
            "compressed lines of the run",
            f"{size_mib / hours:.1f} MiB an hour",
            _met(size_mib / hours <= GOAL_MIB_PER_HOUR),
        ),
        ("report made anew", f"{took_s:.1f} s, {cpu_s:.1f} s of CPU", _met(took_s <= GOAL_REPORT_S)),
        ("generator healthy", str(generator.get("healthy")), ""),
    ]
    return ["| what | seen | goal |", "|---|---|---|", *(f"| {a} | {b} | {c} |" for a, b, c in rows)]


def _met(is_met: bool) -> str:
    return "met" if is_met else "missed"


def main() -> None:
    """Soak, print, and keep the page of an hour or more."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--hours", type=float, default=8.0)
    parser.add_argument("--rate", type=int, default=500, help="arrivals a second")
    asked = parser.parse_args()
    lines = soak(asked.hours, asked.rate)
    print("\n".join(lines))
    if asked.hours >= 1:
        head = [
            "# Hours of load", "",
            f"Made by `SOAK_HOURS={asked.hours:g} SOAK_RATE={asked.rate} make soak`: so many hours of `plimsoll hold`",
            f"at {asked.rate}/s, 20 operations, on a target that is killed each minute and resets one connection in",
            "twenty.",
            f"{time.strftime('%Y-%m-%d')}, {machine()}. How it is measured stands in benches/soak.py.", "",
        ]  # fmt: skip
        PAGE.write_text("\n".join([*head, *lines]) + "\n")


if __name__ == "__main__":
    main()
