"""Connections on which nothing came yet that was worth one: they may not keep exporters out."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress

from plimsoll.probes.probe import Clock


class UnprovenConnections:
    """The connections that were accepted and not proven yet, oldest first. Ending one makes its thread read its end."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._since: dict[socket.socket, float] = {}

    def add(self, connection: socket.socket) -> None:
        """It was accepted now."""
        with self._lock:
            self._since[connection] = self._clock()

    def remove(self, connection: socket.socket) -> None:
        """It is proven, or has ended."""
        with self._lock:
            self._since.pop(connection, None)

    def end_oldest(self) -> bool:
        """End the one that has been there for the longest time; False if there is none."""
        with self._lock:
            oldest = next(iter(self._since), None)
            if oldest is not None:
                self._end(oldest)
        return oldest is not None

    def end_older_than(self, limit_s: float) -> None:
        """End those that have been there for longer."""
        with self._lock:
            before = self._clock() - limit_s
            for connection in [one for one, since in self._since.items() if since < before]:
                self._end(connection)

    def _end(self, connection: socket.socket) -> None:
        del self._since[connection]
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
