"""What the live page costs: CPU of the load's process and of the page's beside it, with two viewers, in interleaved
rounds with and without `--ui`.

    make bench-ui
    ROUNDS=3 SECONDS=30 RATE=200 OPERATIONS=20 python benches/live_page_cost.py

Measured between the fifth second of the load and SECONDS later, so without the starts, which are before any load; those
of the page's process are told apart. A viewer is a connection that reads the events.
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import psutil
from target import target

ROUNDS, SECONDS = int(os.environ.get("ROUNDS", 3)), int(os.environ.get("SECONDS", 30))
RATE, OPERATIONS = int(os.environ.get("RATE", 200)), int(os.environ.get("OPERATIONS", 20))
VIEWERS, SETTLED_S = 2, 5.0
SCRIPT = """import http from 'k6/http';
export const options = { scenarios: { all: {
  executor: 'constant-arrival-rate', rate: %d, timeUnit: '1s', duration: '%ds', preAllocatedVUs: 50 } } };
export default function () {
  http.get(__ENV.URL, { tags: { name: `operation ${Math.floor(%d * Math.random())}` } });
}
"""


@dataclass(frozen=True)
class Cost:
    """CPU as a share of a core: of the load's process, and of the page's, with the seconds that its start took."""

    load: float
    page: float = 0.0
    start_s: float = 0.0


def measured(folder: Path, url: str, with_page: bool) -> Cost:
    """One run."""
    flags = ["--ui"] if with_page else []
    command = [sys.executable, "-m", "plimsoll", "run", "script.js", "-e", f"URL={url}", "--quiet", *flags]
    load = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert load.stderr is not None
    try:
        if with_page:
            address = next(found[0] for line in load.stderr if (found := re.search(r"http://\S+/", line)))
            name = wait_for_run(address)
            for _ in range(VIEWERS):
                threading.Thread(target=view, args=(f"{address}runs/{name}/events",), daemon=True).start()
        threading.Thread(target=load.stderr.read, daemon=True).start()
        time.sleep(SETTLED_S)
        whole = psutil.Process(load.pid)
        pages = [one for one in whole.children() if "plimsoll.ui.beside" in one.cmdline()]
        assert len(pages) == with_page
        began_s = time.monotonic()
        before = cpu_of(whole), sum(map(cpu_of, pages))
        time.sleep(SECONDS)
        lasted_s = time.monotonic() - began_s
        after = cpu_of(whole), sum(map(cpu_of, pages))
    finally:
        load.terminate()
        load.wait()
    return Cost((after[0] - before[0]) / lasted_s, (after[1] - before[1]) / lasted_s, before[1])


def wait_for_run(address: str) -> str:
    """The name of the run, once it has begun."""
    while True:
        time.sleep(0.2)
        with urllib.request.urlopen(f"{address}now") as answer:
            found = re.search(r"/runs/([^/]+)$", answer.url)
            if found:
                return found[1]


def view(url: str) -> None:
    """A viewer, which reads until the page's process ends."""
    with urllib.request.urlopen(url) as events:
        while events.read1(1 << 16):
            pass


def cpu_of(process: psutil.Process) -> float:
    """Seconds of CPU."""
    used = process.cpu_times()
    return float(used.user + used.system)


def main() -> None:
    found: dict[bool, list[Cost]] = {False: [], True: []}
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as name:
        folder = Path(name)
        (folder / "script.js").write_text(SCRIPT % (RATE, SECONDS + 60, OPERATIONS))
        with target(folder) as url:
            for number in range(ROUNDS):
                for with_page in (False, True):
                    cost = measured(folder, url, with_page)
                    found[with_page].append(cost)
                    words = f"page {cost.page:.2%} (its start {cost.start_s:.2f} s)" if with_page else "no page"
                    print(f"round {number + 1}: load {cost.load:.2%} of a core, {words}", flush=True)
    loads = [statistics.median(one.load for one in found[with_page]) for with_page in (False, True)]
    page = statistics.median(one.page for one in found[True])
    print(f"{RATE}/s, {OPERATIONS} operations, {VIEWERS} viewers, medians of {ROUNDS} rounds of {SECONDS} s:")
    print(f"the load's process {loads[0]:.2%} of a core without, {loads[1]:.2%} with; the page's {page:.2%}")
    print(f"ratio of the load's process with and without: {loads[1] / loads[0]:.3f}")


if __name__ == "__main__":
    main()
