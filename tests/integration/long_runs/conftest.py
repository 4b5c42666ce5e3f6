"""A consumer of known rate, for drain."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from plimsoll_lab.ports import free_port


@pytest.fixture
def consumer(tmp_path: Path) -> Iterator[Callable[[float], str]]:
    """Starts a consumer of so many items per second; gives its URL."""
    started: list[subprocess.Popen[str]] = []

    def start(rate_per_s: float) -> str:
        program = Path(__file__).parent / "known_consumer.py"
        words = [sys.executable, str(program), str(free_port()), str(rate_per_s), str(tmp_path / "index")]
        started.append(subprocess.Popen(words, stdout=subprocess.PIPE, text=True))
        assert started[-1].stdout is not None
        return started[-1].stdout.readline().strip()

    yield start
    for process in started:
        process.kill()
        process.communicate()
