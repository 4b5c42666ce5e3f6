"""The command line in a folder of its own, ports, and a server that never answers."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command_line import Cli


@pytest.fixture
def cli(tmp_path: Path) -> Iterator[Cli]:
    runner = Cli(tmp_path)
    yield runner
    runner.end()


@pytest.fixture
def free_port() -> Callable[[], int]:
    """Ports below the range of clients' sockets."""
    given: set[int] = set()

    def find() -> int:
        for port in range(20_000, 32_000):
            with socket.socket() as trial:
                if port not in given and trial.connect_ex(("127.0.0.1", port)) != 0:
                    given.add(port)
                    return port
        raise AssertionError("no free port")

    return find


@pytest.fixture
def hanging_url() -> Iterator[str]:
    """A server that takes connections and never answers."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(4096)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
