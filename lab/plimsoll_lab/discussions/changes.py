"""Statements that change. Each function is one transaction; None means that what it changes is not there (any more).

In PostgreSQL a change first locks its thread, then what hangs on it, always in that order: concurrent changes of one
thread wait for each other, cannot deadlock, and one that comes after a delete finds nothing and says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Column, Connection, Select, Table, delete, insert, select, update

from plimsoll_lab.discussions.forms import Refusal
from plimsoll_lab.discussions.people import Viewer
from plimsoll_lab.discussions.queries import AnyRow, get_comment, get_thread, now_ms
from plimsoll_lab.discussions.schema import (
    COMMENT,
    RESPONSE,
    comment_votes,
    comments,
    thread_reads,
    thread_votes,
    threads,
)

NOT_YOURS = "This is not yours. Only its author or a moderator may do that."


def create_thread(connection: Connection, viewer: Viewer, values: Mapping[str, Any]) -> AnyRow:
    """A new thread of the viewer; `values`: course_id, topic_id, kind, title, body."""
    now = now_ms()
    times = {"created_ms": now, "updated_ms": now, "last_activity_ms": now}
    number = _new_id(connection, threads, {**values, **times, "author_id": viewer.id})
    _mark_read(connection, viewer.id, number, now)
    row = get_thread(connection, number)
    assert row is not None
    return row


def change_thread(
    connection: Connection,
    viewer: Viewer,
    number: int,
    changes: Mapping[str, Any],
    voted: bool | None,
    read: bool | None,
) -> AnyRow | None:
    """Change text or place of a thread (its author's right), vote for it, mark it as read."""
    row = _locked_thread(connection, number)
    if row is None:
        return None
    if changes:
        _must_own(viewer, row)
        values = {**changes, "updated_ms": now_ms()}
        connection.execute(update(threads).where(threads.c.id == number).values(values))
    if voted is not None:
        _vote(connection, threads, thread_votes, thread_votes.c.thread_id, viewer.id, number, voted)
    if read is not None:
        _mark_read(connection, viewer.id, number, now_ms() if read else None)
    return get_thread(connection, number)


def delete_thread(connection: Connection, viewer: Viewer, number: int) -> AnyRow | None:
    """Delete a thread with all that hangs on it; returns what it was."""
    row = _locked_thread(connection, number)
    if row is None:
        return None
    _must_own(viewer, row)
    connection.execute(delete(threads).where(threads.c.id == number))
    return row


def create_comment(
    connection: Connection, viewer: Viewer, thread_id: int, parent_id: int | None, body: str
) -> AnyRow | None:
    """A response to a thread, or a comment on one of its responses."""
    if _locked_thread(connection, thread_id) is None:
        return None
    if parent_id is not None:
        parent = connection.execute(select(comments).where(comments.c.id == parent_id)).first()
        if parent is None or parent.thread_id != thread_id:
            told = {"parent_id": "There is no such response in this thread."}
            raise Refusal(404, "There is no such response in this thread.", told)
        if parent.parent_id is not None:
            told = {"parent_id": "Comments hang on responses, not on other comments."}
            raise Refusal(400, "The request has mistakes in: parent_id. Correct them.", told)
        more = {"child_count": comments.c.child_count + 1}
        connection.execute(update(comments).where(comments.c.id == parent_id).values(more))
    now = now_ms()
    kind = RESPONSE if parent_id is None else COMMENT
    values = {"kind": kind, "thread_id": thread_id, "parent_id": parent_id, "author_id": viewer.id, "body": body}
    number = _new_id(connection, comments, {**values, "created_ms": now, "updated_ms": now})
    of_thread = {"comment_count": threads.c.comment_count + 1, "last_activity_ms": now}
    connection.execute(update(threads).where(threads.c.id == thread_id).values(of_thread))
    return get_comment(connection, number)


def change_comment(
    connection: Connection, viewer: Viewer, number: int, body: str | None, voted: bool | None, endorsed: bool | None
) -> AnyRow | None:
    """Change the text (its author's right), vote for it, endorse a response (the right of the thread's author)."""
    found = _locked_comment(connection, number)
    if found is None:
        return None
    thread, row = found
    if body is not None:
        _must_own(viewer, row)
        values = {"body": body, "updated_ms": now_ms()}
        connection.execute(update(comments).where(comments.c.id == number).values(values))
    if endorsed is not None:
        _must_own(viewer, thread)
        if row.kind != RESPONSE:
            told = {"endorsed": "Only a response can be endorsed."}
            raise Refusal(400, "The request has mistakes in: endorsed. Correct them.", told)
        connection.execute(update(comments).where(comments.c.id == number).values(endorsed=endorsed))
    if voted is not None:
        _vote(connection, comments, comment_votes, comment_votes.c.comment_id, viewer.id, number, voted)
    return get_comment(connection, number)


def delete_comment(connection: Connection, viewer: Viewer, number: int) -> AnyRow | None:
    """Delete a response with its comments, or a comment; returns what it was."""
    found = _locked_comment(connection, number)
    if found is None:
        return None
    _, row = found
    _must_own(viewer, row)
    connection.execute(delete(comments).where(comments.c.id == number))
    fewer = {"comment_count": threads.c.comment_count - 1 - row.child_count}
    connection.execute(update(threads).where(threads.c.id == row.thread_id).values(fewer))
    if row.parent_id is not None:
        less = {"child_count": comments.c.child_count - 1}
        connection.execute(update(comments).where(comments.c.id == row.parent_id).values(less))
    return row


def _must_own(viewer: Viewer, row: AnyRow) -> None:
    if row.author_id != viewer.id and not viewer.is_moderator:
        raise Refusal(403, NOT_YOURS)


def _locked_thread(connection: Connection, number: int) -> AnyRow | None:
    row: AnyRow | None = connection.execute(_locking(connection, select(threads).where(threads.c.id == number))).first()
    return row


def _locked_comment(connection: Connection, number: int) -> tuple[AnyRow, AnyRow] | None:
    """The comment and its thread, both locked."""
    thread_id = connection.execute(select(comments.c.thread_id).where(comments.c.id == number)).scalar()
    thread = _locked_thread(connection, thread_id) if thread_id is not None else None
    row = connection.execute(_locking(connection, select(comments).where(comments.c.id == number))).first()
    return None if thread is None or row is None else (thread, row)


def _locking(connection: Connection, statement: Select[Any]) -> Select[Any]:
    return statement if connection.dialect.name == "sqlite" else statement.with_for_update()


def _vote(
    connection: Connection, of: Table, votes: Table, key: Column[int], user_id: int, number: int, voted: bool
) -> None:
    """Set a vote; the row voted for is locked, so that its count stays true."""
    mine = (votes.c.user_id == user_id, key == number)
    has_voted = connection.execute(select(key).where(*mine)).first() is not None
    if voted == has_voted:
        return
    if voted:
        connection.execute(insert(votes).values({"user_id": user_id, key.name: number}))
    else:
        connection.execute(delete(votes).where(*mine))
    count = of.c.vote_count + (1 if voted else -1)
    connection.execute(update(of).where(of.c.id == number).values(vote_count=count))


def _mark_read(connection: Connection, user_id: int, thread_id: int, at_ms: int | None) -> None:
    """Note when the user read the thread; None forgets it."""
    mine = (thread_reads.c.user_id == user_id, thread_reads.c.thread_id == thread_id)
    connection.execute(delete(thread_reads).where(*mine))
    if at_ms is not None:
        connection.execute(insert(thread_reads).values(user_id=user_id, thread_id=thread_id, read_ms=at_ms))


def _new_id(connection: Connection, into: Table, values: Mapping[str, Any]) -> int:
    key = connection.execute(insert(into).values(values)).inserted_primary_key
    assert key is not None  # a single row was inserted
    return int(key[0])
