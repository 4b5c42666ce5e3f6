"""postgres_exporter's and mysqld_exporter's metrics (github.com/prometheus-community/postgres_exporter,
github.com/prometheus/mysqld_exporter) by the names of the database probes."""

from __future__ import annotations

from plimsoll.probes.prometheus.seen import Seen

_POSTGRESQL_RATES = {
    "pg_stat_database_xact_commit": "commits_per_s",
    "pg_stat_database_xact_rollback": "rollbacks_per_s",
    "pg_stat_database_blks_read": "blocks_read_per_s",
    "pg_stat_database_blks_hit": "blocks_hit_per_s",
    "pg_stat_database_temp_files": "temp_files_per_s",
    "pg_stat_database_temp_bytes": "temp_bytes_per_s",
    "pg_stat_database_deadlocks": "deadlocks_per_s",
    "pg_stat_user_tables_seq_scan": "sequential_scans_per_s",
    "pg_stat_user_tables_seq_tup_read": "sequential_rows_per_s",
}
_MYSQL_RATES = {
    "mysql_global_status_questions": "statements_per_s",
    "mysql_global_status_slow_queries": "slow_statements_per_s",
    "mysql_global_status_innodb_buffer_pool_reads": "blocks_read_per_s",
    "mysql_global_status_innodb_row_lock_waits": "lock_waits_per_s",
    "mysql_global_status_innodb_row_lock_time": "lock_wait_ms_per_s",
    "mysql_global_status_created_tmp_disk_tables": "temp_disk_tables_per_s",
    "mysql_global_status_aborted_connects": "failed_connections_per_s",
    "mysql_global_status_select_full_join": "joins_without_index_per_s",
    "mysql_global_status_select_scan": "sequential_scans_per_s",
}
_BUFFER_REQUESTS = "mysql_global_status_innodb_buffer_pool_read_requests"
# Names that the exporters gave counters with and without _total.
COUNTERS = frozenset(
    name for metric in (*_POSTGRESQL_RATES, *_MYSQL_RATES, _BUFFER_REQUESTS) for name in (metric, f"{metric}_total")
)
GAUGES = frozenset(
    {
        "pg_up",
        "pg_stat_activity_count",
        "pg_stat_activity_max_tx_duration",
        "pg_stat_database_numbackends",
        "pg_settings_max_connections",
        "pg_locks_count",
        "pg_database_size_bytes",
        "pg_postmaster_start_time_seconds",
        "mysql_up",
        "mysql_global_status_threads_connected",
        "mysql_global_status_threads_running",
        "mysql_global_variables_max_connections",
        "mysql_global_status_innodb_row_lock_current_waits",
        "mysql_global_status_uptime",
    }
)
_STATES = {
    "active": "connections_active",
    "idle": "connections_idle",
    "idle in transaction": "connections_idle_in_transaction",
    "idle in transaction (aborted)": "connections_idle_in_transaction",
}
_TEMPLATES = ("template0", "template1")


def postgresql_of(seen: Seen) -> dict[str, float]:
    """Values as the PostgreSQL probe's, over all databases of the server; empty where it is not that exporter."""
    ours = seen.of(lambda labels: labels.get("datname") not in _TEMPLATES)
    values = _rates(ours, _POSTGRESQL_RATES)
    for labels, count in ours.gauges("pg_stat_activity_count"):
        name = _STATES.get(labels.get("state", ""), "connections_other")
        values[name] = values.get(name, 0.0) + count
    connections = ours.gauge("pg_stat_database_numbackends", "pg_stat_activity_count")
    _connections(values, connections, seen.gauge("pg_settings_max_connections"))
    durations = [value for _, value in ours.gauges("pg_stat_activity_max_tx_duration")]
    if durations:
        values["longest_transaction_s"] = max(durations)
    for metric, name in (("pg_locks_count", "locks"), ("pg_database_size_bytes", "database_bytes")):
        gauge = ours.gauge(metric)
        if gauge is not None:
            values[name] = gauge
    _cache(values, values.get("blocks_hit_per_s"), values.get("blocks_read_per_s"))
    return values


def mysql_of(seen: Seen) -> dict[str, float]:
    """Values of a MariaDB or MySQL server; empty where it is not that exporter."""
    values = _rates(seen, _MYSQL_RATES)
    connections = seen.gauge("mysql_global_status_threads_connected")
    _connections(values, connections, seen.gauge("mysql_global_variables_max_connections"))
    for metric, name in (
        ("mysql_global_status_threads_running", "connections_active"),
        ("mysql_global_status_innodb_row_lock_current_waits", "lock_waits"),
    ):
        gauge = seen.gauge(metric)
        if gauge is not None:
            values[name] = gauge
    requests, read = seen.rate(_BUFFER_REQUESTS, f"{_BUFFER_REQUESTS}_total"), values.get("blocks_read_per_s")
    _cache(values, None if requests is None or read is None else requests - read, read)
    return values


def is_down(seen: Seen) -> str | None:
    """The database whose exporter says that it does not answer; None if all do."""
    for metric, words in (("pg_up", "PostgreSQL"), ("mysql_up", "MySQL")):
        if seen.has(metric) and not all(value for _, value in seen.gauges(metric)):
            return words
    return None


def _rates(seen: Seen, names: dict[str, str]) -> dict[str, float]:
    found = ((name, seen.rate(metric, f"{metric}_total")) for metric, name in names.items())
    return {name: rate for name, rate in found if rate is not None}


def _connections(values: dict[str, float], connections: float | None, most: float | None) -> None:
    if connections is None:
        return
    values["connections"] = connections
    if most:
        values["connections_max"] = most
        values["connections_share"] = connections / most


def _cache(values: dict[str, float], hit: float | None, read: float | None) -> None:
    if hit is not None and read is not None and hit + read > 0:
        values["cache_hit_share"] = max(0.0, hit) / (max(0.0, hit) + read)
