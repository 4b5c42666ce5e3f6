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
from plimsoll.probes.prometheus.seen import Seen, stamp_of
from plimsoll.probes.prometheus.selectors import metrics_of, value_of
from plimsoll.study.probes.metric_selector import Selector

COUNTERS = hosts.COUNTERS | containers.COUNTERS | databases.COUNTERS | runtimes.COUNTERS
KNOWN = COUNTERS | hosts.GAUGES | containers.GAUGES | databases.GAUGES | runtimes.GAUGES
# Pages with these are an exporter's, whose process is not the target's.
_EXPORTERS = hosts.COUNTERS | containers.COUNTERS | {"pg_up", "mysql_up", "pg_settings_max_connections"}


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


def resources(
    seen: Seen, named: Named, selectors: Mapping[str, Selector] | None = None, *, may_be_exporter: bool = True
) -> list[Found]:
    """What the scrape tells, by our names. Sources without values are left out, but for containers that are there
    without anything new. `may_be_exporter`: a process on it is an exporter's where there is an exporter's metric."""
    containers_found = [
        Found(f"cgroup:{name}", values, stamp) for name, values, stamp in containers.containers_of(seen)
    ]
    found = [
        Found(named.host, hosts.host_values_of(seen), seen.stamp),
        Found(f"postgresql:{named.label}", databases.postgresql_of(seen), seen.stamp),
        Found(f"mysql:{named.label}", databases.mysql_of(seen), seen.stamp),
    ]
    if not (may_be_exporter and is_exporter(seen)):
        found.append(Found(named.process, runtimes.process_values_of(seen), seen.stamp))
        found += [
            Found(f"pool:{named.label} {name}".strip(), values, seen.stamp) for name, values in runtimes.pools_of(seen)
        ]
    if selectors:
        values = {name: value_of(selector, seen) for name, selector in selectors.items()}
        own = {name: value for name, value in values.items() if value is not None}
        read = {name for selector in selectors.values() for name in metrics_of(selector)}
        stamp = stamp_of(sample for name in read for sample in seen.samples.get(name, ()))
        found.append(Found(f"metrics:{named.label}", own, stamp))
    return [*(one for one in found if one.values), *containers_found]


def told(found: Sequence[Found]) -> list[Found]:
    """Of what was found that which makes rows: what has values, of containers the 100 busiest."""
    with_values = [one for one in found if one.values]
    kept = [one for one in with_values if one.source.startswith("cgroup:")][: containers.MOST_CONTAINERS]
    return [one for one in with_values if not one.source.startswith("cgroup:")] + kept


def is_exporter(seen: Seen) -> bool:
    """Whether the page is one of an exporter, whose process is not the target's."""
    return any(seen.has(name) for name in _EXPORTERS)
