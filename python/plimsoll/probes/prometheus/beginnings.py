"""Restarts, by what is told of beginnings: of the host, the database, the process, each container."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from plimsoll.probes.prometheus.containers import name_of
from plimsoll.probes.prometheus.mapping import is_exporter
from plimsoll.probes.prometheus.seen import Seen

# Metric → whose beginning it tells. A later one means that what it counts began anew.
_STARTED = {
    "node_boot_time_seconds": "host",
    "pg_postmaster_start_time_seconds": "PostgreSQL",
    "process_start_time_seconds": "process",
}
_RUNNING = {"mysql_global_status_uptime": "MySQL"}
_CONTAINER = "container_start_time_seconds"
_BEGAN_ANEW_S = 1.5  # start times that are computed wobble by less
MOST_KEPT = 1_000


@dataclass(frozen=True)
class Restart:
    """Who began anew, in words ("host", "container web"), and which labels its counters have."""

    what: str
    holds: Callable[[dict[str, str]], bool] = lambda labels: True


class Beginnings:
    """Since when each of them runs, as it was told last."""

    def __init__(self) -> None:
        self._before: dict[str, float] = {}

    def restarted(self, seen: Seen) -> list[Restart]:
        """What was restarted since the last scrape."""
        restarts = []
        is_exporters = is_exporter(seen)
        for metric, what in _STARTED.items():
            values = [] if what == "process" and is_exporters else [value for _, value in seen.gauges(metric)]
            if values and self._is_later(metric, max(values)):
                restarts.append(Restart(what))
        for metric, what in _RUNNING.items():
            values = [value for _, value in seen.gauges(metric)]
            if values and self._is_later(metric, -min(values), 0.0):
                restarts.append(Restart(what))
        return restarts + self._containers(seen)

    def _containers(self, seen: Seen) -> list[Restart]:
        started: dict[str, float] = {}
        for labels, value in seen.gauges(_CONTAINER):
            name = name_of(labels)
            if name is not None and value > 0:
                started[name] = max(value, started.get(name, value))
        return [
            Restart(f"container {name}", lambda labels, name=name: name_of(labels) == name)  # type: ignore[misc]
            for name, value in sorted(started.items())
            if self._is_later(f"{_CONTAINER} {name}", value)
        ]

    def _is_later(self, key: str, value: float, by_s: float = _BEGAN_ANEW_S) -> bool:
        before = self._before.get(key)
        if before is None and len(self._before) >= MOST_KEPT:
            return False
        self._before[key] = value
        return before is not None and value > before + by_s
