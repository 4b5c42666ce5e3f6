"""A statement with values, to be planned or run: those that its senders wrote, else values that stand in the table.

A driver that binds parameters keeps their values from pg_stat_activity. Where every parameter is compared with a column
or expression of one table, the values of one of its rows are put in place of all of them, so that together they find
something: of a pattern a word of the text, of an array or a JSON document one element. Frequent values are drawn more
often so, as they are asked for more often, too; what the application asks for in truth may differ, and the advice says
that its values were drawn. Values stay in memory.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from plimsoll.probes.postgresql.connection import Session
from plimsoll.probes.postgresql.expressions import comparisons
from plimsoll.probes.postgresql.plans import Node, conditions
from plimsoll.probes.postgresql.row_sample import values_of_rows
from plimsoll.probes.postgresql.statement_text import filled, tokens

Origin = Literal["seen", "drawn", "none"]
MOST_DRAWN = 3
FIRST_ROWS, SHORTEST_WORD, LONGEST_WORD = "20", 3, 8
_PARAMETER = re.compile(r"\$(\d+)")
_FIRST_WORDS = {"limit": FIRST_ROWS, "offset": "0", "first": FIRST_ROWS, "next": FIRST_ROWS}


@dataclass(frozen=True)
class Statement:
    """What is planned. `generic`: the statement with `parameters` numbered from 1; `complete`: with all values, where
    there are any, of that `origin`; `binds`: its driver sends values apart from the text, so that constants within the
    text are the application's own."""

    generic: str
    parameters: int
    complete: tuple[str, ...] = ()
    origin: Origin = "none"
    binds: bool = False

    @property
    def texts(self) -> tuple[tuple[str, int], ...]:
        """(text, parameters left) of all that is planned for a decision."""
        return tuple((text, 0) for text in self.complete) or ((self.generic, self.parameters),)


def statement_of(normalised: str, seen: Sequence[Mapping[int, str]]) -> Statement:
    """The statement with the constants that were `seen`, without any drawn values."""
    binds = any(_PARAMETER.fullmatch(value) for constants in seen for value in constants.values())
    texts = [filled(normalised, constants) for constants in seen]
    complete = tuple(dict.fromkeys(text for text, left in texts if left == 0))
    if complete:
        same = {
            number: value
            for number, value in seen[0].items()
            if all(other.get(number) == value for other in seen[1:]) and len(complete) > 1
        }
        generic, parameters = filled(normalised, same)
        return Statement(generic, parameters, complete, "seen")
    generic, parameters = texts[0] if texts else filled(normalised, {})
    return Statement(generic, parameters, binds=binds)


@dataclass(frozen=True)
class _Place:
    """A parameter and what it is compared with; `read`: the expression that gives a value of it."""

    parameter: int
    table: tuple[str, str, str]
    operator: str
    read: str


def drawn(session: Session, statement: Statement, plan: Node, table_rows: Mapping[tuple[str, str], float]) -> Statement:
    """With values of rows of its tables in place of all parameters, if each has a column; else as it is. `plan`: of the
    generic statement; `table_rows` by (schema, name)."""
    known = _counts(statement.generic)
    places: dict[int, _Place] = {}
    for schema, name, alias, condition in conditions(plan):
        for one in comparisons(condition, alias):
            place = _place(one.left, one.operator, one.right, (schema, name, alias))
            if place is not None and place.parameter not in known:
                places.setdefault(place.parameter, place)
    if set(places) | set(known) != set(range(1, statement.parameters + 1)):
        return statement
    sets: list[dict[int, str]] = [dict(known) for _ in range(MOST_DRAWN)]
    for scanned in dict.fromkeys(place.table for place in places.values()):
        mine = [place for place in places.values() if place.table == scanned]
        table = scanned[:2]
        rows = values_of_rows(session, table, table_rows.get(table, 0.0), [one.read for one in mine], MOST_DRAWN)
        if not rows:
            return statement
        for number, values in enumerate(sets):
            row = rows[number % len(rows)]
            values |= {one.parameter: _literal(one.operator, text, number) for one, text in zip(mine, row, strict=True)}
    complete = tuple(dict.fromkeys(filled(statement.generic, values)[0] for values in sets))
    return Statement(statement.generic, statement.parameters, complete, "drawn", statement.binds)


def _counts(text: str) -> dict[int, str]:
    """The parameters behind LIMIT, OFFSET and FETCH FIRST."""
    pieces = tokens(text)
    return {
        int(after.text[1:]): _FIRST_WORDS[before.text.lower()]
        for before, after in pairwise(pieces)
        if after.kind == "parameter" and before.kind == "word" and before.text.lower() in _FIRST_WORDS
    }


def _place(left: str, operator: str, right: str, table: tuple[str, str, str]) -> _Place | None:
    """Where the right side has one parameter, and what of a row may stand for it."""
    named = {int(number) for number in _PARAMETER.findall(right)}
    if len(named) != 1:
        return None
    bare = re.sub(r"[()]|::[\w\s\[\]]+", "", right).strip()
    [parameter] = named
    is_alone = bool(_PARAMETER.fullmatch(bare))
    if operator in ("=", "<", "<=", ">", ">=", "~~", "~~*", "~", "~*"):
        # the parameter of `created > $1::interval + …` is no value of the column
        return _Place(parameter, table, "any" if "[]" in right else operator, left) if is_alone else None
    if operator == "@@":
        return _Place(parameter, table, operator, f"(pg_catalog.tsvector_to_array({left}))[1]")
    if operator in ("@>", "&&"):
        if bare.upper().startswith("ARRAY"):
            return _Place(parameter, table, "=", f"({left})[1]")
        if is_alone and "[]" in right:
            return _Place(parameter, table, "any", f"({left})[1]")
    if operator == "@>" and is_alone:
        one = f"SELECT pg_catalog.jsonb_build_object(key, value) FROM pg_catalog.jsonb_each({left}) LIMIT 1"
        return _Place(parameter, table, "=", f"({one})")
    return None


def _literal(operator: str, text: str, number: int) -> str:
    if operator in ("~~", "~~*", "~", "~*"):
        words = [word for word in re.findall(r"[^\W_]+", text) if len(word) >= SHORTEST_WORD] or [text]
        word = words[number % len(words)][:LONGEST_WORD]  # each time another: some are frequent, some are rare
        text = word if operator.startswith("~") and operator not in ("~~", "~~*") else f"%{word}%"
    elif operator == "any":
        text = '{"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"}'
    return "'" + text.replace("'", "''") + "'"
