"""Files that we write: whole or not at all, and never waiting deaf to signals.

    write_own(path, text)            a file of a run directory or a target's data: a reader sees the old or the new one
    with own_file(path) as file:     the same, written in pieces
    new_private(path)                a file there that grows
    write_named(path, text)          a file that the user named: through links, into devices and pipes as they are
    with ready_for_others(paths):    before code opens files by itself that would wait for a pipe's reader, deaf

Regular files are written aside and renamed. In folders of ours a link is never followed, as only somebody else can have
put it there: it is replaced, or refused where a file grows. Of a name that the user gave links are followed, so that
they stay links, and what is no regular file (a device, a pipe, /dev/stdout) is opened and written: a rename would put a
file in its place. A pipe without a reader is waited for, which is said, and which Ctrl-C ends.

It imports nothing of the package, and all parts of it may import it, as does the lab. All raise OSError.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, BinaryIO

PRIVATE = 0o600
PRIVATE_FOLDER = 0o700
_BY_UMASK = 0o666
_MOST_LINKS = 40  # as Linux
_LOOK_AGAIN_S = 0.05
_OWN_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/(\d+)")
_FOLDER_REFUSES = (errno.EACCES, errno.EPERM, errno.EROFS)
_NAME_REFUSES = (errno.EBUSY, errno.EPERM, errno.EACCES, errno.EXDEV)  # as where a single file is mounted

Say = Callable[[str], None]


def say_on_stderr(words: str) -> None:
    """A line for the user."""
    print(f"plimsoll: {words}", file=sys.stderr, flush=True)


def write_own(path: Path, content: str | bytes, *, mode: int = PRIVATE, sync: bool = False) -> None:
    """Write a whole file of ours; text as UTF-8. `sync`: it is on the disk before it takes its name."""
    with own_file(path, mode=mode, sync=sync) as file:
        file.write(_bytes(content))


@contextlib.contextmanager
def own_file(path: Path, *, mode: int = PRIVATE, sync: bool = False) -> Iterator[BinaryIO]:
    """What is written to the file that this gives is under `path` when the block ends, and nothing if it raises."""
    handle, aside = _new_aside(path, mode)
    with _filled(handle, aside) as file:
        yield file
        file.flush()
        if sync:
            os.fsync(handle)
        aside.replace(path)


def write_named(path: Path, content: str | bytes, *, say: Say = say_on_stderr) -> None:
    """Write a file that the user named. A new one has what the umask leaves, one that is there keeps its mode."""
    end = _end_of_links(path)
    there = _facts(end)
    if _own_descriptor(end) is not None or (there is not None and not stat.S_ISREG(there.st_mode)):
        with _opened(end, say) as file:
            file.write(_bytes(content))
        return
    try:
        handle, aside = _new_aside(end, _BY_UMASK)
    except OSError as error:
        if there is None or error.errno not in _FOLDER_REFUSES:
            raise
        end.write_bytes(_bytes(content))  # the folder takes no new file, and this one may be written
        return
    with _filled(handle, aside) as file:
        _take_after(handle, there)
        file.write(_bytes(content))
        file.flush()
        _put_in_place(aside, end, there)


def is_own_descriptor(path: Path) -> bool:
    """Whether that is an open file of this process, as /dev/stdout is."""
    return _own_descriptor(_end_of_links(path)) is not None


def new_private(path: Path, *, append: bool = False, buffered: bool = True) -> IO[bytes]:
    """A file of a run directory; a link of that name, which only somebody else can have made, is refused."""
    how = os.O_APPEND if append else os.O_TRUNC
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | how
    return open(os.open(path, flags, PRIVATE), "wb", buffering=-1 if buffered else 0)


@contextlib.contextmanager
def ready_for_others(paths: Sequence[Path], mode: int = PRIVATE, say: Say = say_on_stderr) -> Iterator[None]:
    """Within, code that opens these files itself does not wait, and new files are there with `mode`; those that are
    still empty after an error are removed again. What cannot be opened is left to that code to tell."""
    new = [path for path in paths if not os.path.lexists(path)]
    with contextlib.ExitStack() as held:
        for path in paths:
            with contextlib.suppress(OSError):
                held.callback(os.close, _open_waiting(path, os.O_CREAT, mode, say))
        try:
            yield
        except BaseException:
            for path in new:
                with contextlib.suppress(OSError):
                    if path.stat().st_size == 0:
                        path.unlink()
            raise


def _bytes(content: str | bytes) -> bytes:
    return content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content


@contextlib.contextmanager
def _filled(handle: int, aside: Path) -> Iterator[BinaryIO]:
    """The file that is written aside, which is gone in the end unless it took its name."""
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
    finally:
        aside.unlink(missing_ok=True)


@contextlib.contextmanager
def _opened(end: Path, say: Say) -> Iterator[BinaryIO]:
    """What is no regular file, opened for writing."""
    own = _own_descriptor(end)
    if own is not None:
        for stream in (sys.stdout, sys.stderr):  # what was said before comes before
            if stream is not None:
                stream.flush()
    handle = os.dup(own) if own is not None else _open_waiting(end, 0, 0, say)
    if own is None:
        os.set_blocking(handle, True)
    with os.fdopen(handle, "wb") as file:
        yield file


def _open_waiting(path: Path, how: int, mode: int, say: Say) -> int:
    """A descriptor to write by; a pipe is waited for until somebody reads it, and signals are served meanwhile."""
    flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC | how
    is_said = False
    while True:
        try:
            return os.open(path, flags, mode)
        except OSError as error:
            if error.errno != errno.ENXIO or not stat.S_ISFIFO(os.stat(path).st_mode):
                raise
        if not is_said:
            say(f"{path} is a pipe that nobody reads yet. Waiting for its reader; Ctrl-C ends this.")
            is_said = True
        time.sleep(_LOOK_AGAIN_S)


def _end_of_links(path: Path) -> Path:
    """What a path stands for once its last part is no symbolic link; a descriptor of this process stays as it is."""
    for _ in range(_MOST_LINKS):
        if _own_descriptor(path) is not None:
            return path
        try:
            path = path.parent / os.readlink(path)
        except OSError:  # no link, or nothing
            return path
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))


def _own_descriptor(path: Path) -> int | None:
    """The number of /dev/fd/N, at which /dev/stdout ends; None for another path."""
    found = _OWN_DESCRIPTOR.fullmatch(str(path))
    return int(found[1]) if found else None


def _facts(path: Path) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _new_aside(path: Path, mode: int) -> tuple[int, Path]:
    aside = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    return os.open(aside, flags, mode), aside


def _take_after(handle: int, there: os.stat_result | None) -> None:
    """The file written aside gets owner and mode of the one that it replaces."""
    if there is not None:
        with contextlib.suppress(OSError):
            os.fchown(handle, there.st_uid, there.st_gid)
        with contextlib.suppress(OSError):
            os.fchmod(handle, stat.S_IMODE(there.st_mode))


def _put_in_place(aside: Path, path: Path, there: os.stat_result | None) -> None:
    try:
        aside.replace(path)
    except OSError as error:
        if there is None or error.errno not in _NAME_REFUSES:
            raise
        with aside.open("rb") as source, path.open("wb") as target:
            shutil.copyfileobj(source, target)
