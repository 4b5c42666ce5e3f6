"""What every module of the inventory answers errors with, and how handlers become endpoints.

An error is {"errors": [{"message", "code", "parameters": [{"key", "value"}]}]}, as FOLIO's modules word it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from sqlalchemy.exc import DBAPIError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from plimsoll_lab.database import raise_mistake
from plimsoll_lab.inventory.cql import QueryMistake
from plimsoll_lab.json_input import Mistake, ascii_json, is_json, parameter_mistakes, strict_json

LIMIT_AT_MOST = 1000
LIMIT_DEFAULT = 10
OFFSET_AT_MOST = 2**31 - 1
TOKEN_HEADER = "X-Okapi-Token"

Handler = Callable[[Request], Awaitable[Response]]


class Refusal(Exception):
    """A request that is answered with an error."""

    def __init__(self, status: int, code: str, *messages: str, mistakes: Iterable[Mistake] = ()) -> None:
        super().__init__(" ".join(messages))
        self.status = status
        self.errors = [{"message": message, "code": code, "parameters": []} for message in messages] + [
            {"message": f"{one.field} {one.what}", "code": code, "parameters": [{"key": "field", "value": one.field}]}
            for one in mistakes
        ]


def refused(refusal: Refusal) -> Response:
    """The answer to a refused request."""
    headers = {"WWW-Authenticate": TOKEN_HEADER} if refusal.status == 401 else None
    if refusal.status == 503:
        headers = {"Retry-After": "1"}
    return Response(ascii_json({"errors": refusal.errors}), refusal.status, headers, "application/json")


def endpoint(handler: Handler) -> Handler:
    """The handler, with what it raises put into an answer."""

    async def answer(request: Request) -> Response:
        try:
            return await handler(request)
        except Refusal as refusal:
            return refused(refusal)
        except ClientDisconnect:
            return refused(Refusal(400, "body", "The request was broken off."))
        except QueryMistake as mistake:
            return refused(Refusal(400, "invalid_query", str(mistake)))
        except DBAPIError as error:
            raise_mistake(error)
            return refused(Refusal(503, "database", "The database does not answer. Try again in a moment."))

    return answer


def module_app(routes: list[BaseRoute]) -> Starlette:
    """A module's application; what no route answers is told in the same form."""

    async def told(_request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        text = {404: "There is nothing at this path.", 405: "This path does not take this method."}
        answer = refused(Refusal(status, "http", text.get(status, "The request could not be answered.")))
        if isinstance(error, HTTPException) and error.headers:
            answer.headers.update(error.headers)
        return answer

    return Starlette(routes=routes, exception_handlers={HTTPException: told})


async def json_body(request: Request) -> dict[str, Any]:
    """The body, which must be a JSON object. Raises Refusal."""
    if not is_json(request.headers.get("content-type", "")):
        raise Refusal(415, "content_type", "The body must be JSON. Send Content-Type: application/json.")
    try:
        value = strict_json(await request.body())
    except ValueError:
        raise Refusal(400, "json", "The body is not JSON, or is nested too deeply. Send a JSON object.") from None
    if not isinstance(value, dict):
        raise Refusal(400, "json", "The body must be a JSON object.")
    return value


def parameters(request: Request, known: Iterable[str]) -> dict[str, str]:
    """The query parameters; one that is unknown or given twice is an error. Raises Refusal."""
    pairs = request.query_params.multi_items()
    mistakes = parameter_mistakes([name for name, _ in pairs], known)
    if mistakes:
        raise Refusal(400, "parameter", mistakes=mistakes)
    return dict(pairs)


def page_of(values: dict[str, str]) -> tuple[int, int]:
    """(offset, limit) of the parameters. Raises Refusal."""
    rules = {"offset": (0, OFFSET_AT_MOST), "limit": (LIMIT_DEFAULT, LIMIT_AT_MOST)}
    found, mistakes = [], []
    for name, (default, most) in rules.items():
        text = values.get(name)
        good = text is None or (text.isascii() and text.isdigit() and len(text) <= 10 and int(text) <= most)
        if not good:
            mistakes.append(Mistake(name, f"must be a whole number from 0 to {most}, not '{str(text)[:40]}'"))
        found.append(default if text is None or not good else int(text))
    if mistakes:
        raise Refusal(400, "parameter", mistakes=mistakes)
    return found[0], found[1]
