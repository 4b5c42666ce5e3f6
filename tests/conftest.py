"""Servers of the tests' own on loopback: the testkit's, with a queue that is exactly known, PostgreSQL and
MariaDB."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from mariadb_server import MariadbServer
from postgresql_server import PostgresqlServer, own_database

from plimsoll_lab.ports import free_port

# A shell starts jobs in the background with SIGINT ignored, which their children inherit; here it is what Ctrl-C sends.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No test asks the network for a script's modules, but those that bring a server for it.
os.environ["PLIMSOLL_OFFLINE"] = "1"

TESTKIT = Path(__file__).parents[1] / "target" / "release" / "plimsoll-testkit"


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[PostgresqlServer]:
    """A PostgreSQL server with pg_stat_statements loaded, for all tests of a session."""
    try:
        server = PostgresqlServer()
    except FileNotFoundError as error:
        pytest.fail(str(error))
    with server:
        yield server


@pytest.fixture(scope="session")
def mariadb_server() -> Iterator[MariadbServer]:
    """A MariaDB server that measures its statements, for all tests of a session."""
    try:
        server = MariadbServer()
    except FileNotFoundError as error:
        pytest.fail(str(error))
    with server:
        yield server


@pytest.fixture(scope="session")
def postgresql_dsn(postgresql_server: PostgresqlServer) -> str:
    """Its database, as its superuser."""
    return postgresql_server.dsn()


@pytest.fixture(scope="session")
def inventory_dsn(postgresql_dsn: str) -> str:
    """A database of its own for the inventory."""
    return own_database(postgresql_dsn, "inventory")


@pytest.fixture
def known_server() -> Iterator[Callable[..., str]]:
    """Starts servers: `known_server("--service-ms", 3, cpu=0)` gives a URL. They end with the test."""
    started: list[subprocess.Popen[str]] = []

    def start(*options: object, cpu: int | None = None) -> str:
        assert TESTKIT.exists(), "the testkit is not built; run `make build`"
        process = subprocess.Popen(
            [str(TESTKIT), "--port", str(free_port()), *map(str, options)], stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        if cpu is not None and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(process.pid, {cpu})
        assert process.stdout is not None
        return process.stdout.readline().strip()

    yield start
    for process in started:
        process.kill()
        process.communicate()
