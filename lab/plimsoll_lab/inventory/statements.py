"""A CQL query as SQL: the condition on `instances`, and the order.

Values are always bound, never written into the statement. In SQLite words become an FTS5 expression of quoted
words, or, without the text index, instr() on the folded words; in PostgreSQL a tsquery of quoted lexemes. All three
find the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import (
    ColumnElement,
    String,
    and_,
    bindparam,
    cast,
    column,
    func,
    literal,
    literal_column,
    not_,
    or_,
    select,
    table,
    true,
)

from plimsoll_lab.inventory.cql import (
    EVERY_TEXT,
    Clause,
    Combined,
    Everything,
    Exactly,
    NotEmpty,
    Query,
    Words,
)
from plimsoll_lab.inventory.schema import FIELDS, TEXT_VECTOR, WEIGHTS, instances

_EXACT_COLUMNS = {
    "id": instances.c.id,
    "hrid": instances.c.hrid,
    "source": instances.c.source,
    "instanceTypeId": instances.c.instance_type_id,
}
_SORT_COLUMNS = {"title": instances.c.title_sort, "hrid": instances.c.hrid, "id": instances.c.id}
_matches = table("instances_text", column("rowid"))


@dataclass(frozen=True)
class Dialect:
    """`name`: sqlite or postgresql; `text_index`: whether SQLite has its FTS5 table."""

    name: str
    text_index: bool = True


def condition(clause: Clause, dialect: Dialect) -> ColumnElement[bool]:
    """What rows of `instances` must fulfil."""
    if isinstance(clause, Everything):
        return true()
    if isinstance(clause, Combined):
        left, right = condition(clause.left, dialect), condition(clause.right, dialect)
        if clause.boolean == "or":
            return or_(left, right)
        return and_(left, right if clause.boolean == "and" else not_(right))
    if isinstance(clause, Exactly):
        if clause.index == "title":
            spaced = f" {clause.value} " if clause.value else ""
            return instances.c.title_words == spaced
        return _EXACT_COLUMNS[clause.index] == clause.value
    if isinstance(clause, NotEmpty):
        return or_(*(instances.c[f"{field}_words"] != "" for field in _fields_of(clause.index)))
    if dialect.name == "postgresql":
        vector: ColumnElement[object] = literal_column(TEXT_VECTOR)
        return vector.op("@@", is_comparison=True)(_tsquery(_tsquery_text(clause)))
    return _in_fts5(clause) if dialect.text_index else _in_words(clause)


def order(query: Query) -> list[ColumnElement[object]]:
    """The order of the results: the sort keys, then the id, so that pages neither overlap nor leave out."""
    keys: list[ColumnElement[object]] = []
    for key in query.sort:
        by = _SORT_COLUMNS[key.index]
        # Bytes in both databases: what a collation would do differs between machines.
        keys.append(by.desc() if key.descending else by.asc())
    if not any(key.index == "id" for key in query.sort):
        keys.append(instances.c.id.asc())
    return keys


def _fields_of(index: str) -> tuple[str, ...]:
    return FIELDS if index == EVERY_TEXT else (index,)


def _tsquery(text: str) -> ColumnElement[object]:
    return func.to_tsquery(literal_column("'simple'::regconfig"), cast(bindparam(None, text), String))


def _tsquery_text(clause: Words) -> str:
    # Words are letters and digits only (cql.folded), so that quotes around them need no escape.
    if clause.relation == "adj" and len(clause.words) > 1:
        phrases = []
        for field in _fields_of(clause.index):  # a phrase lies within one field
            weight = WEIGHTS[field]
            phrases.append(
                " <-> ".join(f"'{word.text}':{'*' if word.any_ending else ''}{weight}" for word in clause.words)
            )
        return " | ".join(f"({phrase})" for phrase in phrases)
    weight = "" if clause.index == EVERY_TEXT else WEIGHTS[clause.index]
    marks = [f"{'*' if word.any_ending else ''}{weight}" for word in clause.words]
    lexemes = [f"'{word.text}'{':' + mark if mark else ''}" for word, mark in zip(clause.words, marks, strict=True)]
    return (" | " if clause.relation == "any" else " & ").join(lexemes)


def _in_fts5(clause: Words) -> ColumnElement[bool]:
    quoted = [f'"{word.text}"{"*" if word.any_ending else ""}' for word in clause.words]
    joined = {"any": " OR ", "all": " AND ", "adj": " + "}[clause.relation].join(quoted)
    wanted = joined if clause.index == EVERY_TEXT else f"{clause.index}_words : ({joined})"
    match = literal_column("instances_text").op("MATCH", is_comparison=True)(bindparam(None, wanted))
    return instances.c.number.in_(select(_matches.c.rowid).where(match))


def _in_words(clause: Words) -> ColumnElement[bool]:
    def holds(field: str, text: str) -> ColumnElement[bool]:
        return func.instr(instances.c[f"{field}_words"], literal(text)) > 0

    texts = [f" {word.text}" if word.any_ending else f" {word.text} " for word in clause.words]
    fields = _fields_of(clause.index)
    if clause.relation == "adj":
        phrase = " " + " ".join(word.text for word in clause.words)
        phrase += "" if clause.words[-1].any_ending else " "
        return or_(*(holds(field, phrase) for field in fields))
    each = [or_(*(holds(field, text) for field in fields)) for text in texts]
    return or_(*each) if clause.relation == "any" else and_(*each)
