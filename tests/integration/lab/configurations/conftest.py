"""The configurations with all their processes: on SQLite, and in a PostgreSQL database of their own."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from configurations_client import Answering, configurations


@pytest.fixture(scope="session")
def configurations_dsn(postgresql_dsn: str) -> str:
    with psycopg.connect(postgresql_dsn, autocommit=True) as connection:
        connection.execute("CREATE DATABASE configurations")
    return postgresql_dsn.rsplit("/", 1)[0] + "/configurations"


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def whole(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answering]:
    """Seeded anew for each module of tests."""
    options = ["--reset"]
    if request.param == "postgresql":
        options += ["--dsn", request.getfixturevalue("configurations_dsn")]
    with configurations(tmp_path_factory.mktemp("configurations"), *options) as ready:
        yield ready
        assert "Traceback" not in ready.errors.read_text()
