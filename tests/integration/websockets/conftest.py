"""What the tests of WebSockets share: the server, and a script's run against it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websocket_runs import Ran
from websocket_server import Served, websocket_server

from plimsoll.engine import EngineConfig, EngineRun


@pytest.fixture
def server() -> Iterator[Served]:
    with websocket_server() as served:
        yield served


@pytest.fixture
def run(tmp_path: Path) -> Ran:
    """Runs a script whose `note(…)` keeps what it is told, in order: `told`, each with its values as JSON has them."""

    def to_the_end(body: str, url: str = "", head: str = "", **config: Any) -> dict[str, Any]:
        script = tmp_path / "script.js"
        script.write_text(
            "import { WebSocket, Blob } from 'k6/websockets';\nimport ws from 'k6/ws';\n"
            f"const note = (...what) => console.log('NOTE' + JSON.stringify(what));\n{head}\n{body}\n"
        )
        log = tmp_path / "console.log"
        log.unlink(missing_ok=True)
        engine = EngineRun(EngineConfig(script=script, env={"URL": url}, console_output=log, **config)).begin()
        snapshots = list(engine.snapshots())
        lines = log.read_text().splitlines() if log.exists() else []
        told = [json.loads(line.partition("NOTE")[2]) for line in lines if "NOTE" in line]
        return {**engine.result(), "told": told, "snapshots": snapshots, "log": lines}

    return to_the_end
