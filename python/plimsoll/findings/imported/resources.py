"""Resources beside an imported run under the names that our own probes have, so that the same functions judge them.

A source with a share of all its CPU is a host of that name; one whose resident memory or cores are known, a process.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from plimsoll.findings.limits.next_steps import steps_of
from plimsoll.findings.limits.what_stops import limiting_resource
from plimsoll.findings.resources import means_of_steps
from plimsoll.runs.reader import RunReader
from plimsoll.words import without_flags

_OF_HOST = {"cpu_share": "cpu_share", "disk_share": "disk_busy_share", "memory_share": "memory_share"}
_RESIDENT = re.compile(r"(?:(.+)_)?(?:rss|resident_memory)_bytes")


class AsProbed(RunReader):
    """A run whose resources have the probes' names; all else is the run's own."""

    def resources(self) -> Iterator[dict[str, Any]]:
        """Every row of resources, in order, as one of a host, of processes, or both."""
        for row in super().resources():
            for source, values in _probed(str(row.get("source")), row.get("values") or {}).items():
                yield {**row, "source": source, "values": values}


def _probed(source: str, values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        if name in _OF_HOST:
            found.setdefault("host" if source == "host" else f"host:{source}", {})[_OF_HOST[name]] = value
        elif name == "cpu_cores_used":
            found.setdefault(f"process:{source}", {})[name] = value
        elif resident := _RESIDENT.fullmatch(name):
            label = source if resident[1] in (None, "process") else resident[1]
            found.setdefault(f"process:{label}", {})["rss_bytes"] = value
    return found


def limit_of_levels(
    run: RunReader, steps: Sequence[Mapping[str, Any]], level: float | None, unit: str
) -> dict[str, Any] | None:
    """What stops it, as of a capacity run, seen at `level`, the lowest that was not carried; None where no resource is
    known."""
    means = means_of_steps(AsProbed(run.path).resources(), steps)
    if not any(means):
        return None
    bad = next((step for step in steps if step["level"] == level), None)
    return limiting_resource(bad, steps, means, unit)


def imported_steps(limit: Mapping[str, Any]) -> list[str]:
    """What to do about the limit of a load that another tool put on, where some resource was beside it: as of a run of
    our own, without its flags and keys."""
    return [without_flags(step) for step in steps_of(limit, verify=False, probed=True)]
