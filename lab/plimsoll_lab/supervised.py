"""A target's own processes: started, watched, and started again when they have ended."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from plimsoll.errors import InputError
from plimsoll_lab.children import close_pipes, end_children, start_child, what_child_says
from plimsoll_lab.ports import free_port
from plimsoll_lab.serving import Say, bound_socket

PAUSE_BEFORE_RESTART_S = 0.5
STOP_LIMIT_S = 8.0


@dataclass
class Supervised:
    """One process: the Python module that it runs, its options (with name and port), and what became of it."""

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

    @property
    def pid(self) -> int:
        """Of the process now; 0 before the first."""
        return self.process.pid if self.process is not None else 0


S = TypeVar("S", bound=Supervised)


class Supervisor(Generic[S]):
    """All of them: they live within `running()`, and `watch()` runs beside the first process until cancelled."""

    kind: ClassVar[str]
    watch_s: ClassVar[float] = 0.2

    def __init__(self, processes: Sequence[S], say: Say) -> None:
        self.all = tuple(processes)
        self._say = say

    @contextmanager
    def running(self) -> Iterator[None]:
        """They run within. Raises as `start`."""
        try:
            self.start()
            yield
        finally:
            self.stop()

    def start(self) -> None:
        """Start all and wait until they serve. Raises InputError: one did not come up (it said why)."""
        for one in self.all:
            one.launch()
        for one in self.all:
            if not one.wait_until_ready():
                raise InputError(f"the {self.kind} {one.name} did not start", "See above what it said.")

    async def watch(self) -> None:
        """Start each again when it has ended."""
        await asyncio.gather(*(self._watch_one(one) for one in self.all))

    async def _watch_one(self, one: S) -> None:
        while True:
            await asyncio.sleep(self.watch_s)
            code = await self._ended(one)
            if code is not None:
                await self._start_again(one, code)

    async def _ended(self, one: S) -> int | None:
        """The exit code of a process that has ended, or is ended now; None while it lives."""
        assert one.process is not None
        return one.process.poll()

    async def _start_again(self, one: S, code: int) -> None:
        one.up = False
        while True:
            self._say(
                f"{one.name} (port {one.port}) ended with {code}; it is started again (restart {one.restarts + 1})"
            )
            if one.process is not None:
                close_pipes(one.process)
            await asyncio.sleep(PAUSE_BEFORE_RESTART_S)
            one.restarts += 1
            one.launch()
            assert one.process is not None
            if await asyncio.to_thread(one.wait_until_ready):
                return
            code = await asyncio.to_thread(one.process.wait)

    def stop(self) -> None:
        """End all; after STOP_LIMIT_S by SIGKILL."""
        end_children([one.process for one in self.all if one.process is not None], STOP_LIMIT_S)


def ports_after(host: str, port: int, count: int) -> list[int]:
    """The next `count` ports, which must be free; after port 0 any free ones. Raises InputError."""
    if not port:
        found: list[int] = []
        while len(found) < count:
            free = free_port(host)
            if free not in found:
                found.append(free)
        return found
    ports = [port + place for place in range(1, count + 1)]
    for one in ports:
        bound_socket(host, one).close()
    return ports
