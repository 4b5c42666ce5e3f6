"""A place in a JSON document that a URL answers: `http://host/path#items.0.count`."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

from plimsoll.probes.probe import ProbeUnavailable

LIMIT_S = 5.0
MOST_BYTES = 16 * 2**20


class JsonPlace:
    """`url` and `place`, its parts with dots between: keys of objects, and places in lists from 0. The whole document
    without. An answer that takes longer than `limit_s` is none."""

    def __init__(self, text: str, limit_s: float = LIMIT_S) -> None:
        self.url, _, self.place = text.partition("#")
        self._limit_s = limit_s
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def value(self) -> Any:
        """What is there now. Raises ProbeUnavailable."""
        try:
            with self._opener.open(self.url, timeout=self._limit_s) as response:
                document: Any = json.loads(response.read(MOST_BYTES))
        except (OSError, ValueError) as error:
            raise ProbeUnavailable(f"{self.url} gave no JSON ({getattr(error, 'reason', None) or error})") from None
        for part in filter(None, self.place.split(".")):
            if isinstance(document, dict) and part in document:
                document = document[part]
            elif isinstance(document, list) and part.isdigit() and int(part) < len(document):
                document = document[int(part)]
            else:
                raise ProbeUnavailable(f"the JSON of {self.url} has no {self.place}: {part} is missing")
        return document
