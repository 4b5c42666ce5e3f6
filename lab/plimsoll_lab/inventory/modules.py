"""The modules as processes of their own, each ended at its memory limit.

A limit works as a container's does: the process whose resident memory passes it is killed at once (SIGKILL),
whatever it was doing, and a new one is started on the same port. Looked at every `watch_s`; what is allocated in
between passes unseen.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

import psutil

from plimsoll_lab.supervised import Supervised, Supervisor


@dataclass
class Module(Supervised):
    """One module: its options (`module.py`), the memory it may have in MiB (None: any), and what became of it."""

    memory_limit_mb: int | None = None
    killed_at_limit: int = 0
    most_mb: float = 0.0
    _seen: psutil.Process | None = field(default=None, repr=False)

    def launch(self) -> None:
        """Start the process; it is not ready yet."""
        super().launch()
        self._seen = psutil.Process(self.pid)

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
            "pid": self.pid,
            "port": self.port,
            "restarts": self.restarts,
            "killedAtMemoryLimit": self.killed_at_limit,
            "residentMB": round(self.resident_mb(), 1),
            "mostResidentMB": round(self.most_mb, 1),
            "memoryLimitMB": self.memory_limit_mb or 0,
        }


class Modules(Supervisor[Module]):
    """All modules, each held to its limit while it is watched."""

    kind = "module"
    watch_s = 0.02

    def states(self) -> list[dict[str, Any]]:
        """The state of each."""
        return [module.state() for module in self.all]

    async def _ended(self, one: Module) -> int | None:
        assert one.process is not None
        resident = one.resident_mb()
        code = one.process.poll()
        if code is not None or one.memory_limit_mb is None or resident <= one.memory_limit_mb:
            return code
        one.process.kill()
        one.up = False
        one.killed_at_limit += 1
        self._say(
            f"{one.name} (process {one.pid}, port {one.port}) was killed at its memory limit: "
            f"{resident:.0f} MiB resident, {one.memory_limit_mb} allowed"
        )
        return await asyncio.to_thread(one.process.wait)
