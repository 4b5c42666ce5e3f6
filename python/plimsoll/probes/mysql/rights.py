"""What the account of the DSN may see and what the server measures; for what is missing, what to type."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.probes.mysql.connection import Session, driver, error_code

_FACTS = """SELECT @@global.performance_schema AS measures, @@global.max_connections AS max_connections,
  @@global.performance_schema_digests_size AS digests, CURRENT_USER() AS account"""
_CONSUMER = "SELECT enabled FROM performance_schema.setup_consumers WHERE name = 'statements_digest'"
_INSTRUMENTS = """SELECT count(*) AS silent FROM performance_schema.setup_instruments
  WHERE name LIKE 'statement/sql/%' AND (enabled = 'NO' OR timed = 'NO')"""
_DIGESTS = "SELECT count_star FROM performance_schema.events_statements_summary_by_digest LIMIT 1"
_TABLES = "SELECT count_star FROM performance_schema.table_io_waits_summary_by_index_usage LIMIT 1"
_TRANSACTIONS = "SELECT count(*) AS open FROM information_schema.innodb_trx"
_DENIED = (1044, 1045, 1142, 1143, 1227)
ON = "performance_schema = ON under [mysqld] of the server's configuration (my.cnf; a managed server has it in its "


@dataclass(frozen=True)
class Rights:
    """`account`: 'user'@'host' as the server has it; `measures`: whether performance_schema is on; which of digests,
    tables and transactions can be read; `missing`: what cannot, in sentences with what to do."""

    account: str
    max_connections: int
    measures: bool
    reads_digests: bool
    reads_tables: bool
    sees_transactions: bool
    missing: tuple[str, ...]

    @classmethod
    def of(cls, session: Session) -> Rights:
        """Ask for them; each that is refused is told."""
        [facts] = session.rows(_FACTS)
        account = quoted(str(facts["account"]))
        missing: list[str] = []
        measures = bool(facts["measures"])
        if not measures:
            missing.append(
                f"No statements: the server does not measure them (performance_schema is OFF). Set {ON}parameter "
                "group) and restart it."
            )
        grant = f"GRANT SELECT ON performance_schema.* TO {account};"
        digests = measures and _readable(session, _DIGESTS)
        if measures and not digests:
            missing.append(f"No statements: {account} may not read performance_schema. Run {grant}")
        tables = digests and _readable(session, _TABLES)
        if digests:
            missing += _silent(session)
        sees = _readable(session, _TRANSACTIONS)
        if not sees:
            missing.append(
                f"{account} does not see the sessions and transactions of others, so that lock waits have no names and "
                f"open transactions no age. Run GRANT PROCESS ON *.* TO {account};"
            )
        return cls(account, int(facts["max_connections"]), measures, digests, tables, sees, tuple(missing))


def _silent(session: Session) -> list[str]:
    """What of the measuring of statements was switched off, with what switches it on."""
    found = []
    rows = session.rows(_CONSUMER)
    if rows and str(rows[0]["enabled"]) != "YES":
        found.append(
            "No statements: their digests are switched off. Run UPDATE performance_schema.setup_consumers SET "
            "ENABLED = 'YES' WHERE NAME = 'statements_digest';"
        )
    [row] = session.rows(_INSTRUMENTS)
    if int(row["silent"]):
        found.append(
            f"{row['silent']} kinds of statements are not timed. Run UPDATE performance_schema.setup_instruments SET "
            "ENABLED = 'YES', TIMED = 'YES' WHERE NAME LIKE 'statement/sql/%';"
        )
    return found


def _readable(session: Session, text: str) -> bool:
    try:
        session.rows(text)
    except driver().MySQLError as error:
        if error_code(error) in _DENIED:
            return False
        raise
    return True


def quoted(account: str) -> str:
    """'user'@'host' of user@host."""
    user, _, host = account.rpartition("@")
    return "@".join("'" + part.replace("'", "''") + "'" for part in (user, host))
