"""How fast the product's core is in a trial, beside how fast it was in the search.

On a virtual machine that differs by a third within minutes, and no counter tells it.

Both are measured in this process by Plimsoll's probe core_speed, in pieces of work per CPU second.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean
from typing import Any

import psutil
from contradictions import kept_resources
from processes import TARGET_CORES, on_cores, repeated

from plimsoll.probes.processes.core_speed import CoreSpeedProbe
from plimsoll.study.models import ProcessSelector

VALUE, FILE = "work_per_cpu_s", "core_speed.json"
NEAR = 0.3  # a busy core does other work faster or slower than an idle one: only steps within this share of the level


class Speeds:
    """What was measured, a value a second, each with the Unix time of its end."""

    def __init__(self) -> None:
        self.values: list[tuple[float, float]] = []

    def mean_after(self, seconds: float) -> float | None:
        """The mean without the first seconds; None where nothing was measured then."""
        return mean([value for _, value in self.values[int(seconds) :]])


def mean(values: Sequence[float]) -> float | None:
    """None of none."""
    return round(fmean(values), 1) if values else None


@contextmanager
def measured() -> Iterator[Speeds]:
    """Measure while inside, once a second."""
    speeds = Speeds()
    with on_cores(TARGET_CORES):
        holder = psutil.Popen(["sleep", "infinity"])  # of whose cores the probe measures the speed
    probe = CoreSpeedProbe([ProcessSelector(label="product", pid=holder.pid)], lambda _: [holder])

    def sample() -> None:
        speeds.values += [(time.time(), value) for key, value in probe.sample().items() if key == VALUE]

    try:
        with repeated(1.0, sample):
            yield speeds
    finally:
        holder.kill()
        holder.wait()


def keep(speeds: Speeds, folder: Path) -> None:
    """Write down those of a search."""
    (folder / FILE).write_text(json.dumps(speeds.values))


def in_search(folder: Path, level: float) -> float | None:
    """The mean in the kept search's steps near that level; None where it was not measured."""
    main: dict[str, Any] = json.loads((folder / "answer.json").read_text())[0]
    first = next(kept_resources(folder), None)
    if first is None or not (folder / FILE).exists():
        return None
    began = first["t_unix"] - first["second"]
    near = [one for one in main["steps"] if abs(one["level"] / level - 1) <= NEAR]
    at = json.loads((folder / FILE).read_text())
    return mean([speed for t, speed in at if any(one["start_s"] + 1 <= t - began <= one["end_s"] for one in near)])
