"""Asks a running service, by GET alone and one request after the other: no redirect is followed, no proxy used, and
what was asked is kept to be said."""

from __future__ import annotations

import http.client
import re
import time
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from plimsoll.words import count_words, time_words

MOST_ASKED = 300
LONGEST_S = 120.0  # of all questions together
LIMIT_S = 5.0  # of one
TOO_MANY = 429
JSON, HTML = "application/json, */*;q=0.5", "text/html, */*;q=0.5"  # what an answer may be
_MOST_BYTES = 8 * 2**20
_PIECE = 1 << 16
_DOES_SOMETHING = re.compile(
    r"(?:^|[^a-z])(?:log[-_]?out|sign[-_]?out|log[-_]?off|delete|remove|destroy|reset|shut[-_]?down|re[-_]?(?:start|boot|build|index)|"
    r"stop|kill|unsubscribe|revoke|purge|flush|clear|cancel|send|trigger|run|execute|backup|restore|"
    r"import|sync|refresh|approve|confirm|activate|deactivate|enable|disable|create|update|edit|add|migrate|drop|"
    r"login|signin|oauth2?|authorize|callback|checkout|pay|buy|impersonate)(?:$|[^a-z])"
)


@dataclass(frozen=True)
class Told:
    """An answer; status 0 and `trouble` where there was none; `location` of a redirect."""

    status: int
    content_type: str = ""
    body: bytes = b""
    ms: float = 0.0
    trouble: str = ""
    location: str = ""

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 400

    @property
    def words(self) -> str:
        """ "answers 404", "does not answer (timed out)"."""
        return f"answers {self.status}" if self.status else f"does not answer ({self.trouble})"


def does_something(path: str, operation_id: str = "") -> bool:
    """Whether a name says that a GET of it does more than read: /logout, the operation sendReport. Of an operation's
    name the first word is the verb."""
    first_word = _words_of(operation_id).partition("_")[0]
    return bool(
        _DOES_SOMETHING.search(_words_of(re.sub(r"\{[^{}]*\}", "", path))) or _DOES_SOMETHING.search(first_word)
    )


def _words_of(text: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text).lower()


class Asker:
    """Asks below one address, or elsewhere on its host; `asked` has each path with the answer's status."""

    def __init__(self, url: str, token: str | None = None) -> None:
        parts = urlsplit(url)
        self.origin, self._base, self._token = f"{parts.scheme}://{parts.netloc}", parts.path, token
        self._began_s, self._is_limited = time.monotonic(), False
        self._known: dict[tuple[str, str], Told] = {}
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _AsItComes())

    @property
    def asked(self) -> tuple[tuple[str, int], ...]:
        """Each path in its order, and the status of its answer; 0 for none."""
        return tuple({path: told.status for (path, _), told in self._known.items()}.items())

    @property
    def why_no_more(self) -> str | None:
        """Why nothing more is asked; None as long as it is."""
        if self._is_limited:
            return "the service answers 429, too many requests"
        if len(self._known) >= MOST_ASKED:
            return f"{count_words(MOST_ASKED)} questions are enough"
        if time.monotonic() - self._began_s > LONGEST_S:
            return f"{time_words(LONGEST_S)} of questions are enough"
        return None

    def ask(self, path: str, accept: str = JSON) -> Told:
        """The answer to a GET of a path below the address; asked once, then known."""
        return self.ask_whole(self._base + path, accept)

    def ask_whole(self, path: str, accept: str = JSON) -> Told:
        """The same for a path of the host."""
        key = path, accept
        if key not in self._known:
            self._known[key] = self._got(path, accept)
            self._is_limited = self._is_limited or self._known[key].status == TOO_MANY
        return self._known[key]

    def _got(self, path: str, accept: str) -> Told:
        headers: Mapping[str, str] = {"User-Agent": "plimsoll new", "Accept": accept}
        request = urllib.request.Request(self.origin + path, headers=dict(headers), method="GET")
        if self._token is not None:
            request.add_unredirected_header("Authorization", f"Bearer {self._token}")
        began_s = time.monotonic()
        try:
            with self._opener.open(request, timeout=LIMIT_S) as answer:
                if 200 <= answer.status < 300:
                    return self._read(answer, began_s)
                ms, location = 1000 * (time.monotonic() - began_s), answer.headers.get("Location") or ""
                return Told(answer.status, ms=ms, location=location)
        except (OSError, ValueError, http.client.HTTPException) as error:
            cause = getattr(error, "reason", None) or error
            return Told(0, trouble=str(getattr(cause, "strerror", None) or cause or type(error).__name__))

    def _read(self, answer: Any, began_s: float) -> Told:
        body = b""
        while piece := answer.read1(_PIECE):
            body += piece
            if len(body) > _MOST_BYTES or time.monotonic() - began_s > LIMIT_S:
                return Told(0, trouble=f"no end within {time_words(LIMIT_S)} or {_MOST_BYTES >> 20} MiB")
        ms = 1000 * (time.monotonic() - began_s)
        return Told(answer.status, answer.headers.get_content_type(), body, ms)


class _AsItComes(urllib.request.HTTPErrorProcessor):
    """Each answer is one: a redirect is not followed, nor is its address looked at, and a failure raises nothing."""

    def http_response(self, request: Any, response: Any) -> Any:
        return response

    https_response = http_response
