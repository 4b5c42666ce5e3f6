"""What is read each second: the server's status variables, and its open transactions; counters turned into rates.

Status variables are those of MariaDB 10.4 and later and MySQL 5.7 and later; one that a version does not have leaves
its value out. All are of the whole server.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from plimsoll.probes.mysql.connection import Row, Session
from plimsoll.probes.probe import Rates

_COUNTERS = {
    "questions": "statements_per_s",
    "slow_queries": "slow_statements_per_s",
    "com_commit": "commits_per_s",
    "com_rollback": "rollbacks_per_s",
    "innodb_buffer_pool_reads": "blocks_read_per_s",
    "innodb_buffer_pool_read_requests": "blocks_asked_per_s",
    "innodb_row_lock_waits": "lock_waits_per_s",
    "innodb_row_lock_time": "lock_wait_ms_per_s",
    "innodb_deadlocks": "deadlocks_per_s",
    "created_tmp_disk_tables": "temp_disk_tables_per_s",
    "aborted_connects": "failed_connections_per_s",
    "select_full_join": "joins_without_index_per_s",
    "select_scan": "sequential_scans_per_s",
    "handler_read_rnd_next": "sequential_rows_per_s",
    "innodb_os_log_written": "wal_bytes_per_s",
}
_WRITTEN = ("handler_write", "handler_update", "handler_delete")
_GAUGES = {
    "threads_connected": "connections",
    "threads_running": "connections_active",
    "innodb_row_lock_current_waits": "lock_waits",
}
_NAMES = ", ".join(f"'{name}'" for name in (*_COUNTERS, *_WRITTEN, *_GAUGES))
STATUS = f"SHOW GLOBAL STATUS WHERE Variable_name IN ({_NAMES})"
TRANSACTIONS = """SELECT count(*) AS open, coalesce(sum(trx_state = 'LOCK WAIT'), 0) AS waiting,
  coalesce(max(timestampdiff(SECOND, trx_started, now())), 0) AS longest_s,
  coalesce(max(timestampdiff(SECOND, trx_wait_started, now())), 0) AS longest_wait_s,
  coalesce(sum(trx_query IS NULL), 0) AS idle FROM information_schema.innodb_trx
  WHERE trx_mysql_thread_id <> connection_id()"""
_BLOCKING_MARIADB = """SELECT waiting.trx_mysql_thread_id AS waiting_id, waiting.trx_query AS waiting_text,
  holding.trx_mysql_thread_id AS holding_id, holding.trx_query AS holding_text
  FROM information_schema.innodb_lock_waits w
  JOIN information_schema.innodb_trx waiting ON waiting.trx_id = w.requesting_trx_id
  JOIN information_schema.innodb_trx holding ON holding.trx_id = w.blocking_trx_id LIMIT 200"""
_BLOCKING_MYSQL_8 = """SELECT waiting.trx_mysql_thread_id AS waiting_id, waiting.trx_query AS waiting_text,
  holding.trx_mysql_thread_id AS holding_id, holding.trx_query AS holding_text
  FROM performance_schema.data_lock_waits w
  JOIN information_schema.innodb_trx waiting ON waiting.trx_id = w.requesting_engine_transaction_id
  JOIN information_schema.innodb_trx holding ON holding.trx_id = w.blocking_engine_transaction_id LIMIT 200"""


def blocking_query(session: Session) -> str:
    """Who waits for whose lock: a table of information_schema that MySQL 8 moved."""
    return _BLOCKING_MYSQL_8 if not session.is_mariadb and session.version >= (8,) else _BLOCKING_MARIADB


def status_of(rows: Iterable[Row]) -> dict[str, float]:
    """{name in small letters: number} of SHOW GLOBAL STATUS; what is no number is left out."""
    found = {}
    for row in rows:
        try:
            found[str(row["variable_name"]).lower()] = float(row["value"])
        except ValueError:
            continue
    return found


def values_of(status: Mapping[str, float], rates: Rates, max_connections: int) -> dict[str, float]:
    """The values of a second, of the status variables; see docs/probes/mysql.md for each. `rates` is kept from second
    to second. Our own connection is left out of the connections."""
    values = {name: status[variable] for variable, name in _GAUGES.items() if variable in status}
    for name in ("connections", "connections_active"):
        if name in values:
            values[name] = max(0.0, values[name] - 1)
    if "connections" in values:
        values["connections_max"] = float(max_connections)
        values["connections_share"] = values["connections"] / max_connections
    counters = {variable: status[variable] for variable in _COUNTERS if variable in status}
    if all(name in status for name in _WRITTEN):
        counters["written"] = sum(status[name] for name in _WRITTEN)
    found, _ = rates.update(counters)
    values |= {_COUNTERS.get(variable, "rows_written_per_s"): rate for variable, rate in found.items()}
    asked, read = values.pop("blocks_asked_per_s", None), values.get("blocks_read_per_s")
    if asked is not None and read is not None:
        values["blocks_hit_per_s"] = max(0.0, asked - read)
        if asked > 0:
            values["cache_hit_share"] = values["blocks_hit_per_s"] / asked
    return values


def transactions_of(row: Row) -> dict[str, float]:
    """The values of a second that open transactions tell, of the row of TRANSACTIONS."""
    return {
        "transactions_open": float(row["open"]),
        "connections_idle_in_transaction": float(row["idle"]),
        "longest_transaction_s": float(row["longest_s"]),
        "longest_lock_wait_s": float(row["longest_wait_s"]),
    }
