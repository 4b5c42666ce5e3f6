"""What an argument of a call may be, and the errors of calls. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from plimsoll_lab.json_input import is_visible

LARGEST_ID = 2**31 - 1  # of a 32-bit integer column
LONGEST_TEXT = 100_000

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
UNKNOWN_METHOD = -32601
INVALID_PARAMS = -32602
NOT_LOGGED_IN = -32001
NOT_ALLOWED = -32003
NOT_FOUND = -32004
CONFLICT = -32009
UNAVAILABLE = -32010


class CallError(Exception):
    """A call that is answered with an error: code of JSON-RPC 2.0 (also the fault code of XML-RPC), text."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code, self.text = code, text


@dataclass(frozen=True)
class Field:
    """One argument, or one key of an argument. `kind`: "id", "text", "number" or "flag"; `most`: letters of a text;
    `among`: the only texts that it may be."""

    kind: str
    required: bool = False
    most: int = LONGEST_TEXT
    blank: bool = False
    among: tuple[str, ...] = ()


def id_of(value: Any, name: str) -> int:
    """A row's number, 1 to 2³¹ − 1."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= LARGEST_ID:
        raise CallError(INVALID_PARAMS, f"'{name}' must be a whole number from 1 to {LARGEST_ID}.")
    return value


def text_of(value: Any, name: str, most: int = LONGEST_TEXT, blank: bool = True) -> str:
    """Text without letters that a database or XML cannot keep."""
    if not isinstance(value, str) or len(value) > most:
        raise CallError(INVALID_PARAMS, f"'{name}' must be text of at most {most} letters.")
    if not blank and not is_visible(value):
        raise CallError(INVALID_PARAMS, f"'{name}' must not be empty.")
    if any(_is_no_letter(letter) for letter in value):
        raise CallError(INVALID_PARAMS, f"'{name}' holds control characters or half letters. Send plain Unicode text.")
    return value


def _is_no_letter(letter: str) -> bool:
    return (letter < " " and letter not in "\t\n\r") or "\ud800" <= letter <= "\udfff" or letter in "\ufffe\uffff"


def table_of(value: Any, name: str) -> dict[str, Any]:
    """An object (JSON) or struct (XML) with text keys."""
    if not isinstance(value, dict):
        raise CallError(INVALID_PARAMS, f"'{name}' must be an object of fields and values.")
    return value


def checked(values: Any, fields: Mapping[str, Field], name: str) -> dict[str, Any]:
    """What the argument of that name gives to its fields and is not null; every mistake is told at once. Raises
    CallError."""
    given = table_of(values, name)
    mistakes = [f"'{_shown(key)}' is no field here" for key in given if key not in fields]
    good: dict[str, Any] = {}
    for key, field in fields.items():
        value = given.get(key)
        if value is None:
            if field.required:
                mistakes.append(f"'{key}' is missing")
            continue
        try:
            good[key] = value_of(value, key, field)
        except CallError as error:
            mistakes.append(error.text.rstrip("."))
    if mistakes:
        raise CallError(INVALID_PARAMS, f"{'; '.join(mistakes[:20])}. Fields: {', '.join(fields)}.")
    return good


def value_of(value: Any, name: str, field: Field) -> Any:
    """The value as that field's kind. Raises CallError."""
    if field.kind == "id":
        return id_of(value, name)
    if field.kind == "text":
        text = text_of(value, name, field.most, field.blank)
        if field.among and text not in field.among:
            raise CallError(INVALID_PARAMS, f"'{name}' must be one of {', '.join(field.among)}.")
        return text
    if field.kind == "flag":
        if not isinstance(value, bool):
            raise CallError(INVALID_PARAMS, f"'{name}' must be true or false.")
        return value
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > LARGEST_ID:
        raise CallError(INVALID_PARAMS, f"'{name}' must be a whole number of at most {LARGEST_ID}.")
    return value


def moment(time_ms: int | None) -> str | None:
    """2026-01-31T12:00:00.000 (UTC) of milliseconds since 1970."""
    if time_ms is None:
        return None
    return datetime.fromtimestamp(time_ms / 1000, UTC).replace(tzinfo=None).isoformat(timespec="milliseconds")


def _shown(key: object) -> str:
    """A key as a message may show it: short, and only letters that can be written."""
    return ascii(key)[1:-1][:40] if isinstance(key, str) else type(key).__name__
