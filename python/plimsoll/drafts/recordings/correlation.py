"""What a recorded request took from an earlier answer: ids, tokens, hidden fields. It is taken from the answer again
when the script runs, as the next one has another.

A value counts where it is an id by its form, or long and no word, and where no request had it before that answer: what
a user knew beforehand stays as it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import unescape
from typing import Any
from urllib.parse import parse_qsl, unquote

from plimsoll.drafts.names import template_of
from plimsoll.drafts.paths import shape_of
from plimsoll.drafts.queries import is_secret_parameter, is_web_token
from plimsoll.drafts.recordings.recording import DEEPEST, Recorded

_ID_KEY = re.compile(r"(?:^|[_-])(?:id|uuid|guid|key|number|no|slug|code)$|(?<=[a-z0-9])(?:Id|ID|Key|Uuid|Number)$")
_SURE_DIGITS = 4  # an integer of so many digits is hardly there by chance
_LONG = 16  # signs of a token
_SAFE_KEY = re.compile(r"[A-Za-z_][\w-]*|\d+")
_MOST_VALUES = 20_000  # of an answer
_HIDDEN = re.compile(r"<input\b[^>]*>", re.IGNORECASE)


@dataclass(frozen=True)
class Taken:
    """A variable that the script takes from an answer: by a path in its JSON, or from a hidden field of its page."""

    variable: str
    path: str = ""
    field: str = ""

    @property
    def words(self) -> str:
        """Where in the answer it is."""
        return self.path or f"the field {self.field}"


@dataclass(frozen=True)
class Reference:
    """A variable in place of a value; `is_text` where a number of the answer stood as text."""

    variable: str
    is_text: bool = False


@dataclass(frozen=True)
class Secret:
    """A variable of the environment in place of a password or token."""

    name: str


Part = str | Reference | Secret


@dataclass
class Step:
    """A request of the script. `target` and the values of body and form are as recorded, or references."""

    request: str
    method: str
    target: tuple[Part, ...]
    content_type: str
    ms: float
    document: Any = None
    form: tuple[tuple[str, Part], ...] | None = None
    text: str | None = None
    bearer: Reference | None = None
    takes: list[Taken] = field(default_factory=list)


@dataclass(frozen=True)
class _Value:
    """A value of an answer: which step's, and where."""

    step: int
    key: str
    path: str
    field: str
    value: Any


class Correlation:
    """Goes through a recording. `steps` are for the script, `words` say what is taken from where."""

    def __init__(self, requests: Sequence[Recorded]) -> None:
        self.steps: list[Step] = []
        self.words: list[str] = []
        self.secrets: dict[str, str] = {}
        self._answers: dict[str, _Value] = {}
        self._sent: set[str] = set()
        self._variables: dict[tuple[int, str, str], str] = {}
        for request in requests:
            self._add(request)

    def _add(self, request: Recorded) -> None:
        path = request.target.partition("?")[0]
        name = f"{request.method} {template_of(shape_of(path))[0]}"
        step = Step(
            request=name,
            method=request.method,
            target=tuple(self._target(request.target, name)),
            content_type=request.content_type,
            ms=request.ms,
            text=request.text,
        )
        if request.document is not None:
            step.document = self._document(request.document, "", name)
        if request.form is not None:
            step.form = tuple((key, self._field(key, value, name)) for key, value in request.form)
        if request.bearer is not None:
            found = self._known(request.bearer, is_certain=True)
            step.bearer = None if found is None else self._reference(found, request.bearer, name)
        self.steps.append(step)
        self._sent.update(_texts_of(request))
        for value in _values(request, len(self.steps) - 1):
            text = _text(value.value)
            if text not in self._sent and text not in self._answers:
                self._answers[text] = value

    def _target(self, target: str, request: str) -> Iterator[Part]:
        path, _, query = target.partition("?")
        for at, segment in enumerate(path.split("/")):
            found = self._known(unquote(segment))
            yield "/" if at else ""
            yield segment if found is None else self._reference(found, unquote(segment), request)
        for at, pair in enumerate(query.split("&") if query else ()):
            key, equals, value = pair.partition("=")
            yield f"{'&' if at else '?'}{key}{equals}"
            part = self._field(unquote(key), unquote(value.replace("+", " ")), request)
            yield value if isinstance(part, str) else part

    def _field(self, key: str, value: str, request: str) -> Part:
        """A value of a form or query: from an answer, or of the environment if it is secret, or as it was."""
        found = self._known(value, is_certain=is_secret_parameter(key))
        if found is not None:
            return self._reference(found, value, request)
        is_secret = is_secret_parameter(key) or is_web_token(value)
        return self._secret(key, request) if is_secret and value else value

    def _document(self, given: Any, key: str, request: str) -> Any:
        if isinstance(given, dict):
            return {name: self._document(value, name, request) for name, value in given.items()}
        if isinstance(given, list):
            return [self._document(value, key, request) for value in given]
        if isinstance(given, str):
            return self._field(key, given, request)
        if isinstance(given, int) and not isinstance(given, bool):
            found = self._known(str(given))
            return given if found is None else self._reference(found, given, request)
        return given

    def _secret(self, key: str, request: str) -> Secret:
        name = re.sub(r"\W+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key), flags=re.ASCII).strip("_").upper()
        name = f"SECRET_{name}"
        self.secrets.setdefault(name, f"{key} of {request}")
        return Secret(name)

    def _known(self, text: str, is_certain: bool = False) -> _Value | None:
        """The answer that a value comes from; `is_certain` where its place says that it is no constant."""
        found = self._answers.get(text)
        if found is None or not text:
            return None
        is_id = shape_of(f"/{text}") == "/{}" if "/" not in text else False
        is_sure = is_id and (not text.isdigit() or len(text) >= _SURE_DIGITS or _ID_KEY.search(found.key) is not None)
        is_token = len(text) >= _LONG and " " not in text and re.search(r"\d", text) is not None
        return found if is_sure or is_token or (is_certain and len(text) >= _SURE_DIGITS) else None

    def _reference(self, found: _Value, value: Any, request: str) -> Reference:
        place = (found.step, found.path, found.field)
        if place not in self._variables:
            variable = self._variable(found)
            self._variables[place] = variable
            self.steps[found.step].takes.append(Taken(variable, found.path, found.field))
            where = found.path or f"the field {found.field}"
            self.words.append(f"{where} of the answer to {self.steps[found.step].request} is in {request}")
        return Reference(self._variables[place], isinstance(value, str) and not isinstance(found.value, str))

    def _variable(self, found: _Value) -> str:
        words = re.findall(r"[A-Za-z0-9]+", found.key) or ["value"]
        stem = words[0][0].lower() + words[0][1:] + "".join(word.capitalize() for word in words[1:])
        name = f"{'v' if stem[0].isdigit() else ''}{stem}{found.step + 1}"
        while name in self._variables.values() or re.fullmatch(r"answer\d+", name):  # of the script itself
            name += "_"
        return name


def _texts_of(request: Recorded) -> Iterator[str]:
    """All that a request sent."""
    path, _, query = request.target.partition("?")
    yield from map(unquote, path.split("/"))
    yield from (value for _, value in parse_qsl(query, keep_blank_values=True))
    yield from (value for _, value in request.form or ())
    yield from (_text(value) for _, _, value in _leaves(request.document, "", ""))
    if request.bearer:
        yield request.bearer


def _values(request: Recorded, step: int) -> Iterator[_Value]:
    """What an answer tells: the values of its JSON, the hidden fields of its page."""
    if "json" in request.answer_type or request.answer[:1] in ("{", "["):
        try:
            document = json.loads(request.answer)
        except (ValueError, RecursionError):
            return
        for count, (key, path, value) in enumerate(_leaves(document, "", "")):
            if count >= _MOST_VALUES:
                return
            yield _Value(step, key, path, "", value)
    elif request.answer_type.endswith("html"):
        for tag in _HIDDEN.findall(request.answer):
            name, value = (re.search(rf"""\b{what}=["']([^"']*)["']""", tag, re.I) for what in ("name", "value"))
            if name is not None and value is not None and value[1]:
                yield _Value(step, name[1], "", name[1], unescape(value[1]))


def _leaves(given: Any, key: str, path: str, depth: int = 0) -> Iterator[tuple[str, str, Any]]:
    """(key, path as k6's json() takes it, value) of each text and whole number that such a path can lead to."""
    items: Iterator[tuple[str, Any]]
    if isinstance(given, dict):
        items = iter(given.items())
    elif isinstance(given, list):
        items = ((str(at), value) for at, value in enumerate(given))
    else:
        if path and isinstance(given, str | int) and not isinstance(given, bool):
            yield key, path, given
        return
    for name, value in items:
        if _SAFE_KEY.fullmatch(name) and depth < DEEPEST:
            yield from _leaves(value, key if name.isdigit() else name, f"{path}.{name}" if path else name, depth + 1)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else str(value)
