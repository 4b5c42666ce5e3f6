"""A seeded tracker for tests: on SQLite, and on a PostgreSQL server of the test's own."""

from __future__ import annotations

import contextlib
import glob
import json
import os
import pwd
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from plimsoll.lab.ports import free_port
from plimsoll.lab.tracker import queries
from plimsoll.lab.tracker.app import create_app
from plimsoll.lab.tracker.data_directory import Wanted, open_data
from plimsoll.lab.tracker.database import Database

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # Starlette asks for another client than httpx
    warnings.simplefilter("ignore", UserWarning)
    from starlette.testclient import TestClient

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
    wanted = Wanted(issues=ISSUES, seed=1, reset=True)
    database, restore, lock = open_data(directory, wanted, dsn, say=lambda _: None)
    with contextlib.closing(lock), contextlib.closing(database):
        with database.engine.begin() as connection:
            people = queries.load_people(connection)
        with TestClient(create_app(database, people, restore, age_recount)) as client:
            yield Api(client, json.loads((directory / "users.json").read_text()), database)


@pytest.fixture(scope="session")
def postgresql_dsn() -> Iterator[str]:
    """A PostgreSQL server in a folder of its own, on a free port, as a user that is not root; stopped by its id."""
    programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    found = Path(programs[-1]) if programs else Path(shutil.which("postgres") or "").parent
    if not (found / "initdb").exists():
        pytest.fail("There is no PostgreSQL server on this machine. Install Debian's package postgresql.")
    folder = Path(tempfile.mkdtemp(prefix="plimsoll-postgresql-"))
    port = free_port()
    as_owner: dict[str, Any] = {}
    if os.geteuid() == 0:
        owner = pwd.getpwnam("postgres")
        os.chown(folder, owner.pw_uid, owner.pw_gid)
        as_owner = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
    quiet: dict[str, Any] = {"cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, **as_owner}
    command = [str(found / "initdb"), "-D", str(folder / "data"), "-A", "trust", "-U", "plimsoll", "-E", "UTF8", "-N"]
    subprocess.run([*command, "--locale=C"], check=True, **quiet)
    settings = [f"port={port}", "listen_addresses=127.0.0.1", f"unix_socket_directories={folder}", "fsync=off"]
    options = [word for setting in settings for word in ("-c", setting)]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [str(found / "postgres"), "-D", str(folder / "data"), *options], **{**quiet, "stderr": log}
        )
    try:
        ready = [str(found / "pg_isready"), "-h", "127.0.0.1", "-p", str(port), "-t", "1", "-q"]
        while subprocess.run(ready, check=False).returncode != 0:
            if server.poll() is not None:
                pytest.fail(f"PostgreSQL ended at once: {(folder / 'log').read_text()}")
        yield f"postgresql://plimsoll@127.0.0.1:{port}/postgres"
    finally:
        server.send_signal(2)  # SIGINT: fast shutdown, which ends sessions
        server.wait(timeout=30)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def serving() -> Callable[..., contextlib.AbstractContextManager[Api]]:
    """`serving(directory, dsn=None, age_recount=False)`: a context with a tracker of 300 seeded issues."""
    return _serving


@pytest.fixture(params=["sqlite", "postgresql"])
def api(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Api]:
    dsn = request.getfixturevalue("postgresql_dsn") if request.param == "postgresql" else None
    with _serving(tmp_path, dsn) as ready:
        yield ready
