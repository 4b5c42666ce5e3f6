"""The users module: login, tokens, who is who. Every request of the gateway asks it whether the token is good.

A token is `payload.signature`, both base64url: the payload is JSON with user and time of expiry, the signature
HMAC-SHA256 under the secret of the data folder. So tokens outlive a restart of the module, and nothing is kept for
each of them.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import anyio.to_thread
from sqlalchemy import select
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from plimsoll_lab.inventory.answers import TOKEN_HEADER, Refusal, endpoint, json_body, module_app, page_of, parameters
from plimsoll_lab.inventory.database import Database
from plimsoll_lab.inventory.schema import users as users_table
from plimsoll_lab.inventory.seed import password_hash
from plimsoll_lab.json_input import Mistake

TOKEN_LIFETIME_S = 12 * 3600
TOKEN_LETTERS = 1000
CREDENTIAL_LETTERS = 100


class Tokens:
    """Makes tokens and checks them; `clock` gives seconds since 1970."""

    def __init__(self, secret: str, clock: Callable[[], float] = time.time) -> None:
        self._secret = secret.encode()
        self._clock = clock

    def new(self, username: str, user_id: str) -> str:
        """A token that is good for TOKEN_LIFETIME_S."""
        payload = {"sub": username, "user_id": user_id, "exp": int(self._clock()) + TOKEN_LIFETIME_S}
        body = _encoded(json.dumps(payload, separators=(",", ":")).encode())
        return f"{body}.{_encoded(self._signature(body))}"

    def holder(self, token: str) -> dict[str, Any] | None:
        """The payload of a good token; None if it is forged, damaged or expired."""
        body, _, signature = token.partition(".")
        if len(token) > TOKEN_LETTERS or not token.isascii():
            return None
        try:
            if not hmac.compare_digest(_decoded(signature), self._signature(body)):
                return None
            payload: dict[str, Any] = json.loads(_decoded(body))
        except (ValueError, binascii.Error):
            return None
        return payload if payload["exp"] > self._clock() else None

    def _signature(self, body: str) -> bytes:
        return hmac.new(self._secret, body.encode(), hashlib.sha256).digest()


def create_app(database: Database, tokens: Tokens) -> Starlette:
    """The module on a seeded database; users are few and fixed, and kept in memory."""
    with database.engine.begin() as connection:
        people = {row.username: row for row in connection.execute(select(users_table).order_by(users_table.c.username))}
    shown = [{"id": row.id, "username": row.username, "personal": {"name": row.name}} for row in people.values()]

    async def healthz(_request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    return module_app(
        [
            Route("/authn/login", endpoint(partial(log_in, people, tokens)), methods=["POST"]),
            Route("/authn/check", endpoint(partial(check, tokens)), methods=["GET"]),
            Route("/users", endpoint(partial(list_users, shown)), methods=["GET"]),
            Route("/healthz", healthz),
        ]
    )


async def log_in(people: dict[str, Any], tokens: Tokens, request: Request) -> Response:
    """Username and password for a token."""
    body = await json_body(request)
    mistakes = [
        Mistake(key, f"must be a text of 1 to {CREDENTIAL_LETTERS} letters")
        for key in ("username", "password")
        if not isinstance(body.get(key), str) or not 1 <= len(body[key]) <= CREDENTIAL_LETTERS
    ]
    mistakes += [Mistake(str(key)[:60], "is not a field") for key in body if key not in ("username", "password")]
    if mistakes:
        raise Refusal(422, "validation", mistakes=mistakes)
    row = people.get(body["username"])
    # Hashed for an unknown user too, so that the time tells nothing.
    password = body["password"].encode(errors="replace").decode()
    hashed = await anyio.to_thread.run_sync(password_hash, password, row.salt if row else "none")
    if row is None or not hmac.compare_digest(hashed, row.password_hash):
        raise Refusal(401, "login", "The username or password is wrong. See users.json in the data folder.")
    token = tokens.new(row.username, row.id)
    return JSONResponse({"okapiToken": token}, 201, {TOKEN_HEADER: token})


async def check(tokens: Tokens, request: Request) -> Response:
    """Whether the token of the header is good; the gateway asks this of every request."""
    holder = tokens.holder(request.headers.get(TOKEN_HEADER, ""))
    if holder is None:
        raise Refusal(401, "token", f"Send {TOKEN_HEADER} with a token of POST /authn/login.")
    return JSONResponse({"username": holder["sub"], "id": holder["user_id"]})


async def list_users(shown: list[dict[str, Any]], request: Request) -> Response:
    offset, limit = page_of(parameters(request, ("offset", "limit")))
    return JSONResponse({"users": shown[offset : offset + limit], "totalRecords": len(shown)})


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decoded(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
