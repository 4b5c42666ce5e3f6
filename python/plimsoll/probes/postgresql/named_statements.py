"""Statements under names that change with each use: those of cursors and savepoints. pg_stat_statements has an entry
for each name, so that what they cost comes in crumbs; here they are one statement.

What a FETCH costs is the work of the query that its cursor was declared for: it is told with it, and that is planned.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from plimsoll.probes.postgresql.connection import MARK, Session
from plimsoll.probes.postgresql.statement_text import Token, masked, tokens
from plimsoll.probes.postgresql.statements import Counters, Layout, Window, is_own, time_ms

_FIRST = "fetch|move|close|declare|savepoint|release|rollback"
MOST_KEPT = 20_000  # entries; a server keeps 5,000 by default, and names come and go
ANY_NAME = '"…"'


@dataclass(frozen=True)
class Named:
    """What a statement does with which name. `shape`: its text without that name and without constants; `query`: what
    a cursor is declared for, `query_shape` without constants."""

    verb: str
    name: str
    shape: str
    query: str = ""
    query_shape: str = ""


def named(text: str) -> Named | None:
    """None where the statement carries no name of that kind."""
    pieces = tokens(text)
    while pieces and pieces[-1].text == ";":
        pieces.pop()
    words = [piece.text.lower() if piece.kind == "word" else "" for piece in pieces]
    if len(pieces) < 2 or words[0] not in _FIRST.split("|") or (words[0] == "rollback" and "to" not in words):
        return None
    name = pieces[1] if words[0] == "declare" else pieces[-1]
    if name.kind not in ("quoted", "word"):
        return None
    query = ""
    if words[0] == "declare":
        if "cursor" not in words or "for" not in words[words.index("cursor") :]:
            return None
        begin = pieces[words.index("for", words.index("cursor"))]
        query = text[begin.end : pieces[-1].end].strip()
    rest = text[: name.start] + ANY_NAME + text[name.end : pieces[-1].end]
    return Named(words[0], _spelt(name), masked(rest, numbers=True), query, masked(query, numbers=True))


def _spelt(name: Token) -> str:
    return name.text.strip('"') if name.kind == "quoted" else name.text.lower()


@dataclass
class NamedStatements:
    """What was learnt of the entries so far. `texts` and `queries` are by the key of the one statement, which is the
    same in each run; `queries` has what to plan in place of its text."""

    texts: dict[int, str] = field(default_factory=dict)
    queries: dict[int, str] = field(default_factory=dict)
    _asked: set[int] = field(default_factory=set)
    _key_of: dict[int, int] = field(default_factory=dict)
    _found: dict[int, Named] = field(default_factory=dict)

    def learn(self, session: Session, layout: Layout, keys: Iterable[int]) -> None:
        """Ask for the texts of those entries that were not asked for yet and carry a name."""
        keys = set(keys)
        if len(self._asked) > MOST_KEPT:
            self._asked &= keys
            self._found = {key: found for key, found in self._found.items() if key in keys}
            self._key_of = {key: one for key, one in self._key_of.items() if key in keys}
        new = sorted(keys - self._asked)
        if not new:
            return
        rows = session.rows(
            f"SELECT {MARK} DISTINCT ON (queryid) queryid, query FROM {layout.schema}.pg_stat_statements(true) "
            f"WHERE queryid = ANY(%s) AND query ~* '^\\s*({_FIRST})\\y'",
            (new,),
        )
        self._asked.update(new)
        self.add({int(row["queryid"]): str(row["query"] or "") for row in rows})

    def add(self, texts: dict[int, str]) -> None:
        """Entries by queryid. A name under which cursors of several queries were declared tells of none of them."""
        self._found |= {key: found for key, text in texts.items() if not is_own(text) and (found := named(text))}
        queries: dict[str, dict[str, str]] = {}
        for found in self._found.values():
            if found.verb == "declare":
                queries.setdefault(found.name, {})[found.query_shape] = found.query
        for entry, found in self._found.items():
            text, planned = found.shape, ""
            declared = queries.get(found.name, {}) if found.verb in ("fetch", "move") else {}
            if len(declared) == 1:
                [(shape, planned)] = declared.items()
                text = f"{found.shape} ({shape})"
            key = _key(text)
            self._key_of[entry] = key
            self.texts[key] = text
            if planned:
                self.queries.setdefault(key, planned)

    def joined(self, window: Window) -> Window:
        """The window with one statement in place of all its names."""
        sums: dict[int, Counters] = {}
        for entry, counters in window.statements:
            into = sums.setdefault(self._key_of.get(entry, entry), {})
            for name, value in counters.items():
                into[name] = into.get(name, 0.0) + value
        return replace(window, statements=sorted(sums.items(), key=lambda item: -time_ms(item[1])))


def _key(text: str) -> int:
    """A number like a queryid."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big", signed=True)
