"""Tables, indexes and the text index of the tracker, for SQLite and PostgreSQL.

Lists are always sorted newest first (by id), so each filter has an index (column, id): a page is read from the
index backwards and stops after its last row, whatever the number of issues.

The text index: in SQLite an FTS5 table without content of its own, kept by triggers that fire only when the
text changes; in PostgreSQL a stored tsvector column under a GIN index. Neither stems, so both find the same. With
`--index-per-s` a worker keeps it instead: `text_queue.py`.

`issue_counts` holds the number of issues by state and priority. It is kept by each change (see `queries.py`), so
that no page counts the whole table.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Connection, ForeignKey, Index, Integer, MetaData, String, Table, Text

SCHEMA_VERSION = 2

STATES = ("Submitted", "Open", "In Progress", "Fixed", "Verified", "Duplicate", "Won't fix")
RESOLVED_STATES = ("Fixed", "Verified", "Duplicate", "Won't fix")
PRIORITIES = ("Show-stopper", "Critical", "Major", "Normal", "Minor")
FIRST_STATE = "Submitted"
FIRST_PRIORITY = "Normal"

metadata = MetaData()

users = Table(
    "users",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("login", String(32), nullable=False, unique=True),
    Column("name", String(100), nullable=False),
    Column("email", String(100), nullable=False),
    Column("token_sha256", String(64), nullable=False, unique=True),
)

issues = Table(
    "issues",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("summary", String(300), nullable=False),
    Column("description", Text, nullable=False),
    Column("reporter_id", Integer, ForeignKey("users.id"), nullable=False),
    Column("assignee_id", Integer, ForeignKey("users.id")),
    Column("state", String(20), nullable=False),
    Column("priority", String(20), nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("updated_ms", BigInteger, nullable=False),
    Column("comments_count", Integer, nullable=False, server_default="0"),
    Index("issues_by_state", "state", "id"),
    Index("issues_by_priority", "priority", "id"),
    Index("issues_by_assignee", "assignee_id", "id"),
    Index("issues_by_reporter", "reporter_id", "id"),
)

comments = Table(
    "comments",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("issue_id", Integer, ForeignKey("issues.id"), nullable=False),
    Column("author_id", Integer, ForeignKey("users.id"), nullable=False),
    Column("text", Text, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Index("comments_by_issue", "issue_id", "id"),
)

# The id of a draft is never given out twice, or a late request could publish someone's next draft.
drafts = Table(
    "drafts",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("user_id", Integer, ForeignKey("users.id"), nullable=False),
    Column("summary", String(300), nullable=False),
    Column("description", Text, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Index("drafts_by_user", "user_id", "id"),
    sqlite_autoincrement=True,
)

comment_drafts = Table(
    "comment_drafts",
    metadata,
    Column("issue_id", Integer, ForeignKey("issues.id"), primary_key=True),
    Column("user_id", Integer, ForeignKey("users.id"), primary_key=True),
    Column("text", Text, nullable=False),
)

recent_issues = Table(
    "recent_issues",
    metadata,
    Column("user_id", Integer, ForeignKey("users.id"), primary_key=True),
    Column("issue_id", Integer, ForeignKey("issues.id"), primary_key=True),
    Column("seen_ms", BigInteger, nullable=False),
    Index("recent_issues_by_user", "user_id", "seen_ms"),
)

issue_counts = Table(
    "issue_counts",
    metadata,
    Column("state", String(20), primary_key=True),
    Column("priority", String(20), primary_key=True),
    Column("count", Integer, nullable=False),
)

# The index of two- and three-letter prefixes serves the suggestions while someone types.
_SQLITE_TEXT_INDEX = (
    """CREATE VIRTUAL TABLE issues_text USING fts5(
         summary, description, content='issues', content_rowid='id', prefix='2 3')""",
    "INSERT INTO issues_text(issues_text) VALUES ('rebuild')",
    """CREATE TRIGGER issues_text_insert AFTER INSERT ON issues BEGIN
         INSERT INTO issues_text(rowid, summary, description) VALUES (new.id, new.summary, new.description);
       END""",
    """CREATE TRIGGER issues_text_delete AFTER DELETE ON issues BEGIN
         INSERT INTO issues_text(issues_text, rowid, summary, description)
         VALUES ('delete', old.id, old.summary, old.description);
       END""",
    """CREATE TRIGGER issues_text_update AFTER UPDATE OF summary, description ON issues BEGIN
         INSERT INTO issues_text(issues_text, rowid, summary, description)
         VALUES ('delete', old.id, old.summary, old.description);
         INSERT INTO issues_text(rowid, summary, description) VALUES (new.id, new.summary, new.description);
       END""",
)

_POSTGRESQL_TEXT_INDEX = (
    """ALTER TABLE issues ADD COLUMN document tsvector
         GENERATED ALWAYS AS (to_tsvector('simple', summary || ' ' || description)) STORED""",
    "CREATE INDEX issues_text ON issues USING gin (document)",
)


def create_tables(connection: Connection) -> None:
    """Create the empty tables and their indexes, without the text index."""
    metadata.create_all(connection)


def create_text_index(connection: Connection) -> None:
    """Index the text of all issues. Made after the bulk load: several times faster than row by row."""
    statements = _SQLITE_TEXT_INDEX if connection.dialect.name == "sqlite" else _POSTGRESQL_TEXT_INDEX
    for statement in statements:
        connection.exec_driver_sql(statement)


def drop_text_index(connection: Connection) -> None:
    """Remove the text index, with its triggers (SQLite) or its column (PostgreSQL)."""
    if connection.dialect.name != "sqlite":
        connection.exec_driver_sql("ALTER TABLE issues DROP COLUMN document")
        return
    for event in ("insert", "delete", "update"):
        connection.exec_driver_sql(f"DROP TRIGGER issues_text_{event}")
    connection.exec_driver_sql("DROP TABLE issues_text")
