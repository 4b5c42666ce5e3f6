"""One GET of a URL that may hold user and password: they are sent to its host, and never over a redirect to another."""

from __future__ import annotations

import http.client
import time
import urllib.request
from collections.abc import Mapping
from urllib.parse import urlsplit, urlunsplit

MOST_BYTES = 16 * 2**20
_PIECE = 1 << 16


class NoAnswer(Exception):
    """There was no whole answer; its text says why and names no secret."""


def without_user(url: str) -> str:
    """The URL without user and password. ValueError for what is no URL."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def plain_get(
    url: str, limit_s: float, headers: Mapping[str, str] | None = None, authorization: Mapping[str, str] | None = None
) -> tuple[str, bytes]:
    """The type and the bytes of the answer, past any proxy; `url` has no user. NoAnswer after `limit_s`, for more than
    MOST_BYTES, and for a status that is no success."""
    request = urllib.request.Request(url, headers=dict(headers or {}))
    for name, value in (authorization or {}).items():
        request.add_unredirected_header(name, value)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline, pieces, size = time.monotonic() + limit_s, [], 0
    try:
        with opener.open(request, timeout=limit_s) as response:
            while piece := response.read1(_PIECE):
                pieces.append(piece)
                size += len(piece)
                if size > MOST_BYTES:
                    raise NoAnswer(f"it is larger than {MOST_BYTES >> 20} MiB")
                if time.monotonic() > deadline:
                    raise NoAnswer(f"no whole answer within {limit_s:g} s")
            return response.headers.get_content_type(), b"".join(pieces)
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise NoAnswer(str(getattr(error, "reason", None) or error or type(error).__name__)) from None
