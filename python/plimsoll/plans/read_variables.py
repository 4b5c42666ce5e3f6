"""Which variables of __ENV a script reads, by its text alone.

It is certain that a script never reads one where every __ENV in its text names another variable, it imports nothing
but k6's own modules and data, and it makes no code at run time. Comments are no text (script_comments.py): a variable
that only a comment names is not read. Everything else is "maybe".
"""

from __future__ import annotations

import re
from typing import Literal

from plimsoll.plans.script_comments import without_comments

Reading = Literal["read", "maybe", "never"]
_NAME = r"[A-Za-z_$][\w$]*"
_READ = re.compile(rf"__ENV\s*(?:(?:\?\.|\.)\s*({_NAME})|(?:\?\.)?\s*\[\s*(['\"`])({_NAME})\2\s*\])")
_FROM = re.compile(r"""\b(?:from|import)\s*(['"])(.*?)\1""")
_CALLED = re.compile(r"""\b(?:import|require)\s*\(\s*(?:(['"])(.*?)\1\s*\))?""")
_MADE_AT_RUN_TIME = re.compile(r"\b(?:eval|Function)\s*\(|\bglobalThis\b")
_OWN, _OWN_FOLDER, _DATA = "k6", "k6/", ".json"


def names_read(script: str) -> list[str]:
    """The variables that its text reads by name, each once, in their order."""
    return _names(without_comments(script))


def _names(code: str) -> list[str]:
    return list(dict.fromkeys(found[1] or found[3] for found in _READ.finditer(code)))


def mentions(name: str, script: str) -> bool:
    """Whether its text has that name anywhere but in a comment."""
    return name in without_comments(script)


def reading_of(name: str, script: str) -> Reading:
    """Whether the script of that text reads `__ENV.name`."""
    code = without_comments(script)
    if name in _names(code):
        return "read"
    is_certain = "__ENV" not in _READ.sub("", code) and not _MADE_AT_RUN_TIME.search(code)
    return "never" if is_certain and not _imports_code(code) else "maybe"


def _imports_code(script: str) -> bool:
    """Whether it imports more than k6's own modules and data: what that reads is not seen here."""
    places = [found[2] for pattern in (_FROM, _CALLED) for found in pattern.finditer(script)]
    return not all(
        place is not None and (place == _OWN or place.startswith(_OWN_FOLDER) or place.endswith(_DATA))
        for place in places
    )
