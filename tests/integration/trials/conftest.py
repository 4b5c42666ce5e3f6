"""The command line in a folder of its own, and a server that commands change."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

Verb = Callable[..., tuple[int, dict[str, Any], str]]


@pytest.fixture
def verb(tmp_path: Path) -> Verb:
    """Runs `plimsoll … --json` in `tmp_path`: (exit code, its finding or {}, stderr)."""

    def run(*words: object) -> tuple[int, dict[str, Any], str]:
        command = [sys.executable, "-m", "plimsoll", *map(str, words), "--json"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=400, check=False)
        return done.returncode, json.loads(done.stdout)[0] if done.stdout else {}, done.stderr

    return run


@contextmanager
def _answering(wait: Callable[[str], object]) -> Iterator[str]:
    """The URL of a server that answers after `wait(path)`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            wait(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        serving = threading.Thread(target=server.serve_forever, daemon=True)
        serving.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        serving.join()


@pytest.fixture
def switched_server(tmp_path: Path) -> Iterator[str]:
    """The URL of a server that answers after as many milliseconds as the file `service_ms` says."""
    with _answering(lambda _: time.sleep(float((tmp_path / "service_ms").read_text()) / 1000)) as url:
        yield url


@pytest.fixture
def hanging_server() -> Iterator[str]:
    """The URL of a server that answers at once, but each tenth request below /hangs only after 20 s."""
    asked, ended = itertools.count(1), threading.Event()
    with _answering(lambda path: path.startswith("/hangs") and next(asked) % 10 == 0 and ended.wait(20)) as url:
        yield url
        ended.set()
