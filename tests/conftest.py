"""The testkit's server: loopback, with a queue that is exactly known."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from plimsoll.lab.ports import free_port

TESTKIT = Path(__file__).parents[1] / "target" / "release" / "plimsoll-testkit"


@pytest.fixture
def known_server() -> Iterator[Callable[..., str]]:
    """Starts servers: `known_server("--service-ms", 3, cpu=0)` gives a URL. They end with the test."""
    started: list[subprocess.Popen[str]] = []

    def start(*options: object, cpu: int | None = None) -> str:
        assert TESTKIT.exists(), "the testkit is not built; run `make build`"
        process = subprocess.Popen(
            [str(TESTKIT), "--port", str(free_port()), *map(str, options)], stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        if cpu is not None and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(process.pid, {cpu})
        assert process.stdout is not None
        return process.stdout.readline().strip()

    yield start
    for process in started:
        process.kill()
        process.communicate()
