"""The command line in a folder of its own, and a server that never answers."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import Cli


@pytest.fixture
def cli(tmp_path: Path) -> Iterator[Cli]:
    runner = Cli(tmp_path)
    yield runner
    runner.end()


@pytest.fixture
def hanging_url() -> Iterator[str]:
    """A server that takes connections and never answers."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(4096)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
