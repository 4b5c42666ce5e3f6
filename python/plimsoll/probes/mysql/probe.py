"""The probe of one MariaDB or MySQL database: a source of values each second, and events of steps and of the run."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from plimsoll.probes.database_probe import DatabaseProbe, Event, shortened
from plimsoll.probes.mysql import digests, seconds
from plimsoll.probes.mysql.connection import Connection, Session
from plimsoll.probes.mysql.digests import Reading, Texts, Window
from plimsoll.probes.mysql.rights import Rights
from plimsoll.probes.probe import Clock, Rates

STATISTICS = "performance_schema"


@dataclass
class _Moment:
    """Everything that counts up, at one moment; None: not readable."""

    statements: Reading | None
    tables: Mapping[str, tuple[float, float]] | None


class MysqlProbe(DatabaseProbe[Session, _Moment]):
    """Values each second: see docs/probes/mysql.md. Nothing of the server's settings is changed."""

    def __init__(self, dsn: str, label: str = "db", clock: Clock = time.monotonic, key: str | None = None) -> None:
        super().__init__(f"mysql:{label}", Connection(dsn, clock), clock, key)
        self._rights: tuple[int, Rights] | None = None
        self._texts = Texts()

    def _missing(self, session: Session) -> list[str]:
        return list(self._known(session).missing)

    def _known(self, session: Session) -> Rights:
        """Asked for once a connection."""
        generation = self._connection.generation
        if self._rights is None or self._rights[0] != generation:
            self._rights = (generation, Rights.of(session))
            self._rates = Rates(self._clock)
        return self._rights[1]

    def _second(self, session: Session) -> dict[str, float]:
        rights = self._known(session)
        status = seconds.status_of(session.rows(seconds.STATUS))
        values = seconds.values_of(status, self._rates, rights.max_connections)
        if rights.sees_transactions:
            [row] = session.rows(seconds.TRANSACTIONS)
            values |= seconds.transactions_of(row)
            values["sessions_blocking"] = self._blockers(session, rights) if row["waiting"] else 0.0
        return values

    def _blockers(self, session: Session, rights: Rights) -> float:
        if not session.is_mariadb and session.version >= (8,) and not rights.reads_digests:
            return 0.0
        rows = session.rows(seconds.blocking_query(session))
        for row in rows:
            self._note_blocking(_shape(row["holding_text"]), _shape(row["waiting_text"]))
        return float(len({row["holding_id"] for row in rows}))

    def _moment(self, session: Session) -> _Moment:
        rights = self._known(session)
        reading = digests.read(session) if rights.reads_digests else None
        return _Moment(reading, digests.read_tables(session) if rights.reads_tables else None)

    def _window(self, session: Session, before: _Moment, kind: str) -> Iterator[Event]:
        """Texts that are new, then the event of a step or a run."""
        rights, after = self._known(session), self._moment(session)
        tables = digests.scanned(before.tables, after.tables) if before.tables and after.tables else []
        details: dict[str, Any] = {"source": self.source, "statistics": STATISTICS, "tables": tables}
        window = None
        if before.statements is not None and after.statements is not None:
            window = digests.between(before.statements, after.statements)
            dearest = [key for key, _ in window.statements[: 2 * digests.MOST_STATEMENTS]]
            for key in self._texts.learn(session, dearest):
                text = digests.shown_text(self._texts.known[key])
                yield "database_statement", {"source": self.source, "id": digests.id_of(key), "text": text}
            window = _without(window, self._texts.own)
            details |= window_json(window)
        if kind == "database_run":
            details |= {"server": session.server, "missing": list(rights.missing), "notes": _notes(window, session)}
        yield kind, details


def _without(window: Window, own: set[tuple[str, str]]) -> Window:
    kept = [(key, counters) for key, counters in window.statements if key not in own]
    return Window(kept, window.untold_calls, window.was_reset)


def window_json(window: Window) -> dict[str, Any]:
    """A window as events hold it: the MOST_STATEMENTS dearest, and what the others took."""
    total = window.total_ms
    shown = window.statements[: digests.MOST_STATEMENTS]
    return {
        "total_ms": total,
        "statements": [digests.statement_json(key, counters, total) for key, counters in shown],
        "others": len(window.statements) - len(shown),
        "was_reset": window.was_reset,
        "untold_calls": window.untold_calls,
    }


def _notes(window: Window | None, session: Session) -> list[str]:
    notes = []
    if window is not None and window.untold_calls:
        notes.append(
            f"{window.untold_calls:,} calls are counted under no statement, as performance_schema had no room for more "
            "digests: raise performance_schema_digests_size and restart, or TRUNCATE "
            "performance_schema.events_statements_summary_by_digest before the run."
        )
    if not session.database:
        notes.append("The DSN names no database, so statements of all are counted; end it in /database for one.")
    return notes


def _shape(text: str | None) -> str:
    """A statement without constants, cut short."""
    if not text:
        return "a session that is idle in its transaction"
    return shortened(digests.masked(text))
