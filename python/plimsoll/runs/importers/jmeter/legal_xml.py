"""XML as bytes, with a question mark in place of each character that XML 1.0 does not have.

JMeter saves what a server answered as it came, and bodies that are no text hold NUL and other control characters, as
they are or as `&#x0;`. A parser must refuse such a file (www.w3.org/TR/xml, section 2.2, "Char").
"""

from __future__ import annotations

import io
import re
from typing import Any, BinaryIO

READ_BYTES = 1 << 16
_LONGEST_REFERENCE = len("&#1114111;")
_ILLEGAL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|&#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}));")
_STAND_IN = b"?"


class LegalXml(io.RawIOBase):
    """The bytes of `raw`, of an encoding that has ASCII in it; `replaced` counts the characters that were."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self._held = b""  # read, and not yet given
        self._ready = b""
        self.replaced = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            data = self._raw.read(READ_BYTES)
            if not data and not self._held:
                return 0
            self._ready = _ILLEGAL.sub(self._legal, self._whole(data))
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size

    def _whole(self, data: bytes) -> bytes:
        """What is held and `data`, but for a reference that may go on in what follows."""
        text, self._held = self._held + data, b""
        begin = text.rfind(b"&", max(0, len(text) - _LONGEST_REFERENCE)) if data else -1
        if begin >= 0 and b";" not in text[begin:]:
            text, self._held = text[:begin], text[begin:]
        return text

    def _legal(self, found: re.Match[bytes]) -> bytes:
        hexadecimal, decimal = found.groups()
        if hexadecimal is not None or decimal is not None:
            code = int(hexadecimal, 16) if hexadecimal is not None else int(decimal)
            if _is_legal(code):
                return found.group()
        self.replaced += 1
        return _STAND_IN


def has_ascii(head: bytes) -> bool:
    """Whether the encoding of a file that begins so has ASCII in it, as UTF-8 has and UTF-16 has not."""
    return not head.startswith((b"\xfe\xff", b"\xff\xfe")) and b"\0" not in head[:4]


def _is_legal(code: int) -> bool:
    if code < 0x20:
        return code in (0x9, 0xA, 0xD)
    return code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or 0x10000 <= code <= 0x10FFFF
