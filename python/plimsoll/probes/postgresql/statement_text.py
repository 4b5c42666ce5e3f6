"""Text of SQL statements: its tokens, without its constants, and the constants that normalisation took out.

pg_stat_statements shows `jsonb->>$1 = $2`; an index needs the key behind $1. pg_stat_activity shows the statement as it
was sent, up to track_activity_query_size bytes. Put beside each other, the two tell the constants. What was sent holds
the users' data: it stays in memory, and no text leaves this package with string constants in it, but for those inside
an expression, or the WHERE, of an index that is advised.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["space", "string", "quoted", "parameter", "number", "word", "operator", "sign"]
HIDDEN = "'…'"
_TOKEN = re.compile(
    r"""(?P<space>\s+|--[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)
    |(?P<string>[eE]'(?:[^'\\]|\\.|'')*'?|(?:[bBxXnN]|[uU]&)?'(?:[^']|'')*'?|\$(?P<tag>[A-Za-z_]*)\$.*?(?:\$(?P=tag)\$|\Z))
    |(?P<quoted>(?:[uU]&)?"(?:[^"]|"")*"?)
    |(?P<parameter>\$\d+)
    |(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<word>[^\W\d][\w$]*)
    |(?P<operator>[-+*/<>=~!@\#%^&|`?]+)
    |(?P<sign>::|.)""",
    re.VERBOSE | re.DOTALL,
)
_CONSTANT_WORDS = ("true", "false", "null")
_TYPED = re.compile(r"\b(interval|date|timestamptz|timestamp|time)\s+(\$\d+)", re.IGNORECASE)


@dataclass(frozen=True)
class Token:
    """A piece of SQL as it stands in the text from `start` on."""

    kind: Kind
    text: str
    start: int

    @property
    def end(self) -> int:
        """Where the next one begins."""
        return self.start + len(self.text)

    @property
    def is_constant(self) -> bool:
        """Whether normalisation replaces it."""
        return self.kind in ("string", "number") or (self.kind == "word" and self.text.lower() in _CONSTANT_WORDS)


def tokens(text: str) -> list[Token]:
    """The tokens without spaces and comments. Any text has some: what is no SQL comes as single signs."""
    return [token for token in all_tokens(text) if token.kind != "space"]


def all_tokens(text: str) -> Iterator[Token]:
    """All tokens, spaces and comments too: put together they are the text."""
    place = 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        assert found is not None, "the last alternative matches any character"
        kind: Kind = found.lastgroup if found.lastgroup != "tag" else "string"  # type: ignore[assignment]
        piece = found.group()
        if kind == "operator":
            piece = _operator(piece)
        yield Token(kind, piece, place)
        place += len(piece)


def _operator(signs: str) -> str:
    """Of a run of operator signs the first operator: a comment ends it, and a sign before a number is not its end
    unless the operator has one of ~ ! @ # % ^ & | ` ? (PostgreSQL's own rule)."""
    for comment in ("--", "/*"):
        if signs.find(comment) > 0:
            signs = signs[: signs.find(comment)]
    while len(signs) > 1 and signs[-1] in "+-" and not re.search(r"[~!@#%^&|`?]", signs):
        signs = signs[:-1]
    return signs


def masked(text: str, *, numbers: bool = False) -> str:
    """The statement in one line without its string constants (and numbers), which may be users' data or secrets."""
    pieces = []
    for token in all_tokens(text):
        if token.kind == "space":
            pieces.append(" ")
        elif token.kind == "string":
            pieces.append(HIDDEN)
        elif token.kind == "number" and numbers:
            pieces.append("…")
        else:
            pieces.append(token.text)
    return re.sub(r" {2,}", " ", "".join(pieces)).strip()


def fingerprint(text: str) -> str:
    """The same for all statements that differ in constants and spaces only."""
    pieces: list[str] = []
    for token in tokens(text):
        is_hole = token.is_constant or token.kind == "parameter"
        if is_hole and pieces and pieces[-1] == "-" and (len(pieces) < 2 or pieces[-2] in ("(", ",", "=", "<", ">")):
            pieces.pop()
        pieces.append("?" if is_hole else token.text.lower())
    return " ".join(pieces).rstrip("; ")


def constants_of(normalised: str, sent: str, *, cut: bool = False) -> dict[int, str] | None:
    """The constant (or parameter of the sender) behind each $n of a normalised statement; None where `sent` is another
    statement. `sent` may hold several statements; `cut`: its end is missing, so that the later constants are too."""
    whole = tokens(normalised)
    for statement in _statements(tokens(sent)):
        found = _aligned(whole, statement, cut)
        if found is not None:
            return found
    return None


def _statements(pieces: list[Token]) -> Iterator[list[Token]]:
    statement: list[Token] = []
    for token in pieces:
        if token.text == ";":
            yield statement
            statement = []
        else:
            statement.append(token)
    if statement:
        yield statement


def _aligned(normalised: list[Token], sent: list[Token], cut: bool) -> dict[int, str] | None:
    found: dict[int, str] = {}
    place = 0
    wanted = [token for token in normalised if token.text != ";"]
    for token in wanted:
        if place >= len(sent) or (cut and place >= len(sent) - 1):  # the last token of a cut text may be half of one
            return found if cut and place > len(wanted) / 4 else None
        here = sent[place]
        if token.kind == "parameter":
            text, taken = here.text, 1
            if here.text in ("-", "+") and place + 1 < len(sent) and sent[place + 1].kind == "number":
                text, taken = here.text + sent[place + 1].text, 2
            elif not (here.is_constant or here.kind == "parameter"):
                return None
            found[int(token.text[1:])] = text
            place += taken
        elif token.text.lower() != here.text.lower():
            return None
        else:
            place += 1
    return found if place == len(sent) else None


def filled(normalised: str, constants: Mapping[int, str]) -> tuple[str, int]:
    """The statement with the constants in their places, and how many parameters are left, numbered from 1."""
    numbers: dict[str, int] = {}
    pieces: list[str] = []
    for token in all_tokens(normalised):
        if token.kind != "parameter":
            pieces.append(token.text)
            continue
        known = constants.get(int(token.text[1:]), token.text)
        if known.startswith("$") and known[1:].isdigit():
            known = f"${numbers.setdefault(known, len(numbers) + 1)}"
        pieces.append(known)
    text = _TYPED.sub(r"\2::\1", "".join(pieces))
    return text.rstrip("; \n"), len(numbers)
