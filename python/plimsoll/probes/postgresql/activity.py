"""Texts of statements as their senders wrote them, seen in pg_stat_activity; they stay in memory.

An idle session still shows its last statement, so that fast ones are seen as well. Of each statement up to MOST_ALIKE
texts are kept, so that what is the same in each of them can be told from what the application asks for.
"""

from __future__ import annotations

from collections import Counter

from plimsoll.probes.postgresql.connection import MARK, Session
from plimsoll.probes.postgresql.statement_text import constants_of, fingerprint

MOST = 400
MOST_ALIKE = 3
MOST_LOOKS = 6  # at one statement; a session that stays idle shows the same text for ever
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
        self._by_id: dict[int, list[str]] = {}
        self._by_print: dict[str, list[str]] = {}
        self._looks: Counter[int] = Counter()

    def look(self, session: Session) -> None:
        """Read the sessions of the database once."""
        if session.version >= HAS_ID_FROM:
            known = [key for key, texts in self._by_id.items() if self._is_enough(key, texts)]
            rows = session.rows(_WITH_ID, (known,)) if len(known) < MOST else []
        else:
            rows = session.rows(_WITHOUT)
        for row in rows:
            self.add(row["id"], str(row["text"] or ""))
        self._looks.update({int(row["id"]) for row in rows if row["id"] is not None})

    def _is_enough(self, key: int, texts: list[str]) -> bool:
        return len(texts) >= MOST_ALIKE or self._looks[key] >= MOST_LOOKS

    def add(self, key: int | None, text: str) -> None:
        """Keep a text; of each statement the first ones that differ stay, in the order of their coming."""
        if not text or text == "<insufficient privilege>":
            return
        if key is not None and (int(key) in self._by_id or len(self._by_id) < MOST):
            self._keep(self._by_id.setdefault(int(key), []), text)
        elif key is None and not self.is_cut(text):
            shape = fingerprint(text)
            if shape in self._by_print or len(self._by_print) < MOST:
                self._keep(self._by_print.setdefault(shape, []), text)

    def _keep(self, texts: list[str], text: str) -> None:
        if text not in texts and len(texts) < MOST_ALIKE:
            texts.append(text)

    def is_cut(self, text: str) -> bool:
        """Whether the server kept its beginning only."""
        return len(text.encode()) >= self._size - 1 - 3  # a character of several bytes is never cut in half

    def constants(self, key: int, normalised: str) -> list[dict[int, str]]:
        """The constants of that statement each time it was seen, those that differ; empty if it was not, or is another
        one."""
        texts = self._by_id.get(key) or self._by_print.get(fingerprint(normalised)) or []
        found = (constants_of(normalised, text, cut=self.is_cut(text)) for text in texts)
        return [constants for constants in found if constants is not None]
