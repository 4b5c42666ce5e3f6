"""Tables and indexes of the inventory, for SQLite and PostgreSQL.

An instance is a JSON document. Beside it stand columns that are made of it whenever it changes
(`documents.columns_of`): what searches and sorts need. `…_words` are the folded words of a field (cql.folded), with
one space before and after each.

The text index: in SQLite an FTS5 table without content of its own, kept by triggers; in PostgreSQL a GIN index on an
expression (TEXT_VECTOR), as FOLIO has them. Neither stems, so both find the same. The title index: (title_sort, id).

With `--missing-index` neither is there. The same searches then read every row: PostgreSQL by the same statements,
SQLite by instr() on the words.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Connection, Integer, MetaData, String, Table, Text, inspect

SCHEMA_VERSION = 1
TITLE_SORT_LETTERS = 600

metadata = MetaData()


def _sorted_by_bytes(letters: int) -> String:
    """A text that both databases sort by its bytes: a collation would differ between machines."""
    return String(letters, collation="C").with_variant(String(letters), "sqlite")


instances = Table(
    "instances",
    metadata,
    # `number` is what the text index of SQLite refers to; a number is never given out twice.
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("id", _sorted_by_bytes(36), nullable=False, unique=True),
    Column("hrid", _sorted_by_bytes(64), nullable=False, unique=True),
    Column("source", String(64), nullable=False),
    Column("instance_type_id", String(36), nullable=False),
    Column("title_sort", _sorted_by_bytes(TITLE_SORT_LETTERS), nullable=False),
    Column("title_words", Text, nullable=False),
    Column("contributors_words", Text, nullable=False),
    Column("identifiers_words", Text, nullable=False),
    Column("subjects_words", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("document", Text, nullable=False),
    sqlite_autoincrement=True,
)

references = Table(
    "reference_data",
    metadata,
    Column("kind", String(40), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("id", String(36), nullable=False, unique=True),
    Column("name", String(100), nullable=False),
    Column("code", String(40), nullable=False),
)

users = Table(
    "users",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("username", String(32), nullable=False, unique=True),
    Column("name", String(100), nullable=False),
    Column("salt", String(32), nullable=False),
    Column("password_hash", String(128), nullable=False),
)

FIELDS = ("title", "contributors", "identifiers", "subjects")
WEIGHTS = dict(zip(FIELDS, "ABCD", strict=True))
TEXT_VECTOR = "(" + " || ".join(
    f"setweight(to_tsvector('simple'::regconfig, instances.{field}_words), '{WEIGHTS[field]}')" for field in FIELDS
) + ")"  # fmt: skip

_WORDS_COLUMNS = ", ".join(f"{field}_words" for field in FIELDS)
_NEW, _OLD = (", ".join(f"{row}.{field}_words" for field in FIELDS) for row in ("new", "old"))
_SQLITE_TEXT_INDEX = (
    f"""CREATE VIRTUAL TABLE instances_text USING fts5(
         {_WORDS_COLUMNS}, content='instances', content_rowid='number', tokenize='unicode61 remove_diacritics 0')""",
    "INSERT INTO instances_text(instances_text) VALUES ('rebuild')",
    f"""CREATE TRIGGER instances_text_insert AFTER INSERT ON instances BEGIN
         INSERT INTO instances_text(rowid, {_WORDS_COLUMNS}) VALUES (new.number, {_NEW});
       END""",
    f"""CREATE TRIGGER instances_text_delete AFTER DELETE ON instances BEGIN
         INSERT INTO instances_text(instances_text, rowid, {_WORDS_COLUMNS}) VALUES ('delete', old.number, {_OLD});
       END""",
    f"""CREATE TRIGGER instances_text_update AFTER UPDATE OF {_WORDS_COLUMNS} ON instances BEGIN
         INSERT INTO instances_text(instances_text, rowid, {_WORDS_COLUMNS}) VALUES ('delete', old.number, {_OLD});
         INSERT INTO instances_text(rowid, {_WORDS_COLUMNS}) VALUES (new.number, {_NEW});
       END""",
)
_POSTGRESQL_TEXT_INDEX = (
    f"CREATE INDEX instances_text ON instances USING gin ({TEXT_VECTOR})".replace("instances.", ""),
)

_TITLE_INDEX = "CREATE INDEX instances_by_title ON instances (title_sort, id)"
_DROP_TITLE_INDEX = "DROP INDEX instances_by_title"
_DROP_SQLITE_TEXT_INDEX = (
    *(f"DROP TRIGGER instances_text_{change}" for change in ("insert", "delete", "update")),
    "DROP TABLE instances_text",
)
_DROP_POSTGRESQL_TEXT_INDEX = ("DROP INDEX instances_text",)


def create_tables(connection: Connection) -> None:
    """Create the empty tables, without the indexes that searches and sorts use."""
    metadata.create_all(connection)


def set_search_indexes(connection: Connection, present: bool) -> None:
    """Index text and titles, or take these indexes away; nothing changes where it is so already.

    Made after the bulk load: several times faster than row by row.
    """
    there = any(index["name"] == "instances_by_title" for index in inspect(connection).get_indexes("instances"))
    if there == present:
        return
    sqlite = connection.dialect.name == "sqlite"
    if present:
        statements = (*(_SQLITE_TEXT_INDEX if sqlite else _POSTGRESQL_TEXT_INDEX), _TITLE_INDEX)
    else:
        statements = (*(_DROP_SQLITE_TEXT_INDEX if sqlite else _DROP_POSTGRESQL_TEXT_INDEX), _DROP_TITLE_INDEX)
    for statement in (*statements, "ANALYZE"):
        connection.exec_driver_sql(statement)
