"""Profiles of a Go program by its page /debug/pprof/profile (net/http/pprof), in pieces of a few seconds.

The format is a gzipped message of protocol buffers (github.com/google/pprof, proto/profile.proto): samples name
locations, these functions, these texts. Only what own time needs is read: of each sample the first location's first
line, which is the innermost function, inlined ones first. A sample without a location, or whose location has no
function with a name, was at work as well: it counts as UNKNOWN.
"""

from __future__ import annotations

import gzip
import threading
import time
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from plimsoll.probes.http.page import HttpPage
from plimsoll.probes.probe import ProbeUnavailable
from plimsoll.probes.profiling.profile import Profile

PIECE_S = 3
SLACK_S = 10.0
MOST_BYTES = 64 << 20
UNKNOWN = ("(unknown)", "")
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


class GoProfiler:
    """Asks for one piece after the other until it is stopped. A piece that is under way then is left out."""

    kind = "go"

    def __init__(self, url: str) -> None:
        base = url.rstrip("/")
        if not base.endswith("/debug/pprof"):
            base += "/debug/pprof"
        self._page = HttpPage(f"{base}/profile?seconds={PIECE_S}", limit_s=PIECE_S + SLACK_S, most_bytes=MOST_BYTES)
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._found: list[Profile] = []
        self._failed: Exception | None = None

    def start(self) -> None:
        """Begin to ask, in a thread."""
        self._over.clear()
        self._found, self._failed = [], None
        self._thread = threading.Thread(target=self._ask, name="plimsoll-pprof", daemon=True)
        self._thread.start()

    def stop(self) -> Profile:
        """The pieces that came, together."""
        self.close()
        if not self._found:
            if self._failed is not None:
                raise self._failed
            raise ProbeUnavailable(f"the step was shorter than {PIECE_S} s, a piece of Go's profile.")
        counts: Counter[tuple[str, str]] = Counter()
        for piece in self._found:
            counts.update(piece.counts)
        return Profile(counts, self._found[0].sample_s, sum(piece.seconds for piece in self._found))

    def close(self) -> None:
        """Stop asking."""
        self._over.set()
        if self._thread is not None:
            self._page.interrupt()
            self._thread.join(SLACK_S)
            self._thread = None
        self._page.close()

    def _ask(self) -> None:
        while not self._over.is_set():
            began = time.monotonic()
            try:
                piece = profile_of(self._page.fetch().body)
            except Exception as error:
                if not self._over.is_set():
                    self._failed = error if isinstance(error, ProbeUnavailable) else ProbeUnavailable(str(error))
                self._over.wait(max(0.0, 1.0 - (time.monotonic() - began)))
                continue
            if not self._over.is_set():
                self._found.append(piece)


@dataclass
class _Message:
    """What of a profile's message is read, by the names of its fields."""

    sample_types: list[int] = field(default_factory=list)
    samples: list[tuple[list[int], list[int]]] = field(default_factory=list)
    first_function: dict[int, int] = field(default_factory=dict)
    functions: dict[int, tuple[int, int]] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    duration_ns: int = 0
    period: int = 0

    def innermost(self, locations: Sequence[int]) -> tuple[str, str]:
        """The function of the first location, and its file. IndexError for a text that is not there."""
        name, file = self.functions.get(self.first_function.get(locations[0], 0) if locations else 0, (0, 0))
        return (self.texts[name], self.texts[file].rpartition("/")[2]) if self.texts[name] else UNKNOWN


def profile_of(body: bytes) -> Profile:
    """A CPU profile as pprof sends it. ProbeUnavailable where it is none."""
    try:
        data = gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body
        message = _read(data)
        texts = message.texts
        kinds = [texts[kind] for kind in message.sample_types]
        place = kinds.index("samples")
        counts: Counter[tuple[str, str]] = Counter()
        for locations, values in message.samples:
            counts[message.innermost(locations)] += values[place]
    except (ValueError, IndexError, EOFError, OSError, zlib.error) as error:
        raise ProbeUnavailable(f"the page is no CPU profile of pprof ({type(error).__name__}).") from None
    return Profile(counts, message.period / 1e9, message.duration_ns / 1e9)


def _read(data: bytes) -> _Message:
    found = _Message()
    for number, value in _fields(data):
        if number == 1 and isinstance(value, bytes):
            found.sample_types.append(_number(value, 1))
        elif number == 2 and isinstance(value, bytes):
            found.samples.append((_numbers(value, 1), _numbers(value, 2)))
        elif number == 4 and isinstance(value, bytes):
            lines = [part for at, part in _fields(value) if at == 4 and isinstance(part, bytes)]
            if lines:
                found.first_function[_number(value, 1)] = _number(lines[0], 1)
        elif number == 5 and isinstance(value, bytes):
            found.functions[_number(value, 1)] = (_number(value, 2), _number(value, 4))
        elif number == 6 and isinstance(value, bytes):
            found.texts.append(value.decode("utf-8", errors="replace"))
        elif number == 10 and isinstance(value, int):
            found.duration_ns = value
        elif number == 12 and isinstance(value, int):
            found.period = value
    return found


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """(number, value) of each field of a message."""
    place = 0
    while place < len(data):
        key, place = _varint(data, place)
        number, kind = key >> 3, key & 7
        if kind == _VARINT:
            value, place = _varint(data, place)
            yield number, value
        elif kind == _BYTES:
            size, place = _varint(data, place)
            if place + size > len(data):
                raise ValueError("a field ends beyond the message")
            yield number, data[place : place + size]
            place += size
        elif kind in (_FIXED64, _FIXED32):
            place += 8 if kind == _FIXED64 else 4
        else:
            raise ValueError(f"wire type {kind}")


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value, place
        if shift > 63:
            raise ValueError("a number has more than 64 bits")


def _number(data: bytes, wanted: int) -> int:
    return next((value for number, value in _fields(data) if number == wanted and isinstance(value, int)), 0)


def _numbers(data: bytes, wanted: int) -> list[int]:
    """A repeated number, packed or not."""
    found = []
    for number, value in _fields(data):
        if number != wanted:
            continue
        if isinstance(value, int):
            found.append(value)
            continue
        place = 0
        while place < len(value):
            one, place = _varint(value, place)
            found.append(one)
    return found
