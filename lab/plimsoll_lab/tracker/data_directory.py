"""Where the tracker keeps its data, and how it gets back to the seeded state.

    DIR/seed.db      the seeded data; never opened for writing again
    DIR/tracker.db   the working copy that the server changes (and its -wal and -shm)
    DIR/users.json   logins and bearer tokens for the load script, readable by the owner only
    DIR/study.yaml   a study of this tracker, with its script (load_files.py)
    DIR/lock         held by the process that serves from DIR

How they are kept and reset: plimsoll_lab/seeded_data.py, with a pristine copy. A tracker that serves can be taken back
to the seeded state as well (POST /api/admin/reset).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from sqlalchemy import Connection

from plimsoll_lab.seeded_data import OpenedData, Seeding, Wanted, open_with_copy
from plimsoll_lab.serving import Say
from plimsoll_lab.tracker import schema, text_queue
from plimsoll_lab.tracker.seed import DEFAULT_ISSUES, invented_users, seed_database


def users_of(seed: int) -> list[dict[str, object]]:
    """The rows of users.json."""
    return [
        {"login": user.login, "name": user.name, "email": user.email, "token": user.token}
        for user in invented_users(seed)
    ]


def _drop(connection: Connection) -> None:
    schema.metadata.drop_all(connection)
    text_queue.drop_queue(connection)


SEEDING = Seeding(
    target="the tracker",
    counted="issues",
    default_count=DEFAULT_ISSUES,
    schema_version=schema.SCHEMA_VERSION,
    fill=seed_database,
    drop=_drop,
    users=users_of,
)


def open_data(
    directory: Path, wanted: Wanted, dsn: str | None = None, say: Say = print, *, deferred_index: bool = False
) -> OpenedData:
    """The tracker's data, seeded if need be; `users.json` is written beside it. Raises InputError.

    `deferred_index`: issues wait for the text index, and a worker must be there that indexes them (`text_queue.py`).
    """
    seeding = replace(SEEDING, finish=partial(text_queue.set_deferred, wanted=deferred_index))
    return open_with_copy(directory, "tracker.db", seeding, wanted, dsn, say)
