"""The modules as processes: started, watched, ended at their memory limit, started again.

A limit works as a container's does: the process whose resident memory passes it is killed at once (SIGKILL),
whatever it was doing, and a new one is started on the same port. Looked at every WATCH_S; what is allocated in
between passes unseen.
"""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import psutil

from plimsoll.errors import InputError
from plimsoll.lab.children import close_pipes, end_children, start_child, what_child_says
from plimsoll.lab.serving import Say

WATCH_S = 0.02
STOP_LIMIT_S = 8
PAUSE_BEFORE_RESTART_S = 0.5


@dataclass
class Module:
    """One module: its options (`module.py`), the memory it may have in MiB (None: any), and what became of it."""

    name: str
    port: int
    options: dict[str, Any]
    memory_limit_mb: int | None = None
    process: subprocess.Popen[str] | None = None
    restarts: int = 0
    killed_at_limit: int = 0
    up: bool = False
    most_mb: float = 0.0
    _seen: psutil.Process | None = field(default=None, repr=False)

    def launch(self) -> None:
        """Start the process; it is not ready yet."""
        options = {**self.options, "name": self.name, "port": self.port}
        self.process = start_child("plimsoll.lab.inventory.module", options)
        self._seen = psutil.Process(self.process.pid)

    def wait_until_ready(self) -> bool:
        """Whether it came up; False if it ended."""
        assert self.process is not None
        self.up = bool(what_child_says(self.process).get("ready"))
        return self.up

    def resident_mb(self) -> float:
        """Resident memory in MiB; 0 when it is gone."""
        try:
            found = self._seen.memory_info().rss / 2**20 if self._seen is not None else 0.0
        except psutil.Error:
            return 0.0
        self.most_mb = max(self.most_mb, found)
        return found

    def state(self) -> dict[str, Any]:
        """What /admin/telemetry shows."""
        return {
            "name": self.name,
            "up": self.up,
            "pid": self.process.pid if self.process is not None else 0,
            "port": self.port,
            "restarts": self.restarts,
            "killedAtMemoryLimit": self.killed_at_limit,
            "residentMB": round(self.resident_mb(), 1),
            "mostResidentMB": round(self.most_mb, 1),
            "memoryLimitMB": self.memory_limit_mb or 0,
        }


class Modules:
    """All modules. `start()` and `stop()` wait; `watch()` runs beside the gateway until cancelled."""

    def __init__(self, modules: Sequence[Module], say: Say) -> None:
        self.all = tuple(modules)
        self._say = say

    def states(self) -> list[dict[str, Any]]:
        """The state of each."""
        return [module.state() for module in self.all]

    def start(self) -> None:
        """Start all and wait until they serve. Raises InputError: one did not come up (it said why)."""
        for module in self.all:
            module.launch()
        for module in self.all:
            if not module.wait_until_ready():
                raise InputError(f"the module {module.name} did not start", "See above what it said.")

    async def watch(self) -> None:
        """Hold each to its limit and start it again when it has ended."""
        await asyncio.gather(*(self._watch_one(module) for module in self.all))

    async def _watch_one(self, module: Module) -> None:
        while True:
            await asyncio.sleep(WATCH_S)
            assert module.process is not None
            resident = module.resident_mb()
            code = module.process.poll()
            if code is None and module.memory_limit_mb is not None and resident > module.memory_limit_mb:
                module.process.kill()
                module.up = False
                module.killed_at_limit += 1
                self._say(
                    f"{module.name} (process {module.process.pid}, port {module.port}) was killed at its memory limit: "
                    f"{resident:.0f} MiB resident, {module.memory_limit_mb} allowed"
                )
                code = await asyncio.to_thread(module.process.wait)
            if code is not None:
                await self._start_again(module, code)

    async def _start_again(self, module: Module, code: int) -> None:
        module.up = False
        while True:
            self._say(
                f"{module.name} (port {module.port}) ended with {code}; it is started again "
                f"(restart {module.restarts + 1})"
            )
            if module.process is not None:
                close_pipes(module.process)
            await asyncio.sleep(PAUSE_BEFORE_RESTART_S)
            module.restarts += 1
            module.launch()
            assert module.process is not None
            if await asyncio.to_thread(module.wait_until_ready):
                return
            code = await asyncio.to_thread(module.process.wait)

    def stop(self) -> None:
        """End all; after STOP_LIMIT_S by SIGKILL."""
        end_children([module.process for module in self.all if module.process is not None], STOP_LIMIT_S)
