"""What an interrupted import or deletion leaves: a hidden folder beside the runs, which takes space and is no run.

Who imports or deletes holds a lock on the folder that it works in, so that such a folder is told from one whose
process is gone. The next import, deletion or pruning removes the latter.
"""

from __future__ import annotations

import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from plimsoll.runs.directory import try_lock
from plimsoll.runs.kept.catalogue import size_of

IMPORTED, DELETED = ".import-", ".deleted-"
_BEFORE_LOCK_S = 60.0  # an import makes its folder and locks it then; a deletion locks it first


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """The folder is one that this process works in, until the block ends or the process does."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try_lock(handle)
        yield
    finally:
        os.close(handle)


def unfinished(root: Path, now: Callable[[], float] = time.time) -> list[Path]:
    """The folders that an import or a deletion left which has ended."""
    found = []
    with suppress(OSError):
        for path in root.iterdir():
            if path.name.startswith((IMPORTED, DELETED)) and _is_left(path, now()):
                found.append(path)
    return found


def unfinished_bytes(root: Path) -> int:
    """What these take."""
    return sum(map(size_of, unfinished(root)))


def forget_unfinished(root: Path, now: Callable[[], float] = time.time) -> int:
    """Remove them, as far as that goes; the bytes that are free now."""
    freed = 0
    for path in unfinished(root, now):
        before = size_of(path)
        with suppress(RecursionError):
            shutil.rmtree(path, ignore_errors=True)
        freed += before - (size_of(path) if path.exists() else 0)
    return freed


def _is_left(path: Path, now_unix: float) -> bool:
    try:
        about = os.lstat(path)
        may_begin = path.name.startswith(IMPORTED) and 0 <= now_unix - about.st_mtime < _BEFORE_LOCK_S
        if not stat.S_ISDIR(about.st_mode) or may_begin:
            return False
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return try_lock(handle)
    finally:
        os.close(handle)
