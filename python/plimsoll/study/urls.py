"""URLs of a study: what is wrong with one before anything is asked of it."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

SCHEMES = ("http://", "https://")
MOST_PORT = 65535
_USUAL = "Write it as http://host:port/path."


def mistake_of_url(text: str) -> tuple[str, str] | None:
    """What is wrong with an http URL, and the next step; None if nothing is. Only a port of digits is repeated, as the
    rest may hold a password."""
    if not text.lower().startswith(SCHEMES):
        return "it is no URL", "Start it with http:// or https://."
    try:
        parts = urlsplit(text)
    except ValueError as error:
        return f"the URL cannot be read ({error})", _USUAL
    port = re.search(r":([^:\]]*)$", parts.netloc.rpartition("@")[2])  # behind a user and password
    if port is not None and port[1] and not re.fullmatch(r"[0-9]+", port[1]):
        return "the port of the URL is no number", f"Write the port as a number from 1 to {MOST_PORT}, or leave it out."
    if port is not None and port[1] and not (len(port[1]) <= 9 and 1 <= int(port[1]) <= MOST_PORT):
        step = f"Write a port from 1 to {MOST_PORT}, or leave it out."
        return f"the URL has the port {port[1][:20]}{'…' if len(port[1]) > 20 else ''}, which cannot be", step
    if not parts.hostname:
        return "the URL has no host", _USUAL
    return None


def mistake_of_address(text: str) -> tuple[str, str] | None:
    """The same for what may be a URL, a path or a command: nothing is wrong with the other two."""
    return mistake_of_url(text.split()[0]) if text.startswith(SCHEMES) else None
