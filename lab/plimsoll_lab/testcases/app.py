"""The paths of the lab: /json-rpc/ and /xml-rpc/ as Kiwi TCMS has them, /orm/work, and those of every target.

An error of a call is HTTP 200 with the error of its protocol, as both ask for; what is no call at all is 4xx.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from plimsoll_lab.json_input import TooLarge, ascii_json, whole_body
from plimsoll_lab.testcases import queries
from plimsoll_lab.testcases.methods import Caller, Store, call
from plimsoll_lab.testcases.openapi import COOKIE, document
from plimsoll_lab.testcases.protocols import (
    RpcCall,
    json_answer,
    json_batch,
    json_error,
    xml_answer,
    xml_call,
    xml_error,
)
from plimsoll_lab.testcases.values import INVALID_PARAMS, UNAVAILABLE, CallError
from plimsoll_lab.testcases.variants import MOST_CASES, work_without_rpc

LARGEST_BODY_BYTES = 2**20

Restore = Callable[[Connection], None]


def create_app(store: Store, restore: Restore) -> ASGIApp:
    """The application on a seeded database; `restore(connection)` takes the data back to the seeded state."""

    async def json_rpc(request: Request) -> Response:
        body = await whole_body(request.stream(), LARGEST_BODY_BYTES)
        try:
            batch = json_batch(body)
        except CallError as error:
            return Response(ascii_json(json_error(None, error)), 400, media_type="application/json")
        caller = _caller(store, request)
        answers, session = [], None
        for one in batch.calls:
            answer, opened = await _json_call(caller, one)
            session = opened or session
            if answer is not None:
                answers.append(answer)
        if not answers:
            return Response(status_code=204)
        content = ascii_json(answers if batch.listed else answers[0])
        return _with_session(Response(content, media_type="application/json"), session)

    async def xml_rpc(request: Request) -> Response:
        body = await whole_body(request.stream(), LARGEST_BODY_BYTES)
        try:
            wanted = xml_call(body)
        except CallError as error:
            return Response(xml_error(error), 400, media_type="text/xml")
        session = None
        try:
            if isinstance(wanted.arguments, dict):
                raise AssertionError("XML-RPC has no named arguments")
            result = await call(_caller(store, request), wanted.method, wanted.arguments)
            session = result if wanted.method == "Auth.login" else None
            content = xml_answer(result)
        except CallError as error:
            content = xml_error(error)
        return _with_session(Response(content, media_type="text/xml"), session)

    async def orm_work(request: Request) -> Response:
        """The work of R cases and R runs without RPC (variants.py); R is the query parameter `size`."""
        try:
            _ = _caller(store, request).user
            size = request.query_params.get("size", "")
            if not size.isascii() or not size.isdigit() or len(size) > 5 or not 1 <= int(size) <= MOST_CASES:
                raise CallError(INVALID_PARAMS, f"'size' must be a whole number from 1 to {MOST_CASES}.")
            return JSONResponse({"calls": await work_without_rpc(store.run, store.fixed, int(size), store.recount)})
        except CallError as error:
            status = 503 if error.code == UNAVAILABLE else 400 if error.code == INVALID_PARAMS else 403
            return JSONResponse({"error": error.text}, status)

    async def healthz(_request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def volume(_request: Request) -> Response:
        """How much data there is, for `target.data_volume` of a study; without login, as probes have none."""
        try:
            return JSONResponse(await store.run(queries.counts))
        except CallError as error:
            return JSONResponse({"error": error.text}, 503)

    async def reset(request: Request) -> Response:
        """Back to the seeded data, while serving. Any user may: this is a lab."""
        try:
            _ = _caller(store, request).user
            await store.run_alone(restore)
            return JSONResponse(await store.run(queries.counts))
        except CallError as error:
            return JSONResponse({"error": error.text}, 503 if error.code == UNAVAILABLE else 403)

    described = document()

    async def show_document(_request: Request) -> Response:
        return JSONResponse(described)

    return Starlette(
        routes=[
            Route("/json-rpc/", json_rpc, methods=["POST"]),
            Route("/xml-rpc/", xml_rpc, methods=["POST"]),
            Route("/orm/work", orm_work, methods=["POST"]),
            Route("/admin/reset", reset, methods=["POST"]),
            Route("/healthz", healthz),
            Route("/volume", volume),
            Route("/openapi.json", show_document),
        ],
        exception_handlers={ClientDisconnect: _gone, TooLarge: _too_large, HTTPException: _not_routed},
    )


async def _not_routed(_request: Request, error: Exception) -> Response:
    """What the router refuses (no such path, no such method)."""
    assert isinstance(error, HTTPException)
    told = {404: "There is nothing at this path.", 405: "This path does not take this method; see Allow."}
    content = {"error": f"{told[error.status_code]} See /openapi.json."}
    return JSONResponse(content, error.status_code, error.headers)


async def _gone(_request: Request, _error: Exception) -> Response:
    return Response(status_code=400)  # nobody reads it


async def _json_call(caller: Caller, wanted: RpcCall | CallError) -> tuple[dict[str, Any] | None, str | None]:
    """The answer (None to a notification), and the session that a login opened."""
    if isinstance(wanted, CallError):
        return json_error(None, wanted), None
    try:
        result = await call(caller, wanted.method, wanted.arguments)
    except CallError as error:
        return (json_error(wanted.key, error) if wanted.answered else None), None
    opened = result if wanted.method == "Auth.login" else None
    return (json_answer(wanted.key, result) if wanted.answered else None), opened


async def _too_large(_request: Request, error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, 413)


def _caller(store: Store, request: Request) -> Caller:
    session = request.cookies.get(COOKIE)
    return Caller(store, session, store.sessions.person(session))


def _with_session(response: Response, session: str | None) -> Response:
    if session:
        response.set_cookie(COOKIE, session, httponly=True, samesite="lax")
    return response
