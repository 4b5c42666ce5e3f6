"""N cases, N runs and their first results, of invented data; the same seed gives the same data and passwords.

The texts have the length at which 10,000 records of either search are some 5 MB of JSON, as the report says. The users
are `tester1` … `tester4`, who may write, and `guest`, who may only read.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass

from sqlalchemy import Connection, text

from plimsoll_lab.seeding import continue_numbers, seeded_faker, write_rows
from plimsoll_lab.testcases import schema as s
from plimsoll_lab.testcases.sessions import hashed

DEFAULT_CASES = 10_000
TESTERS = 4
CASES_A_PLAN = 100

FIRST_CREATED_MS = 1_735_689_600_000  # 2025-01-01T00:00:00Z
BETWEEN_CASES_MS = 60_000
CASE_TEXT_LETTERS = 170
RUN_NOTES_LETTERS = 70

CASE_STATUSES = (("PROPOSED", False), ("CONFIRMED", True), ("DISABLED", False), ("NEED_UPDATE", False))
EXECUTION_STATUSES = (
    ("IDLE", 0),
    ("RUNNING", 0),
    ("PAUSED", 0),
    ("PASSED", 20),
    ("FAILED", -20),
    ("BLOCKED", -10),
    ("ERROR", -30),
    ("WAIVED", 10),
)
PRIORITIES = ("P1", "P2", "P3", "P4", "P5")
PLAN_TYPES = ("Unit", "Integration", "Function", "System", "Acceptance", "Installation", "Performance", "Product")


@dataclass(frozen=True)
class User:
    """A login with the password that only users.json keeps in the clear."""

    id: int
    username: str
    email: str
    password: str
    may_write: bool


def invented_users(seed: int) -> list[User]:
    """The users of a seed."""
    names = [f"tester{number}" for number in range(1, TESTERS + 1)] + ["guest"]
    return [
        User(number, name, f"{name}@example.com", _password(name, seed), name != "guest")
        for number, name in enumerate(names, start=1)
    ]


def seed_database(connection: Connection, cases: int, seed: int) -> None:
    """Fill an empty database: tables, users, cases, plans of 100 cases, as many runs as cases, one result a run."""
    s.metadata.create_all(connection)
    users = invented_users(seed)
    write_rows(
        connection,
        s.users,
        [
            {
                "id": user.id,
                "username": user.username,
                "email": user.email,
                "password": hashed(user.password, hashlib.sha256(user.username.encode()).digest()[:16]),
                "may_write": user.may_write,
            }
            for user in users
        ],
    )
    write_rows(connection, s.classifications, [{"id": 1, "name": "Lab"}])
    write_rows(connection, s.priorities, [{"id": n, "value": value} for n, value in enumerate(PRIORITIES, start=1)])
    write_rows(connection, s.plan_types, [{"id": n, "name": name} for n, name in enumerate(PLAN_TYPES, start=1)])
    statuses = enumerate(CASE_STATUSES, start=1)
    write_rows(
        connection, s.case_statuses, [{"id": n, "name": name, "is_confirmed": yes} for n, (name, yes) in statuses]
    )
    results = enumerate(EXECUTION_STATUSES, start=1)
    write_rows(
        connection, s.execution_statuses, [{"id": n, "name": name, "weight": weight} for n, (name, weight) in results]
    )
    product = {"id": 1, "name": "Seeded product", "description": "", "classification_id": 1}
    write_rows(connection, s.products, [product])
    write_rows(connection, s.versions, [{"id": 1, "value": "1.0", "product_id": 1}])
    write_rows(connection, s.builds, [{"id": 1, "name": "1.0-1", "version_id": 1, "is_active": True}])
    write_rows(connection, s.categories, [{"id": 1, "name": "--default--", "product_id": 1}])
    _write_cases_and_runs(connection, cases, seed)
    for table in s.metadata.sorted_tables:
        if "id" in table.c:
            continue_numbers(connection, table)
    connection.execute(text("ANALYZE"))


def _write_cases_and_runs(connection: Connection, count: int, seed: int) -> None:
    source = random.Random(seed)
    words = _words(seed)
    plans = [
        {
            "id": number,
            "name": f"Plan {number}: {_text(source, words, 40)}",
            "text": _text(source, words, CASE_TEXT_LETTERS),
            "product_id": 1,
            "version_id": 1,
            "type_id": source.randint(1, len(PLAN_TYPES)),
            "author_id": source.randint(1, TESTERS),
            "is_active": True,
            "created_ms": FIRST_CREATED_MS,
        }
        for number in range(1, -(-count // CASES_A_PLAN) + 1)
    ]
    write_rows(connection, s.plans, plans)
    cases, places, runs, executions = [], [], [], []
    for number in range(1, count + 1):
        created_ms = FIRST_CREATED_MS + number * BETWEEN_CASES_MS
        plan, place = divmod(number - 1, CASES_A_PLAN)
        tester = source.randint(1, TESTERS)
        status = source.choices((1, 4, 5), (10, 75, 15))[0]
        cases.append(
            {
                "id": number,
                "summary": _text(source, words, 60),
                "text": _text(source, words, CASE_TEXT_LETTERS),
                "notes": "",
                "is_automated": source.random() < 0.5,
                "status_id": 2,
                "category_id": 1,
                "priority_id": source.randint(1, len(PRIORITIES)),
                "author_id": tester,
                "created_ms": created_ms,
            }
        )
        places.append({"plan_id": plan + 1, "case_id": number, "sortkey": 10 * (place + 1)})
        runs.append(
            {
                "id": number,
                "summary": f"Run {number}: {_text(source, words, 40)}",
                "notes": _text(source, words, RUN_NOTES_LETTERS),
                "plan_id": plan + 1,
                "build_id": 1,
                "manager_id": tester,
                "default_tester_id": tester,
                "started_ms": created_ms,
                "stopped_ms": None if status == 1 else created_ms + 1000,
            }
        )
        executions.append(
            {
                "run_id": number,
                "case_id": number,
                "build_id": 1,
                "status_id": status,
                "assignee_id": tester,
                "tested_by_id": None if status == 1 else tester,
                "sortkey": 10,
                "started_ms": None,
                "stopped_ms": None if status == 1 else created_ms + 1000,
            }
        )
    for table, rows in ((s.cases, cases), (s.plan_cases, places), (s.runs, runs), (s.executions, executions)):
        write_rows(connection, table, rows)


def _words(seed: int) -> list[str]:
    faker = seeded_faker(seed)
    return sorted({*faker.get_words_list(), *(faker.last_name().lower() for _ in range(500))})


def _text(source: random.Random, words: list[str], letters: int) -> str:
    """Words of some `letters` letters in all, the first with a capital."""
    return " ".join(source.choices(words, k=letters // 6)).capitalize()[:letters]


def _password(name: str, seed: int) -> str:
    return hashlib.sha256(f"{name}:{seed}:plimsoll lab testcases".encode()).hexdigest()[:24]
