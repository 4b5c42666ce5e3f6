"""A seeded tracker for tests: on SQLite, and on the tests' own PostgreSQL server."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from asgi_client import TestClient

from plimsoll_lab.database import Database
from plimsoll_lab.seeded_data import Wanted
from plimsoll_lab.tracker import queries
from plimsoll_lab.tracker.app import create_app
from plimsoll_lab.tracker.data_directory import open_data

ISSUES = 300


@dataclass
class Api:
    """A client of a tracker, logged in as one user, and the database behind it."""

    client: TestClient
    users: list[dict[str, str]]
    database: Database
    login: str = "user001"

    def send(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        token = next(user["token"] for user in self.users if user["login"] == self.login)
        content = None if body is None else json.dumps(body)
        answer = self.client.request(method, path, content=content, headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == status, answer.text
        return answer.json()

    def get(self, path: str, status: int = 200) -> Any:
        return self.send("GET", path, status=status)

    def post(self, path: str, body: Any = None, status: int = 200) -> Any:
        return self.send("POST", path, body, status)

    def logged_in_as(self, login: str) -> Api:
        return Api(self.client, self.users, self.database, login)


@contextlib.contextmanager
def _serving(directory: Path, dsn: str | None = None, age_recount: bool = False) -> Iterator[Api]:
    wanted = Wanted(ISSUES, seed=1, reset=True)
    with contextlib.closing(open_data(directory, wanted, dsn, say=lambda _: None)) as data:
        with data.database.engine.begin() as connection:
            people = queries.load_people(connection)
        with TestClient(create_app(data.database, people, data.restore, age_recount)) as client:
            yield Api(client, json.loads((directory / "users.json").read_text()), data.database)


@pytest.fixture
def serving() -> Callable[..., contextlib.AbstractContextManager[Api]]:
    """`serving(directory, dsn=None, age_recount=False)`: a context with a tracker of 300 seeded issues."""
    return _serving


@pytest.fixture(params=["sqlite", "postgresql"])
def api(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Api]:
    dsn = request.getfixturevalue("postgresql_dsn") if request.param == "postgresql" else None
    with _serving(tmp_path, dsn) as ready:
        yield ready
