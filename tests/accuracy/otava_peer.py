"""Apache Otava (change points in series) on the series of A6, where it is installed in an environment of its own.

It pins numpy 2.2 and scipy below 1.17, so it cannot live beside us: `make accuracy` puts it into target/otava. It is
made for one value a run; it gets the means of 80 blocks of each series, as our own test does, with its defaults
(window 50, p = 0.001). It looks for steps; a drift is found if any change point is.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from longrun_scorecard import drifting
from score_line import Job, Line, Lines

from plimsoll.stats.growth.drift import MOST_BLOCKS

PYTHON = Path(__file__).parents[2] / "target" / "otava" / "bin" / "python"
COUNT = """
import json, sys
from otava.analysis import compute_change_points
for series in json.load(sys.stdin):
    print(len(compute_change_points(series)[0]))
"""


def found(series: list[list[float]]) -> list[bool]:
    """Whether any change point is found in each of the series."""
    run = subprocess.run(
        [PYTHON, "-c", COUNT], input=json.dumps(series), capture_output=True, text=True, check=True, timeout=1800
    )
    return [int(line) > 0 for line in run.stdout.split()]


def lines(repeat: int, first_seed: int) -> Lines:
    """Drifts found and false alarms; nothing where it is not installed."""
    if not PYTHON.exists():
        print("apache-otava is not installed, its rows are left out: make accuracy installs it into target/otava")
        return []
    made: Lines = []
    for share, what in ((0.2, "+20% over 600 s, 15% scatter"), (0.0, "no drift, 600 s")):
        for memory in (0.0, 0.5, 0.8):
            seconds = [drifting(share, memory, 600, first_seed + seed) for seed in range(repeat)]
            cut = 600 // MOST_BLOCKS * MOST_BLOCKS
            blocks = [one[:cut].reshape(MOST_BLOCKS, -1).mean(axis=1).tolist() for one in seconds]
            name = f"peer: apache-otava, {what}, AR(1) {memory:g}: any change point"
            made.append(Line("A6", name, sum(found(blocks)), repeat, repeat))
    return made


def jobs(scale: float, first_seed: int) -> Iterator[Job]:
    """100 series of each kind at scale 1."""
    yield Job("A6 peer apache-otava", partial(lines, max(20, round(100 * scale)), first_seed))
