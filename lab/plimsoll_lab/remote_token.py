"""A token for targets that listen elsewhere than on loopback: their data is invented, and so are the passwords of their
users, which anybody can work out from the seed.

PLIMSOLL_LAB_TOKEN holds it, as a command line could be read by everybody; the processes of a target inherit it. It is
the first part of every address, http://host:8710/TOKEN/…, so that load scripts work as they are. Who comes from this
machine needs none: the services of a target call each other.
"""

from __future__ import annotations

import hmac
import ipaddress
import os
import re
import socket
from typing import Any

from plimsoll.errors import InputError

VARIABLE = "PLIMSOLL_LAB_TOKEN"
_FORM = re.compile(r"[A-Za-z0-9_.-]{16,}")
_REFUSED = b"This target needs its token as the first part of the path: http://host:port/TOKEN/\n"


def needs_token(host: str) -> None:
    """Raises InputError if others could come to that address and there is no token for them."""
    if _is_loopback(host):
        return
    token = os.environ.get(VARIABLE, "")
    if not _FORM.fullmatch(token):
        what = f"{host} is not loopback, and {VARIABLE} holds no token" + (
            " of at least 16 letters, digits, '_', '.' and '-'" if token else ""
        )
        raise InputError(what, f"Set {VARIABLE}; it is the first part of the address then. Or leave --host out.")


def behind_token(app: Any) -> Any:
    """The ASGI application, for others than this machine behind the token that this process has, if it has one."""
    token = os.environ.get(VARIABLE, "")
    return _BehindToken(app, token) if token else app


class _BehindToken:
    def __init__(self, app: Any, token: str) -> None:
        self._app, self._token = app, token.encode()

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        first, _, rest = scope["path"].removeprefix("/").partition("/")
        if hmac.compare_digest(first.encode(), self._token):
            raw = scope.get("raw_path") or scope["path"].encode()
            scope = {**scope, "path": f"/{rest}", "raw_path": b"/" + raw.removeprefix(b"/").partition(b"/")[2]}
        elif not _is_this_machine(scope):
            await send({"type": "http.response.start", "status": 401, "headers": [(b"content-type", b"text/plain")]})
            await send({"type": "http.response.body", "body": _REFUSED})
            return
        await self._app(scope, receive, send)


def _is_this_machine(scope: dict[str, Any]) -> bool:
    """Whether the sender's address is loopback's, or the very one that it called."""
    client, server = scope.get("client") or ("",), scope.get("server") or ("",)
    return client[0] != "" and (_is_loopback(client[0]) or client[0] == server[0])


def _is_loopback(host: str) -> bool:
    try:
        found = [ipaddress.ip_address(host)]
    except ValueError:
        try:
            found = [ipaddress.ip_address(address[4][0]) for address in socket.getaddrinfo(host, None)]
        except OSError:
            return True  # nothing can listen there; who tries is told
    return all(one.is_loopback for one in found)
