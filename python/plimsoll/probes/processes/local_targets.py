"""Which targets run on this host, by their URLs."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from urllib.parse import urlsplit

import psutil

from plimsoll.study import ProcessSelector

DEFAULT_PORTS = {"http": 80, "https": 443}
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1", "0.0.0.0")


def local_listeners(addresses: Iterable[str]) -> list[ProcessSelector]:
    """Whoever listens on this host's ports that the http and https URLs among the addresses name."""
    ports: list[int] = []
    for address in addresses:
        try:
            url = urlsplit(address)
            port = url.port or DEFAULT_PORTS.get(url.scheme)
        except ValueError:  # a variable that only looks like a URL
            continue
        if url.scheme in DEFAULT_PORTS and url.hostname and port and is_local(address):
            ports.append(port)
    ports = list(dict.fromkeys(ports))
    return [ProcessSelector(label="target" if len(ports) == 1 else f"port {port}", port=port) for port in ports]


def is_local(url: str | None) -> bool | None:
    """Whether the target runs on this host; None when it has no URL."""
    if url is None:
        return None
    host = urlsplit(url).hostname or ""
    if host in LOCAL_HOSTS:
        return True
    try:
        addresses = {info[4][0] for info in socket.getaddrinfo(host, None)}
    except OSError:
        return False
    own = {address.address for many in psutil.net_if_addrs().values() for address in many}
    return bool(addresses & own)
