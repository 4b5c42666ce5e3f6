"""The next step fits the error of the operating system and the place that the user can change."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from plimsoll.cli.run.verb import _why_unwritten
from plimsoll.runs.directory import run_error


@pytest.mark.parametrize(
    ("number", "step"),
    [
        (errno.ENOSPC, "No space left on device. Free some disk space, or choose another place in the script."),
        (errno.EROFS, "Read-only file system. Choose another place in the script."),
        (errno.ENOENT, "there is no folder a. Make it, or correct the path in the script."),
        (errno.EIO, "Input/output error. Check the disk and the permissions, or choose another place in the script."),
    ],
)  # fmt: skip
def test_a_file_of_handle_summary(number: int, step: str) -> None:
    assert _why_unwritten(Path("a/b.json"), OSError(number, os.strerror(number))) == step


def test_a_name_that_no_file_can_have() -> None:
    assert _why_unwritten(Path("a"), ValueError("embedded null byte")).endswith(". Correct the path in the script.")


def test_another_place_than_that_of_runs() -> None:
    error = OSError(errno.ENOSPC, "No space left on device")
    assert str(run_error("write", Path("a"), error)).endswith("or choose another place with --runs.")
    assert str(run_error("write", Path("a"), error, elsewhere="")).endswith("or choose another place.")


def test_what_may_not_be_read_is_not_to_be_written_elsewhere() -> None:
    error = OSError(errno.EACCES, "Permission denied")
    assert "Read it as the user who made the run" in str(run_error("read", Path("a"), error))
    assert "You may not write there" in str(run_error("write", Path("a"), error))
