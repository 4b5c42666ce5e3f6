"""Analysis and report of a run of 10 M requests over an hour: 5 s and 500 MB, measured as `make bench-analysis` does.

One run, whatever the scale, before all other rows: another process on the same cores would count. Memory is the peak
of the process that reads the run plus that of the one that draws its charts, though they need not come together.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from score_line import Figure, Job, Lines

sys.path.insert(0, str(Path(__file__).parents[2] / "benches"))
from analysis import PER_SECOND, SECONDS, measure

MOST_S, MOST_MB = 5.0, 500.0
MB_PER_MIB = 2**20 / 1e6


def lines() -> Lines:
    """The time until the report is there, and the memory."""
    found = measure("hold")
    name = f"a hold's run of {SECONDS * PER_SECOND / 1e6:.1f} M requests over an hour: report"
    memory_mb = (found.peak_mib + found.drawing_mib) * MB_PER_MIB
    return [
        Figure("", f"{name}, time", found.there_s, MOST_S, "s"),
        Figure("", f"{name}, peak memory of both processes", memory_mb, MOST_MB, "MB"),
    ]


def jobs(scale: float, first_seed: int) -> Iterator[Job]:
    """One run."""
    yield Job("report of 10 M requests", lines)
