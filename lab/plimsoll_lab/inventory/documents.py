"""What an instance may hold, what is wrong with one, and the columns that are made of it. Pure.

Rules are the JSON Schema of the OpenAPI document (`openapi.py` shows INSTANCE_FIELDS); all mistakes of a document
are told at once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container
from dataclasses import dataclass
from typing import Any

from plimsoll_lab.inventory.cql import folded
from plimsoll_lab.inventory.schema import TITLE_SORT_LETTERS
from plimsoll_lab.json_input import Mistake

ID_PATTERN = "^[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"
DOCUMENT_BYTES = 100_000
VERSION_AT_MOST = 2**31 - 2
_ID = re.compile(ID_PATTERN[:-1] + r"\Z")


@dataclass(frozen=True)
class Text:
    """A text of so many letters (code points); `identity`: a UUID in lower case; `reference`: one of the reference
    data."""

    least: int = 1
    most: int = 200
    identity: bool = False
    reference: bool = False


@dataclass(frozen=True)
class Listed:
    """A list of texts or objects."""

    of: Text | Fields
    most: int


Fields = dict[str, "Text | Listed | bool"]

_IDENTITY = Text(36, 36, identity=True)
_REFERENCE = Text(36, 36, identity=True, reference=True)
# True stands for a truth value. A name with ! is required.
INSTANCE_FIELDS: Fields = {
    "id": _IDENTITY,
    "hrid": Text(1, 64),
    "source!": Text(1, 64),
    "title!": Text(1, 2000),
    "instanceTypeId!": _REFERENCE,
    "statusId": _REFERENCE,
    "modeOfIssuanceId": _REFERENCE,
    "contributors": Listed({"name!": Text(1, 300), "contributorNameTypeId": _REFERENCE, "primary": True}, 100),
    "identifiers": Listed({"value!": Text(1, 200), "identifierTypeId": _REFERENCE}, 100),
    "subjects": Listed(Text(1, 300), 200),
    "languages": Listed(Text(3, 3), 20),
    "publication": Listed({"publisher": Text(0, 300), "place": Text(0, 300), "dateOfPublication": Text(0, 40)}, 50),
    "notes": Listed({"note!": Text(1, 5000), "staffOnly": True}, 100),
}
# The server writes these; they are ignored in what clients send, but for the version, which must be the current one.
_KEPT_BY_SERVER = ("metadata", "_version")


def mistakes_of(document: dict[str, Any], known_ids: Container[str]) -> list[Mistake]:
    """All that is wrong with an instance; `known_ids`: the ids of the reference data."""
    found = _object_mistakes("", {k: v for k, v in document.items() if k not in _KEPT_BY_SERVER}, INSTANCE_FIELDS)
    version = document.get("_version")
    if version is not None and (not isinstance(version, int) or isinstance(version, bool) or version < 1):
        found.append(Mistake("_version", "must be a whole number from 1"))
    if not found:
        for key, value in _references(document):
            if value not in known_ids:
                found.append(Mistake(key, "is no id of the reference data"))
    return found


def is_identity(text: str) -> bool:
    """Whether it is a UUID in lower case."""
    return _ID.fullmatch(text) is not None


def columns_of(document: dict[str, Any]) -> dict[str, Any]:
    """The columns beside a document that is without mistakes and has id, hrid and _version."""
    title = folded(document["title"])
    return {
        "id": document["id"],
        "hrid": document["hrid"],
        "source": document["source"],
        "instance_type_id": document["instanceTypeId"],
        "title_sort": title[:TITLE_SORT_LETTERS],
        "title_words": _spaced(title),
        "contributors_words": _spaced(folded(" ".join(one["name"] for one in document.get("contributors", ())))),
        "identifiers_words": _spaced(folded(" ".join(one["value"] for one in document.get("identifiers", ())))),
        "subjects_words": _spaced(folded(" ".join(document.get("subjects", ())))),
        "version": document["_version"],
        "document": json.dumps(document, ensure_ascii=False, separators=(",", ":")),
    }


def _spaced(words: str) -> str:
    return f" {words} " if words else ""


def _references(document: dict[str, Any]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    found += [(key, document[key]) for key in ("instanceTypeId", "statusId", "modeOfIssuanceId") if key in document]
    for many, key in (("contributors", "contributorNameTypeId"), ("identifiers", "identifierTypeId")):
        for place, one in enumerate(document.get(many, ())):
            if key in one:
                found.append((f"{many}[{place}].{key}", one[key]))
    return found


def _object_mistakes(where: str, value: Any, fields: Fields) -> list[Mistake]:
    if not isinstance(value, dict):
        return [Mistake(where or "body", "must be a JSON object")]
    prefix = f"{where}." if where else ""
    found = []
    for name, rule in fields.items():
        key = name.rstrip("!")
        if key in value:
            found += _mistakes(prefix + key, value[key], rule)
        elif name.endswith("!"):
            found.append(Mistake(prefix + key, "is missing"))
    known = {name.rstrip("!") for name in fields}
    found += [Mistake(prefix + str(key)[:60], "is not a field") for key in value if key not in known]
    return found


def _mistakes(where: str, value: Any, rule: Text | Listed | bool) -> list[Mistake]:
    if isinstance(rule, bool):
        return [] if isinstance(value, bool) else [Mistake(where, "must be true or false")]
    if isinstance(rule, Text):
        return _text_mistakes(where, value, rule)
    if not isinstance(value, list):
        return [Mistake(where, "must be a list")]
    if len(value) > rule.most:
        return [Mistake(where, f"has {len(value)} entries; send at most {rule.most}")]
    found = []
    for place, one in enumerate(value):
        here = f"{where}[{place}]"
        found += (
            _text_mistakes(here, one, rule.of) if isinstance(rule.of, Text) else _object_mistakes(here, one, rule.of)
        )
    return found


def _text_mistakes(where: str, value: Any, rule: Text) -> list[Mistake]:
    if not isinstance(value, str):
        return [Mistake(where, "must be a text")]
    if rule.identity:
        return [] if is_identity(value) else [Mistake(where, "must be a UUID in lower case")]
    if not rule.least <= len(value) <= rule.most:
        return [Mistake(where, f"must have {rule.least} to {rule.most} letters, not {len(value)}")]
    if any((letter < " " and letter not in "\t\n\r") or "\ud800" <= letter <= "\udfff" for letter in value):
        return [Mistake(where, "holds a control character or half of a surrogate pair")]
    return []
