"""A server that changes, for each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from changing_server import ChangingServer


@pytest.fixture
def closed() -> Iterator[Callable[[Any], Any]]:
    """What is given to it is closed with the test."""
    with ExitStack() as stack:

        def close_later(one: Any) -> Any:
            stack.callback(one.close)
            return one

        yield close_later


@pytest.fixture
def server() -> Iterator[ChangingServer]:
    one = ChangingServer()
    yield one
    one.go()
