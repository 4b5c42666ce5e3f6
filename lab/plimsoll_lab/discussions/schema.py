"""Tables and indexes of the forum, for SQLite and PostgreSQL.

Lists have an index that yields their order. Numbers of comments and votes are kept by each change, so that no list
counts them. What hangs on a thread or comment goes with it (ON DELETE CASCADE), and every reference has an index, so
that a delete scans nothing.

The index for unread counts is the report's change, and `UNREAD_INDEXES` has both of its forms. The old one begins with
the kind of the row, by which the count does not ask: a database cannot enter it by the thread, reads every comment of
the thread in the table instead, and still has to keep the index at each change of a comment. The new one begins with
the thread and holds all that the count asks for. (SQLite could skip over a first column of few values if it had
statistics of it, MongoDB and PostgreSQL 15 cannot; so SQLite gets no statistics here.)
"""

from __future__ import annotations

from typing import Literal

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    text,
)

SCHEMA_VERSION = 1

UnreadIndex = Literal["old", "new"]
THREAD_KINDS = ("discussion", "question")
RESPONSE, COMMENT = "response", "comment"
LEARNER, MODERATOR = "learner", "moderator"

metadata = MetaData()


def _reference(name: str, to: str, *, nullable: bool = False, primary_key: bool = False) -> Column[int]:
    key = ForeignKey(to, ondelete="CASCADE")
    return Column(name, Integer, key, nullable=nullable, primary_key=primary_key)


users = Table(
    "users",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("username", String(32), nullable=False, unique=True),
    Column("email", String(100), nullable=False, unique=True),
    Column("secret_sha256", String(64), nullable=False),
    Column("role", String(10), nullable=False),
)

sessions = Table(
    "sessions",
    metadata,
    Column("digest", String(64), primary_key=True),
    _reference("user_id", "users.id"),
    Column("created_ms", BigInteger, nullable=False),
    Index("sessions_by_age", "created_ms"),
)

# An id is never given out twice, or a late request could change what someone made in the meantime.
threads = Table(
    "threads",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("course_id", String(100), nullable=False),
    Column("topic_id", String(50), nullable=False),
    Column("kind", String(10), nullable=False),
    Column("title", String(300), nullable=False),
    Column("body", Text, nullable=False),
    _reference("author_id", "users.id"),
    Column("created_ms", BigInteger, nullable=False),
    Column("updated_ms", BigInteger, nullable=False),
    Column("last_activity_ms", BigInteger, nullable=False),
    Column("comment_count", Integer, nullable=False, server_default="0"),
    Column("vote_count", Integer, nullable=False, server_default="0"),
    Index("threads_by_activity", "course_id", "last_activity_ms", "id"),
    Index("threads_by_comments", "course_id", "comment_count", "id"),
    Index("threads_by_votes", "course_id", "vote_count", "id"),
    Index("threads_by_topic", "course_id", "topic_id", "last_activity_ms", "id"),
    Index("threads_by_author", "author_id", "course_id", "last_activity_ms", "id"),
    sqlite_autoincrement=True,
)

comments = Table(
    "comments",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("kind", String(10), nullable=False),
    _reference("thread_id", "threads.id"),
    _reference("parent_id", "comments.id", nullable=True),
    _reference("author_id", "users.id"),
    Column("body", Text, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("updated_ms", BigInteger, nullable=False),
    Column("endorsed", Boolean, nullable=False, server_default=text("false")),
    Column("child_count", Integer, nullable=False, server_default="0"),
    Column("vote_count", Integer, nullable=False, server_default="0"),
    Index("comments_by_thread", "thread_id", "parent_id", "id"),
    Index("comments_by_parent", "parent_id", "id"),
    sqlite_autoincrement=True,
)

thread_votes = Table(
    "thread_votes",
    metadata,
    _reference("user_id", "users.id", primary_key=True),
    _reference("thread_id", "threads.id", primary_key=True),
    Index("thread_votes_by_thread", "thread_id"),
)

comment_votes = Table(
    "comment_votes",
    metadata,
    _reference("user_id", "users.id", primary_key=True),
    _reference("comment_id", "comments.id", primary_key=True),
    Index("comment_votes_by_comment", "comment_id"),
)

# When a user last looked at a thread; comments of others since then are unread.
thread_reads = Table(
    "thread_reads",
    metadata,
    _reference("user_id", "users.id", primary_key=True),
    _reference("thread_id", "threads.id", primary_key=True),
    Column("read_ms", BigInteger, nullable=False),
    Index("thread_reads_by_thread", "thread_id"),
)

UNREAD_INDEXES: dict[UnreadIndex, str] = {
    "old": "CREATE INDEX IF NOT EXISTS unread_old ON comments (kind, thread_id, author_id, updated_ms)",
    "new": "CREATE INDEX IF NOT EXISTS unread_new ON comments (thread_id, author_id, created_ms)",
}


def create_tables(connection: Connection) -> None:
    """Create the empty tables and their indexes, without the one for unread counts."""
    metadata.create_all(connection)


def set_unread_index(connection: Connection, wanted: UnreadIndex) -> None:
    """Have that index for unread counts and not the other one."""
    for name in UNREAD_INDEXES:
        if name != wanted:
            connection.exec_driver_sql(f"DROP INDEX IF EXISTS unread_{name}")
    connection.exec_driver_sql(UNREAD_INDEXES[wanted])
