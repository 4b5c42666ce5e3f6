"""A port for a target to listen on."""

from __future__ import annotations

import random
import socket

from plimsoll.errors import TargetError

FIRST, LAST = 20_000, 31_999
TRIES = 100


def free_port(host: str = "127.0.0.1") -> int:
    """A free port below the range that clients' sockets are given, so that no connection takes it in between.

    Raises TargetError if a hundred ports drawn at random are all taken.
    """
    for port in random.sample(range(FIRST, LAST + 1), TRIES):
        with socket.socket() as trial:
            try:
                trial.bind((host, port))
            except OSError:
                continue
            return port
    raise TargetError(f"no free port was found between {FIRST} and {LAST} on {host}", "Stop some servers, try again.")
