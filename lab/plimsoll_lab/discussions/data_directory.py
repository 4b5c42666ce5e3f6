"""Where the forum keeps its data, and how it gets back to the seeded state.

    DIR/seed.db          the seeded data; never opened for writing again
    DIR/discussions.db   the working copy that the server changes (and its -wal and -shm)
    DIR/accounts.db      the profiles of the accounts service
    DIR/users.json       names, addresses and passwords for the load script, readable by the owner only
    DIR/study.yaml       a study of this forum, with its script (load_files.py)
    DIR/lock             held by the process that serves from DIR

How they are kept and reset: plimsoll_lab/seeded_data.py, with a pristine copy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from plimsoll_lab import seeded_data
from plimsoll_lab.discussions import schema
from plimsoll_lab.discussions.schema import UnreadIndex, set_unread_index
from plimsoll_lab.discussions.seed import DEFAULT_THREADS, invented_people, seed_database
from plimsoll_lab.seeded_data import OpenedData, Seeding, open_with_copy
from plimsoll_lab.serving import Say


@dataclass(frozen=True)
class Wanted(seeded_data.Wanted):
    """The data asked for, and the index for unread counts that it has."""

    unread_index: UnreadIndex = "new"


def users_of(seed: int) -> list[dict[str, object]]:
    """The rows of users.json."""
    return [
        {"username": one.username, "email": one.email, "password": one.secret, "role": one.role}
        for one in invented_people(seed)
    ]


SEEDING = Seeding(
    target="the forum",
    counted="threads",
    default_count=DEFAULT_THREADS,
    schema_version=schema.SCHEMA_VERSION,
    fill=seed_database,
    drop=schema.metadata.drop_all,
    users=users_of,
)


def open_data(directory: Path, wanted: Wanted, dsn: str | None = None, say: Say = print) -> OpenedData:
    """The forum's data, seeded if need be; `users.json` is written beside it. Raises InputError."""
    seeding = replace(SEEDING, finish=partial(set_unread_index, wanted=wanted.unread_index))
    return open_with_copy(directory, "discussions.db", seeding, wanted, dsn, say)
