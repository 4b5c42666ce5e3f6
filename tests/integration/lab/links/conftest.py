"""A PostgreSQL database for the link index."""

from __future__ import annotations

import pytest
from postgresql_server import own_database


@pytest.fixture(scope="session")
def links_dsn(postgresql_dsn: str) -> str:
    return own_database(postgresql_dsn, "links")
