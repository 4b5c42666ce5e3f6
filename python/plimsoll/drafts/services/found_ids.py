"""Ids for the places of a path, in the JSON that the list above it answers: GET /issues tells the ids of
GET /issues/{issueId}."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_MOST = 30
_USUAL = ("id", "_id", "uuid", "guid", "key", "slug", "code", "number", "login", "username", "name")
_LISTS = ("items", "data", "results", "content", "value", "values", "rows", "entries", "records", "list")


def ids_in(body: bytes, place: str, list_name: str) -> list[str]:
    """Up to 30 ids that the place may have, in the answer of the list of that name; none where it is no JSON."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return []
    found = (_id_of(one, place, list_name) for one in _entries(document, list_name))
    return list(dict.fromkeys(one for one in found if one is not None))[:_MOST]


def _entries(document: Any, list_name: str) -> Iterator[Any]:
    """The entries of a list: the document, or what stands in it under the list's name or a usual one."""
    if isinstance(document, list):
        yield from document
        return
    if not isinstance(document, dict):
        return
    named = {_plain(list_name), *_LISTS}
    lists = [value for value in document.values() if isinstance(value, list) and value]
    preferred = [value for key, value in document.items() if isinstance(value, list) and _plain(key) in named]
    if preferred or lists:
        yield from (preferred or lists)[0]
    elif isinstance(embedded := document.get("_embedded", document.get("data")), dict):
        yield from _entries(embedded, list_name)
    elif document and all(isinstance(value, dict) for value in document.values()):
        for key, value in document.items():
            yield {"id": key, **value}


def _id_of(entry: Any, place: str, list_name: str) -> str | None:
    if isinstance(entry, str | int) and not isinstance(entry, bool):
        return _text(entry)
    if not isinstance(entry, dict):
        return None
    fields = {_plain(key): value for key, value in entry.items()}
    singular = re.sub(r"ies$", "y", _plain(list_name))
    singular = singular if singular != _plain(list_name) else singular.removesuffix("s")
    last = re.split(r"[_.-]|(?<=[a-z0-9])(?=[A-Z])", place)[-1]
    for name in (place, f"{singular}id", last, *_USUAL):
        value = fields.get(_plain(name))
        if isinstance(value, str | int) and not isinstance(value, bool) and (text := _text(value)):
            return text
    return None


def _text(value: str | int) -> str | None:
    text = str(value)
    return text if 0 < len(text) <= 200 else None


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", str(name).lower())
