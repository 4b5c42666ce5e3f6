"""node_exporter's metrics by the names of the host and network probes (github.com/prometheus/node_exporter)."""

from __future__ import annotations

import re

from plimsoll.probes.machine.host_values import (
    core_values,
    cpu_values,
    disk_values,
    is_loopback,
    memory_values,
    pressure_values,
)
from plimsoll.probes.prometheus.seen import Seen

_USUAL_PAGE_BYTES = 4096.0
_PAGE_SIZES = (4096.0, 8192.0, 16384.0, 65536.0)
_ONE_PAGE_SIZE = re.compile(r"^(x86_64|i[3-6]86|s390x|riscv64)$")  # machines that have no pages but those of 4 KiB
_DISK = {
    "node_disk_read_bytes_total": "read_bytes",
    "node_disk_written_bytes_total": "written_bytes",
    "node_disk_io_time_seconds_total": "busy_s",
    "node_disk_reads_completed_total": "reads",
    "node_disk_writes_completed_total": "writes",
    "node_disk_read_time_seconds_total": "read_s",
    "node_disk_write_time_seconds_total": "write_s",
}
_PRESSURE = {
    "node_pressure_cpu_waiting_seconds_total": "cpu_pressure_share",
    "node_pressure_memory_waiting_seconds_total": "memory_pressure_share",
    "node_pressure_io_waiting_seconds_total": "io_pressure_share",
}
_NETWORK = {
    "node_network_transmit_bytes_total": "network_sent_bytes_per_s",
    "node_network_receive_bytes_total": "network_received_bytes_per_s",
    "node_network_receive_drop_total": "network_dropped_packets_per_s",
    "node_network_transmit_drop_total": "network_dropped_packets_per_s",
    "node_network_receive_errs_total": "network_errors_per_s",
    "node_network_transmit_errs_total": "network_errors_per_s",
}
_PLAIN = {"node_context_switches_total": "context_switches_per_s", "node_vmstat_oom_kill": "oom_kills_per_s"}
_SWAP = {"node_vmstat_pswpin": "swap_in_bytes_per_s", "node_vmstat_pswpout": "swap_out_bytes_per_s"}
COUNTERS = frozenset({"node_cpu_seconds_total", *_DISK, *_PRESSURE, *_NETWORK, *_PLAIN, *_SWAP})
GAUGES = frozenset(
    {
        "node_memory_MemTotal_bytes",
        "node_memory_MemAvailable_bytes",
        "node_memory_MemFree_bytes",
        "node_memory_Buffers_bytes",
        "node_memory_Cached_bytes",
        "node_memory_SwapTotal_bytes",
        "node_memory_SwapFree_bytes",
        "node_load1",
        "node_time_seconds",
        "node_boot_time_seconds",
        "node_uname_info",
        "node_vmstat_nr_free_pages",
    }
)


def host_values_of(seen: Seen) -> dict[str, float]:
    """Values as HostProbe's and NetworkProbe's; empty where it is no page of node_exporter."""
    cores = {labels.get("cpu", "") for labels, _ in seen.gauges("node_cpu_seconds_total")}
    rates: dict[str, float] = {}
    for labels, rate in seen.rates("node_cpu_seconds_total"):
        mode, core = labels.get("mode", ""), labels.get("cpu", "")
        rates[f"cpu:{mode}"] = rates.get(f"cpu:{mode}", 0.0) + rate
        rates[f"core:{core}:{mode}"] = rate
    for metric, what in _DISK.items():
        for labels, rate in seen.rates(metric):
            rates[f"disk:{labels.get('device', '')}:{what}"] = rate
    for metric, name in (*_PRESSURE.items(), *_PLAIN.items()):
        _put(rates, name, seen.rate(metric))
    for metric, name in _SWAP.items():
        pages = seen.rate(metric)
        _put(rates, name, None if pages is None else pages * page_bytes(seen))
    values = {"cores": float(len(cores))} if cores else {}
    values |= cpu_values(rates, float(len(cores))) | core_values(rates) | disk_values(rates)
    values |= {name: rate for name, rate in rates.items() if ":" not in name} | pressure_values(rates)
    _put(values, "load_1m", seen.gauge("node_load1"))
    return values | _memory(seen) | _network(seen)


def page_bytes(seen: Seen) -> float:
    """Bytes of a page, which pswpin and pswpout count. node_exporter does not tell it: it is 4096 on a machine that has
    no others, else free memory by free pages where those are told (--collector.vmstat.fields; on some virtual machines
    they are not the same memory), else what the kernel's name says of it, else 4096."""
    names = [labels for labels, _ in seen.gauges("node_uname_info")]
    if any(_ONE_PAGE_SIZE.match(labels.get("machine", "")) for labels in names):
        return _USUAL_PAGE_BYTES
    free, pages = seen.gauge("node_memory_MemFree_bytes"), seen.gauge("node_vmstat_nr_free_pages")
    if free and pages:
        return min(_PAGE_SIZES, key=lambda size: abs(free / pages - size))
    for labels in names:
        release, machine = labels.get("release", "").lower(), labels.get("machine", "")
        if re.search(r"[-+.]64k\b", release) or machine.startswith("ppc64"):  # all common distributions for POWER
            return 65536.0
        if re.search(r"[-+.]16k\b", release):
            return 16384.0
    return _USUAL_PAGE_BYTES


def _memory(seen: Seen) -> dict[str, float]:
    total, available = seen.gauge("node_memory_MemTotal_bytes"), seen.gauge("node_memory_MemAvailable_bytes")
    if available is None:  # kernels before 3.14
        parts = [seen.gauge(f"node_memory_{part}_bytes") for part in ("MemFree", "Buffers", "Cached")]
        available = None if None in parts else sum(part for part in parts if part is not None)
    if not total or available is None:
        return {}
    swap, free = seen.gauge("node_memory_SwapTotal_bytes"), seen.gauge("node_memory_SwapFree_bytes")
    return memory_values(total, available, None if swap is None or free is None else swap - free)


def _network(seen: Seen) -> dict[str, float]:
    values: dict[str, float] = {}
    for metric, name in _NETWORK.items():
        for labels, rate in seen.rates(metric):
            if not is_loopback(labels.get("device", "")):
                values[name] = values.get(name, 0.0) + rate
            elif metric == "node_network_transmit_bytes_total":
                values["loopback_bytes_per_s"] = rate
    return values


def _put(values: dict[str, float], name: str, value: float | None) -> None:
    if value is not None:
        values[name] = value
