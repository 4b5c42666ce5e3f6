"""The gateway: the one address of the inventory. It asks the users module whether the token is good, then passes the
request on to the module that has the path, and the answer back as it comes, piece by piece.

ROUTES says who has what. Paths without a token: login, health, volume, telemetry, the OpenAPI document.
"""

from __future__ import annotations

import re
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from plimsoll_lab.inventory.answers import TOKEN_HEADER, Refusal, refused
from plimsoll_lab.inventory.documents import DOCUMENT_BYTES
from plimsoll_lab.inventory.openapi import openapi_document
from plimsoll_lab.inventory.seed import REFERENCE_KINDS
from plimsoll_lab.json_input import TooLarge, whole_body

ANSWER_LIMIT_S = 60
PATH_LETTERS = 52_000  # the longest query, of letters that UTF-8 writes in four bytes, percent-encoded
_HOP_BY_HOP = frozenset(
    ("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer", "transfer-encoding",
     "upgrade", "host", "content-length", "date", "server", "accept-encoding")
)  # fmt: skip


@dataclass(frozen=True)
class Route:
    """Who answers a path, by which methods; `free`: without a token."""

    path: re.Pattern[str]
    methods: tuple[str, ...]
    module: str
    free: bool = False


def _route(path: str, methods: str, module: str, free: bool = False) -> Route:
    return Route(re.compile(path.replace("{id}", "[^/]+") + r"\Z"), tuple(methods.split()), module, free)


ROUTES = (
    _route("/authn/login", "POST", "users", free=True),
    _route("/users", "GET", "users"),
    _route("/inventory/instances(/{id})?", "GET", "search"),
    _route("/instance-storage/instances", "GET POST", "storage"),
    _route("/instance-storage/instances/{id}", "GET PUT DELETE", "storage"),
    _route("/instance-bulk/ids", "GET", "storage"),
    *(_route(f"/{kind}", "GET", "storage") for kind in REFERENCE_KINDS),
    _route("/admin/profile", "GET", "storage"),
    _route("/volume", "GET", "storage", free=True),
)
# Answered by the gateway itself.
OWN_PATHS = ("/healthz", "/openapi.json", "/admin/telemetry")


class Gateway:
    """An ASGI application in front of the modules at `urls` (module: URL); `telemetry()` gives the document of
    /admin/telemetry."""

    def __init__(self, urls: Mapping[str, str], telemetry: Callable[[], dict[str, Any]]) -> None:
        self._urls = urls
        self._telemetry = telemetry
        self._client = httpx.AsyncClient(
            timeout=httpx.Timeout(ANSWER_LIMIT_S, connect=5),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=64, keepalive_expiry=60),
            trust_env=False,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        try:
            if self._client.is_closed:  # it is being ended, and this came on a connection that was open already
                raise Refusal(503, "gateway", "The inventory is being ended.")
            await self._answer(scope, receive, send)
        except Refusal as refusal:
            await refused(refusal)(scope, receive, send)
        except ClientDisconnect:
            return  # in the middle of its body, of which nothing is passed on

    async def aclose(self) -> None:
        """Close the connections to the modules."""
        await self._client.aclose()

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        path, method = scope["path"], scope["method"]
        asked = "GET" if method == "HEAD" else method
        if path in OWN_PATHS:
            answer = self._own(path) if asked == "GET" else _wrong_method(("GET",))
            await answer(scope, receive, send)
            return
        route = next((one for one in ROUTES if one.path.match(path)), None)
        if route is None:
            raise Refusal(404, "path", f"There is nothing at {path[:200]}. See /openapi.json.")
        if asked not in route.methods:
            await _wrong_method(route.methods)(scope, receive, send)
            return
        if len(scope["query_string"]) + len(scope["raw_path"]) > PATH_LETTERS:
            raise Refusal(414, "path", f"The address is longer than {PATH_LETTERS} letters. Send a shorter query.")
        headers = Headers(scope=scope)
        body = await _body(scope, receive)
        if not route.free:
            await self._check_token(headers.get(TOKEN_HEADER, ""))
        async with self._passed_on(route.module, scope, body) as passed:
            await _pass_back(passed, route.module, send)

    def _own(self, path: str) -> Response:
        if path == "/openapi.json":
            return JSONResponse(openapi_document())
        told = self._telemetry()
        if path == "/admin/telemetry":
            return JSONResponse(told)
        up = all(value for key, value in told.items() if key.endswith(".up"))
        return JSONResponse({"status": "ok" if up else "starting"}, 200 if up else 503)

    async def _check_token(self, token: str) -> None:
        try:
            answer = await self._client.get(f"{self._urls['users']}/authn/check", headers={TOKEN_HEADER: token})
        except (httpx.TransportError, UnicodeEncodeError) as error:
            raise _trouble("users", error) from None
        if answer.status_code == 401:
            raise Refusal(401, "token", f"Send {TOKEN_HEADER} with a token of POST /authn/login.")
        if answer.status_code != 200:
            raise Refusal(502, "users", "The users module could not check the token.")

    @asynccontextmanager
    async def _passed_on(self, module: str, scope: Scope, body: bytes) -> AsyncIterator[httpx.Response]:
        target = httpx.URL(self._urls[module]).copy_with(raw_path=_target_of(scope))
        headers = [pair for pair in scope["headers"] if pair[0].decode("latin-1") not in _HOP_BY_HOP]
        headers.append((b"accept-encoding", b"identity"))
        request = self._client.build_request(scope["method"], target, headers=headers, content=body or None)
        try:
            answer = await self._client.send(request, stream=True)
        except httpx.TransportError as error:
            raise _trouble(module, error) from None
        try:
            yield answer
        finally:
            await answer.aclose()


class BrokenOff(Exception):
    """A module ended while its answer was passed back; the connection to the client is closed, as nothing else can tell
    it that the answer is not whole."""


async def _pass_back(answer: httpx.Response, module: str, send: Send) -> None:
    headers = [
        (name.lower(), value)
        for name, value in answer.headers.raw
        if name.lower().decode("latin-1") not in _HOP_BY_HOP - {"content-length"}
    ]
    await send({"type": "http.response.start", "status": answer.status_code, "headers": headers})
    try:
        async for piece in answer.aiter_raw():
            await send({"type": "http.response.body", "body": piece, "more_body": True})
    except httpx.TransportError as error:
        print(f"gateway: {module} broke off in the middle of an answer ({type(error).__name__})", file=sys.stderr)
        raise BrokenOff(module) from None
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _body(scope: Scope, receive: Receive) -> bytes:
    try:
        return await whole_body(Request(scope, receive).stream(), DOCUMENT_BYTES)
    except TooLarge as error:
        raise Refusal(413, "size", str(error)) from None


def _target_of(scope: Scope) -> bytes:
    query: bytes = scope["query_string"]
    path: bytes = scope["raw_path"]
    target = path + (b"?" + query if query else b"")
    return b"".join(b"%c" % one if 32 < one < 127 else b"%%%02X" % one for one in target)


def _wrong_method(methods: tuple[str, ...]) -> Response:
    answer = refused(Refusal(405, "method", f"This path takes {', '.join(methods)} only."))
    answer.headers["Allow"] = ", ".join(methods)
    return answer


def _trouble(module: str, error: Exception) -> Refusal:
    if isinstance(error, UnicodeEncodeError):
        return Refusal(401, "token", f"{TOKEN_HEADER} holds letters that no token has.")
    if isinstance(error, httpx.ConnectError):
        return Refusal(503, module, f"The {module} module does not run. It is started again; try in a moment.")
    if isinstance(error, httpx.TimeoutException):
        return Refusal(504, module, f"The {module} module did not answer within {ANSWER_LIMIT_S} s.")
    return Refusal(502, module, f"The {module} module broke off. See its restarts at /admin/telemetry.")


def telemetry_document(states: list[dict[str, Any]]) -> dict[str, Any]:
    """One flat document of the modules' states: "storage.restarts": 0, …"""
    return {f"{state['name']}.{key}": value for state in states for key, value in state.items() if key != "name"}
