"""Secrets that come through a pipe: `--secret-source file=<(vault …)`.

The engine opens its sources by itself, deaf to signals, and more than once, and the redactor reads them too. So a pipe
is read here, once, into memory that looks like a file to all of them.
"""

from __future__ import annotations

import os
from pathlib import Path

from plimsoll.errors import InputError
from plimsoll.runs.format.small_files import MOST_BYTES, is_pipe, open_to_read
from plimsoll.written_files import Say, say_on_stderr


def without_pipe(flag: str, *, say: Say = say_on_stderr, after_s: float = 1.0) -> str:
    """A --secret-source with the file that has what came through its pipe, which stays until the process ends. As it is
    where it names none. InputError for more than 64 MiB or a pipe that cannot be read."""
    kind, _, settings = flag.partition("=")
    if kind != "file" or not hasattr(os, "memfd_create"):
        return flag
    return f"file={','.join(_without_pipe(part, say, after_s) for part in settings.split(','))}"


def _without_pipe(part: str, say: Say, after_s: float) -> str:
    name, equals, path = part.partition("=")
    file = Path(path if equals else part)
    if (equals and name != "filename") or not is_pipe(file):
        return part
    try:
        with open_to_read(file, say=say, after_s=after_s) as pipe:
            data = pipe.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"--secret-source {file}: {error.strerror}", "Check the path.") from error
    if len(data) > MOST_BYTES:
        raise InputError(f"--secret-source {file}: it has over {MOST_BYTES >> 20} MiB or no end", "Give a file.")
    handle = os.memfd_create("secrets")
    written = 0
    while written < len(data):
        written += os.write(handle, data[written:])
    return f"{name}={_path(handle)}" if equals else _path(handle)


def _path(handle: int) -> str:
    return f"/proc/self/fd/{handle}"
