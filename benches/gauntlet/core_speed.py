"""How fast the product's core is in a trial, beside how fast it was in the search.

On a virtual machine that differs by a third within minutes, and no counter tells it.

Both are measured by Plimsoll's probe core_speed, in pieces of work per CPU second, here in the bench's own process.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean
from typing import Any

import psutil
from processes import TARGET_CORES, on_cores

from plimsoll.probes.core_speed import CoreSpeedProbe
from plimsoll.runs.lines import read_lines
from plimsoll.study.models import ProcessSelector

SOURCE, VALUE = "core_speed", "work_per_cpu_s"
NEAR = 0.3  # a busy core does other work faster or slower than an idle one: only steps within this share of the level


class Speeds:
    """What was measured, one value a second."""

    def __init__(self) -> None:
        self.values: list[float] = []

    def mean_after(self, seconds: float) -> float | None:
        """The mean without the first seconds; None where nothing was measured then."""
        late = self.values[int(seconds) :]
        return round(fmean(late), 1) if late else None


@contextmanager
def measured() -> Iterator[Speeds]:
    """Measure while inside, once a second."""
    speeds, ends = Speeds(), threading.Event()
    with on_cores(TARGET_CORES):
        holder = psutil.Popen(["sleep", "infinity"])  # of whose cores the probe measures the speed

    def watch() -> None:
        probe = CoreSpeedProbe([ProcessSelector(label="product", pid=holder.pid)], lambda _: [holder])
        while not ends.wait(1.0):
            speeds.values += [value for key, value in probe.sample().items() if key == VALUE]

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield speeds
    finally:
        ends.set()
        thread.join()
        holder.kill()
        holder.wait()


def in_search(folder: Path, level: float) -> float | None:
    """The mean of the kept run in the steps near that level; None where it was not probed."""
    main: dict[str, Any] = json.loads((folder / "answer.json").read_text())[0]
    files = sorted(folder.glob("runs/*/resources.jsonl*"), key=os.path.getmtime)
    rows = [one for one in read_lines(files[-1]) if one["source"] == SOURCE] if files else []
    by_second = {one["second"]: one["values"][VALUE] for one in rows if VALUE in one["values"]}
    near = [one for one in main["steps"] if abs(one["level"] / level - 1) <= NEAR]
    seconds = {second for one in near for second in range(int(one["start_s"]) + 1, int(one["end_s"]))}
    seen = [speed for second, speed in by_second.items() if second in seconds]
    return round(fmean(seen), 1) if seen else None
