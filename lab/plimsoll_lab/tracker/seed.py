"""N issues and 99 users of invented data; the same seed gives the same data and the same tokens.

Words and their frequencies are those of plimsoll_lab/seeding.py. Issues are written in batches; the text index is built
after them. The first M issues of N are the M issues of a smaller seeding, texts, people and times included.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, insert, select, text

from plimsoll_lab.seeding import WordPool, continue_numbers, seeded_faker, word_pool, write_rows
from plimsoll_lab.tracker import schema

DEFAULT_ISSUES = 20_000
USERS = 99
BATCH = 10_000

FIRST_CREATED_MS = 1_735_689_600_000  # 2025-01-01T00:00:00Z
BETWEEN_ISSUES_MS = 240_000
DESCRIPTION_LETTERS = 200

_STATE_WEIGHTS = (10, 20, 10, 30, 20, 5, 5)
_PRIORITY_WEIGHTS = (1, 7, 22, 55, 15)
_ASSIGNED_SHARE = 0.85
_COMMENTS = (0, 1, 2, 3)
_COMMENTS_WEIGHTS = (60, 25, 10, 5)


@dataclass(frozen=True)
class User:
    """One user of the tracker, with the bearer token that only `users.json` keeps in the clear."""

    id: int
    login: str
    name: str
    email: str
    token: str

    @property
    def token_sha256(self) -> str:
        return token_digest(self.token)


def token_digest(token: str) -> str:
    """What the database keeps of a token: its SHA-256, in hexadecimal."""
    return hashlib.sha256(token.encode()).hexdigest()


def invented_users(seed: int) -> list[User]:
    """The 99 users user001 … user099, with a name each."""
    faker = seeded_faker(seed)
    people = []
    for number in range(1, USERS + 1):
        login = f"user{number:03d}"
        secret = hashlib.sha256(f"plimsoll lab {seed} {login}".encode()).hexdigest()[:16]
        people.append(User(number, login, faker.name(), f"{login}@example.com", f"perm-{login}.{secret}"))
    return people


def invented_issues(count: int, seed: int, pool: WordPool) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Issue after issue as a row, each with the rows of its comments (without ids)."""
    source = random.Random(seed)
    for number in range(1, count + 1):
        created_ms = FIRST_CREATED_MS + number * BETWEEN_ISSUES_MS
        remarks = [
            {
                "issue_id": number,
                "author_id": source.randint(1, USERS),
                "text": pool.text(source, source.randint(4, 20)),
                "created_ms": created_ms + (position + 1) * 3_600_000,
            }
            for position in range(source.choices(_COMMENTS, _COMMENTS_WEIGHTS)[0])
        ]
        yield (
            {
                "id": number,
                "summary": pool.text(source, source.randint(4, 10)),
                "description": pool.text(source, source.randint(12, 34))[:DESCRIPTION_LETTERS],
                "reporter_id": source.randint(1, USERS),
                "assignee_id": source.randint(1, USERS) if source.random() < _ASSIGNED_SHARE else None,
                "state": source.choices(schema.STATES, _STATE_WEIGHTS)[0],
                "priority": source.choices(schema.PRIORITIES, _PRIORITY_WEIGHTS)[0],
                "created_ms": created_ms,
                "updated_ms": remarks[-1]["created_ms"] if remarks else created_ms,
                "comments_count": len(remarks),
            },
            remarks,
        )


def seed_database(connection: Connection, issues: int, seed: int) -> None:
    """Fill an empty database: tables, users, issues with comments, text index, counts. One transaction."""
    schema.create_tables(connection)
    people = invented_users(seed)
    write_rows(
        connection,
        schema.users,
        [
            {"id": p.id, "login": p.login, "name": p.name, "email": p.email, "token_sha256": p.token_sha256}
            for p in people
        ],
    )
    rows: list[dict[str, Any]] = []
    remarks: list[dict[str, Any]] = []
    for row, remarks_of_row in invented_issues(issues, seed, word_pool(seed)):
        rows.append(row)
        remarks.extend(remarks_of_row)
        if len(rows) == BATCH:
            write_rows(connection, schema.issues, rows)
            write_rows(connection, schema.comments, remarks)
            rows, remarks = [], []
    write_rows(connection, schema.issues, rows)
    write_rows(connection, schema.comments, remarks)
    continue_numbers(connection, schema.issues)
    _count_issues(connection)
    schema.create_text_index(connection)
    connection.execute(text("ANALYZE"))


def _count_issues(connection: Connection) -> None:
    issues = schema.issues.c
    counted = select(issues.state, issues.priority, func.count()).group_by(issues.state, issues.priority)
    connection.execute(insert(schema.issue_counts).from_select(["state", "priority", "count"], counted))
