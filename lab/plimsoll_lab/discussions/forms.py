"""What requests may hold. Pure; all mistakes of a request are told at once, by field, as Open edX's API tells them.

Ids are 24 hexadecimal digits, as MongoDB's are in the product.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs

from plimsoll_lab.json_input import is_storable, is_visible, strict_json

TITLE_LETTERS = 300
BODY_LETTERS = 20_000
BODY_BYTES = 256 * 1024
LARGEST_ID = 2**31 - 1  # of a 32-bit integer column
LARGEST_PAGE = 100_000
PAGE_SIZE, LARGEST_PAGE_SIZE = 10, 100
PROFILE_IMAGE = "profile_image"
THREAD_ORDERS = ("last_activity_at", "comment_count", "vote_count")

_ID = re.compile(r"[0-9a-f]{24}")
_NONE = object()


class Refusal(Exception):
    """A request that is answered with an error: HTTP status, text, and the mistakes by field."""

    def __init__(self, status: int, text: str, fields: Mapping[str, str] | None = None) -> None:
        super().__init__(text)
        self.status, self.text, self.fields = status, text, dict(fields or {})


def id_text(number: int) -> str:
    """A number of the database as an id."""
    return f"{number:024x}"


def id_number(text: Any) -> int | None:
    """The number of an id; None for what is no id, 0 (which nothing has) for an id beyond all that can be given out."""
    if not isinstance(text, str) or not _ID.fullmatch(text):
        return None
    number = int(text, 16)
    return number if number <= LARGEST_ID else 0


def json_object(body: bytes) -> dict[str, Any]:
    """The body as a JSON object."""
    try:
        value = strict_json(body)
    except ValueError:
        raise Refusal(400, "The body is not JSON. Send one JSON object.") from None
    if not isinstance(value, dict):
        raise Refusal(400, "The body must be one JSON object.")
    return value


def form_fields(body: bytes) -> dict[str, Any]:
    """The first value of each field of a form (application/x-www-form-urlencoded)."""
    try:
        fields = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=20)
    except ValueError:
        raise Refusal(400, "The body is no form. Send email=…&password=….") from None
    return {name: values[0] for name, values in fields.items()}


class Form:
    """The fields of a body or a query string, read one after the other; `finish` tells all mistakes.

    Each reader returns None for a field that is absent or wrong.
    """

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._left = dict(fields)
        self._mistakes: dict[str, str] = {}

    def text(self, name: str, most: int, *, required: bool = False) -> str | None:
        """Text of 1 to `most` letters, not all of them blank."""
        value = self._take(name, required)
        if value is _NONE:
            return None
        if not isinstance(value, str) or len(value) > most or not is_visible(value):
            return self._wrong(name, f"This must be text of 1 to {most} letters.")
        if not is_storable(value):
            return self._wrong(name, "This holds letters that are none. Send plain Unicode text.")
        return value

    def choice(self, name: str, among: Sequence[str], *, required: bool = False) -> str | None:
        """One of some words."""
        value = self._take(name, required)
        if value is _NONE:
            return None
        return value if value in among else self._wrong(name, f"This must be one of {', '.join(among)}.")

    def flag(self, name: str) -> bool | None:
        """True or false; in a query string these words."""
        value = self._take(name, False)
        if value is _NONE:
            return None
        if isinstance(value, str) and value.lower() in ("true", "false"):
            return value.lower() == "true"
        return value if isinstance(value, bool) else self._wrong(name, "This must be true or false.")

    def number(self, name: str, default: int, largest: int) -> int:
        """A whole number from 1 to `largest`, of a query string."""
        value = self._take(name, False)
        if value is _NONE:
            return default
        if value.isascii() and value.isdigit() and len(value) <= 9 and 1 <= int(value) <= largest:
            return int(value)
        self._wrong(name, f"This must be a whole number from 1 to {largest}.")
        return default

    def id(self, name: str, *, required: bool = False) -> int | None:
        """The number of an id."""
        value = self._take(name, required)
        if value is _NONE or (value is None and not required):
            return None
        number = id_number(value)
        return number if number is not None else self._wrong(name, "This must be an id: 24 hexadecimal digits.")

    def wants_images(self) -> bool:
        """Whether `requested_fields` asks for profile images; it knows no other field."""
        value = self._take("requested_fields", False)
        if value is _NONE or value == "":
            return False
        if set(value.split(",")) == {PROFILE_IMAGE}:
            return True
        self._wrong("requested_fields", f"This must be {PROFILE_IMAGE} or absent.")
        return False

    def finish(self) -> None:
        """Refuse the request with all its mistakes, fields that nobody read included."""
        for name in self._left:
            self._wrong(name[:100], "There is no such field here.")
        if self._mistakes:
            names = ", ".join(self._mistakes)
            raise Refusal(400, f"The request has mistakes in: {names}. Correct them.", self._mistakes)

    def _take(self, name: str, required: bool) -> Any:
        value = self._left.pop(name, _NONE)
        if value is _NONE and required:
            self._wrong(name, "This field is required.")
        return value

    def _wrong(self, name: str, text: str) -> Any:
        """Note a mistake; None, for the reader to return."""
        self._mistakes[_shown(name)] = text
        return None


def _shown(name: str) -> str:
    """A field's name as an answer can carry it."""
    return name.encode("utf-8", "replace").decode()
