"""A seeded forum for tests, with its accounts service: on SQLite, and in a PostgreSQL database of its own."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from asgi_client import TestClient
from postgresql_server import own_database

from plimsoll_lab.database import Database, sqlite_engine
from plimsoll_lab.discussions.accounts import create_accounts_app, fill
from plimsoll_lab.discussions.app import Forum, create_app
from plimsoll_lab.discussions.data_directory import Wanted, open_data
from plimsoll_lab.discussions.profile_images import ProfileImages

THREADS = 60
KEY = "key of the tests"


@dataclass
class Api:
    """A client of a forum, and the forum behind it; `cookies` and `headers` are of the user who is logged in."""

    client: TestClient
    forum: Forum
    people: list[dict[str, str]]
    cookies: dict[str, str] = field(default_factory=dict)

    def send(self, method: str, path: str, body: Any = None, status: int = 200, **more: Any) -> Any:
        """The answer's JSON (None without one); `more` replaces cookies, headers or content."""
        headers = {"X-CSRFToken": self.cookies.get("csrftoken", ""), "Content-Type": "application/json"}
        content = None if body is None else json.dumps(body)
        self.client.cookies.clear()
        options = {"content": content, "headers": headers, **more}
        cookies = options.pop("cookies", self.cookies)
        options["headers"] = {**options["headers"], "Cookie": "; ".join(f"{k}={v}" for k, v in cookies.items())}
        answer = self.client.request(method, path, **options)
        assert answer.status_code == status, f"{answer.status_code} {answer.text}"
        return answer.json() if answer.content else None

    def logged_in_as(self, username: str) -> Api:
        """Another user's client, logged in with token, address and password."""
        person = next(one for one in self.people if one["username"] == username)
        self.client.cookies.clear()
        token = self.client.get("/csrf/api/v1/token").json()["csrfToken"]
        answer = self.client.post(
            "/api/user/v1/account/login_session/",
            data={"email": person["email"], "password": person["password"]},
            headers={"X-CSRFToken": token},
        )
        assert answer.status_code == 200, answer.text
        return Api(self.client, self.forum, self.people, dict(self.client.cookies))


@contextlib.contextmanager
def _serving(directory: Path, dsn: str | None = None, **options: Any) -> Iterator[Api]:
    wanted = Wanted(THREADS, 1, reset=True, unread_index=options.get("unread_index", "new"))
    accounts = Database(sqlite_engine(directory / "accounts.db"))
    with accounts.engine.begin() as connection:
        fill(connection, 1)
    with (
        contextlib.closing(open_data(directory, wanted, dsn, say=lambda _: None)) as data,
        contextlib.closing(accounts),
    ):
        transport = options.get("transport") or httpx.ASGITransport(create_accounts_app(accounts, KEY))
        images = ProfileImages("http://accounts", KEY, options.get("accounts_calls", "page"), transport)
        forum = Forum(data.database, images, data.restore, wanted.unread_index, options.get("auto_auth", False))
        with TestClient(create_app(forum)) as client:
            people = json.loads((directory / "users.json").read_text())
            yield Api(client, forum, people).logged_in_as("user002")


@pytest.fixture(scope="session")
def forum_dsn(postgresql_dsn: str) -> str:
    return own_database(postgresql_dsn, "discussions")


@pytest.fixture
def serving() -> Callable[..., contextlib.AbstractContextManager[Api]]:
    """`serving(directory, dsn=None, unread_index=…, accounts_calls=…, auto_auth=…, transport=…)`: 60 threads."""
    return _serving


@pytest.fixture(params=["sqlite", "postgresql"])
def forum(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Api]:
    dsn = request.getfixturevalue("forum_dsn") if request.param == "postgresql" else None
    with _serving(tmp_path, dsn) as ready:
        yield ready
