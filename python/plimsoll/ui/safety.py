"""Who may ask the live page for anything, before any of its addresses is reached.

- Without a token `Host` must be an address or a name of this machine: a name that somebody else made to lead here (DNS
  rebinding) is refused. With one it may be any: under another name the browser has no cookie.
- Without a token only the user who started it is answered (peers.py).
- With a token, the first visit brings it in the address; from then on a cookie has it, which no script can read.
- What changes anything must come from a page of ours: same origin, and the page's own secret (CSRF, in app.py).
- Every answer says what a page may load: nothing from elsewhere.
"""

from __future__ import annotations

import ipaddress
import secrets
import socket
from collections.abc import Awaitable, Callable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from plimsoll.ui.peers import is_turned_away

_OTHERS = "This page is another user's, who can open it to you with a token: plimsoll ui --token.\n"
_HARMLESS = frozenset(("GET", "HEAD"))
_STATIC = "/static/"  # the look alone, which the page that asks for the token needs
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# A report draws with Vega, which makes code, and holds what others wrote: it runs with no origin, and reaches nothing.
REPORT_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; "
    "img-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": PAGE_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # with none at all, forms of our own pages come from an origin "null"
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Safety:
    """Around the app. `host` and `port` are those that it listens at; `token` is None where none is asked for; `enter`
    makes the page that asks for it, and says whether a wrong one was given."""

    def __init__(self, app: ASGIApp, host: str, port: int, token: str | None, enter: Callable[[bool], str]) -> None:
        self._app, self._token, self._enter = app, token, enter
        self._names = {"localhost", host.lower(), *_own_names()}
        self._cookie = f"plimsoll-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        refusal = self._refusal(scope, Headers(scope=scope))

        async def send_safe(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        app: Callable[[Scope, Receive, Send], Awaitable[None]] = self._app if refusal is None else refusal
        await app(scope, receive, send_safe)

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        """What is answered in place of the app; None where it may answer."""
        host = headers.get("host", "")
        if self._token is None and not self._is_ours(host):
            return PlainTextResponse("This name does not lead to this page. Use the address that was printed.\n", 421)
        is_harmless = scope["method"] in _HARMLESS
        if not is_harmless and not self._is_same_origin(headers, host):
            return PlainTextResponse("This came from another page, so nothing was done.\n", 403)
        if self._token is None:
            return PlainTextResponse(_OTHERS, 403) if is_turned_away(scope["client"], scope["server"]) else None
        if scope["path"].startswith(_STATIC):
            return None
        given = _token_of(scope)
        if given is not None and is_harmless:
            return self._entered(scope, given)
        if self._is_known(headers):
            return None
        return HTMLResponse(self._enter(False), 403)

    def _is_ours(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        return name in self._names or _is_address(name)

    @staticmethod
    def _is_same_origin(headers: Headers, host: str) -> bool:
        origin, fetched = headers.get("origin"), headers.get("sec-fetch-site")
        if origin is not None:
            return origin in (f"http://{host}", f"https://{host}") and fetched in (None, "same-origin")
        return fetched in (None, "same-origin")

    def _is_known(self, headers: Headers) -> bool:
        jar = SimpleCookie()
        try:
            jar.load(headers.get("cookie", ""))
        except CookieError:
            return False
        return self._cookie in jar and self._is_token(jar[self._cookie].value)

    def _is_token(self, given: str) -> bool:
        return self._token is not None and secrets.compare_digest(given.encode(), self._token.encode())

    def _entered(self, scope: Scope, given: str) -> Response:
        """The visit that brings the token: it is put in a cookie, and goes from the address."""
        if not self._is_token(given):
            return HTMLResponse(self._enter(True), 403)
        query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        query.pop("token", None)
        rest = urlencode(query, doseq=True)
        path = "/" + scope["path"].lstrip("/")  # "//elsewhere" would lead there
        response = RedirectResponse(f"{path}?{rest}" if rest else path, 303)
        response.set_cookie(self._cookie, given, httponly=True, samesite="strict", path="/")
        return response


def _token_of(scope: Scope) -> str | None:
    found = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True).get("token")
    return found[0] if found else None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _own_names() -> set[str]:
    try:
        return {socket.gethostname().lower()}
    except OSError:
        return set()
