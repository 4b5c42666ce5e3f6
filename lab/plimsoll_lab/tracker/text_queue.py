"""The issues that wait for the text index, where a worker beside the requests fills it (`--index-per-s`).

Without the switch the index is changed with the issue, in its transaction (`schema.py`). With it, a change only notes
the issue in the table `issues_to_index`, by triggers in the same transaction, and `text_indexer.py` does the rest: what
waits is stored, so neither the end of the process nor its death loses any. An issue whose text changes while it waits
waits once. PostgreSQL locks `issues` before this table everywhere: a create and a turn of the worker cannot deadlock.
Searches by text do not find a new issue before it is indexed; all else does.

`set_deferred` takes the database from one to the other when the tracker opens its data; back to "at once" it builds the
whole index anew, with what waited. PostgreSQL must be version 13 or later for it.
"""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Connection,
    Integer,
    MetaData,
    Table,
    column,
    delete,
    func,
    insert,
    inspect,
    select,
    table,
    update,
)

from plimsoll_lab.tracker.schema import create_text_index, drop_text_index, issues

# In the order in which they came. Not among the tables of schema.py: without the switch there is no such table.
waiting = Table(
    "issues_to_index",
    MetaData(),
    Column("place", Integer, primary_key=True),
    Column("issue_id", Integer, nullable=False, unique=True),
    sqlite_autoincrement=True,
)

_text_index = table("issues_text", column("rowid"), column("summary"), column("description"))
_documents = table("issues", column("id"), column("summary"), column("description"), column("document"))

# FTS5 wants the old text of what it forgets, so an issue whose text changes is not found by it until indexed again.
_SQLITE_NOTE = """INSERT INTO issues_to_index(issue_id) SELECT new.id
                  WHERE NOT EXISTS (SELECT 1 FROM issues_to_index WHERE issue_id = new.id);"""
_SQLITE_FORGET = """INSERT INTO issues_text(issues_text, rowid, summary, description)
                    SELECT 'delete', old.id, old.summary, old.description
                    WHERE NOT EXISTS (SELECT 1 FROM issues_to_index WHERE issue_id = old.id);"""
_SQLITE_DEFERRED = (
    "DROP TRIGGER issues_text_insert",
    "DROP TRIGGER issues_text_delete",
    "DROP TRIGGER issues_text_update",
    f"CREATE TRIGGER issues_text_insert AFTER INSERT ON issues BEGIN {_SQLITE_NOTE} END",
    f"""CREATE TRIGGER issues_text_delete AFTER DELETE ON issues BEGIN
          {_SQLITE_FORGET} DELETE FROM issues_to_index WHERE issue_id = old.id; END""",
    f"""CREATE TRIGGER issues_text_update AFTER UPDATE OF summary, description ON issues BEGIN
          {_SQLITE_FORGET} {_SQLITE_NOTE} END""",
)

_POSTGRESQL_DEFERRED = (
    "ALTER TABLE issues ALTER COLUMN document DROP EXPRESSION",
    """CREATE OR REPLACE FUNCTION note_issue_to_index() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         INSERT INTO issues_to_index (issue_id) VALUES (new.id) ON CONFLICT DO NOTHING; RETURN NULL; END $$""",
    """CREATE OR REPLACE FUNCTION forget_issue_to_index() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         DELETE FROM issues_to_index WHERE issue_id = old.id; RETURN NULL; END $$""",
    """CREATE TRIGGER issues_to_index_note AFTER INSERT OR UPDATE OF summary, description ON issues
         FOR EACH ROW EXECUTE FUNCTION note_issue_to_index()""",
    """CREATE TRIGGER issues_to_index_forget AFTER DELETE ON issues
         FOR EACH ROW EXECUTE FUNCTION forget_issue_to_index()""",
)


def set_deferred(connection: Connection, wanted: bool) -> None:
    """Let new and changed issues wait for the index, or be indexed at once; nothing is done where it is so already."""
    if inspect(connection).has_table(waiting.name) == wanted:
        return
    if not wanted:
        drop_queue(connection)
        drop_text_index(connection)
        create_text_index(connection)
        return
    waiting.create(connection)
    for statement in _SQLITE_DEFERRED if connection.dialect.name == "sqlite" else _POSTGRESQL_DEFERRED:
        connection.exec_driver_sql(statement)


def drop_queue(connection: Connection) -> None:
    """Remove the table, if there is one, with what waits; in PostgreSQL its functions and their triggers too."""
    waiting.drop(connection, checkfirst=True)
    if connection.dialect.name != "sqlite":
        for name in ("note_issue_to_index", "forget_issue_to_index"):
            connection.exec_driver_sql(f"DROP FUNCTION IF EXISTS {name}() CASCADE")


def count_waiting(connection: Connection) -> int:
    """How many issues wait for the index."""
    return int(connection.execute(select(func.count()).select_from(waiting)).scalar_one())


def index_next(connection: Connection, most: int) -> int:
    """Index those that have waited longest, `most` at most; how many there were."""
    if connection.dialect.name != "sqlite":
        connection.exec_driver_sql("LOCK TABLE issues IN ROW SHARE MODE")
    oldest = select(waiting.c.issue_id).order_by(waiting.c.place).limit(most)
    found = list(connection.execute(oldest).scalars())
    if not found:
        return 0
    chosen = issues.c.id.in_(found)
    if connection.dialect.name == "sqlite":
        texts = select(issues.c.id, issues.c.summary, issues.c.description).where(chosen)
        connection.execute(insert(_text_index).from_select(["rowid", "summary", "description"], texts))
    else:
        # Locked in the order of the key, as commands lock them, so that the two cannot deadlock.
        connection.execute(select(issues.c.id).where(chosen).order_by(issues.c.id).with_for_update())
        words = func.to_tsvector("simple", _documents.c.summary + " " + _documents.c.description)
        connection.execute(update(_documents).where(_documents.c.id.in_(found)).values(document=words))
    connection.execute(delete(waiting).where(waiting.c.issue_id.in_(found)))
    return len(found)
