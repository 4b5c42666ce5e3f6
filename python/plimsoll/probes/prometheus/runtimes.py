"""What a process tells of itself, by the names of the process probe: the client libraries of Prometheus in any
language, the JVM by jmx_exporter (its own names and those of client_java) or by Micrometer, and its pools (HikariCP,
Tomcat, Jetty).

prometheus.io/docs/instrumenting/writing_clientlibs ("Standard and runtime collectors"), client_java's JVM metrics (1.x
and 0.x), docs.micrometer.io (JVM and system metrics).
"""

from __future__ import annotations

from plimsoll.probes.prometheus.seen import Seen


def _spelled(name: str) -> tuple[str, str]:
    """A name that jmx_exporter makes of a bean when it has no rules, and the same with lowercaseOutputName."""
    return name, name.lower()


COUNTERS = frozenset(
    {
        "process_cpu_seconds_total",
        "process_cpu_time_ns_total",
        "jvm_gc_collection_seconds_sum",
        "jvm_gc_collection_seconds_count",
        "jvm_gc_pause_seconds_sum",
        "jvm_gc_pause_seconds_count",
        "go_gc_duration_seconds_sum",
        "go_gc_duration_seconds_count",
        "hikaricp_connections_timeout_total",
        *_spelled("java_lang_GarbageCollector_CollectionTime"),
        *_spelled("java_lang_GarbageCollector_CollectionCount"),
        *_spelled("java_lang_OperatingSystem_ProcessCpuTime"),
    }
)
GAUGES = frozenset(
    {
        "process_cpu_usage",
        "system_cpu_usage",
        "system_cpu_count",
        "process_resident_memory_bytes",
        "process_open_fds",
        "process_max_fds",
        "process_files_open_files",
        "process_files_max_files",
        "process_start_time_seconds",
        "process_uptime_seconds",
        "go_threads",
        "go_goroutines",
        "jvm_memory_used_bytes",
        "jvm_memory_max_bytes",
        "jvm_memory_bytes_used",
        "jvm_memory_bytes_max",
        "jvm_threads_current",
        "jvm_threads_live_threads",
        "jvm_threads_live",
        "hikaricp_connections_active",
        "hikaricp_connections_max",
        "hikaricp_connections_pending",
        "tomcat_threads_busy_threads",
        "tomcat_threads_config_max_threads",
        "jetty_threads_busy",
        "jetty_threads_config_max",
        "jetty_threads_jobs",
        *_spelled("java_lang_Memory_HeapMemoryUsage_used"),
        *_spelled("java_lang_Memory_HeapMemoryUsage_max"),
        *_spelled("java_lang_Threading_ThreadCount"),
        *_spelled("java_lang_OperatingSystem_OpenFileDescriptorCount"),
        *_spelled("java_lang_OperatingSystem_MaxFileDescriptorCount"),
    }
)
# (kind, label that names the pool, in use, at most, waiting)
_POOLS = (
    ("connections", "pool", "hikaricp_connections_active", "hikaricp_connections_max", "hikaricp_connections_pending"),
    ("threads", "name", "tomcat_threads_busy_threads", "tomcat_threads_config_max_threads", ""),
    ("threads", "", "jetty_threads_busy", "jetty_threads_config_max", "jetty_threads_jobs"),
)
MOST_POOLS = 50


def process_values_of(seen: Seen) -> dict[str, float]:
    """cpu_cores_used, rss_bytes, open_files, open_files_limit, threads, heap_used_bytes, heap_limit_bytes, heap_share,
    gc_share (of the time, spent in garbage collections), gc_per_s, each where it is told."""
    values: dict[str, float] = {}
    cpu = seen.rate("process_cpu_seconds_total")
    if cpu is None and (nanoseconds := seen.rate("process_cpu_time_ns_total")) is not None:
        cpu = nanoseconds / 1e9
    if cpu is None:
        nanoseconds = seen.rate(*_spelled("java_lang_OperatingSystem_ProcessCpuTime"))
        cpu = None if nanoseconds is None else nanoseconds / 1e9
    if cpu is None:
        share, cores = seen.gauge("process_cpu_usage"), seen.gauge("system_cpu_count")
        cpu = None if share is None or cores is None or share < 0 else share * cores
    collecting = seen.rate("jvm_gc_collection_seconds_sum", "jvm_gc_pause_seconds_sum")
    if collecting is None:
        ms = seen.rate(*_spelled("java_lang_GarbageCollector_CollectionTime"))
        collecting = None if ms is None else ms / 1000
    found = {
        "cpu_cores_used": cpu,
        "rss_bytes": seen.gauge("process_resident_memory_bytes"),
        "open_files": seen.gauge(
            "process_open_fds",
            "process_files_open_files",
            *_spelled("java_lang_OperatingSystem_OpenFileDescriptorCount"),
        ),
        "open_files_limit": seen.gauge(
            "process_max_fds",
            "process_files_max_files",
            *_spelled("java_lang_OperatingSystem_MaxFileDescriptorCount"),
        ),
        "threads": seen.gauge(
            "jvm_threads_current",
            "jvm_threads_live_threads",
            "jvm_threads_live",
            "go_threads",
            *_spelled("java_lang_Threading_ThreadCount"),
        ),
        "goroutines": seen.gauge("go_goroutines"),
        "gc_share": collecting,
        "gc_per_s": seen.rate(
            "jvm_gc_collection_seconds_count",
            "jvm_gc_pause_seconds_count",
            "go_gc_duration_seconds_count",
            *_spelled("java_lang_GarbageCollector_CollectionCount"),
        ),
    }
    values |= {name: value for name, value in found.items() if value is not None}
    return values | _heap(seen)


def _heap(seen: Seen) -> dict[str, float]:
    heap = seen.of(lambda labels: labels.get("area") == "heap")
    used = heap.gauge("jvm_memory_used_bytes", "jvm_memory_bytes_used")
    limits = heap.gauges("jvm_memory_max_bytes") or heap.gauges("jvm_memory_bytes_max")
    if used is None:
        used = seen.gauge(*_spelled("java_lang_Memory_HeapMemoryUsage_used"))
        limits = [one for name in _spelled("java_lang_Memory_HeapMemoryUsage_max") for one in seen.gauges(name)]
    if used is None:
        return {}
    known = [limit for _, limit in limits if limit > 0]  # -1 where a part has no limit of its own
    if not known:
        return {"heap_used_bytes": used}
    return {"heap_used_bytes": used, "heap_limit_bytes": sum(known), "heap_share": used / sum(known)}


def pools_of(seen: Seen) -> list[tuple[str, dict[str, float]]]:
    """(name, values) of each pool: used, limit, used_share, waiting."""
    found: list[tuple[str, dict[str, float]]] = []
    for kind, label, used_name, most_name, waiting_name in _POOLS:
        most, waiting = _by(seen, most_name, label), _by(seen, waiting_name, label)
        for pool, used in _by(seen, used_name, label).items():
            values = {"used": used}
            if most.get(pool, 0.0) > 0:
                values |= {"limit": most[pool], "used_share": used / most[pool]}
            if pool in waiting:
                values["waiting"] = waiting[pool]
            found.append((f"{pool} {kind}".strip(), values))
    return found[:MOST_POOLS]


def _by(seen: Seen, name: str, label: str) -> dict[str, float]:
    sums: dict[str, float] = {}
    for labels, value in seen.gauges(name):
        pool = labels.get(label, "") if label else ""
        sums[pool] = sums.get(pool, 0.0) + value
    return sums
