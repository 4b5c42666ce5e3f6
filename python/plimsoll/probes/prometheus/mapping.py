"""From a scrape to rows: which exporters it is of, and what they tell by our names.

host:<where>            node_exporter
cgroup:<container>      cAdvisor
postgresql:<label>      postgres_exporter
mysql:<label>           mysqld_exporter
process:<label>@<where> the process itself; without @<where> on this host. An exporter's own is left out.
pool:<label> <pool>     its pools of connections and threads
metrics:<label>         values that the study names
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plimsoll.probes.prometheus import containers, databases, hosts, runtimes
from plimsoll.probes.prometheus.seen import Seen
from plimsoll.probes.prometheus.selectors import value_of
from plimsoll.study.metric_selector import Selector

COUNTERS = hosts.COUNTERS | containers.COUNTERS | databases.COUNTERS | runtimes.COUNTERS
KNOWN = COUNTERS | hosts.GAUGES | containers.GAUGES | databases.GAUGES | runtimes.GAUGES
# Pages with these are an exporter's, whose process is not the target's.
_EXPORTERS = hosts.COUNTERS | containers.COUNTERS | {"pg_up", "mysql_up", "pg_settings_max_connections"}
# A change of one of these means that what counts began anew.
_BEGINNINGS = {
    "node_boot_time_seconds": "host",
    "pg_postmaster_start_time_seconds": "PostgreSQL",
    "process_start_time_seconds": "process",
}
_BEGAN_ANEW_S = 1.5  # start times that are computed wobble by less


@dataclass(frozen=True)
class Named:
    """What reports call the page's subject: its label, and the host it is on, empty for this one."""

    label: str
    where: str = ""

    @property
    def host(self) -> str:
        """Source of the host's values."""
        return f"host:{self.where or self.label}"

    @property
    def process(self) -> str:
        """Source of the process's values."""
        return f"process:{self.label}@{self.where}" if self.where else f"process:{self.label}"


@dataclass(frozen=True)
class Found:
    """Values of a source, and the time its samples had of their own, by the remote clock."""

    source: str
    values: Mapping[str, float]
    stamp: float | None = None


def resources(seen: Seen, named: Named, selectors: Mapping[str, Selector] | None = None) -> list[Found]:
    """What the scrape tells, by our names; sources without values are left out."""
    found = [
        Found(named.host, hosts.host_values_of(seen), seen.stamp),
        *(Found(f"cgroup:{name}", values, stamp) for name, values, stamp in containers.containers_of(seen)),
        Found(f"postgresql:{named.label}", databases.postgresql_of(seen), seen.stamp),
        Found(f"mysql:{named.label}", databases.mysql_of(seen), seen.stamp),
    ]
    if not any(seen.has(name) for name in _EXPORTERS):
        found.append(Found(named.process, runtimes.process_values_of(seen), seen.stamp))
        found += [
            Found(f"pool:{named.label} {name}".strip(), values, seen.stamp) for name, values in runtimes.pools_of(seen)
        ]
    if selectors:
        values = {name: value_of(selector, seen) for name, selector in selectors.items()}
        own = {name: value for name, value in values.items() if value is not None}
        found.append(Found(f"metrics:{named.label}", own, seen.stamp))
    return [one for one in found if one.values]


class Beginnings:
    """When host, database, process and containers began, by their own telling: a change is a restart."""

    def __init__(self) -> None:
        self._before: dict[str, float] = {}

    def restarted(self, seen: Seen) -> list[str]:
        """What was restarted since the last scrape, in words ("host", "process", "container web")."""
        is_exporter = any(seen.has(name) for name in _EXPORTERS)
        words = []
        for metric, what in _BEGINNINGS.items():
            if what == "process" and is_exporter:
                continue
            if self._began_anew(metric, [value for _, value in seen.gauges(metric)]):
                words.append(what)
        for name, began in containers.beginnings_of(seen):
            if self._began_anew(f"container {name}", began):
                words.append(f"container {name}")
        return words

    def _began_anew(self, what: str, times: Sequence[float]) -> bool:
        """Whether the latest of these times is later than the last that was told."""
        if not times:
            return False
        before = self._before.get(what)
        self._before[what] = max(times)
        return before is not None and max(times) > before + _BEGAN_ANEW_S
