"""What the role of the DSN may see and which extensions are there; for what is missing, the statement that adds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from plimsoll.probes.postgresql.connection import MARK, Session
from plimsoll.probes.postgresql.statements import extension_schema

QUERY = f"""SELECT {MARK}
  pg_catalog.current_database() AS database, current_user AS role,
  pg_catalog.quote_ident(current_user) AS quoted_role,
  pg_catalog.current_setting('server_version_num')::int AS version,
  pg_catalog.current_setting('server_version') AS version_text,
  pg_catalog.current_setting('max_connections')::int AS max_connections,
  pg_catalog.current_setting('track_activity_query_size') AS query_size,
  pg_catalog.current_setting('block_size')::int AS block_bytes,
  pg_catalog.current_setting('track_io_timing') AS io_timing,
  pg_catalog.pg_is_in_recovery() AS is_standby,
  pg_catalog.pg_has_role(current_user, 'pg_read_all_stats', 'USAGE') AS reads_stats,
  pg_catalog.pg_has_role(current_user, 'pg_stat_scan_tables', 'USAGE') AS scans_tables,
  (SELECT datcollate FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database()) AS collation,
  CASE WHEN pg_catalog.pg_has_role(current_user, 'pg_read_all_settings', 'USAGE')
    THEN pg_catalog.current_setting('shared_preload_libraries') END AS preloaded,
  (SELECT pg_catalog.array_agg(extname::text) FROM pg_catalog.pg_extension) AS extensions,
  (SELECT pg_catalog.array_agg(name::text) FROM pg_catalog.pg_available_extensions) AS available"""


@dataclass(frozen=True)
class Rights:
    """Facts of server, database and role, as QUERY gives them; `unreadable`: why pg_stat_statements, which is there,
    cannot be read."""

    facts: Mapping[str, Any]
    unreadable: str = ""

    @classmethod
    def of(cls, session: Session) -> Rights:
        """Ask for them."""
        [row] = session.rows(QUERY)
        rights = cls(row)
        return cls(row, statements_fault(session)) if rights.has("pg_stat_statements") else rights

    def has(self, extension: str) -> bool:
        """Whether the extension is created in this database."""
        return extension in (self.facts["extensions"] or ())

    def is_available(self, extension: str) -> bool:
        """Whether the server has its files, so that it can be created."""
        return extension in (self.facts["available"] or ())

    @property
    def max_connections(self) -> int:
        """The server's own limit."""
        return int(self.facts["max_connections"])

    @property
    def major(self) -> int:
        """15 of 15.4."""
        return int(self.facts["version"]) // 10_000

    @property
    def can_read_statements(self) -> bool:
        """Whether pg_stat_statements is created here and answers."""
        return self.has("pg_stat_statements") and not self.unreadable

    def missing(self) -> list[str]:
        """What keeps part of the facts out of sight, and what to do, a sentence or two each."""
        return [*self._statements(), *self._rights()]

    def _statements(self) -> list[str]:
        database, preloaded = self.facts["database"], self.facts["preloaded"]
        is_loaded = None if preloaded is None else "pg_stat_statements" in preloaded
        load = (
            "add pg_stat_statements to shared_preload_libraries in postgresql.conf (a managed server has it in its "
            "parameter group) and restart the server"
        )
        create = f'CREATE EXTENSION pg_stat_statements; in the database "{database}", as a superuser'
        if self.has("pg_stat_statements"):
            return [f"No statements: {self.unreadable}. To have it loaded, {load}."] if self.unreadable else []
        if not self.is_available("pg_stat_statements"):
            return [
                "No statements: the server has no pg_stat_statements. Install it (Debian has it in postgresql-"
                f"{self.major}, others in postgresql-contrib), {load}, then {create}."
            ]
        if is_loaded is True:
            return [f"No statements: the extension pg_stat_statements is not there. Run {create}."]
        first = load if is_loaded is False else f"unless it is done already, {load}"
        return [f"No statements: the extension pg_stat_statements is not there. First {first}, then {create}."]

    def _rights(self) -> list[str]:
        if self.facts["reads_stats"]:
            return []
        return [
            f'The role "{self.facts["role"]}" sees no statements and sessions of others, so that connections by state, '
            f"locks and statements are incomplete. Run GRANT pg_monitor TO {self.facts['quoted_role']}; as a superuser "
            "(or GRANT pg_read_all_stats)."
        ]


def statements_fault(session: Session) -> str:
    """Why pg_stat_statements cannot be read, in the server's words; empty if it can."""
    schema = extension_schema(session, "pg_stat_statements")
    try:
        session.rows(f"SELECT {MARK} 1 AS one FROM {schema}.pg_stat_statements(false) LIMIT 1")
    except Exception as error:
        if not session.outlives(error):
            raise
        return str(error).splitlines()[0]
    return ""
