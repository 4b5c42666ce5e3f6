"""A folder with a run that is finished and one that goes on, and the page over it, asked without a socket."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from asgi_client import TestClient
from page_asked import HOST, PORT, second

from plimsoll.runs.writer import RunFacts, RunWriter
from plimsoll.ui.app import LivePage


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[RunWriter]:
    """A plain run that goes on, after five seconds."""
    with RunWriter.create(tmp_path / "runs", RunFacts("run", level_unit="multiple"), tables=False) as found:
        found.set_t0(1.8e9)
        for number in range(5):
            found.append_snapshot(second(number))
        yield found


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    """A run that is finished."""
    with RunWriter.create(tmp_path / "runs", RunFacts("run"), tables=False, clock=lambda: 1.7e9) as found:
        found.append_snapshot(second(0))
    return found.path


@pytest.fixture
def page(tmp_path: Path) -> Callable[..., TestClient]:
    """`page()` asks as a browser on this machine, `page(token="…")` of a page that asks for one."""

    def made(token: str | None = None) -> TestClient:
        app = LivePage(tmp_path / "runs", "127.0.0.1", PORT, token)
        return TestClient(app.asgi, base_url=f"http://{HOST}", follow_redirects=False)

    return made
