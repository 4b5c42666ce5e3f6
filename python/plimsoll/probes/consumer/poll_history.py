"""The history of polls that an asynchronous consumer tells: a list in a JSON document, an entry a poll.

`http://host/path#place`, or `/path#place` below the target's URL. Of each entry are read: what it retrieved
(`retrieved`, `items` or `processed`), how long it took (`durationMs`, else in whole seconds `durationSeconds`,
`duration_s` or `duration`) and, where it is told, how many change records came to that (`changes` or `records`).

A history grows at one end and may lose entries at the other, and an entry stays as it was told. So what came since is
what lies before or behind the old entries that are still there. Where most of them do not lie together (an entry did
change), an entry is new if there are more equal ones than before. Both count the fewest that can have come: where
entries have no time and the list lost some, new ones that equal lost ones may be missed.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from plimsoll.errors import InputError
from plimsoll.probes.http.json_place import JsonPlace
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
        entries = self._entries()
        came = new_places(self._before, [_text(entry) for entry in entries])
        return [asdict(_polled(entries[place], self._from.url)) for place in came]

    def _entries(self) -> list[Mapping[str, Any]]:
        entries = self._from.value()
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise ProbeUnavailable(f"{self._from.url} has no list of polls at {self._from.place or 'its top'}")
        return entries


def new_places(before: Sequence[str], now: Sequence[str]) -> list[int]:
    """Places of the entries of `now` that came after `before`, at least."""
    known = Counter(before)
    old_at_end, old_at_top = _overlap(before, now), _overlap(now, before)
    if 2 * max(old_at_end, old_at_top) >= (known & Counter(now)).total():
        first, last = (0, len(now) - old_at_end) if old_at_end >= old_at_top else (old_at_top, len(now))
        return list(range(first, last))
    places = []
    for place, entry in enumerate(now):
        if known[entry] > 0:
            known[entry] -= 1
        else:
            places.append(place)
    return places


def _overlap(one: Sequence[str], other: Sequence[str]) -> int:
    """How long the longest beginning of `one` is that is the end of `other`."""
    for length in range(min(len(one), len(other)), 0, -1):
        begin = len(other) - length
        if other[begin] == one[0] and other[begin:] == one[:length]:
            return length
    return 0


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
