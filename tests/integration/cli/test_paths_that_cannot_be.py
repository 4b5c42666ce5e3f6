"""Paths that no file can have are messages, and no tracebacks."""

from __future__ import annotations

import pytest
from command_line import Cli

NAME = "9" * 300


@pytest.mark.parametrize(
    "words",
    [
        ["run", NAME],
        ["capacity", NAME],
        ["runs", "show", NAME],
        ["runs", "delete", NAME, "--yes"],
        ["control", NAME, "stop"],
        ["doctor", "--runs", NAME],
        ["lab", "tracker", "--data", NAME],
        ["report", NAME],
    ],
    ids=lambda words: " ".join(words[:2]).replace(NAME, ""),
)
def test_a_name_that_is_too_long_is_told(cli: Cli, words: list[str]) -> None:
    done = cli(*words)
    assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr
    assert NAME in done.stderr and done.stderr.startswith("plimsoll: ")
