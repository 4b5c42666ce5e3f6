"""A server compared with itself, by real requests in real time: how often is it called slower or faster?

The testkit's server answers after exponential times and is never short of CPU, so that what differs between trials is
chance and this machine. Each comparison is one `plimsoll compare` as a user types it, of 5 pairs of trials of a second
each; one that calls itself invalid, as this machine was busy, gives no answer. It takes about 15 s, so there are few:
the simulated rows of C1 have thousands. `make experiments` has longer ones, on the issue tracker too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from score_line import Job, Line, Lines

sys.path.insert(0, str(Path(__file__).parents[2] / "benches"))
from experiments import served, testkit

PAIRS, TRIAL_S, RATE_PER_S = 5, 1, 500  # p95 needs 400 of a trial
LIMIT_S = 300
SCRIPT = f"""import http from 'k6/http';
export const options = {{ scenarios: {{ arrivals: {{
  executor: 'constant-arrival-rate', rate: {RATE_PER_S}, duration: '1m', preAllocatedVUs: 50 }} }} }};
export default function () {{ http.get(__ENV.BASE_URL, {{ tags: {{ name: 'GET' }} }}); }}
"""


def compared(url: str, folder: Path, seed: int, apart: bool) -> dict[str, Any]:
    """The finding of one comparison of that server with itself."""
    words = (
        f"compare {folder}/script.js --a {url} --b {url} --pairs {PAIRS} --trial {TRIAL_S} --warm-up 0 --seed {seed}"
    )
    where = ["--json", "-q", "--runs", str(folder / "runs"), *(["--isolate"] if apart else [])]
    command = [sys.executable, "-m", "plimsoll", *words.split(), *where]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if not done.stdout.strip():
        sys.exit(f"no finding of {' '.join(command)}:\n{done.stderr}")
    return dict(json.loads(done.stdout)[0])


def lines(repeat: int, first_seed: int) -> Lines:
    """Alarms of single primary comparisons, and of whole reports."""
    single, told, alarms, valid = 0, 0, 0, 0
    cpus = os.sched_getaffinity(0)
    with tempfile.TemporaryDirectory(prefix="plimsoll-aa-") as name:
        folder = Path(name)
        (folder / "script.js").write_text(SCRIPT)
        cpu = max(cpus) if len(cpus) > 1 else None
        with served("A", testkit(f"--servers 0 --service-ms 4 --seed {first_seed}"), folder, cpu) as url:
            for seed in range(first_seed, first_seed + repeat):
                found = compared(url, folder, seed, len(cpus) > 1)
                if not found["valid"]:
                    continue
                other = [one["verdict"] in ("slower", "faster") for one in found["comparisons"] if one["interval"]]
                primary = [
                    one["verdict"] in ("slower", "faster")
                    for one in found["comparisons"]
                    if one["interval"] and one["primary"]
                ]
                valid += 1
                alarms += any(other)
                single += sum(primary)
                told += len(primary)
    name = f"real A/A, testkit with itself, {PAIRS} pairs of {TRIAL_S} s, {RATE_PER_S}/s in real time"
    return [
        Line("C1", f"{name}: alarm of a declared comparison (p50, p95)", single, told, 2 * repeat, "≤", 0.01),
        Line("C1", f"{name}: any alarm in a report", alarms, valid, repeat, "≤", 0.05),
    ]


def jobs(scale: float, first_seed: int) -> Iterator[Job]:
    """25 comparisons at scale 1, about 6 minutes."""
    yield Job("C1 real A/A", partial(lines, max(4, round(25 * scale)), first_seed))
