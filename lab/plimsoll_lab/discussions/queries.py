"""Statements that find. Functions take an open connection first; `Database.run` makes each a transaction.

A page is one statement, whatever its size: unread counts and votes of all its threads come by one statement each.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, Connection, Row, and_, func, select

from plimsoll_lab.discussions.schema import UnreadIndex, comment_votes, comments, thread_reads, thread_votes, users
from plimsoll_lab.discussions.schema import threads as all_threads

AnyRow: TypeAlias = Row[*tuple[Any, ...]]

_ORDERS = {
    "last_activity_at": all_threads.c.last_activity_ms,
    "comment_count": all_threads.c.comment_count,
    "vote_count": all_threads.c.vote_count,
}
_thread = select(all_threads, users.c.username).join(users, users.c.id == all_threads.c.author_id)
_comment = select(comments, users.c.username).join(users, users.c.id == comments.c.author_id)


@dataclass(frozen=True)
class Listing:
    """Which threads of a course, in which order, which page (from 1)."""

    course_id: str
    page: int
    page_size: int
    topic_id: str | None = None
    author: str | None = None
    order_by: str = "last_activity_at"


@dataclass(frozen=True)
class Page:
    """Rows of one page and how many there are in all."""

    rows: Sequence[AnyRow]
    count: int


@dataclass(frozen=True)
class Seen:
    """What a viewer has to do with threads: unread comments of each, and which he has read and voted for."""

    unread: dict[int, int]
    read: set[int]
    voted: set[int]


def list_threads(connection: Connection, wanted: Listing) -> Page:
    """One page of a course's threads, the greatest in its order first."""
    conditions: list[ColumnElement[bool]] = [all_threads.c.course_id == wanted.course_id]
    if wanted.topic_id is not None:
        conditions.append(all_threads.c.topic_id == wanted.topic_id)
    if wanted.author is not None:
        author = select(users.c.id).where(users.c.username == wanted.author).scalar_subquery()
        conditions.append(all_threads.c.author_id == author)
    count = connection.execute(select(func.count()).select_from(all_threads).where(*conditions)).scalar_one()
    order = _ORDERS[wanted.order_by]
    page = _thread.where(*conditions).order_by(order.desc(), all_threads.c.id.desc())
    page = page.offset((wanted.page - 1) * wanted.page_size).limit(wanted.page_size)
    return Page(connection.execute(page).all(), int(count))


def get_thread(connection: Connection, thread_id: int) -> AnyRow | None:
    """The thread with its author's name."""
    row: AnyRow | None = connection.execute(_thread.where(all_threads.c.id == thread_id)).first()
    return row


def get_comment(connection: Connection, comment_id: int) -> AnyRow | None:
    """The response or comment with its author's name."""
    row: AnyRow | None = connection.execute(_comment.where(comments.c.id == comment_id)).first()
    return row


def list_responses(connection: Connection, thread_id: int, page: int, page_size: int) -> Page:
    """One page of a thread's responses, the oldest first."""
    return _page_of(
        connection, and_(comments.c.thread_id == thread_id, comments.c.parent_id.is_(None)), page, page_size
    )


def list_children(connection: Connection, comment_id: int, page: int, page_size: int) -> Page:
    """One page of the comments on a response, the oldest first."""
    return _page_of(connection, comments.c.parent_id == comment_id, page, page_size)


def _page_of(connection: Connection, among: ColumnElement[bool], page: int, page_size: int) -> Page:
    count = connection.execute(select(func.count()).select_from(comments).where(among)).scalar_one()
    rows = _comment.where(among).order_by(comments.c.id).offset((page - 1) * page_size).limit(page_size)
    return Page(connection.execute(rows).all(), int(count))


def seen_by(connection: Connection, user_id: int, rows: Sequence[AnyRow], unread_index: UnreadIndex) -> Seen:
    """What the user has read and voted for among these threads.

    With the old index a comment is unread again when it was changed, with the new one it is not (the report's change).
    """
    ids = [row.id for row in rows]
    if not ids:
        return Seen({}, set(), set())
    since = comments.c.updated_ms if unread_index == "old" else comments.c.created_ms
    mine = and_(thread_reads.c.thread_id == all_threads.c.id, thread_reads.c.user_id == user_id)
    unread = (
        select(func.count())
        .select_from(comments)
        .where(
            comments.c.thread_id == all_threads.c.id,
            comments.c.author_id != user_id,
            since >= func.coalesce(thread_reads.c.read_ms, 0),
        )
        .correlate(all_threads, thread_reads)
        .scalar_subquery()
    )
    marks = select(all_threads.c.id, thread_reads.c.read_ms, unread)
    marks = marks.select_from(all_threads.outerjoin(thread_reads, mine)).where(all_threads.c.id.in_(ids))
    found = connection.execute(marks).all()
    # A thread is read if nothing happened in it since; with the report's change only what was created counts.
    old = unread_index == "old"
    last = {row.id: max(row.updated_ms, row.last_activity_ms) if old else row.last_activity_ms for row in rows}
    votes = select(thread_votes.c.thread_id)
    votes = votes.where(thread_votes.c.user_id == user_id, thread_votes.c.thread_id.in_(ids))
    return Seen(
        {number: int(count) for number, _, count in found},
        {number for number, at, _ in found if at is not None and at >= last[number]},
        {row[0] for row in connection.execute(votes)},
    )


def voted_comments(connection: Connection, user_id: int, rows: Sequence[AnyRow]) -> set[int]:
    """Which of these responses and comments the user has voted for."""
    ids = [row.id for row in rows]
    if not ids:
        return set()
    votes = select(comment_votes.c.comment_id)
    votes = votes.where(comment_votes.c.user_id == user_id, comment_votes.c.comment_id.in_(ids))
    return {row[0] for row in connection.execute(votes)}


def volume(connection: Connection) -> dict[str, int]:
    """How much data there is."""
    counts = select(
        select(func.count()).select_from(all_threads).scalar_subquery(),
        select(func.count()).select_from(comments).scalar_subquery(),
    )
    threads, said = connection.execute(counts).one()
    return {"threads": int(threads), "comments": int(said)}


def now_ms() -> int:
    """Milliseconds since 1970 in UTC."""
    return time.time_ns() // 1_000_000
