"""The scripts with which studies start a target beside a PostgreSQL server of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from postgresql_server import PostgresqlServer
from sqlalchemy import create_engine, inspect
from sqlalchemy.pool import NullPool

from plimsoll_lab.ports import free_port

STUDIES = Path(__file__).parents[3] / "lab" / "studies"
DATABASE, REAL_KIWI = STUDIES / "folio" / "database.py", STUDIES / "kiwi" / "real.py"
# `plimsoll`, which the scripts call, is beside this Python.
ENVIRONMENT = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


@pytest.fixture
def folder() -> Iterator[Path]:
    """Not that of pytest, into which PostgreSQL's own user may not look."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def says(script: Path, *words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(script), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=400, check=False, env=ENVIRONMENT)


def test_the_inventory_serves_on_its_own_database_gets_its_indexes_and_leaves_nothing_running(folder: Path) -> None:
    port, database_port = free_port(), free_port()
    words = ("--folder", folder, "--port", port, "--database-port", database_port)
    engine = create_engine(f"postgresql+psycopg://inventory@127.0.0.1:{database_port}/inventory", poolclass=NullPool)

    def are_there() -> bool:
        with engine.connect() as connection:
            names = {index["name"] for index in inspect(connection).get_indexes("instances")}
        return {"instances_text", "instances_by_title"} <= names

    for _ in range(2):  # what is there is used again, without the indexes
        command = [sys.executable, str(DATABASE), *map(str, words), "--instances", "200", "serve"]
        server = subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL)
        try:
            wait_for(f"http://127.0.0.1:{port}/volume", server)
            assert httpx.get(f"http://127.0.0.1:{port}/volume").json()["instances"] == 200
            assert not are_there()
            assert says(DATABASE, *words, "indexes").returncode == 0
            assert are_there()
            wrong = says(DATABASE, *words, "sql", "SELECT 1", "SELECT nothing")
            assert wrong.returncode == 2 and 'column "nothing" does not exist' in wrong.stderr
        finally:
            server.terminate()
        assert server.wait(timeout=60) == 0
        assert not (folder / "postgresql" / "data" / "postmaster.pid").exists()


def test_a_port_that_another_server_has_is_refused_and_that_server_is_left_alone(
    folder: Path, postgresql_server: PostgresqlServer
) -> None:
    ended = says(DATABASE, "--folder", folder, "--database-port", postgresql_server.port, "serve")
    assert ended.returncode == 2
    assert f"PostgreSQL does not start on port {postgresql_server.port}" in ended.stderr
    assert not (folder / "complete").exists()


def test_what_is_not_installed_is_told_with_the_command_that_does_it(folder: Path) -> None:
    ended = says(REAL_KIWI, "--folder", folder / "nothing", "serve")
    assert ended.returncode == 2 and "run ./real.py install" in ended.stderr
    assert not (folder / "nothing").exists()


def wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 90
    while server.poll() is None and time.monotonic() < deadline:
        try:
            if httpx.get(url).status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise AssertionError(f"{url} does not answer; the script's exit code: {server.poll()}")
