"""How much slower does the probe of the cores' speed read a core that idles than one that is busy?

    python benches/idle_core_speed.py [--core 0] [--seconds 4] [--rounds 3]

Times the probe's own piece of work (probes/processes/core_speed.py) 50 times a second on one core, four pieces in a
row, as the first comes to a core that has to wake up; once while that core idles, once while another process keeps it
busy.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from statistics import fmean

from plimsoll.probes.processes.core_speed import INTERVAL_S, Work

PIECES = 4
BUSY = """
import json, os
os.sched_setaffinity(0, {%d})
documents = [{"id": str(number), "values": [number / 7.0] * 8} for number in range(20_000)]
place = 0
while True:
    place = (place + 3_001) %% 20_000
    json.loads(json.dumps(documents[place]))
"""


def readings(work: Work, seconds: float) -> list[float]:
    """Pieces of work per CPU second, of the first, second, third and fourth in a row."""
    spent: list[list[float]] = [[] for _ in range(PIECES)]
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(INTERVAL_S)
        for times in spent:
            before = time.thread_time()
            work.do()
            times.append(time.thread_time() - before)
    return [1 / fmean(times) for times in spent]


def main() -> None:
    """Print a line for each round and state of the core."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    os.sched_setaffinity(0, {asked.core})
    work = Work()
    for _ in range(asked.rounds):
        _print("idle", readings(work, asked.seconds))
        busy = subprocess.Popen([sys.executable, "-c", BUSY % asked.core])
        try:
            time.sleep(1)
            _print("busy", readings(work, asked.seconds))
        finally:
            busy.kill()
            busy.wait()


def _print(state: str, found: list[float]) -> None:
    print(
        f"{state}: {', '.join(f'{one:,.0f}' for one in found)} pieces per CPU second, the first to the fourth in a row"
    )


if __name__ == "__main__":
    main()
