"""Where a secret stands in a text of which any bytes are percent-encoded, once or twice, in whatever mixture.

Which bytes are encoded, and in which case, is the choice of whoever made the URL: browsers, engines and servers differ,
and no list of forms has them all. So the text is decoded, and what is found there is looked up where it came from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

TIMES = 2
_ENCODED = re.compile(rb"%([0-9A-Fa-f]{2})")


def hide_encoded(text: str, secrets: Sequence[bytes], shown: str) -> str:
    """The text with `shown` in the place of each secret in it; `secrets` as the bytes that they mean."""
    data = text.encode("utf-8", "surrogatepass")
    places = sorted(_places(data, secrets))
    end, parts = 0, list[bytes]()
    for start, stop in places:
        if start >= end:
            parts += [data[end:start], shown.encode()]
        end = max(end, stop)
    return b"".join([*parts, data[end:]]).decode("utf-8", "surrogatepass") if places else text


def _places(data: bytes, secrets: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    """Where each begins and ends in the text's bytes."""
    seen = data
    offsets: Sequence[int] = range(len(data) + 1)
    for _ in range(TIMES):
        if not _ENCODED.search(seen):
            return
        seen, offsets = _decoded(seen, offsets)
        for secret in secrets:
            for form in {secret, secret.replace(b" ", b"+")}:
                at = seen.find(form)
                while at >= 0:
                    yield offsets[at], offsets[at + len(form)]
                    at = seen.find(form, at + len(form))


def _decoded(data: bytes, offsets: Sequence[int]) -> tuple[bytes, list[int]]:
    """The bytes decoded once, and where in the text each came from; one more offset for the end."""
    parts, kept, end = list[bytes](), list[int](), 0
    for found in _ENCODED.finditer(data):
        parts += [data[end : found.start()], bytes([int(found[1], 16)])]
        kept += [*offsets[end : found.start()], offsets[found.start()]]
        end = found.end()
    return b"".join([*parts, data[end:]]), [*kept, *offsets[end:]]
