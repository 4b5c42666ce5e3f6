"""Fetching a page again and again over one connection, bounded in time and size, with the time of the round trip.

Secrets: user and password of a URL become a header and are in no message; nor is the query, which may hold a token.
"""

from __future__ import annotations

import base64
import http.client
import os
import re
import socket
import ssl
import time
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import SplitResult, quote, unquote, urlsplit

from plimsoll.errors import InputError
from plimsoll.probes.http.tls_trust import tls_reason
from plimsoll.probes.probe import Clock, ProbeUnavailable
from plimsoll.study.urls import mistake_of_url

LIMIT_S = 2.0
MOST_BYTES = 16 << 20
_PIECE = 1 << 16
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_WHAT_TO_DO = {
    401: "Give its credentials (headers, or user and password in the URL).",
    403: "Give its credentials (headers, or user and password in the URL).",
    404: "Correct the path of the URL.",
}


_FORM, _JSON = "application/x-www-form-urlencoded", "application/json"


@dataclass(frozen=True)
class _Sent:
    """A POST's body and its kind."""

    text: str
    kind: str


@dataclass(frozen=True)
class Fetched:
    """A page as bytes, with its headers (names in lower case), and when it was asked for and there, by this machine's
    clock."""

    body: bytes
    headers: Mapping[str, str]
    sent_unix: float
    received_unix: float

    def text(self) -> str:
        """As UTF-8; what is none becomes U+FFFD."""
        return self.body.decode("utf-8", errors="replace")


def with_variables(headers: Mapping[str, str], key: str) -> dict[str, str]:
    """Headers with ${NAME} taken from the environment. InputError for a variable that is not set."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in os.environ:
            raise InputError(f"the environment has no {match[1]}", f"Set it (export {match[1]}=…).", key=key)
        return os.environ[match[1]]

    return {name: _VARIABLE.sub(value, text) for name, text in headers.items()}


class HttpPage:
    """Where pages are read: `url` (http or https), with `headers`. One at a time; the connection is kept. `trust`:
    which certificates are taken, as a study's keys say (tls_trust.py); those that this machine trusts where it is None.

    InputError for what is no URL; `fetch` raises ProbeUnavailable with a reason that names no secret.
    """

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str] | None = None,
        *,
        trust: ssl.SSLContext | None = None,
        limit_s: float = LIMIT_S,
        most_bytes: int = MOST_BYTES,
        clock: Clock = time.monotonic,
        wall_clock: Clock = time.time,
    ) -> None:
        mistake = mistake_of_url(url)
        if mistake is not None:
            raise InputError(*mistake)
        parts = urlsplit(url)
        self._parts = parts
        self.host = parts.hostname or ""
        self.shown = shown_url(parts)
        self._headers = {
            "User-Agent": "plimsoll",
            "Accept-Encoding": "identity",
            **basic_authorization(parts),
            **(headers or {}),
        }
        self._trust, self._limit_s, self._most_bytes = trust, limit_s, most_bytes
        self._clock, self._wall_clock = clock, wall_clock
        self._connection: http.client.HTTPConnection | None = None

    def fetch(
        self,
        path: str | None = None,
        accept: str = "*/*",
        *,
        form: str | None = None,
        json: str | None = None,
        any_status: bool = False,
    ) -> Fetched:
        """The page at the URL, or at `path` of its host; `form` or `json` is sent as a POST's body. A status other than
        200 is ProbeUnavailable, unless any is wanted."""
        target = path if path is not None else self._parts.path or "/"
        if path is None and self._parts.query:
            target += f"?{self._parts.query}"
        sent = _Sent(form, _FORM) if form is not None else _Sent(json, _JSON) if json is not None else None
        deadline = self._clock() + self._limit_s
        reused = self._connection is not None
        try:
            return self._exchange(target, accept, sent, deadline, any_status)
        except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError) as error:
            self._drop()
            if not reused:
                raise self._unavailable(error) from None
        except Exception as error:
            raise self._unavailable(error) from None
        try:  # a kept connection that the server had closed: once more on a new one
            return self._exchange(target, accept, sent, deadline, any_status)
        except Exception as error:
            raise self._unavailable(error) from None

    def _unavailable(self, error: Exception) -> ProbeUnavailable:
        self._drop()
        if isinstance(error, ProbeUnavailable):
            return error
        return ProbeUnavailable(f"{self.shown} cannot be read: {self._reason(error)}")

    def interrupt(self) -> None:
        """Give up what is under way, from another thread."""
        connection = self._connection
        if connection is not None and connection.sock is not None:
            with suppress(OSError):
                connection.sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the connection."""
        self._drop()

    def _exchange(self, target: str, accept: str, content: _Sent | None, deadline: float, any_status: bool) -> Fetched:
        connection = self._connection or self._connect()
        self._connection = connection
        headers = {**self._headers, "Accept": accept}
        if content is not None:
            headers["Content-Type"] = content.kind
        self._allow(connection, deadline)
        sent = self._wall_clock()
        body = content.text if content is not None else None
        connection.request("GET" if content is None else "POST", target, body=body, headers=headers)
        response = connection.getresponse()
        received = self._wall_clock()
        try:
            page = self._body(response, connection, deadline)
        except BaseException:
            response.close()  # it may hold the socket alone
            raise
        if response.will_close:
            self._drop()
        if response.status != 200 and not any_status:
            step = _WHAT_TO_DO.get(response.status, "See that server's log.")
            if 300 <= response.status < 400:
                where = shown_url(urlsplit(response.headers.get("Location", "")))
                step = f"Give the address it sends to ({where}) as URL." if where else "Correct the URL."
            raise ProbeUnavailable(f"{self.shown} answered with status {response.status}. {step}")
        names = {name.lower(): value for name, value in response.headers.items()}
        return Fetched(page, names, sent, received)

    def _connect(self) -> http.client.HTTPConnection:
        port = self._parts.port
        if self._parts.scheme == "https":
            context = self._trust or ssl.create_default_context()
            return http.client.HTTPSConnection(self.host, port, timeout=self._limit_s, context=context)
        return http.client.HTTPConnection(self.host, port, timeout=self._limit_s)

    def _body(
        self, response: http.client.HTTPResponse, connection: http.client.HTTPConnection, deadline: float
    ) -> bytes:
        pieces, size = [], 0
        packed = response.headers.get("Content-Encoding", "").strip().lower()
        unpack = zlib.decompressobj(wbits=47) if packed in ("gzip", "deflate", "x-gzip") else None
        while True:
            self._allow(connection, deadline)
            piece = response.read1(_PIECE)
            if not piece:
                break
            if unpack is not None:
                piece = unpack.decompress(piece, self._most_bytes - size + 1)
            size += len(piece)
            if size > self._most_bytes:
                self._drop()
                raise ProbeUnavailable(
                    f"{self.shown} is larger than {self._most_bytes >> 20} MiB. Give a page with fewer metrics."
                )
            pieces.append(piece)
        if response.length:  # bytes that were announced and did not come
            self._drop()
            raise ProbeUnavailable(f"{self.shown} ended before its announced length. See that server's log.")
        response.close()  # read1 does not notice the end by itself, and the connection would not be free
        return b"".join(pieces)

    def _allow(self, connection: http.client.HTTPConnection, deadline: float) -> None:
        """Let the socket wait until the deadline, and no longer."""
        left_s = deadline - self._clock()
        if left_s <= 0:
            raise TimeoutError
        connection.timeout = left_s
        if connection.sock is not None:
            connection.sock.settimeout(left_s)

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _reason(self, error: Exception) -> str:
        if isinstance(error, http.client.RemoteDisconnected):
            return "it closed the connection without an answer. See that server's log."
        if isinstance(error, TimeoutError):
            return f"no whole answer within {self._limit_s:g} s. Check that it runs, or raise timeout_s."
        if isinstance(error, ssl.SSLError):
            return tls_reason(error, has_keys=self._trust is not None)
        if isinstance(error, OSError):
            return f"{error.strerror or type(error).__name__}. Check that it runs, and host and port."
        if isinstance(error, http.client.HTTPException):
            return f"this is no HTTP ({type(error).__name__}). Check host and port."
        return f"{type(error).__name__}. Check the URL."


def shown_url(parts: SplitResult) -> str:
    """A URL without user, password, query and fragment."""
    host = parts.hostname or ""
    if ":" in host:
        host = f"[{host}]"
    try:
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        port = ""
    scheme = f"{parts.scheme}://" if parts.scheme else ""
    return f"{scheme}{host}{port}{parts.path}"


def basic_authorization(parts: SplitResult) -> dict[str, str]:
    """The header that user and password of a URL ask for; none without."""
    if parts.username is None and parts.password is None:
        return {}
    pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode('ascii')}"}


def query_of(values: Mapping[str, str]) -> str:
    """A query string or form."""
    return "&".join(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in values.items())
