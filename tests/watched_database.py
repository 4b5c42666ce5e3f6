"""A hold of a study that watches a database, from the command line: for tests of either kind of database."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from plimsoll.runs.format.lines import unpacked

PASSWORD = "pl4nted-s3cret"
HOLD = (
    "hold",
    "study.yaml",
    "--users",
    "20",
    "--duration",
    "5",
    "--warm-up",
    "1",
    "--baseline",
    "2",
    "-q",
    "--details",
)
_STUDY = """target: {{url: '{url}'}}
probes: {{core_speed: false, {probe}: [{{dsn: '{dsn}', label: shop}}]}}
workload: {{script: script.js, operations: [{{name: a, exec: default, per_user_hour: 3600}}]}}
"""
_SCRIPT = "import http from 'k6/http';\nexport default function () { http.get(__ENV.BASE_URL); }\n"


@dataclass(frozen=True)
class WatchedDatabase:
    """`probe` is the key of the study's probes, `url` that of a server that answers."""

    probe: str
    folder: Path
    url: str

    def command(self, dsn: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """plimsoll in the folder, with the study of that DSN."""
        (self.folder / "script.js").write_text(_SCRIPT)
        (self.folder / "study.yaml").write_text(_STUDY.format(url=self.url, probe=self.probe, dsn=dsn))
        return subprocess.run(
            [sys.executable, "-m", "plimsoll", *arguments], cwd=self.folder, capture_output=True, text=True,
            timeout=400, check=False, env={**os.environ, **environment},
        )  # fmt: skip

    def everything(self, done: subprocess.CompletedProcess[str]) -> str:
        """All that a run wrote and printed, beside the study itself."""
        files = [path for path in (self.folder / "runs").rglob("*") if path.is_file()]
        return "\n".join([done.stdout, done.stderr, *(unpacked(path).decode("utf-8", "replace") for path in files)])


@contextmanager
def repeated(once: Callable[[], object]) -> Iterator[None]:
    """`once` over and over in a thread of its own, 20 ms apart, until the context ends."""
    over = threading.Event()

    def run() -> None:
        while not over.wait(0.02):
            once()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
