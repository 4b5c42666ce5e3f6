"""The languages of the search box and of commands. Pure: text in, dataclasses out.

Search:   words, and `attribute: value`, and `#tag`; all must hold
              crash on login state: Open assignee: me #Unresolved
          attributes: state, priority, assignee (or for), reporter; a value of several words is written
          in braces, state: {In Progress}
          tags: #Resolved, #Unresolved, #Unassigned
Command:  any of `state VALUE`, `priority VALUE`, `assignee LOGIN|me|Unassigned`, and last `comment`
              state In Progress priority Critical assignee user007 comment
          The text of the comment follows the word, or comes beside the command.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll_lab.tracker.schema import PRIORITIES, STATES

ATTRIBUTES = ("state", "priority", "assignee", "reporter")
TAGS = ("Resolved", "Unresolved", "Unassigned")
UNASSIGNED = "Unassigned"

_ALIASES = {"for": "assignee", "by": "reporter"}
_ATTRIBUTE = re.compile(r"(?<!\w)(\w++)\s*:\s*(\{[^}]*\}|[^\s:]+)")
_TAG = re.compile(r"#(\w+)")
_WORD = re.compile(r"\w+")
_COMMAND_WORDS = ("state", "priority", "assignee", "comment")


class SyntaxMistake(ValueError):
    """A search or command that means nothing; its text says what would."""


@dataclass(frozen=True)
class Search:
    """What to find: every part that is given must hold. Logins are not yet checked; `me` is kept as written."""

    words: tuple[str, ...] = ()
    state: str | None = None
    priority: str | None = None
    assignee: str | None = None
    reporter: str | None = None
    tags: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Command:
    """What to change; None leaves a field alone. `assignee` may be "Unassigned"."""

    state: str | None = None
    priority: str | None = None
    assignee: str | None = None
    comment: str | None = None

    @property
    def empty(self) -> bool:
        return (self.state, self.priority, self.assignee, self.comment) == (None, None, None, None)


def parse_search(text: str) -> Search:
    """Read the text of a search box. Raises SyntaxMistake."""
    values: dict[str, str] = {}
    for attribute, value in _ATTRIBUTE.findall(text):
        name = _ALIASES.get(attribute.lower(), attribute.lower())
        if name not in ATTRIBUTES:
            raise SyntaxMistake(f"There is no attribute '{attribute}'. Use one of {', '.join(ATTRIBUTES)}.")
        values[name] = _checked(name, value.strip("{} "))
    rest = _ATTRIBUTE.sub(" ", text)
    tags = frozenset(_known(tag, TAGS, "tag") for tag in _TAG.findall(rest))
    words = tuple(word.lower() for word in _WORD.findall(_TAG.sub(" ", rest)))
    return Search(words=words, tags=tags, **values)


def parse_command(text: str, comment: str | None = None) -> Command:
    """Read a command. `comment` is the text given beside it. Raises SyntaxMistake."""
    words = text.split()
    values: dict[str, str] = {}
    position = 0
    while position < len(words):
        name = words[position].lower()
        if name == "comment":
            values["comment"] = " ".join(words[position + 1 :])
            break
        if name not in _COMMAND_WORDS:
            raise SyntaxMistake(f"'{words[position]}' is no command. Use one of {', '.join(_COMMAND_WORDS)}.")
        value, position = _value_at(name, words, position + 1)
        values[name] = value
    said = values.get("comment") or comment or None
    if "comment" in values and said is None:
        raise SyntaxMistake("The comment has no text. Write it after the word 'comment', or in the key 'comment'.")
    return Command(values.get("state"), values.get("priority"), values.get("assignee"), said)


def words_of(text: str) -> set[str]:
    """The words of a text, in lower case."""
    return {word.lower() for word in _WORD.findall(text)}


def unfinished_word(text: str, caret: int | None = None) -> str:
    """The word being typed: the letters directly before the caret (default: the end), in lower case."""
    before = text[: len(text) if caret is None else max(0, caret)]
    start = len(before)
    while start > 0 and (before[start - 1].isalnum() or before[start - 1] == "_"):
        start -= 1
    return before[start:].lower()


def completions(prefix: str, choices: Sequence[str]) -> list[str]:
    """Those of `choices` that begin with `prefix`, whatever the case."""
    return [choice for choice in choices if choice.lower().startswith(prefix)]


def _value_at(name: str, words: Sequence[str], start: int) -> tuple[str, int]:
    """The value of `name` at `start`, and the position after it; two words are tried before one ("In Progress")."""
    if start >= len(words):
        raise SyntaxMistake(f"'{name}' has no value. Write one after it.")
    if name == "assignee":
        return words[start], start + 1
    for length in (2, 1):
        phrase = " ".join(words[start : start + length])
        if phrase.lower() in (known.lower() for known in _values_of(name)):
            return _checked(name, phrase), start + length
    return _checked(name, words[start]), start + 1


def _values_of(name: str) -> Sequence[str]:
    return {"state": STATES, "priority": PRIORITIES}.get(name, ())


def _checked(name: str, value: str) -> str:
    known = _values_of(name)
    return _known(value, known, name) if known else value


def _known(value: str, known: Sequence[str], what: str) -> str:
    for candidate in known:
        if candidate.lower() == value.lower():
            return candidate
    raise SyntaxMistake(f"There is no {what} '{value}'. Use one of {', '.join(known)}.")
