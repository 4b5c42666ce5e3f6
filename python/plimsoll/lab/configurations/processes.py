"""The services as processes: started, watched, started again when they have ended."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.errors import InputError
from plimsoll.lab.children import close_pipes, end_children, start_child, what_child_says
from plimsoll.lab.serving import Say

WATCH_S = 0.2
PAUSE_BEFORE_RESTART_S = 0.5
STOP_LIMIT_S = 8.0


@dataclass
class Service:
    """One service: its module, its options, and what became of its process."""

    name: str
    port: int
    module: str
    options: Mapping[str, Any]
    process: subprocess.Popen[str] | None = None
    restarts: int = 0
    up: bool = False

    def launch(self) -> None:
        """Start the process; it does not serve yet."""
        self.process = start_child(self.module, {**self.options, "name": self.name, "port": self.port})

    def wait_until_ready(self) -> bool:
        """Whether it came up; False if it ended."""
        assert self.process is not None
        self.up = bool(what_child_says(self.process).get("ready"))
        return self.up

    def state(self) -> dict[str, Any]:
        """What /admin/telemetry shows."""
        pid = self.process.pid if self.process is not None else 0
        return {"up": self.up, "pid": pid, "port": self.port, "restarts": self.restarts}


class Services:
    """All of them. `start()` and `stop()` wait; `watch()` runs beside the first process until cancelled."""

    def __init__(self, services: Sequence[Service], say: Say) -> None:
        self.all = tuple(services)
        self._say = say

    def start(self) -> None:
        """Start all and wait until they serve. Raises InputError: one did not come up (it said why)."""
        for service in self.all:
            service.launch()
        for service in self.all:
            if not service.wait_until_ready():
                raise InputError(f"the service {service.name} did not start", "See above what it said.")

    async def watch(self) -> None:
        """Start each again when it has ended."""
        while True:
            await asyncio.sleep(WATCH_S)
            for service in self.all:
                assert service.process is not None
                if service.process.poll() is not None:
                    await self._start_again(service)

    async def _start_again(self, service: Service) -> None:
        assert service.process is not None
        service.up = False
        self._say(
            f"{service.name} (port {service.port}) ended with {service.process.returncode}; it is started again "
            f"(restart {service.restarts + 1})"
        )
        close_pipes(service.process)
        await asyncio.sleep(PAUSE_BEFORE_RESTART_S)
        service.restarts += 1
        service.launch()
        await asyncio.to_thread(service.wait_until_ready)

    def states(self) -> dict[str, Any]:
        """One flat document: "gc.restarts": 0, …"""
        return {f"{one.name}.{key}": value for one in self.all for key, value in one.state().items()}

    def stop(self) -> None:
        """End all; after STOP_LIMIT_S by SIGKILL."""
        end_children([one.process for one in self.all if one.process is not None], STOP_LIMIT_S)
