"""Keeping secrets out of run directories, reports, logs, samples and the terminal (law 8).

Three nets, each for what the others miss:

- values under keys with telling names, and all values of `env`, `environment` and `headers`, where they stand;
- what any text tells by itself (in_text.py, of URLs and forms in_urls.py), and what a command tells
  (in_commands.py);
- known secrets, wherever they appear and in each form that a text may have of them (forms.py): those that are
  declared (`--secret-source`, sources.py); values under telling keys, in URLs and in commands; of `headers` and
  `environment` also those whose key tells nothing, unless they are plain (a number, a word, a path, an address); of
  headers the credentials and each cookie alone; of ${NAME} what the variable means. Values of `env` are parameters of a
  script, which reports must name: of them only those with telling names are known, and those of names that may tell
  (STRIPE_KEY) unless they are plain.

A placeholder (`${TOKEN}`, `?`, `$1`) is no secret.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import unquote, urlsplit

from plimsoll.study.secrets.forms import bytes_of, forms_of, parts_of
from plimsoll.study.secrets.in_commands import hide_in_command, secrets_of_command, values_of_cookies
from plimsoll.study.secrets.in_text import (
    hide_in_message,
    hide_in_text,
    named_values,
    stands_for_value,
    urls_with_user,
)
from plimsoll.study.secrets.names import HIDDEN, is_secret_key, is_secret_name, may_be_secret_variable
from plimsoll.study.secrets.percent_encoded import hide_encoded

__all__ = ["HIDDEN", "Redactor", "is_secret_key", "redact"]

_HIDDEN_MAPPINGS = frozenset({"environment", "env", "headers"})  # all of whose values are hidden
_COMMANDS = {
    "start", "ready", "reset", "stop", "switch", "switch_a", "switch_b", "data_volume", "verify", "remedy",
    "remedy_wanted", "command", "backlog", "produced", "consumed",
}  # fmt: skip
_SHORTEST_SECRET = 5  # shorter values would blank out innocent text ("1", "on")
_SHORTEST_DECLARED = 3  # of those that are secrets for sure; as long as a word, they are hidden as a whole word alone
_OWN_KEY = re.compile(r"[a-z_]+")  # names of ours, in what is written for programs
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_PLAIN = re.compile(
    r"[+\-]?[\d.,]+\w{0,3}"  # a number, with a unit
    r"|(?=.{1,11}$)[A-Za-z]+(?:[_\-][A-Za-z]+)*"  # a word
    r"|(?:~|\.{1,2})?(?:/[\w.\-]+)+/?"  # a path
    r"|[A-Za-z][\w+.\-]*://[^@]*|(?=.{1,60}$)[a-z\d\-]+(?:(?:\.[a-z\d\-]+)+(?::\d+)?|:\d+)"  # an address
)
_PLAIN_HEADERS = {
    "accept", "accept-encoding", "accept-language", "cache-control", "connection", "content-type", "host", "origin",
    "referer", "user-agent",
}  # fmt: skip


class Redactor:
    """Replaces secrets by "***". It knows the secret values it was given and hides them wherever they appear, in each
    form of theirs; `declared` are secrets for sure, of three characters and more."""

    def __init__(self, secret_values: Iterable[str] = (), *, declared: Iterable[str] = ()) -> None:
        declared = set(declared)
        values = {value for value in {*secret_values, *declared} if len(value) >= _SHORTEST_SECRET}
        forms = {form for value in values for form in forms_of(value) if len(form) >= _SHORTEST_SECRET}
        self.known = tuple(sorted(forms - {HIDDEN}, key=lambda form: (-len(form), form)))
        meant = {part for value in values for part in parts_of(value) if len(part) >= _SHORTEST_SECRET} - {HIDDEN}
        self._meant = sorted(map(bytes_of, meant), key=len, reverse=True)
        short = sorted((value for value in declared if _SHORTEST_DECLARED <= len(value) < _SHORTEST_SECRET), key=len)
        words = "|".join(map(re.escape, reversed(short)))
        self._words = re.compile(rf"(?<![A-Za-z0-9])(?:{words})(?![A-Za-z0-9])") if words else None

    @classmethod
    def for_data(
        cls, data: Any, *, environment: Mapping[str, str] | None = None, declared: Iterable[str] = ()
    ) -> Redactor:
        """A redactor that knows the secrets in that plain data, those that it takes from environment variables, the
        values of these with telling names, and those that are `declared`."""
        environment = environment or {}
        found = set(_secrets_of(data, environment))
        found |= {value for name, value in environment.items() if is_secret_name(name)}
        return cls({value for value in found if not stands_for_value(value, "")}, declared=declared)

    def text(self, text: str) -> str:
        """The text without secrets."""
        return hide_in_text(self._without_known(text))

    def cut(self, text: str) -> int:
        """Where a text that goes on may be cut in two, so that no known secret is: what is behind it belongs to what
        follows."""
        longest = max(map(len, self.known), default=0)
        place = max(0, len(text) - longest)
        for form in self.known:  # the longest first: a shorter one may lie across the place that it left
            start = text.find(form, max(0, place - len(form) + 1))
            if 0 <= start < place < start + len(form):
                place = start
        return place

    def tag(self, name: str, value: str) -> str:
        """The value of a tag of that name without secrets."""
        return HIDDEN if value and is_secret_key(name) else self.text(value)

    def message(self, text: str) -> str:
        """A message of ours without secrets. It may name a key that holds one and say what is wrong with it."""
        return hide_in_message(self._without_known(text))

    def command(self, text: str) -> str:
        """The shell command without secrets."""
        return hide_in_text(hide_in_command(self._without_known(text)))

    def data(self, value: Any) -> Any:
        """A copy of plain data (mappings, lists, scalars) without secrets, in its keys as well."""
        return self._data(value, hide_all=False)

    def script_data(self, value: Any) -> Any:
        """The same of what a script made, whose `env` or `headers` may be anything: values by their own keys alone."""
        return self._data(value, hide_all=False, mappings=frozenset())

    def names(self, items: Mapping[str, Any]) -> dict[str, Any]:
        """The items under their names without secrets; of two that are the same then, the second has a number."""
        found: dict[str, Any] = {}
        for key, item in items.items():
            clean = name = self.text(str(key))
            number = 1
            while name in found:
                number += 1
                name = f"{clean} ({number})"
            found[name] = item
        return found

    def _without_known(self, text: str) -> str:
        for form in self.known:
            if form in text:
                text = text.replace(form, HIDDEN)
        if self._meant and "%" in text:
            text = hide_encoded(text, self._meant, HIDDEN)
        return self._words.sub(HIDDEN, text) if self._words is not None else text

    def _data(self, value: Any, hide_all: bool, mappings: frozenset[str] = _HIDDEN_MAPPINGS) -> Any:
        if isinstance(value, Mapping):
            return self._mapping({key: self._entry(str(key), item, hide_all, mappings) for key, item in value.items()})
        if isinstance(value, (list, tuple)):
            return [self._data(item, hide_all, mappings) for item in value]
        if hide_all and value is not None:
            return HIDDEN
        return self.text(value) if isinstance(value, str) else value

    def _mapping(self, items: dict[Any, Any]) -> dict[Any, Any]:
        """The same items where no key has a secret, which is the rule."""
        if all(not isinstance(key, str) or _OWN_KEY.fullmatch(key) or self.text(key) == key for key in items):
            return items
        own = {key: item for key, item in items.items() if not isinstance(key, str) or _OWN_KEY.fullmatch(key)}
        return {**own, **self.names({key: item for key, item in items.items() if key not in own})}

    def _entry(self, key: str, item: Any, hide_all: bool, mappings: frozenset[str]) -> Any:
        if isinstance(item, str) and key in _COMMANDS and not hide_all:
            return self.command(item)
        is_hidden = key.lower() in mappings and isinstance(item, Mapping)
        return self._data(item, hide_all or is_hidden or is_secret_key(key), mappings)


def redact(value: Any) -> Any:
    """Plain data without secrets, using only what it tells itself."""
    return Redactor.for_data(value).data(value)


def _secrets_of(value: Any, environment: Mapping[str, str], inside_secret: bool = False) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            name = str(key).lower()
            if name == "env" and isinstance(item, Mapping):
                yield from _of_variables(item)
            if name in ("headers", "environment") and isinstance(item, Mapping):
                for one, text in item.items():
                    yield from _secrets_of_entry(name, str(one), str(text), environment)
            else:
                yield from _secrets_of(item, environment, inside_secret or is_secret_key(str(key)))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _secrets_of(item, environment, inside_secret)
    elif isinstance(value, str):
        if inside_secret:
            yield value
        yield from _secrets_in(value, environment)


def _of_variables(variables: Mapping[Any, Any]) -> Iterator[str]:
    """Values of variables with names that may tell, unless they are plain."""
    for name, value in variables.items():
        if may_be_secret_variable(str(name)) and not _PLAIN.fullmatch(str(value)):
            yield str(value)


def _secrets_of_entry(mapping: str, name: str, text: str, environment: Mapping[str, str]) -> Iterator[str]:
    """Of one of the `headers`, or of the variables of an `environment`."""
    if mapping == "environment":
        if is_secret_key(name) or not _PLAIN.fullmatch(text):
            yield text
        yield from _secrets_in(text, environment)
        return
    variables = {one: environment.get(one, "") for one in _VARIABLE.findall(text)}
    yield from (value for value in variables.values() if not _PLAIN.fullmatch(value) or is_secret_key(name))
    if "" in variables.values():  # not set, which is told before anything is sent
        return
    text = _VARIABLE.sub(lambda match: variables[match[1]], text)
    if is_secret_key(name):
        yield from _secrets_of_header(name, text)
    elif name.lower() not in _PLAIN_HEADERS and not _PLAIN.fullmatch(text):
        yield text


def _secrets_of_header(name: str, text: str) -> Iterator[str]:
    """The whole value; of `Bearer abc` abc, of Basic also what it encodes, and each cookie."""
    yield text
    if "cookie" in name.lower():
        yield from (value for value in values_of_cookies(text) if not _PLAIN.fullmatch(value))
        return
    scheme, _, credentials = text.partition(" ")
    yield credentials.strip()
    if scheme.lower() == "basic":
        with suppress(ValueError):
            pair = base64.b64decode(credentials, validate=True).decode()
            yield from (pair, pair.partition(":")[2])


def _secrets_in(text: str, environment: Mapping[str, str]) -> Iterator[str]:
    """Those that a text tells itself, as a URL or as a command."""
    for url in urls_with_user(text):
        yield from _password_of(url)
    yield from (value for value in secrets_of_command(text, environment) if not stands_for_value(value, text))
    yield from (value for value in named_values(text) if not _PLAIN.fullmatch(value) and not _VARIABLE.search(value))


def _password_of(url: str) -> Iterator[str]:
    """The password of a URL, as it stands there and as it is meant, and user and password as a header holds them."""
    with suppress(ValueError):
        parts = urlsplit(url)
        if parts.password:
            password = unquote(parts.password)
            yield from (parts.password, password)
            yield base64.b64encode(f"{unquote(parts.username or '')}:{password}".encode()).decode("ascii")
