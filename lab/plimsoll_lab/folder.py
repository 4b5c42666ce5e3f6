"""The folder in which a target keeps its data: one process at a time has it, and a file in it is there whole or not."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from plimsoll.errors import InputError
from plimsoll.written_files import PRIVATE, own_file, write_own

_PUBLIC = 0o644


def locked_folder(directory: Path) -> IO[str]:
    """Make the folder if need be and lock it; close what this returns when the folder may be used by others.

    Raises InputError: nothing can be written there, or another process has it.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        lock = (directory / "lock").open("a+")
    except (FileExistsError, NotADirectoryError, PermissionError) as error:
        what = f"No data can be kept in {directory}: {error.strerror}"
        raise InputError(what, "Give another folder as --data.") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        holder = lock.read().strip() or "unknown"
        lock.close()
        step = "Stop that one, or give another folder as --data."
        raise InputError(f"{directory} is in use by the process {holder}", step) from None
    lock.truncate(0)
    lock.write(str(os.getpid()))
    lock.flush()
    return lock


def write_file(path: Path, text: str, *, private: bool = False) -> None:
    """Write a whole file: a reader finds the old file or the new one. `private`: only the owner may read it."""
    write_own(path, text, mode=PRIVATE if private else _PUBLIC)


def write_users(directory: Path, people: Sequence[Mapping[str, object]]) -> None:
    """users.json for the load script: logins with what they log in by, readable by the owner only."""
    write_file(directory / "users.json", json.dumps([dict(one) for one in people], indent=1) + "\n", private=True)


def copy_file(source: Path, path: Path) -> None:
    """Copy a whole file."""
    with source.open("rb") as original, own_file(path, mode=_PUBLIC) as copy:
        shutil.copyfileobj(original, copy)


def remove_database(path: Path) -> None:
    """Remove a SQLite file with its write-ahead log; a log left behind would be replayed into the next file."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
