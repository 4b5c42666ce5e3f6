"""What no client should send the accounts service is refused with a message, and its profiles are there as before."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from asgi_client import TestClient
from openapi_run import assert_schemathesis_finds_nothing
from sqlalchemy import text

from plimsoll_lab.children import end_children, start_child, what_child_says
from plimsoll_lab.database import Database, postgresql_engine, sqlite_engine
from plimsoll_lab.discussions.accounts import AccountsOptions, create_accounts_app, fill, metadata
from plimsoll_lab.discussions.accounts_openapi import MOST_USERNAMES
from plimsoll_lab.ports import free_port

KEY = "key of the tests"
PATH = "/api/user/v1/accounts"
EVERYBODY = ",".join(f"user{number:03}" for number in range(1, 100))
WRONG: list[dict[str, Any]] = [
    {},
    {"username": ""},
    {"username": ","},
    {"username": "user001,"},
    {"username": "user001,,user002"},
    {"username": "user 001"},
    {"username": "x" * 33},
    {"username": "x" * 20_000},
    {"username": ",".join(["user001"] * (MOST_USERNAMES + 1))},
    {"username": "user001\0"},
    {"username": "user001\n"},
    {"username": "käse"},
    {"username": ["user001", "user002"]},
    {"username": "user001", "colour": "red"},
    {"username[]": "user001"},
    {"username": "'; DROP TABLE profiles; --"},
    {"username": "user001' OR '1'='1"},
    {"username": "user001') UNION SELECT 1,2,3 --"},
]


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """The service's tables, filled; on PostgreSQL gone again afterwards."""
    if request.param == "postgresql":
        engine = postgresql_engine(request.getfixturevalue("forum_dsn"))
    else:
        engine = sqlite_engine(tmp_path / "accounts.db")
    with contextlib.closing(Database(engine)) as ready:
        with engine.begin() as connection:
            fill(connection, 1)
        yield ready
        with engine.begin() as connection:
            metadata.drop_all(connection)


@pytest.fixture
def client(database: Database) -> Iterator[TestClient]:
    with TestClient(create_accounts_app(database, KEY), headers={"X-API-Key": KEY}) as ready:
        yield ready


def refused(answer: Any, status: int) -> None:
    assert answer.status_code == status, f"{answer.request.url}: {answer.status_code} {answer.text[:200]}"
    assert answer.json()["detail"] and len(answer.text) < 400


def test_wrong_names_and_parameters_are_refused_and_nothing_is_lost(client: TestClient) -> None:
    before = client.get(PATH, params={"username": EVERYBODY}).json()
    assert len(before) == 99
    for parameters in WRONG:
        refused(client.get(PATH, params=parameters), 400)
    assert client.get(PATH, params={"username": "nobody,--,user001"}).json() == before[:1]
    assert client.get(PATH, params={"username": EVERYBODY}).json() == before


@pytest.mark.parametrize("key", [None, "", "wrong", KEY + "x", KEY[:-1], "' OR '1'='1", "\xff" * 3000])
def test_without_the_key_nobody_is_told_of(client: TestClient, key: str | None) -> None:
    del client.headers["X-API-Key"]
    headers = {} if key is None else {"X-API-Key": key.encode("latin-1")}
    for parameters in ({"username": "user001"}, {}):
        refused(client.get(PATH, params=parameters, headers=headers), 401)
    assert client.get("/status").json()["requests"] == 0


def test_paths_and_methods_that_are_not_there_are_told_in_the_same_form(client: TestClient) -> None:
    refused(client.get("/api/nothing"), 404)
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        answer = client.request(method, PATH, content=b"{")
        refused(answer, 405)
        assert "GET" in answer.headers["allow"]


def test_a_database_that_fails_is_503_until_it_is_back(client: TestClient, database: Database) -> None:
    for before, after, status in (("profiles", "away", 503), ("away", "profiles", 200)):
        with database.engine.begin() as connection:
            connection.execute(text(f"ALTER TABLE {before} RENAME TO {after}"))
        answer = client.get(PATH, params={"username": "user001"})
        assert answer.status_code == status and answer.json()


def test_schemathesis_finds_nothing(tmp_path: Path) -> None:
    options = AccountsOptions("127.0.0.1", free_port("127.0.0.1"), str(tmp_path), 1, KEY)
    process = start_child("plimsoll_lab.discussions.accounts", asdict(options))
    try:
        assert what_child_says(process).get("ready")
        url = f"http://127.0.0.1:{options.port}"
        assert_schemathesis_finds_nothing(url, tmp_path, {"X-API-Key": KEY})
    finally:
        end_children([process], 10)
