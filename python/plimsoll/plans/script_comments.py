"""A script's text without its comments: strings, templates and regular expressions are passed over, as they may hold
what looks like one (`http://`).

Whether `/` begins a regular expression is told by what stands before it, as a lexer without a grammar does. Where that
leaves a doubt, behind `)` and `}`, the text stays as it is: a comment too many does less harm than code too few.
"""

from __future__ import annotations

import re
from functools import lru_cache

_QUOTED = re.compile(r"""'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*\"""", re.DOTALL)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_EXPRESSION = re.compile(r"/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/")
_BEFORE_EXPRESSION = "([{,;:=!&|?+-*%~^<>"
_WORD_BEFORE_EXPRESSION = re.compile(r"\b(?:return|typeof|case|in|of|delete|void|throw|new|else|do|yield|await)$")
_LAST_WORD = 12  # letters, as many as the longest of them has and a few more


class _InDoubtError(Exception):
    """What follows may be a regular expression or a division."""


@lru_cache(maxsize=8)
def without_comments(script: str) -> str:
    """The text, a space in the place of each comment; as it is where that cannot be told for certain."""
    try:
        return _code(script, 0, "")[0]
    except (_InDoubtError, RecursionError):
        return script


def _code(script: str, at: int, end: str) -> tuple[str, int]:
    """Code from a place up to the brace that closes it, or to the end of the text; and the place behind it."""
    parts: list[str] = []
    depth, last = 0, ""  # braces that are open; the end of the code before, without space
    while at < len(script):
        sign = script[at]
        if sign == end and not depth:
            return "".join(parts), at
        depth += (sign == "{") - (sign == "}")
        if sign in "'\"" and (found := _QUOTED.match(script, at)):
            text, at = found[0], found.end()
        elif sign == "`":
            text, at = _template(script, at)
        elif sign == "/" and (found := _COMMENT.match(script, at)):
            text, at = " ", found.end()
        elif sign == "/" and _may_begin_expression(script, at, last) and (found := _EXPRESSION.match(script, at)):
            text, at = found[0], found.end()
        else:
            text, at = sign, at + 1
        parts.append(text)
        last = f"{last}{text}"[-_LAST_WORD:] if text.strip() else last if last[-1:] in ("", " ") else f"{last} "
    return "".join(parts), at


def _may_begin_expression(script: str, at: int, last: str) -> bool:
    before = last.rstrip()
    if before[-1:] in (")", "}"):
        line = script[at + 1 : script.find("\n", at) if "\n" in script[at:] else len(script)]
        if "/" in line:
            raise _InDoubtError
        return False
    return not before or before[-1] in _BEFORE_EXPRESSION or bool(_WORD_BEFORE_EXPRESSION.search(before))


def _template(script: str, at: int) -> tuple[str, int]:
    """A template literal, comments in its expressions left out; and the place behind it."""
    parts, at = ["`"], at + 1
    while at < len(script):
        if script[at] == "`":
            return "".join([*parts, "`"]), at + 1
        if script[at] == "\\":
            parts.append(script[at : at + 2])
            at += 2
        elif script.startswith("${", at):
            inner, at = _code(script, at + 2, "}")
            parts.append(f"${{{inner}}}")
            at += 1
        else:
            parts.append(script[at])
            at += 1
    return "".join(parts), at
