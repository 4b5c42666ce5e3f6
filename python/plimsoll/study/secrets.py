"""Keeping secrets out of run directories, reports and logs (law 9).

Three nets, each for what the others miss: values under keys with telling names; every value of an `environment`
mapping; and, anywhere in any text, credentials in URLs and query strings, authorization headers, and the values
that the first two nets found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import unquote, urlsplit

HIDDEN = "***"

_WORDS = (
    r"tokens?|passwords?|passwd|passphrase|pwd|secrets?|dsn|cookies?|authorization|credentials?|"
    r"api[_-]?keys?|access[_-]?keys?|private[_-]?keys?|secret[_-]?keys?|session[_-]?id|bearer"
)
_TELLING_KEY = re.compile(rf"(?:^|[_\-. ])(?:{_WORDS})(?:$|[_\-. ])", re.IGNORECASE)
_CAMEL_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_URL_PASSWORD = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.\-]*://)[^\s/?#\"<>]+@")
_NAMED_IN_TEXT = re.compile(
    rf"(?P<name>(?:(?:\b|[_\-])(?:{_WORDS}|PGPASSWORD)\b['\"]?\s*[=:]\s*|--(?:[\w]+-)*(?:{_WORDS})\s+))(?P<kind>(?:Bearer|Basic|Token)\s+)?"
    r"(?P<value>\"[^\"]*\"|'[^']*'|[^\s&;,'\"}]+)",
    re.IGNORECASE,
)
_BEARER = re.compile(r"\b(?P<kind>Bearer|Basic)\s+[A-Za-z0-9._~+/=\-]{6,}", re.IGNORECASE)
_ENVIRONMENT_KEYS = {"environment", "env", "headers"}  # mappings all of whose values are hidden
_SHORTEST_SECRET = 5  # shorter values would blank out innocent text ("1", "on")


def is_secret_key(key: str) -> bool:
    """Whether a key of that name holds a secret: db_password, apiToken, PGPASSWORD, X-Authorization …"""
    spaced = _CAMEL_CASE.sub("_", key)
    return bool(_TELLING_KEY.search(spaced)) or bool(
        re.search(r"(?:password|passwd|secret|token)s?$", key, re.IGNORECASE)
    )


class Redactor:
    """Replaces secrets by "***". It knows the secret values it was given and hides them wherever they appear."""

    def __init__(self, secret_values: Iterable[str] = ()) -> None:
        values = {value for value in secret_values if len(value) >= _SHORTEST_SECRET}
        longest_first = sorted(values, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    @classmethod
    def for_data(cls, data: Any, *, environment: Mapping[str, str] | None = None) -> Redactor:
        """A redactor that knows the secrets in that plain data, and in environment variables with telling names."""
        found = set(_secret_values(data, False))
        found |= {value for name, value in (environment or {}).items() if is_secret_key(name)}
        return cls(found)

    def text(self, text: str) -> str:
        """The text without secrets."""
        if self._known is not None:
            text = self._known.sub(HIDDEN, text)
        text = _URL_PASSWORD.sub(rf"\g<scheme>{HIDDEN}@", text)
        text = _NAMED_IN_TEXT.sub(lambda match: f"{match['name']}{match['kind'] or ''}{HIDDEN}", text)
        return _BEARER.sub(rf"\g<kind> {HIDDEN}", text)

    def data(self, value: Any) -> Any:
        """A copy of plain data (mappings, lists, scalars) without secrets; keys stay."""
        return self._data(value, hide_all=False)

    def _data(self, value: Any, hide_all: bool) -> Any:
        if isinstance(value, Mapping):
            return {key: self._entry(str(key), item, hide_all) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._data(item, hide_all) for item in value]
        if hide_all and value is not None:
            return HIDDEN
        return self.text(value) if isinstance(value, str) else value

    def _entry(self, key: str, item: Any, hide_all: bool) -> Any:
        is_environment = key.lower() in _ENVIRONMENT_KEYS and isinstance(item, Mapping)
        return self._data(item, hide_all or is_environment or is_secret_key(key))


def redact(value: Any) -> Any:
    """Plain data without secrets, using only what it tells itself."""
    return Redactor.for_data(value).data(value)


def _secret_values(value: Any, inside_secret: bool) -> Iterable[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            telling = is_secret_key(str(key))
            yield from _secret_values(item, inside_secret or telling)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _secret_values(item, inside_secret)
    elif inside_secret and isinstance(value, str):
        yield value
    elif isinstance(value, str) and "://" in value and "@" in value:
        yield from _password_of(value)


def _password_of(url: str) -> Iterable[str]:
    """The password of a URL, as it stands there and as it is meant."""
    with suppress(ValueError):
        if password := urlsplit(url).password:
            yield password
            yield unquote(password)
