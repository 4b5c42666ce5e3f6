"""What a generator can hold: memory, many VUs, a fast start, an exact rate, and a long run over many URLs.

    make bench-scale                     all rows; writes docs/bench.md (about 10 minutes)
    SCALE=quick make bench-scale         a tenth of the requests over many URLs
    ROWS=memory,start make bench-scale   some of them; the others keep what they had

Server on one core, generator on another. k6 runs beside ours where it is installed. The frozen target, whose truth is
known, is a test: tests/accuracy/test_open_model_truth.py.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bench_page
import peers
from scripts import DISTINCT, FIRST_ITERATIONS, IDLE, MINIMAL, written
from target import pinned, server_name, target

from plimsoll.runs.format.lines import read_lines

QUICK = os.environ.get("SCALE") == "quick"
REQUESTS = int(os.environ.get("REQUESTS", 1_000_000 if QUICK else 10_000_000))
URLS = REQUESTS // 10
ROUNDS = int(os.environ.get("ROUNDS", 3))
FEW_VUS, IDLE_VUS, START_VUS, MANY_VUS = 100, 2_000, 5_000, 15_000
RATE = 2_000
MIB = 2**20


@dataclass
class Ran:
    """A finished run: what it exported, what it said on stderr, its memory over time, and when its process began."""

    metrics: dict[str, Any]
    stderr: str
    began_unix_s: float
    memory: list[tuple[float, int]] = field(default_factory=list)
    snapshots: list[dict[str, Any]] = field(default_factory=list)
    machine: list[dict[str, Any]] = field(default_factory=list)


def resident_bytes(pid: int) -> int:
    """Proportional set size: shared pages count with the share of this process."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return 0
    found = re.search(r"^Pss: +(\d+) kB", text, re.MULTILINE)
    return int(found.group(1)) * 1024 if found else 0


def run(tool: str, folder: Path, script: Path, *flags: str, every_s: float = 1.0, everywhere: bool = False) -> Ran:
    """Runs a script by k6 or by Plimsoll on the second core, or on all (`everywhere`), and watches its memory."""
    export, runs = folder / f"{tool}.json", folder / f"runs-{time.monotonic_ns()}"
    command = {
        "k6": ["k6", "run", "-q", "--no-usage-report"],
        "plimsoll": [sys.executable, "-m", "plimsoll", "run", "-q", "--runs", str(runs)],
    }[tool]
    if everywhere and tool == "plimsoll":
        command += ["--threads", str(os.cpu_count() or 1)]
    full = [*([] if everywhere else pinned(1)), *command, "--summary-export", str(export), *flags, str(script)]
    ran = Ran({}, "", time.time())
    begin = time.monotonic()
    with tempfile.TemporaryFile("w+") as stderr:
        process = subprocess.Popen(full, stdout=subprocess.DEVNULL, stderr=stderr)
        ended = threading.Event()

        def watch() -> None:
            while not ended.wait(every_s):
                bytes_now = resident_bytes(process.pid)
                if bytes_now:
                    ran.memory.append((time.monotonic() - begin, bytes_now))

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            process.wait()
        finally:
            ended.set()
            watcher.join()
        stderr.seek(0)
        ran.stderr = stderr.read()
    if process.returncode not in (0, 99) or not export.exists():
        sys.exit(f"{' '.join(full)} ended with {process.returncode}:\n{ran.stderr}")
    ran.metrics = json.loads(export.read_text())["metrics"]
    ran.snapshots, ran.machine = kept(runs, "series"), kept(runs, "resources")
    return ran


def kept(runs: Path, name: str) -> list[dict[str, Any]]:
    """What Plimsoll kept of each second; nothing for k6."""
    return [line for path in runs.glob(f"*/{name}.jsonl.zst") for line in read_lines(path)]


def lags_without_steal(ran: Ran) -> list[float]:
    """The generator's p99 lag of each second in which the hypervisor took no processor away, in ms."""
    of_generator = [row for row in ran.machine if row["source"] == "generator"]
    calm = {row["second"] for row in of_generator if not row["values"].get("host_steal_share")}
    return [snapshot["generator"]["lag_p99_ms"] for snapshot in ran.snapshots if snapshot["second"] in calm]


def tools() -> list[str]:
    return ["plimsoll", *(["k6"] if shutil.which("k6") else [])]


def spread(values: list[float], form: str, unit: str) -> str:
    return f"{statistics.median(values):{form}} {unit} ({min(values):{form}} to {max(values):{form}})"


def memory(url: str, folder: Path) -> Callable[[str], str]:
    """Memory of a VU that makes one request a second: the difference of two numbers of VUs, at its highest."""
    script = written(folder, "idle.js", IDLE)

    def of(tool: str) -> str:
        found = []
        for _ in range(ROUNDS):
            peak = {}
            for vus in (FEW_VUS, IDLE_VUS):
                ran = run(tool, folder, script, "-u", str(vus), "-d", "6s", "-e", f"URL={url}")
                peak[vus] = max(bytes_then for _, bytes_then in ran.memory)
            found.append((peak[IDLE_VUS] - peak[FEW_VUS]) / (IDLE_VUS - FEW_VUS) / 1024)
        return spread(found, ".0f", "KiB")

    return of


def start(url: str, folder: Path, everywhere: bool = False) -> Callable[[str], str]:
    """From the start of the process until every VU has begun its first iteration, and from the first to the last."""
    script = written(folder, "first.js", FIRST_ITERATIONS)
    load = ["-u", str(START_VUS), "-d", "10s", "-e", f"URL={url}"]

    def of(tool: str) -> str:
        whole, first_to_last = [], []
        for _ in range(ROUNDS):
            ran = run(tool, folder, script, *load, everywhere=everywhere)
            trend = ran.metrics["first_iteration_unix_ms"]
            if trend.get("count", START_VUS) != START_VUS:
                sys.exit(f"{tool}: {trend['count']} of {START_VUS} VUs began")
            whole.append(trend["max"] / 1000 - ran.began_unix_s)
            first_to_last.append((trend["max"] - trend["min"]) / 1000)
        return f"{spread(whole, '.2f', 's')}; first to last {spread(first_to_last, '.2f', 's')}"

    return of


def start_everywhere(url: str, folder: Path) -> Callable[[str], str]:
    """The same with a load thread on each core, beside the target."""
    return start(url, folder, everywhere=True)


def many(url: str, folder: Path) -> Callable[[str], str]:
    """15,000 VUs with one request a second each for a minute: failed requests, lateness, rate, memory."""
    script = written(folder, "idle.js", IDLE)

    def of(tool: str) -> str:
        ran = run(tool, folder, script, "-u", str(MANY_VUS), "-d", "60s", "-e", f"URL={url}")
        requests, failed = ran.metrics["http_reqs"]["count"], ran.metrics["http_req_failed"]["passes"]
        mib = max(bytes_then for _, bytes_then in ran.memory) / MIB
        duration = ran.metrics["http_req_duration"]
        told = f"{requests:,.0f} requests, {failed} failed, p95 {duration['p(95)']:.1f} ms, {mib:,.0f} MiB"
        lags = sorted(row["generator"]["lag_p99_ms"] for row in ran.snapshots)
        marks = [line.strip() for line in ran.stderr.splitlines() if line.startswith(("warning", "WARN"))]
        return "; ".join([told, *([f"generator's p99 lag, worst second {lags[-1]:.1f} ms"] if lags else []), *marks])

    return of


def exact_rate(url: str, folder: Path) -> Callable[[str], str]:
    """2,000 arrivals a second for a minute: how far from the plan in number, and how late they were sent."""
    options = (
        f"export const options = {{ scenarios: {{ s: {{ executor: 'constant-arrival-rate', rate: {RATE}, "
        "duration: '60s', preAllocatedVUs: 200 } }, summaryTrendStats: ['med', 'p(95)', 'p(99)', 'max'] };\n"
    )
    script = written(folder, "rate.js", MINIMAL + options)

    def of(tool: str) -> str:
        ran = run(tool, folder, script, "-e", f"URL={url}")
        count = ran.metrics["iterations"]["count"]
        error = 100 * abs(count - RATE * 60) / (RATE * 60)
        dropped = ran.metrics.get("dropped_iterations", {}).get("count", 0)
        told = f"{count:,.0f} sent, {error:.3f}% off, {dropped:,.0f} dropped"
        lag = ran.metrics.get("arrival_lag")
        if not lag:
            return f"{told}, send lag not told"
        calm = lags_without_steal(ran)
        told += f", send lag p99 {lag['p(99)']:.3f} ms, max {lag['max']:.2f} ms"
        if not calm:
            return f"{told}; the hypervisor took processors away all the time"
        return (
            f"{told}; {statistics.median(calm):.3f} ms in the {len(calm)} seconds without stolen time (median of p99)"
        )

    return of


def distinct(url: str, folder: Path) -> Callable[[str], str]:
    """Many requests over a tenth as many URLs: memory after the first minute (or third, if shorter) and at the end."""
    script = written(folder, "distinct.js", DISTINCT)

    def of(tool: str) -> str:
        # k6 keeps a series for each URL: a hundredth of the work shows its growth and stays within the machine.
        requests = REQUESTS if tool == "plimsoll" else REQUESTS // 20
        load = ["-u", "50", "-i", str(requests), "-e", f"URL={url}", "-e", f"URLS={requests // 10}"]
        ran = run(tool, folder, script, *load, every_s=5.0 if requests > 2_000_000 else 1.0)
        took_s = ran.memory[-1][0]
        settled_s = min(60.0, took_s / 3)
        after = [(at_s, bytes_then / MIB) for at_s, bytes_then in ran.memory if at_s >= settled_s]
        slope = 0.0
        if len(after) > 1:
            slope = statistics.linear_regression([at for at, _ in after], [mib for _, mib in after]).slope
        grown = f"{after[0][1]:,.0f} MiB at {after[0][0]:.0f} s, {after[-1][1]:,.0f} MiB at {after[-1][0]:.0f} s"
        return f"{requests:,} requests over {requests // 10:,} URLs: {grown}, slope {60 * slope:+.2f} MiB/min"

    return of


ROWS: dict[str, tuple[str, Callable[[str, Path], Callable[[str], str]]]] = {
    "memory": (f"memory of a VU (request, sleep 1), {FEW_VUS} to {IDLE_VUS:,} VUs", memory),
    "start": (f"start of {START_VUS:,} VUs: process begun to last first iteration", start),
    "start-everywhere": (f"the same on every core, a load thread each: start of {START_VUS:,} VUs", start_everywhere),
    "many": (f"{MANY_VUS:,} VUs for 60 s", many),
    "rate": (f"{RATE:,}/s for 60 s", exact_rate),
    "distinct": ("memory over distinct URLs", distinct),
}


def main() -> None:
    wanted = os.environ.get("ROWS", ",".join(ROWS)).split(",")
    unknown = [name for name in wanted if name not in ROWS]
    if unknown:
        sys.exit(f"ROWS: {', '.join(unknown)} unknown; there are {', '.join(ROWS)}")
    rows = bench_page.rows_of("scale")
    with tempfile.TemporaryDirectory() as name, target(Path(name)) as url:
        for row in wanted:
            title, prepare = ROWS[row]
            measure = prepare(url, Path(name))
            said = {tool: measure(tool) for tool in tools() if os.environ.get("ONLY", tool) == tool}
            earlier = rows.get(title, [title, "–", "–"])
            rows[title] = [title, said.get("plimsoll", earlier[1]), said.get("k6", earlier[2])]
            print("\n  ".join([title, *(f"{tool}: {told}" for tool, told in said.items())]), flush=True)
            ordered = [rows[title] for title, _ in ROWS.values() if title in rows]
            versions = {name: version for name, version in peers.versions().items() if name == "k6"}
            how = (
                f"Median (range) of {ROUNDS} runs where a range stands, else one. Memory is the proportional set size. "
                "The target that stands still for a second, whose truth is known, is a test: `make accuracy`."
            )
            columns = ["what", "plimsoll", "k6"]
            bench_page.keep(
                "scale", "Scale", "make bench-scale", how, columns, ordered, {**versions, "server": server_name()}
            )


if __name__ == "__main__":
    main()
