"""Time and memory of `plimsoll report` on a run of 10 M requests over an hour.

    python benches/analysis.py [--seconds 3600] [--per-second 2778] [--only hold]

The run directory is synthesised through RunWriter, not by load: 20 operations, each with the series that the engine
writes of it every second (a counter or rate each of requests, failures and bytes, eight times, two of the iteration),
response times log-normal, 1 in 1,000 failed, resources of host, process and generator; every second is drawn (seeded).
Four cases, each in a process of its own that is timed whole, imports and all:

hold     an experiment's run, with its Parquet tables and without findings: analysis and report
killed   the same run killed: lines only, analysis and report
again    a run that has its findings and tables: the report made anew
run      of `plimsoll run`: lines only, analysis and report, and the tables are made as well

"There": the report is written and its path printed; missing tables are made after that, until the process "ended".
Peak memory is the maximum resident set of that process, from its start until then, and of the one that draws the
charts beside it. The goal of analysis and report is 5 s and 500 MB.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import plimsoll
from plimsoll.runs import RunFacts, RunWriter
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.snapshot import Series

SECONDS, PER_SECOND = 3600, 2778
OPERATIONS = 20
T0_UNIX = 1_790_000_000.0
CASES = ("hold", "killed", "again", "run")
TIMES = {  # metric: median in ms
    "http_req_response_time": 40.0,
    "http_req_duration": 40.0,
    "http_req_waiting": 39.0,
    "http_req_receiving": 0.2,
    "http_req_sending": 0.02,
    "http_req_blocked": 0.0,
    "http_req_connecting": 0.0,
    "http_req_tls_handshaking": 0.0,
}
CHILD = """
import json, os, resource, sys, time
began = time.monotonic()
from plimsoll.cli import main
sys.argv = ["plimsoll", "report", sys.argv[1]]
code = 0
try:
    main()
except SystemExit as end:
    code = end.code or 0
used = resource.getrusage(resource.RUSAGE_SELF)
drawn = resource.getrusage(resource.RUSAGE_CHILDREN)
cpu = sum(one.ru_utime + one.ru_stime for one in (used, drawn))
print(json.dumps([code, time.monotonic() - began, cpu, used.ru_maxrss / 1024, drawn.ru_maxrss / 1024]))
"""


def second_of(draw: np.random.Generator, per_second: int) -> list[dict[str, Any]]:
    """The series of one second."""
    found: list[Series] = []
    shares = np.arange(1, OPERATIONS + 1) ** -0.5
    counts = np.maximum(1, draw.poisson(per_second * shares / shares.sum()))
    for place, count in enumerate(counts.tolist()):
        scenario = f"operation {place + 1}"
        tags = {"expected_response": "true", "method": "GET", "name": f"GET /things/{place + 1}", "status": "200"}
        tags |= {"proto": "HTTP/1.1", "scenario": scenario, "group": ""}
        shape = draw.lognormal(0, 0.5, count) * (1 + place / 10)
        for metric, median in TIMES.items():
            found.append(Series.of_trend(metric, tags, Histogram.from_values(median * shape)))
        failed = int(draw.binomial(count, 0.001))
        found += [
            Series("http_reqs", "counter", tags, value=float(count)),
            Series("http_req_failed", "rate", tags, passes=failed, total=count),
            Series("data_sent", "counter", tags, value=133.0 * count),
            Series("data_received", "counter", tags, value=2781.0 * count),
        ]
        own = {"scenario": scenario}
        for metric in ("iteration_duration", "iteration_response_time"):
            found.append(Series.of_trend(metric, own, Histogram.from_values(41 * shape)))
        found.append(Series("iterations", "counter", own, value=float(count)))
    return [series.to_json() for series in found]


def snapshots(seconds: int, per_second: int) -> Iterator[dict[str, Any]]:
    """Lines of series.jsonl.zst."""
    draw = np.random.default_rng(2026)
    for second in range(seconds):
        series = second_of(draw, per_second)
        done = int(sum(one["value"] for one in series if one["metric"] == "iterations"))
        yield {
            "second": second, "t_unix": T0_UNIX + second, "level": float(per_second), "vus": 200, "vus_max": 200,
            "planned": done, "started": done, "done": done, "late": 0, "dropped": 0, "backlog": 0, "in_flight": 120,
            "oldest_wait_s": 0.0, "series": series,
            "generator": {"cpu_s": 0.3, "lag_p50_ms": 0.05, "lag_p99_ms": 0.3, "lag_max_ms": 1.0, "threads": 2,
                          "rss_bytes": 1e8, "open_files": 220, "busiest_thread_share": 0.2},
        }  # fmt: skip


def write_run(folder: Path, case: str, seconds: int, per_second: int) -> Path:
    """The run directory of a case."""
    study = {"objectives": [{"operation": "operation 1", "objective": "p95<=500ms"}]}
    experiment = "run" if case == "run" else "hold"
    facts = RunFacts(experiment, study=study if experiment == "hold" else None, level_unit="users", t0_unix=T0_UNIX)
    writer = RunWriter.create(folder, facts, tables=case in ("hold", "again"))
    with writer:
        if experiment == "hold":
            writer.append_event("experiment_started", second=0, experiment="hold", unit="users", open=True)
            writer.append_event("step_started", second=0, level=float(per_second), step_kind="expected")
        for snapshot in snapshots(seconds, per_second):
            writer.append_snapshot(snapshot)
            at = {"t_unix": snapshot["t_unix"], "second": snapshot["second"]}
            values = {"cpu_share": 0.5, "cpu_cores_used": 1.0, "memory_used_bytes": 1e9, "steal_share": 0.0}
            for source in ("host", "process", "generator"):
                writer.append_resource(at | {"source": source, "values": values})
    if case == "killed":
        manifest = json.loads((writer.path / "manifest.json").read_text())
        (writer.path / "manifest.json").write_text(json.dumps(manifest | {"status": "running", "ended_unix": None}))
    return writer.path


def peak_mib(pid: int) -> float:
    """Peak resident memory of a living process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


@dataclass(frozen=True)
class Measured:
    """One run of `plimsoll report`: until the report was there and until the process ended, `drawing_mib` of the one
    that drew beside it."""

    lines_mb: float
    written_s: float
    there_s: float
    there_mib: float
    ended_s: float
    cpu_s: float
    peak_mib: float
    drawing_mib: float


def measure(case: str, seconds: int = SECONDS, per_second: int = PER_SECOND) -> Measured:
    """Write the run of a case and time its report.

    Raises:
        SystemExit: The report failed.
    """
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder:
        began = time.monotonic()
        path = write_run(Path(folder), case, seconds, per_second)
        written_s = time.monotonic() - began
        if case == "again":
            subprocess.run([sys.executable, "-m", "plimsoll", "analyze", str(path)], check=False, capture_output=True)
        lines_mb = (path / "series.jsonl.zst").stat().st_size / 1e6
        command = [sys.executable, "-u", "-c", CHILD, str(path)]
        env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
        assert child.stdout is not None
        began = time.monotonic()
        child.stdout.readline()  # the path of the report
        there_s, there_mib = time.monotonic() - began, peak_mib(child.pid)
        last = child.stdout.read().splitlines()
        if child.wait() or not last or json.loads(last[-1])[0]:
            sys.exit(f"plimsoll report failed for {case}")
        return Measured(lines_mb, written_s, there_s, there_mib, *json.loads(last[-1])[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=int, default=SECONDS)
    parser.add_argument("--per-second", type=int, default=PER_SECOND)
    parser.add_argument("--only", choices=CASES)
    options = parser.parse_args()
    compileall.compile_dir(Path(plimsoll.__file__).parent, quiet=1)  # as where it is installed
    print("| run | requests | lines | writing it | report there | peak memory | ended | CPU | peak memory | drawing |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for case in [options.only] if options.only else CASES:
        found = measure(case, options.seconds, options.per_second)
        requests = f"{options.seconds * options.per_second:,}"
        cells = [case, requests, f"{found.lines_mb:,.0f} MB", f"{found.written_s:.0f} s", f"{found.there_s:.1f} s"]
        cells += [f"{found.there_mib:.0f} MiB", f"{found.ended_s:.1f} s", f"{found.cpu_s:.1f} s"]
        cells += [f"{found.peak_mib:.0f} MiB", f"{found.drawing_mib:.0f} MiB"]
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
