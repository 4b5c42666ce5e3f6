"""The probe of one PostgreSQL database: a source of values each second, and events of steps and of the whole run."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from plimsoll.probes.database_probe import DatabaseProbe, Event, shortened
from plimsoll.probes.postgresql import seconds, statements, tables
from plimsoll.probes.postgresql.activity import SeenTexts
from plimsoll.probes.postgresql.connection import Connection, Row, Session
from plimsoll.probes.postgresql.index_advice import Advice, Dear, IndexAdviser
from plimsoll.probes.postgresql.index_trials import TRIALS_S, IndexTrials
from plimsoll.probes.postgresql.named_statements import NamedStatements
from plimsoll.probes.postgresql.rights import Rights
from plimsoll.probes.postgresql.statement_text import masked
from plimsoll.probes.postgresql.statements import Layout, Reading, Texts, Window
from plimsoll.probes.probe import Clock, Rates

END_LIMIT_S, END_WAIT_S = 8.0, 45.0


@dataclass
class _Moment:
    """Everything that counts up, at one moment."""

    tables: Mapping[int, Row]
    statements: Reading | None


@dataclass
class _State:
    """What one connection knows of its server."""

    generation: int
    rights: Rights
    layout: Layout | None
    seen: SeenTexts = field(default_factory=SeenTexts)


class PostgresqlProbe(DatabaseProbe[Session, _Moment]):
    """Values each second: see docs/probes/postgresql.md, which has each name with its unit and its view. The end of a
    run adds unused indexes, bloat and index advice. `trial_dsn`: of the database where indexes may be made for runs of
    its statements; None for none."""

    run_end_limit_s, run_end_wait_s = END_LIMIT_S, END_WAIT_S

    def __init__(
        self, dsn: str, label: str = "db", clock: Clock = time.monotonic, key: str | None = None,
        trial_dsn: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(f"postgresql:{label}", Connection(dsn, clock), clock, key)
        self._trial_connection = None if trial_dsn is None else Connection(trial_dsn, clock)
        if trial_dsn is not None:
            self.run_end_wait_s = END_WAIT_S + 2 * TRIALS_S
        self._state: _State | None = None
        self._texts = Texts()
        self._named = NamedStatements()
        self._seen: SeenTexts | None = None
        self._indexes: Mapping[int, Row] = {}

    def close(self) -> None:
        """End the connections."""
        super().close()
        if self._trial_connection is not None:
            self._trial_connection.close()

    def _missing(self, session: Session) -> list[str]:
        return self._known(session).rights.missing()

    def _begin_run(self, session: Session) -> None:
        self._indexes = tables.read_indexes(session)

    def _known(self, session: Session) -> _State:
        """Rights and layout, asked for once a connection."""
        generation = self._connection.generation
        if self._state is None or self._state.generation != generation:
            rights = Rights.of(session)
            layout = Layout.of(session) if rights.can_read_statements else None
            self._seen = self._seen or SeenTexts(size_bytes(rights.facts["query_size"]))
            self._state = _State(generation, rights, layout, self._seen)
            self._rates = Rates(self._clock)
        return self._state

    def _second(self, session: Session) -> dict[str, float]:
        state = self._known(session)
        [row] = session.rows(seconds.query_of(session.version))
        values = seconds.values_of(row, self._rates, state.rights.max_connections)
        if row["lock_waits"]:
            values |= self._blockers(session)
        else:
            values["sessions_blocking"] = 0.0
        state.seen.look(session)
        return values

    def _blockers(self, session: Session) -> dict[str, float]:
        rows = session.rows(seconds.BLOCKING_QUERY)
        for row in rows:
            state = f" ({row['holding_state']})" if row["holding_state"] else ""
            self._note_blocking(_shape(row["holding_text"]), _shape(row["waiting_text"]), state)
        return {"sessions_blocking": float(len({row["holding_pid"] for row in rows}))}

    def _moment(self, session: Session) -> _Moment:
        state = self._known(session)
        reading = None if state.layout is None else statements.read(session, state.layout)
        return _Moment(tables.read_tables(session), reading)

    def _window(self, session: Session, before: _Moment, kind: str) -> Iterator[Event]:
        """Texts that are new, then the event of a step or a run."""
        state, after = self._known(session), self._moment(session)
        details: dict[str, Any] = {"source": self.source, "tables": tables.scanned(before.tables, after.tables)}
        if before.statements is not None and after.statements is not None and state.layout is not None:
            window = statements.between(before.statements, after.statements)
            self._named.learn(session, state.layout, [key for key, _ in window.statements])
            window = self._named.joined(window)
            dearest = [key for key, _ in window.statements[: 2 * statements.MOST_STATEMENTS]]
            for key in self._texts.learn(session, state.layout, dearest, self._named.texts):
                text = statements.shown_text(self._texts.known[key])
                yield "database_statement", {"source": self.source, "id": str(key), "text": text}
            window = self._named.joined(
                statements.between(before.statements, after.statements, frozenset(self._texts.own))
            )
            details |= window_json(window)
        yield kind, details

    def _whole(self, session: Session, details: dict[str, Any]) -> dict[str, Any]:
        """What the end of a run adds: the server, indexes, bloat, advice."""
        state = self._known(session)
        dear = [
            Dear(key, self._named.queries.get(key, self._texts.known[key]), one["share"])
            for one in details.get("statements", ())
            if (key := int(one["id"])) in self._texts.known
        ]
        written = {one["table"]: one["written"] for one in details["tables"]}
        trials = None if self._trial_connection is None else IndexTrials(self._trial_connection)
        advice = IndexAdviser(session, state.rights, state.seen, written, trials).advise(dear) if dear else Advice()
        return {
            "server": f"PostgreSQL {state.rights.facts['version_text']}",
            "hypopg": state.rights.has("hypopg"),
            "missing": state.rights.missing(),
            "advice": advice.indexes,
            "plans": advice.plans,
            "notes": advice.notes,
            "unused_indexes": tables.unused(self._indexes, tables.read_indexes(session)),
            "indexes": tables.index_definitions(session),
            "unused_since": tables.counted_since(session),
            "bloat": tables.bloat(session, state.rights),
        }


def window_json(window: Window) -> dict[str, Any]:
    """A window as events hold it: the MOST_STATEMENTS dearest, and what the others took."""
    total = window.total_ms
    shown = window.statements[: statements.MOST_STATEMENTS]
    return {
        "total_ms": total,
        "statements": [statements.statement_json(key, counters, total) for key, counters in shown],
        "others": len(window.statements) - len(shown),
        "hidden_calls": window.hidden_calls,
        "was_reset": window.was_reset,
        "evicted": window.evicted,
        "began_anew": window.began_anew,
    }


def size_bytes(text: str) -> int:
    """Bytes of a setting as PostgreSQL shows it: "1kB", "4096", "4096B"."""
    number = text.rstrip("BkMG")
    unit = text[len(number) :]
    return int(number) * {"": 1, "B": 1, "kB": 1024, "MB": 1024**2}.get(unit, 1)


def _shape(text: str | None) -> str:
    """A statement without constants, cut short."""
    return shortened(masked(text or "a session that is not seen", numbers=True))
