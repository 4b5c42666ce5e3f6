"""The services as processes of their own."""

from __future__ import annotations

from typing import Any

from plimsoll_lab.supervised import Supervised, Supervisor


class Service(Supervised):
    """One service."""

    def state(self) -> dict[str, Any]:
        """What /admin/telemetry shows."""
        return {"up": self.up, "pid": self.pid, "port": self.port, "restarts": self.restarts}


class Services(Supervisor[Service]):
    """All services."""

    kind = "service"

    def states(self) -> dict[str, Any]:
        """One flat document: "gc.restarts": 0, …"""
        return {f"{one.name}.{key}": value for one in self.all for key, value in one.state().items()}
