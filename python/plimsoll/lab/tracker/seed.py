"""N issues and 99 users of invented data; the same seed gives the same data and the same tokens.

Faker is slow (some 50 us a word), so it is asked once for pools of words and names; texts are then drawn from the
pools. Words are drawn with the weights 1/(rank + 20)^0.8: a few are in every tenth text, most in one of some hundred,
so that a search meets both many and few hits (real text is steeper: Zipf's exponent is about 1).

Issues are written in batches: executemany in SQLite, COPY in PostgreSQL; the text index is built after them. The
first M issues of N are the M issues of a smaller seeding, texts, people and times included.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any

from faker import Faker
from sqlalchemy import Connection, Table, func, insert, select, text

from plimsoll.lab.tracker import schema

DEFAULT_ISSUES = 20_000
DEFAULT_SEED = 1
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


@dataclass(frozen=True)
class WordPool:
    """Words in order of frequency and their summed weights, for `random.choices`."""

    words: tuple[str, ...]
    summed_weights: tuple[float, ...]

    def text(self, source: random.Random, words: int) -> str:
        """`words` words, the first with a capital."""
        return " ".join(source.choices(self.words, cum_weights=self.summed_weights, k=words)).capitalize()


def token_digest(token: str) -> str:
    """What the database keeps of a token: its SHA-256, in hexadecimal."""
    return hashlib.sha256(token.encode()).hexdigest()


def invented_users(seed: int) -> list[User]:
    """The 99 users user001 … user099, with a name each."""
    faker = _faker(seed)
    people = []
    for number in range(1, USERS + 1):
        login = f"user{number:03d}"
        secret = hashlib.sha256(f"plimsoll lab {seed} {login}".encode()).hexdigest()[:16]
        people.append(User(number, login, faker.name(), f"{login}@example.com", f"perm-{login}.{secret}"))
    return people


@lru_cache(maxsize=2)
def word_pool(seed: int) -> WordPool:
    """About 3,000 words: Faker's English words, business words, family names and towns, the rare ones last."""
    faker = _faker(seed)
    common = sorted(set(faker.get_words_list()))
    random.Random(seed).shuffle(common)
    rare = [faker.bs() for _ in range(400)] + [faker.last_name() for _ in range(2500)]
    rare += [faker.city() for _ in range(1000)]
    words = tuple(dict.fromkeys([*common, *(word.lower() for phrase in rare for word in phrase.split())]))
    return WordPool(words, tuple(accumulate((rank + 20) ** -0.8 for rank in range(1, len(words) + 1))))


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
    _write(
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
            _write(connection, schema.issues, rows)
            _write(connection, schema.comments, remarks)
            rows, remarks = [], []
    _write(connection, schema.issues, rows)
    _write(connection, schema.comments, remarks)
    _continue_ids(connection)
    _count_issues(connection)
    schema.create_text_index(connection)
    facts = {"schema": schema.SCHEMA_VERSION, "issues": issues, "seed": seed}
    _write(connection, schema.seed_facts, [{"key": key, "value": value} for key, value in facts.items()])
    connection.execute(text("ANALYZE"))


def _faker(seed: int) -> Faker:
    faker = Faker("en_US")
    faker.seed_instance(seed)
    return faker


def _write(connection: Connection, table: Table, rows: list[dict[str, Any]]) -> None:
    """Insert many rows of equal keys."""
    if not rows:
        return
    columns = ", ".join(rows[0])
    values = [tuple(row.values()) for row in rows]
    if connection.dialect.name == "sqlite":
        marks = ", ".join("?" * len(rows[0]))
        connection.exec_driver_sql(f"INSERT INTO {table.name} ({columns}) VALUES ({marks})", values)
        return
    driver_connection: Any = connection.connection.driver_connection
    with driver_connection.cursor() as cursor, cursor.copy(f"COPY {table.name} ({columns}) FROM STDIN") as copy:
        for value in values:
            copy.write_row(value)


def _continue_ids(connection: Connection) -> None:
    """Let PostgreSQL's sequence go on after the ids that were given out here; SQLite does so by itself."""
    if connection.dialect.name != "sqlite":
        connection.execute(text("SELECT setval(pg_get_serial_sequence('issues', 'id'), max(id)) FROM issues"))


def _count_issues(connection: Connection) -> None:
    issues = schema.issues.c
    counted = select(issues.state, issues.priority, func.count()).group_by(issues.state, issues.priority)
    connection.execute(insert(schema.issue_counts).from_select(["state", "priority", "count"], counted))
