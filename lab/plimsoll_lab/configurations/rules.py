"""What a request may hold, as rules that the handlers check and the OpenAPI document shows. Pure.

All mistakes of a body are told at once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from plimsoll_lab.json_input import Mistake, is_visible

ID_AT_MOST = 2**53 - 1
TITLE_LETTERS = 200
DESCRIPTION_LETTERS = 4000
URI_LETTERS = 500
LINKS_AT_MOST = 100
BODY_BYTES = 100_000
URI_PATTERN = "https?://[!-~]*"
LINK_TYPES = ("implements", "tested_by", "validates", "tracks", "related")


@dataclass(frozen=True)
class Text:
    """A text of so many letters (code points); `uri`: it is URI_PATTERN."""

    least: int = 1
    most: int = TITLE_LETTERS
    uri: bool = False


@dataclass(frozen=True)
class Number:
    """A whole number."""

    least: int = 1
    most: int = ID_AT_MOST


@dataclass(frozen=True)
class OneOf:
    """One of these texts."""

    values: tuple[str, ...]


@dataclass(frozen=True)
class Many:
    """A list of objects."""

    of: dict[str, Text | Number | OneOf]
    most: int


Rule = Text | Number | OneOf | Many
Fields = dict[str, Rule]  # a name with ! is required

_LINK: dict[str, Text | Number | OneOf] = {"type!": OneOf(LINK_TYPES), "target!": Text(8, URI_LETTERS, uri=True)}
NEW_COMPONENT: Fields = {"title!": Text()}
NEW_GLOBAL: Fields = {"kind!": OneOf(("stream", "staging")), "from!": Number(), "title!": Text()}
CONTRIBUTION: Fields = {"service": OneOf(("rm", "qm", "cm")), "configuration": Number(), "child": Number()}
NEW_LOCAL: Fields = {"kind!": OneOf(("stream", "baseline")), "from!": Number(), "title!": Text()}
NEW_ARTIFACT: Fields = {
    "title!": Text(),
    "description": Text(0, DESCRIPTION_LETTERS),
    "project": Number(),
    "links": Many(_LINK, LINKS_AT_MOST),
}
CHANGED_ARTIFACT: Fields = {
    "title": Text(),
    "description": Text(0, DESCRIPTION_LETTERS),
    "project": Number(),
    "links": Many(_LINK, LINKS_AT_MOST),
    "version": Number(),
}
CREDENTIALS: Fields = {"username!": Text(1, 100), "password!": Text(1, 100)}


def mistakes_of(body: dict[str, Any], fields: Fields, prefix: str = "") -> list[Mistake]:
    """All that is wrong with the object."""
    found = []
    for name, rule in fields.items():
        key = name.rstrip("!")
        if key in body:
            found += _mistakes(prefix + key, body[key], rule)
        elif name.endswith("!"):
            found.append(Mistake(prefix + key, "is missing"))
    known = {name.rstrip("!") for name in fields}
    found += [
        Mistake(prefix + str(key)[:60], f"is not a field; there are {', '.join(sorted(known))}")
        for key in body
        if key not in known
    ]
    return found


def text_mistake(text: str) -> str | None:
    """What no text may hold: control characters, or half of a surrogate pair."""
    if any((letter < " " and letter not in "\t\n\r") or letter == "\x7f" for letter in text):
        return "holds a control character"
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        return "holds half of a surrogate pair"
    return None


def _mistakes(where: str, value: Any, rule: Rule) -> list[Mistake]:
    match rule:
        case Text():
            return _of_text(where, value, rule)
        case Number():
            whole = isinstance(value, int) and not isinstance(value, bool)
            good = whole and rule.least <= value <= rule.most
            return [] if good else [Mistake(where, f"must be a whole number from {rule.least} to {rule.most}")]
        case OneOf():
            good = isinstance(value, str) and value in rule.values
            return [] if good else [Mistake(where, f"must be one of {', '.join(rule.values)}")]
        case Many():
            return _of_list(where, value, rule)


def _of_text(where: str, value: Any, rule: Text) -> list[Mistake]:
    if not isinstance(value, str):
        return [Mistake(where, "must be a text")]
    if not rule.least <= len(value) <= rule.most:
        return [Mistake(where, f"must have {rule.least} to {rule.most} letters, not {len(value)}")]
    wrong = text_mistake(value)
    if wrong:
        return [Mistake(where, wrong)]
    if rule.uri and not re.fullmatch(URI_PATTERN, value):
        return [
            Mistake(where, "must be a URI of ASCII letters that begins with http:// or https:// and holds no blanks")
        ]
    if rule.least and not rule.uri and not is_visible(value):
        return [Mistake(where, "must not be blank")]
    return []


def _of_list(where: str, value: Any, rule: Many) -> list[Mistake]:
    if not isinstance(value, list):
        return [Mistake(where, "must be a list")]
    if len(value) > rule.most:
        return [Mistake(where, f"has {len(value)} entries; send at most {rule.most}")]
    found: list[Mistake] = []
    for place, one in enumerate(value):
        here = f"{where}[{place}]"
        if isinstance(one, dict):
            found += mistakes_of(one, dict(rule.of), f"{here}.")
        else:
            found.append(Mistake(here, "must be a JSON object"))
    return found
