"""A script on standard input: `plimsoll run -`, as k6 has it."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from plimsoll.errors import InputError
from plimsoll.written_files import write_own

MOST_BYTES = 64 * 2**20
NAME = "standard-input.js"


@contextmanager
def script_of_standard_input() -> Iterator[Path]:
    """A file with the script, of this user alone, for as long as it is needed. Its folder means nothing. Raises
    InputError where nothing comes, or too much."""
    step = "Pipe a k6 script into it, as in `plimsoll run - < script.js`, or give its path."
    if sys.stdin is None or sys.stdin.isatty():
        raise InputError("no script comes on standard input: it is a terminal, or closed", step)
    text = sys.stdin.buffer.read(MOST_BYTES + 1)
    if not text.strip():
        raise InputError("the script on standard input is empty", step)
    if len(text) > MOST_BYTES:
        raise InputError(f"the script on standard input has over {MOST_BYTES >> 20} MiB", "Give its path.")
    with tempfile.TemporaryDirectory(prefix="plimsoll-") as folder:
        script = Path(folder) / NAME
        write_own(script, text)
        yield script
