"""Which load a finished run held, and which runs held the same: times at different loads are no comparison.

    arrivals    planned arrivals a second, whether they were served or not, so that a slower target has the same load
    vus         VUs, on average over the seconds in which there were any
    mixed       arrivals as above, of a run that has VUs beside them

The first and the last second are cut by start and end and left out where two remain. Two loads are the same where they
differ by `SAME` or by what chance makes of random arrivals: `CHANCE` standard errors of both, the smaller of Poisson's
and the one that the run's own seconds show (evenly spaced arrivals scatter less). Of VUs it is one second of the run.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from plimsoll.runs.reader import RunReader
from plimsoll.words import number

SAME = 0.05
CHANCE = 3.0
Kind = Literal["arrivals", "vus", "mixed"]
Name = TypeVar("Name", bound=Hashable)
_ALL, _OPEN = "iteration_duration", "iteration_response_time"


@dataclass(frozen=True)
class HeldLoad:
    """`size` in arrivals/s or VUs, above 0; `error`: its standard error, same unit."""

    kind: Kind
    size: float
    error: float = 0.0

    @property
    def words(self) -> str:
        """ "50 arrivals/s", "20 VUs"."""
        shown = number(self.size)
        if self.kind == "vus":
            return f"{shown} VU{'' if shown == '1' else 's'}"
        return f"{shown} arrivals/s{' beside VUs' if self.kind == 'mixed' else ''}"

    def same(self, other: HeldLoad) -> bool:
        """Whether both are of one kind and do not differ by more than a few per cent and chance."""
        apart = abs(self.size - other.size)
        allowed = SAME * max(self.size, other.size) + CHANCE * math.hypot(self.error, other.error)
        return self.kind == other.kind and apart <= allowed


def held_load(reader: RunReader, skip_s: float = 0.0) -> HeldLoad | None:
    """The load of the run from second `skip_s` on; None where it does not tell, as some of other tools' results."""
    columns: list[tuple[float, float]] = []
    iterations = of_arrivals = 0
    for snapshot in reader.snapshots(metrics=(_ALL, _OPEN)):
        if snapshot.second >= skip_s:
            columns.append((snapshot.planned, snapshot.vus))
            iterations += sum(one.count for one in snapshot.series if one.metric == _ALL)
            of_arrivals += sum(one.count for one in snapshot.series if one.metric == _OPEN)
    planned, vus = np.array(columns, dtype=np.float64).reshape(-1, 2).T
    kind = _kind(reader, iterations, of_arrivals)
    if kind == "vus":
        there = _whole_seconds(vus)
        # VUs that begin and end with the run are there for a second more or less.
        return HeldLoad("vus", float(there.mean()), float(there.max()) / there.size / CHANCE) if there.size else None
    there = _whole_seconds(planned)
    if kind is None or not there.size:
        return None
    # Iterations of VUs count as planned when they begin.
    beside = (iterations - of_arrivals) / planned.sum() if kind == "mixed" else 0.0
    size = float(there.mean()) * max(0.0, 1 - beside)
    poisson = math.sqrt(size / there.size)
    own = float(there.std(ddof=1)) / math.sqrt(there.size) if there.size > 1 else poisson
    return HeldLoad(kind, size, min(poisson, own)) if size > 0 else None


def by_load(loads: Mapping[Name, HeldLoad]) -> list[list[Name]]:
    """The names in groups of the same load, smallest first; each is the same as the smallest of its group."""
    groups: list[list[Name]] = []
    for name, load in sorted(loads.items(), key=lambda one: (one[1].kind, one[1].size)):
        if groups and loads[groups[-1][0]].same(load):
            groups[-1].append(name)
        else:
            groups.append([name])
    return groups


def _kind(reader: RunReader, iterations: int, of_arrivals: int) -> Kind | None:
    if reader.manifest.get("experiment") == "analyze":  # another tool's results say it, or nobody does
        model = (reader.manifest.get("options") or {}).get("model")
        return "arrivals" if model == "open" else "vus" if model == "closed" else None
    if not iterations:
        return None
    return "arrivals" if of_arrivals == iterations else "mixed" if of_arrivals else "vus"


def _whole_seconds(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """From the first to the last that is above 0, without these two where two or more remain."""
    there = np.flatnonzero(values)
    if not there.size:
        return values[:0]
    inside = values[there[0] : there[-1] + 1]
    return inside[1:-1] if inside.size >= 4 else inside
