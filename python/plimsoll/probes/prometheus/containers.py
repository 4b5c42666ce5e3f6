"""cAdvisor's metrics (alone, or of a kubelet) by the names of the cgroup probe (github.com/google/cadvisor)."""

from __future__ import annotations

from plimsoll.probes.prometheus.seen import Seen

MOST_CONTAINERS = 100
UNLIMITED_BYTES = float(1 << 60)  # what cgroup 1 says without a limit is near 2⁶³
COUNTERS = frozenset(
    {
        "container_cpu_usage_seconds_total",
        "container_cpu_cfs_throttled_seconds_total",
        "container_cpu_cfs_throttled_periods_total",
        "container_cpu_cfs_periods_total",
        "container_oom_events_total",
        "container_fs_reads_bytes_total",
        "container_fs_writes_bytes_total",
        "container_network_receive_bytes_total",
        "container_network_transmit_bytes_total",
        "container_pressure_cpu_waiting_seconds_total",
        "container_pressure_memory_waiting_seconds_total",
        "container_pressure_io_waiting_seconds_total",
    }
)
GAUGES = frozenset(
    {
        "container_spec_cpu_quota",
        "container_spec_cpu_period",
        "container_memory_working_set_bytes",
        "container_memory_rss",
        "container_spec_memory_limit_bytes",
        "container_threads",
        "container_processes",
        "container_start_time_seconds",
    }
)
_OF_USE = ("container_cpu_usage_seconds_total", "container_memory_working_set_bytes")
_RATES = {
    "container_cpu_usage_seconds_total": "cpu_cores_used",
    "container_cpu_cfs_throttled_seconds_total": "cpu_throttled_share",
    "container_oom_events_total": "oom_kills_per_s",
    "container_fs_reads_bytes_total": "disk_read_bytes_per_s",
    "container_fs_writes_bytes_total": "disk_write_bytes_per_s",
    "container_network_receive_bytes_total": "network_received_bytes_per_s",
    "container_network_transmit_bytes_total": "network_sent_bytes_per_s",
    "container_pressure_cpu_waiting_seconds_total": "cpu_pressure_share",
    "container_pressure_memory_waiting_seconds_total": "memory_pressure_share",
    "container_pressure_io_waiting_seconds_total": "io_pressure_share",
}
_GAUGES = {
    "container_memory_working_set_bytes": "memory_used_bytes",
    "container_memory_rss": "rss_bytes",
    "container_threads": "threads",
    "container_processes": "processes",
}


def name_of(labels: dict[str, str]) -> str | None:
    """The container's name: namespace/pod/container in Kubernetes, where the network is the pod's; else Docker's. None
    for cgroups that are no container."""
    pod = labels.get("pod") or labels.get("pod_name")
    container = labels.get("container") or labels.get("container_name")
    if pod and container and container != "POD":
        return "/".join(part for part in (labels.get("namespace"), pod, container) if part)
    if pod:
        return None
    return labels.get("name") or None


def containers_of(seen: Seen) -> list[tuple[str, dict[str, float], float | None]]:
    """(name, values, its samples' own time) of each container, the busiest first. One that has nothing new of its use
    has no values."""
    found = [
        (name, _values(one) if any(one.has(metric) for metric in _OF_USE) else {}, one.stamp)
        for name, one in seen.by(name_of).items()
    ]
    found.sort(key=lambda one: (-one[1].get("cpu_cores_used", 0.0), one[0]))
    return found


def _values(seen: Seen) -> dict[str, float]:
    values: dict[str, float] = {}
    for metric, name in _RATES.items():
        rates = [rate for labels, rate in seen.rates(metric) if labels.get("cpu", "total") == "total"]
        rates = rates or [rate for _, rate in seen.rates(metric)]  # older ones tell each core, and no total
        if rates:
            values[name] = sum(rates)
    for metric, name in _GAUGES.items():
        gauge = seen.gauge(metric)
        if gauge is not None:
            values[name] = gauge
    quota, period = seen.gauge("container_spec_cpu_quota"), seen.gauge("container_spec_cpu_period")
    if quota is not None and period and quota > 0:
        values["cpu_limit_cores"] = quota / period
        if "cpu_cores_used" in values:
            values["cpu_limit_share"] = values["cpu_cores_used"] / values["cpu_limit_cores"]
    throttled, periods = (seen.rate(f"container_cpu_cfs_{what}_total") for what in ("throttled_periods", "periods"))
    if throttled is not None and periods:
        values["cpu_throttled_periods_share"] = throttled / periods
    limit = seen.gauge("container_spec_memory_limit_bytes")
    if limit is not None and 0 < limit < UNLIMITED_BYTES:
        values["memory_limit_bytes"] = limit
        if "memory_used_bytes" in values:
            values["memory_share"] = values["memory_used_bytes"] / limit
    return values
