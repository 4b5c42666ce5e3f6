"""Starts the lab's configurations or its link index with all their processes, and asks them."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

COMPONENTS = 22


@dataclass
class Answering:
    """A running target of the lab; `urls` of its services by name, whose paths begin with that name."""

    process: subprocess.Popen[str]
    ready: dict[str, Any]
    errors: Path
    client: httpx.Client
    urls: dict[str, str]
    folder: Path
    users: list[dict[str, str]] = field(default_factory=list)

    def send(self, method: str, path: str, status: int, **options: Any) -> Any:
        """JSON of the answer of the service that the path names; None without one."""
        answer = self.raw(method, path, **options)
        assert answer.status_code == status, f"{method} {path}: {answer.status_code} {answer.text[:500]}"
        return answer.json() if answer.content else None

    def raw(self, method: str, path: str, **options: Any) -> httpx.Response:
        """The answer as it comes."""
        return self.client.request(method, self.urls[path.split("/")[1]] + path, **options)

    def get(self, path: str, status: int = 200, **parameters: Any) -> Any:
        return self.send("GET", path, status, params=parameters or None)

    def post(self, path: str, body: Any = None, status: int = 201, **parameters: Any) -> Any:
        return self.send("POST", path, status, json=body, params=parameters or None)

    def put(self, path: str, body: Any, status: int = 200, **parameters: Any) -> Any:
        return self.send("PUT", path, status, json=body, params=parameters or None)

    def telemetry(self) -> dict[str, Any]:
        return self.client.get(f"{self.ready['url']}/admin/telemetry").json()  # type: ignore[no-any-return]

    def address(self, tool: str, artifact: int) -> str:
        return f"{self.urls[tool]}/{tool}/artifacts/{artifact}"

    def new(self, tool: str, context: int, *links: tuple[str, str], title: str = "Invented") -> Any:
        """A new artifact with links (type, target)."""
        targets = [{"type": kind, "target": target} for kind, target in links]
        return self.post(f"/{tool}/artifacts", {"title": title, "links": targets}, context=context)


@contextlib.contextmanager
def configurations(directory: Path, *options: object, artifacts: int = 44) -> Iterator[Answering]:
    """The configurations, with 22 components, until the end of the context; the client is logged in."""
    sizes = ("--components", COMPONENTS, "--artifacts", artifacts)
    with _running("configurations", directory, *sizes, *options) as (process, ready, errors):
        users = json.loads(Path(ready["users"]).read_text())
        with httpx.Client(timeout=30, trust_env=False) as client:
            answer = client.post(f"{ready['services']['jts']}/jts/login", json=users[0])
            client.headers["Authorization"] = f"Bearer {answer.json()['token']}"
            yield Answering(process, ready, errors, client, ready["services"], directory, users)


@contextlib.contextmanager
def link_index(directory: Path, followed: Answering, *options: object) -> Iterator[Answering]:
    """A link index that follows those configurations, polling every 0.3 s."""
    words = ("--configurations", followed.folder, "--poll-every", 0.3)
    with (
        _running("links", directory, *words, *options) as (process, ready, errors),
        httpx.Client(timeout=30, trust_env=False, headers=followed.client.headers) as client,
    ):
        yield Answering(process, ready, errors, client, {"ldx": ready["url"]}, directory)


@contextlib.contextmanager
def _running(
    name: str, directory: Path, *options: object
) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any], Path]]:
    directory.mkdir(parents=True, exist_ok=True)
    errors = directory / "errors"
    command = [sys.executable, "-m", "plimsoll_lab", name, "--port", "0", "--data", str(directory), *map(str, options)]
    with errors.open("w") as log, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True) as process:
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            assert line, errors.read_text()
            yield process, json.loads(line), errors
        finally:
            process.terminate()
            process.wait(timeout=40)


def eventually(happens: Callable[[], bool], seconds: float = 40) -> None:
    deadline = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.1)
