"""Who listens on the target's port: so that not an old process is measured in place of the one just started."""

from __future__ import annotations

from urllib.parse import urlsplit

import psutil

from plimsoll.probes.processes.finding_processes import pids_listening_on
from plimsoll.probes.processes.local_targets import DEFAULT_PORTS, LOCAL_HOSTS

Holders = frozenset[tuple[int, float]]


def holders_of(url: str | None) -> Holders:
    """(process id, time of creation) of all that listen on the port of a URL of this host; empty where none is seen."""
    if url is None or urlsplit(url).hostname not in LOCAL_HOSTS:
        return frozenset()
    parts = urlsplit(url)
    port = parts.port or DEFAULT_PORTS.get(parts.scheme, DEFAULT_PORTS["http"])
    found = set()
    for pid in pids_listening_on(port):
        try:
            found.add((pid, psutil.Process(pid).create_time()))
        except psutil.Error:
            continue
    return frozenset(found)


def names_of(holders: Holders) -> str:
    """ "postgres (process 4711)", for a message."""
    named = []
    for pid, _ in sorted(holders):
        try:
            named.append(f"{psutil.Process(pid).name()} (process {pid})")
        except psutil.Error:
            named.append(f"process {pid}")
    return ", ".join(named)
