"""N threads with responses and comments, and 99 people; the same seed gives the same data and the same secrets.

Words and their frequencies are those of plimsoll_lab/seeding.py. A thread has as many comments as a log-normal draw
says (median 45, one in forty over 300): a few busy threads hold much of the text, as in a course. The first M threads
of N are the M threads of a smaller seeding.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, text

from plimsoll_lab.discussions import schema
from plimsoll_lab.seeding import WordPool, continue_numbers, word_pool, write_rows

DEFAULT_THREADS = 1_000
PEOPLE = 99
COURSES = tuple(f"course-v1:DemoX+Load{number}+2026" for number in range(1, 6))
TOPICS = ("general", "week-1", "week-2", "week-3", "exam")
BATCH_THREADS = 200

FIRST_CREATED_MS = 1_735_689_600_000  # 2025-01-01T00:00:00Z
BETWEEN_THREADS_MS = 1_800_000
BETWEEN_COMMENTS_MS = 600_000
_READ_SHARE = 0.3
_RESPONSE_SHARE = 0.4
_MOST_COMMENTS = 600


@dataclass(frozen=True)
class Person:
    """Someone who can log in; only `users.json` keeps the secret in the clear."""

    id: int
    username: str
    email: str
    secret: str
    role: str

    @property
    def secret_sha256(self) -> str:
        return digest(self.secret)


def digest(secret: str) -> str:
    """SHA-256 in hexadecimal: what is kept of secrets. They are drawn at random, so a slow hash would guard nothing."""
    return hashlib.sha256(secret.encode()).hexdigest()


def invented_people(seed: int) -> list[Person]:
    """user001 … user099; the first one is a moderator."""
    found = []
    for number in range(1, PEOPLE + 1):
        name = f"user{number:03d}"
        secret = hashlib.sha256(f"plimsoll lab discussions {seed} {name}".encode()).hexdigest()[:20]
        role = schema.MODERATOR if number == 1 else schema.LEARNER
        found.append(Person(number, name, f"{name}@example.com", secret, role))
    return found


@dataclass(frozen=True)
class ThreadRows:
    """One thread with its comments, and who has read it until when, as rows."""

    thread: dict[str, Any]
    comments: list[dict[str, Any]]
    reads: list[dict[str, Any]]


def invented_threads(count: int, seed: int, pool: WordPool) -> Iterator[ThreadRows]:
    """Thread after thread; ids count from 1, of comments as well."""
    source = random.Random(seed)
    first_comment = 1
    for number in range(1, count + 1):
        created_ms = FIRST_CREATED_MS + number * BETWEEN_THREADS_MS
        comments = _comments(source, pool, number, first_comment, created_ms)
        first_comment += len(comments)
        last_ms = comments[-1]["created_ms"] if comments else created_ms
        readers = [user for user in range(1, PEOPLE + 1) if source.random() < _READ_SHARE]
        reads = [
            {"user_id": user, "thread_id": number, "read_ms": source.randint(created_ms, last_ms)} for user in readers
        ]
        thread = {
            "id": number,
            "course_id": COURSES[number % len(COURSES)],
            "topic_id": source.choice(TOPICS),
            "kind": source.choices(schema.THREAD_KINDS, (2, 1))[0],
            "title": pool.text(source, source.randint(4, 10)),
            "body": pool.text(source, source.randint(20, 80)),
            "author_id": source.randint(1, PEOPLE),
            "created_ms": created_ms,
            "updated_ms": created_ms,
            "last_activity_ms": last_ms,
            "comment_count": len(comments),
        }
        yield ThreadRows(thread, comments, reads)


def _comments(
    source: random.Random, pool: WordPool, thread: int, first_id: int, created_ms: int
) -> list[dict[str, Any]]:
    """Responses to a thread, and comments on responses."""
    rows: list[dict[str, Any]] = []
    responses: list[dict[str, Any]] = []
    for place in range(min(_MOST_COMMENTS, int(source.lognormvariate(3.8, 1.0)))):
        parent = source.choice(responses) if responses and source.random() > _RESPONSE_SHARE else None
        said_ms = created_ms + (place + 1) * BETWEEN_COMMENTS_MS
        row = {
            "id": first_id + place,
            "kind": schema.COMMENT if parent else schema.RESPONSE,
            "thread_id": thread,
            "parent_id": parent["id"] if parent else None,
            "author_id": source.randint(1, PEOPLE),
            "body": pool.text(source, source.randint(8, 50)),
            "created_ms": said_ms,
            "updated_ms": said_ms,
            "child_count": 0,
        }
        rows.append(row)
        if parent:
            parent["child_count"] += 1
        else:
            responses.append(row)
    return rows


def seed_database(connection: Connection, threads: int, seed: int) -> None:
    """Fill an empty database, without the index for unread counts. One transaction."""
    schema.create_tables(connection)
    people = [
        {"id": p.id, "username": p.username, "email": p.email, "secret_sha256": p.secret_sha256, "role": p.role}
        for p in invented_people(seed)
    ]
    write_rows(connection, schema.users, people)
    batch: list[ThreadRows] = []
    for one in invented_threads(threads, seed, word_pool(seed)):
        batch.append(one)
        if len(batch) == BATCH_THREADS:
            _write_threads(connection, batch)
            batch = []
    _write_threads(connection, batch)
    for table in (schema.threads, schema.comments):
        continue_numbers(connection, table)
    if connection.dialect.name != "sqlite":
        connection.execute(text("ANALYZE"))


def _write_threads(connection: Connection, batch: list[ThreadRows]) -> None:
    write_rows(connection, schema.threads, [one.thread for one in batch])
    write_rows(connection, schema.comments, [row for one in batch for row in one.comments])
    write_rows(connection, schema.thread_reads, [row for one in batch for row in one.reads])
