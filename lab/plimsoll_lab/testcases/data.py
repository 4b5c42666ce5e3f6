"""Where the lab keeps its data, and how it gets back to the seeded state.

    DIR/testcases.db   the data, unless a DSN names a PostgreSQL database
    DIR/users.json     logins and passwords for the load script, readable by the owner only
    DIR/lock           held by the process that serves from DIR

How they are kept and reset: plimsoll_lab/seeded_data.py, in place.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from plimsoll_lab.seeded_data import OpenedData, Seeding, Wanted, open_in_place
from plimsoll_lab.serving import Say
from plimsoll_lab.testcases import schema
from plimsoll_lab.testcases.seed import DEFAULT_CASES, invented_users, seed_database


def users_of(seed: int) -> list[dict[str, object]]:
    """The rows of users.json."""
    return [asdict(user) for user in invented_users(seed)]


SEEDING = Seeding(
    target="the lab's test cases",
    counted="cases",
    default_count=DEFAULT_CASES,
    schema_version=schema.SCHEMA_VERSION,
    fill=seed_database,
    drop=schema.metadata.drop_all,
    users=users_of,
)


def open_data(directory: Path, wanted: Wanted, dsn: str | None = None, say: Say = print) -> OpenedData:
    """Cases, runs and results, seeded if need be; `users.json` is written beside them. Raises InputError."""
    return open_in_place(directory, "testcases.db", SEEDING, wanted, dsn, say)
