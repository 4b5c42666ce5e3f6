"""Starts an inventory with all its processes, and asks it."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from lab_process import lab_process


@dataclass
class Inventory:
    """A running inventory and a client that is logged in as its first user."""

    process: subprocess.Popen[str]
    ready: dict[str, Any]
    client: httpx.Client
    errors: Callable[[], str]

    def send(self, method: str, path: str, status: int, **options: Any) -> Any:
        answer = self.client.request(method, path, **options)
        assert answer.status_code == status, f"{method} {path}: {answer.status_code} {answer.text[:500]}"
        return answer.json() if answer.content else None

    def get(self, path: str, status: int = 200, **parameters: Any) -> Any:
        return self.send("GET", path, status, params=parameters or None)

    def ids(self, query: str) -> list[str]:
        """The ids of an export."""
        answer = self.get("/instance-bulk/ids", query=query)
        found = [one["id"] for one in answer["ids"]]
        assert answer["totalRecords"] == len(found)
        return found

    def telemetry(self) -> dict[str, Any]:
        return self.get("/admin/telemetry")


@contextlib.contextmanager
def serving(directory: Path, *options: object, instances: int = 300) -> Iterator[Inventory]:
    """An inventory of that many instances until the end of the context."""
    given = ("--data", directory, "--instances", instances, *options)
    with (
        lab_process("inventory", *given) as served,
        httpx.Client(base_url=served.url, timeout=30, trust_env=False) as client,
    ):
        answer = client.post("/authn/login", json=served.first_user())
        client.headers["X-Okapi-Token"] = answer.headers["x-okapi-token"]
        yield Inventory(served.process, served.ready, client, served.errors)
