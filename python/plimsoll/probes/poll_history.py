"""The history of polls that an asynchronous consumer tells: a list in a JSON document, an entry a poll.

`http://host/path#place`, or `/path#place` below the target's URL. Of each entry are read: what it retrieved
(`retrieved`, `items` or `processed`), how long it took (`durationMs`, else in whole seconds `durationSeconds`,
`duration_s` or `duration`) and, where it is told, how many change records came to that (`changes` or `records`).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from plimsoll.errors import InputError
from plimsoll.probes.json_place import JsonPlace
from plimsoll.probes.probe import ProbeUnavailable

ITEMS = ("retrieved", "items", "processed")
SECONDS = ("durationSeconds", "duration_s", "duration")
EXACT_MS = ("durationMs", "duration_ms")
RECORDS = ("changes", "records")


@dataclass(frozen=True)
class Polled:
    """One poll: items, seconds (rounded to whole ones, or to `rounding_s`), and change records (None: not told)."""

    items: float
    seconds: float
    records: float | None
    rounding_s: float = 1.0


class PollHistory:
    """The polls that come after `begin()`."""

    def __init__(self, text: str, url: str | None) -> None:
        """`text`: where the list is; `url`: the target's. Raises InputError."""
        place = url.rstrip("/") + text if url and re.fullmatch(r"/\S*", text) else text
        if not place.startswith(("http://", "https://")):
            step = "Write a URL of JSON with #place of the list, as in /history#members."
            raise InputError(f"{text!r} is no place of a list of polls", step, key="drain.polls")
        self._from = JsonPlace(place)
        self._before: list[str] = []

    def begin(self) -> None:
        """Forget what there is now. Raises ProbeUnavailable."""
        self._before = [_text(entry) for entry in self._entries()]

    def polls(self) -> list[dict[str, Any]]:
        """Polls since `begin()`, as plain data of Polled. Raises ProbeUnavailable."""
        known = set(self._before)
        return [asdict(_polled(entry, self._from.url)) for entry in self._entries() if _text(entry) not in known]

    def _entries(self) -> list[Mapping[str, Any]]:
        entries = self._from.value()
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise ProbeUnavailable(f"{self._from.url} has no list of polls at {self._from.place or 'its top'}")
        return entries


def _polled(entry: Mapping[str, Any], url: str) -> Polled:
    items, exact_ms = _number(entry, ITEMS), _number(entry, EXACT_MS)
    if items is not None and exact_ms is not None:
        return Polled(items, exact_ms / 1000, _number(entry, RECORDS), 0.001)
    seconds = _number(entry, SECONDS)
    if items is None or seconds is None:
        missing = " or ".join(ITEMS if items is None else SECONDS)
        raise ProbeUnavailable(f"a poll of {url} has no number {missing}")
    return Polled(items, seconds, _number(entry, RECORDS))


def _number(entry: Mapping[str, Any], names: tuple[str, ...]) -> float | None:
    for name in names:
        value = entry.get(name)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < math.inf:
            return float(value)
    return None


def _text(entry: Mapping[str, Any]) -> str:
    return json.dumps(entry, sort_keys=True)
