"""The forms in which a secret may stand in a text: as it is, percent-encoded once or twice, escaped in JSON or HTML, in
base64.

In base64 a text looks different by where in a group of three bytes it begins. Of each of the three that part is known
which depends on nothing beside it, so that `user:secret` of an authorization is found as well.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

SHORTEST_IN_BASE64 = 8  # digits; fewer may stand anywhere by chance
_LONG_LINE = 8
_HEX = re.compile(r"%[0-9A-F]{2}")
_SEEN = "".join(map(chr, range(0x21, 0x7F)))  # all of ASCII that a URL may hold unencoded, as some write it
_SAFE = ("", "/", "/:@!$&'()*,;=+", _SEEN, _SEEN.replace("%", ""), _SEEN.translate(dict.fromkeys(map(ord, '"#<>%'))))
_URL_SAFE = str.maketrans("+/", "-_")


def forms_of(value: str) -> set[str]:
    """All forms of that value and of its parts."""
    return {form for part in parts_of(value) for form in _forms(part)}


def parts_of(value: str) -> set[str]:
    """The value, also without space around it; of several lines also each line, as logs are read by lines."""
    parts = {value, value.strip()}
    if "\n" in value:
        lines = (line.strip() for line in value.splitlines())
        parts |= {line for line in lines if len(line) >= _LONG_LINE and not line.startswith("-----")}
    return parts - {""}


def _forms(value: str) -> Iterator[str]:
    yield from (value, html.escape(value), html.escape(value, quote=False))
    data = bytes_of(value)
    yield data.decode("utf-8", "replace")  # as scripts have it
    for encoded in (quote_plus(data), *(quote(data, safe=safe) for safe in _SAFE)):
        for form in (encoded, _HEX.sub(lambda found: found[0].lower(), encoded)):
            yield from (form, form.replace("%", "%25"))
    for is_ascii in (True, False):
        inner = json.dumps(value, ensure_ascii=is_ascii)[1:-1]
        yield from (inner, json.dumps(inner)[1:-1])
        yield inner.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")  # as Go writes it
    yield from _in_base64(data)


def bytes_of(value: str) -> bytes:
    """A text as bytes: of a command line or variable those that it had, also where they are not UTF-8."""
    try:
        return value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a lone surrogate of JSON
        return value.encode("utf-8", "surrogatepass")


def _in_base64(data: bytes) -> Iterator[str]:
    for before in range(3):
        digits = base64.b64encode(b"\0" * before + data).decode("ascii")
        own = digits[(0, 2, 3)[before] :].rstrip("=")
        if (before + len(data)) % 3:
            own = own[:-1]  # its last bits are those of what follows
        whole = (digits, digits.rstrip("=")) if before == 0 else ()
        for form in (*whole, own):
            if len(form.rstrip("=")) >= SHORTEST_IN_BASE64:
                yield from (form, form.translate(_URL_SAFE))
