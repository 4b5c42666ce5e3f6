"""What is read each second: one query on the statistics views, its counters turned into rates.

The views are those of versions 13 to 18: up to 16 checkpoints are in pg_stat_bgwriter, from 17 on in
pg_stat_checkpointer. All counts of sessions are of the whole server; transactions, blocks, rows and temporary files of
the database of the DSN.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.probes.postgresql.connection import MARK
from plimsoll.probes.probe import Rates

CHECKPOINTER_FROM = 170_000
_CHECKPOINTS = "SELECT checkpoints_timed, checkpoints_req FROM pg_stat_bgwriter"
_CHECKPOINTS_17 = (
    "SELECT num_timed AS checkpoints_timed, num_requested AS checkpoints_req FROM pg_catalog.pg_stat_checkpointer"
)
_QUERY = f"""SELECT {MARK} a.*, d.*, s.*, w.*, c.*
FROM (
  SELECT count(*) AS connections,
    count(*) FILTER (WHERE state = 'active') AS active,
    count(*) FILTER (WHERE state = 'idle') AS idle,
    count(*) FILTER (WHERE state LIKE 'idle in transaction%') AS idle_in_transaction,
    count(*) FILTER (WHERE state IS NULL OR state IN ('disabled', 'fastpath function call')) AS other,
    count(*) FILTER (WHERE wait_event_type = 'Lock' AND state = 'active') AS lock_waits,
    count(*) FILTER (WHERE wait_event_type = 'LWLock' AND state = 'active') AS light_lock_waits,
    count(*) FILTER (WHERE wait_event_type = 'IO' AND state = 'active') AS io_waits,
    coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0) AS longest_transaction_s,
    coalesce(max(extract(epoch FROM clock_timestamp() - query_start)) FILTER (WHERE state = 'active'), 0)
      AS longest_statement_s,
    coalesce(max(extract(epoch FROM clock_timestamp() - query_start))
      FILTER (WHERE state = 'active' AND wait_event_type = 'Lock'), 0) AS longest_lock_wait_s
  FROM pg_catalog.pg_stat_activity
  WHERE backend_type = 'client backend' AND pid <> pg_catalog.pg_backend_pid()
) a, (
  SELECT xact_commit, xact_rollback, blks_read, blks_hit, tup_inserted + tup_updated + tup_deleted AS rows_written,
    temp_files, temp_bytes, deadlocks
  FROM pg_catalog.pg_stat_database WHERE datname = pg_catalog.current_database()
) d, (
  SELECT coalesce(sum(pg_catalog.pg_stat_get_numscans(oid)), 0) AS seq_scans,
    coalesce(sum(pg_catalog.pg_stat_get_tuples_returned(oid)), 0) AS seq_rows
  FROM pg_catalog.pg_class
  WHERE relkind IN ('r', 'm') AND relnamespace NOT IN (
    SELECT oid FROM pg_catalog.pg_namespace WHERE nspname IN ('pg_catalog', 'information_schema'))
) s, (
  SELECT pg_catalog.pg_wal_lsn_diff(
    CASE WHEN pg_catalog.pg_is_in_recovery() THEN pg_catalog.pg_last_wal_replay_lsn()
    ELSE pg_catalog.pg_current_wal_insert_lsn() END, '0/0') AS wal_bytes
) w, (CHECKPOINTS) c"""
_COUNTERS = {
    "xact_commit": "commits_per_s",
    "xact_rollback": "rollbacks_per_s",
    "blks_read": "blocks_read_per_s",
    "blks_hit": "blocks_hit_per_s",
    "rows_written": "rows_written_per_s",
    "temp_files": "temp_files_per_s",
    "temp_bytes": "temp_bytes_per_s",
    "deadlocks": "deadlocks_per_s",
    "seq_scans": "sequential_scans_per_s",
    "seq_rows": "sequential_rows_per_s",
    "wal_bytes": "wal_bytes_per_s",
    "checkpoints_timed": "checkpoints_timed_per_s",
    "checkpoints_req": "checkpoints_requested_per_s",
}
_GAUGES = {
    "connections": "connections",
    "active": "connections_active",
    "idle": "connections_idle",
    "idle_in_transaction": "connections_idle_in_transaction",
    "other": "connections_other",
    "lock_waits": "lock_waits",
    "light_lock_waits": "light_lock_waits",
    "io_waits": "io_waits",
    "longest_transaction_s": "longest_transaction_s",
    "longest_statement_s": "longest_statement_s",
    "longest_lock_wait_s": "longest_lock_wait_s",
}
BLOCKING_QUERY = f"""SELECT {MARK} waiting.pid AS waiting_pid, waiting.query AS waiting_text,
  holding.pid AS holding_pid, holding.query AS holding_text, holding.state AS holding_state
FROM pg_catalog.pg_stat_activity waiting
CROSS JOIN LATERAL unnest(pg_catalog.pg_blocking_pids(waiting.pid)) AS blocked(by_pid)
LEFT JOIN pg_catalog.pg_stat_activity holding ON holding.pid = blocked.by_pid
WHERE waiting.wait_event_type = 'Lock' AND waiting.state = 'active' LIMIT 200"""


def query_of(version: int) -> str:
    """The query for a server of that version (150004 is 15.4)."""
    return _QUERY.replace("CHECKPOINTS", _CHECKPOINTS_17 if version >= CHECKPOINTER_FROM else _CHECKPOINTS)


def values_of(row: Mapping[str, Any], rates: Rates, max_connections: int) -> dict[str, float]:
    """The values of a second, of a row of the query; see docs/probes/postgresql.md for each. `rates` is kept from
    second to second."""
    values = {name: float(row[column]) for column, name in _GAUGES.items()}
    values["connections_max"] = float(max_connections)
    values["connections_share"] = values["connections"] / max_connections
    found, _ = rates.update({column: float(row[column]) for column in _COUNTERS if row.get(column) is not None})
    values |= {_COUNTERS[column]: rate for column, rate in found.items()}
    touched = found.get("blks_hit", 0.0) + found.get("blks_read", 0.0)
    if touched > 0:
        values["cache_hit_share"] = found["blks_hit"] / touched
    return values
