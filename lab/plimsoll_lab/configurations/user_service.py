"""jts: login, and whether a token is good. The proxies of the tools ask it for every request that they pass on."""

from __future__ import annotations

import hmac
from typing import Any

import anyio.to_thread
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from plimsoll_lab.configurations import openapi
from plimsoll_lab.configurations.answers import (
    Refusal,
    body_of,
    endpoint,
    page_answer,
    page_of,
    parameters,
    service_app,
)
from plimsoll_lab.configurations.rules import CREDENTIALS
from plimsoll_lab.configurations.tokens import STEP, Tokens, bearer, invented_users, password_hash


def create_app(seed: int, tokens: Tokens) -> Starlette:
    """The service for the users of that seed; they are few and fixed, and kept in memory."""
    people = {user.username: (user, password_hash(user.password, user.username)) for user in invented_users(seed)}
    shown = [{"username": user.username, "name": user.name} for user, _ in people.values()]
    checks = 0

    async def log_in(request: Request) -> Response:
        parameters(request, ())
        body = await body_of(request, CREDENTIALS)
        known = people.get(body["username"])
        # Hashed for an unknown user too, so that the time tells nothing.
        hashed = await anyio.to_thread.run_sync(password_hash, body["password"], known[0].username if known else "none")
        if known is None or not hmac.compare_digest(hashed, known[1]):
            raise Refusal(401, "The username or password is wrong. See users.json in the data folder.")
        return JSONResponse({"token": tokens.new(known[0].username)}, 201)

    async def check(request: Request) -> Response:
        """Whether the token of the request is good."""
        nonlocal checks
        parameters(request, ())
        checks += 1
        holder = tokens.holder(bearer(request))
        if holder is None:
            raise Refusal(401, f"The token is missing, wrong or expired. {STEP}")
        return JSONResponse({"username": holder})

    async def users(request: Request) -> Response:
        tokens.user_of(request)
        offset, limit = page_of(parameters(request, ("offset", "limit")))
        return page_answer(shown[offset : offset + limit], len(shown), offset)

    async def telemetry(_request: Request) -> Response:
        return JSONResponse({"checks": checks})

    async def document(_request: Request) -> Response:
        return JSONResponse(openapi.document("jts"))

    async def healthz(_request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    routes: list[Any] = [
        Route("/jts/login", endpoint(log_in), methods=["POST"]),
        Route("/jts/check", endpoint(check), methods=["GET"]),
        Route("/jts/users", endpoint(users), methods=["GET"]),
        Route("/jts/telemetry", endpoint(telemetry), methods=["GET"]),
        Route("/openapi.json", document),
        Route("/healthz", healthz),
    ]
    return service_app(routes)
