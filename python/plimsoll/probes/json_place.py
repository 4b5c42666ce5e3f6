"""A place in a JSON document that a URL answers: `http://host/path#items.0.count`."""

from __future__ import annotations

import http.client
import json
import time
import urllib.request
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from plimsoll.errors import InputError
from plimsoll.probes.http_page import basic_authorization, shown_url
from plimsoll.probes.probe import ProbeUnavailable

LIMIT_S = 5.0
MOST_BYTES = 16 * 2**20
_PIECE = 1 << 16


class JsonPlace:
    """`url`, as it may be shown, and `place`, its parts with dots between: keys of objects, and places in lists from 0.
    The whole document without. An answer that takes longer than `limit_s` is none. InputError for what is no URL."""

    def __init__(self, text: str, limit_s: float = LIMIT_S) -> None:
        address, _, self.place = text.partition("#")
        try:
            parts = urlsplit(address)
            _ = parts.port
        except ValueError as error:
            raise InputError(f"a URL cannot be read ({error})", "Write it as http://host:port/path#place.") from None
        self.url = shown_url(parts)
        plain = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
        self._request = urllib.request.Request(plain, headers=basic_authorization(parts))
        self._limit_s = limit_s
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def value(self) -> Any:
        """What is there now. Raises ProbeUnavailable."""
        try:
            document: Any = json.loads(self._answer())
        except (OSError, ValueError, http.client.HTTPException, RecursionError) as error:
            reason = getattr(error, "reason", None) or error or type(error).__name__
            raise ProbeUnavailable(f"{self.url} gave no JSON ({reason})") from None
        for part in filter(None, self.place.split(".")):
            if isinstance(document, dict) and part in document:
                document = document[part]
            elif isinstance(document, list) and part.isdigit() and int(part) < len(document):
                document = document[int(part)]
            else:
                raise ProbeUnavailable(f"the JSON of {self.url} has no {self.place}: {part} is missing")
        return document

    def _answer(self) -> bytes:
        deadline, pieces, size = time.monotonic() + self._limit_s, [], 0
        with self._opener.open(self._request, timeout=self._limit_s) as response:
            while piece := response.read1(_PIECE):
                pieces.append(piece)
                size += len(piece)
                if size > MOST_BYTES:
                    raise ValueError(f"it is larger than {MOST_BYTES >> 20} MiB")
                if time.monotonic() > deadline:
                    raise TimeoutError(f"no whole answer within {self._limit_s:g} s")
        return b"".join(pieces)
