"""What the lab's services demand of a request alike: strict JSON of a size they take, and the parameters they know."""

from __future__ import annotations

import json
import math
import re
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from typing import Any

# Text needs one letter that is neither a control character nor a space of Unicode's (White_Space, and the byte order
# mark). Spelt out, as `\s` means something else in Python, ECMAScript and Rust, and the OpenAPI document has it too.
VISIBLE_LETTER = r"[^\x00-\x20\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]"
_VISIBLE = re.compile(VISIBLE_LETTER)


@dataclass(frozen=True)
class Mistake:
    """What is wrong at one place of the input."""

    field: str
    what: str


class TooLarge(Exception):
    """A body is larger than the service takes; the text says how much that is."""


def is_json(content_type: str) -> bool:
    """Whether a Content-Type says JSON."""
    return content_type.split(";")[0].strip().lower() == "application/json"


async def whole_body(pieces: AsyncIterator[bytes], most: int) -> bytes:
    """The body that a request streams. Raises TooLarge where it has over `most` bytes, of which no more is read."""
    kept, size = [], 0
    async for piece in pieces:
        size += len(piece)
        if size > most:
            raise TooLarge(f"The body is larger than {most} bytes. Send less at once.")
        kept.append(piece)
    return b"".join(kept)


def is_storable(text: str) -> bool:
    """Whether a database can keep it: JSON can write a zero byte and half a surrogate pair, which none can."""
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


def is_visible(text: str) -> bool:
    """Whether it has a letter that can be seen."""
    return _VISIBLE.search(text) is not None


def ascii_json(value: Any) -> bytes:
    """JSON in ASCII, for what quotes a request: that may hold half a surrogate pair, which UTF-8 cannot write."""
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def strict_json(body: bytes) -> Any:
    """The value of a JSON text; 7.0 is the whole number 7, as in JSON Schema. Raises ValueError where it is none, is
    nested too deeply, or holds NaN or a number that no float is."""
    try:
        return json.loads(body, parse_constant=_no_constant, parse_float=_number)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def parameter_mistakes(names: list[str], known: Iterable[str]) -> list[Mistake]:
    """Names of query parameters that are unknown or given twice."""
    known = list(known)
    found = [
        Mistake(name[:60] or "(no name)", f"is not a parameter here; use {', '.join(known) or 'none'}")
        for name in dict.fromkeys(names)
        if name not in known
    ]
    return found + [Mistake(name, "is given more than once") for name in known if names.count(name) > 1]


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return int(number) if number.is_integer() else number
