"""Texts of statements as their senders wrote them, seen in pg_stat_activity; they stay in memory.

An idle session still shows its last statement, so that fast ones are seen as well.
"""

from __future__ import annotations

from plimsoll.probes.postgresql.connection import MARK, Session
from plimsoll.probes.postgresql.statement_text import constants_of, fingerprint

MOST = 400
HAS_ID_FROM = 140_000
_WITH_ID = f"""SELECT {MARK} query_id AS id, query AS text FROM pg_catalog.pg_stat_activity
WHERE datname = pg_catalog.current_database() AND pid <> pg_catalog.pg_backend_pid()
  AND backend_type = 'client backend' AND query_id IS NOT NULL AND NOT query_id = ANY(%s) LIMIT 50"""
_WITHOUT = f"""SELECT {MARK} NULL::bigint AS id, query AS text FROM pg_catalog.pg_stat_activity
WHERE datname = pg_catalog.current_database() AND pid <> pg_catalog.pg_backend_pid()
  AND backend_type = 'client backend' AND query <> '' LIMIT 50"""


class SeenTexts:
    """What was seen so far: by query_id, before version 14 (which has none) by fingerprint; at most MOST of each."""

    def __init__(self, query_size: int = 1024) -> None:
        self._size = query_size
        self._by_id: dict[int, str] = {}
        self._by_print: dict[str, str] = {}

    def look(self, session: Session) -> None:
        """Read the sessions of the database once."""
        if session.version >= HAS_ID_FROM:
            known = [key for key, text in self._by_id.items() if not self.is_cut(text)]
            rows = session.rows(_WITH_ID, (known,)) if len(known) < MOST else []
        else:
            rows = session.rows(_WITHOUT)
        for row in rows:
            self.add(row["id"], str(row["text"] or ""))

    def add(self, key: int | None, text: str) -> None:
        """Keep a text; the first of each statement stays."""
        if not text or text == "<insufficient privilege>":
            return
        if key is not None and len(self._by_id) < MOST:
            self._by_id.setdefault(int(key), text)
        elif key is None and len(self._by_print) < MOST and not self.is_cut(text):
            self._by_print.setdefault(fingerprint(text), text)

    def is_cut(self, text: str) -> bool:
        """Whether the server kept its beginning only."""
        return len(text.encode()) >= self._size - 1 - 3  # a character of several bytes is never cut in half

    def constants(self, key: int, normalised: str) -> dict[int, str] | None:
        """The constants of that statement when it was seen; None if it was not, or is another one."""
        text = self._by_id.get(key) or self._by_print.get(fingerprint(normalised))
        return None if text is None else constants_of(normalised, text, cut=self.is_cut(text))
