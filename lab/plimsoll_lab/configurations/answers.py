"""How the services of the lab's configurations and links answer, and what they refuse.

An error is {"error": {"status", "message", "mistakes": [{"field", "what"}]}}.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from typing import Any

from sqlalchemy.exc import DBAPIError, IntegrityError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from plimsoll_lab.configurations.admission import Admission
from plimsoll_lab.configurations.rules import BODY_BYTES, ID_AT_MOST, Fields, mistakes_of, text_mistake
from plimsoll_lab.database import raise_mistake
from plimsoll_lab.json_input import Mistake, TooLarge, ascii_json, is_json, parameter_mistakes, strict_json, whole_body

LIMIT_AT_MOST = 200
LIMIT_DEFAULT = 25
OFFSET_AT_MOST = 2**31 - 1
QUERY_LETTERS = 200

Handler = Callable[[Request], Awaitable[Response]]


class Refusal(Exception):
    """A request that is answered with an error."""

    def __init__(self, status: int, message: str, mistakes: Iterable[Mistake] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.mistakes = list(mistakes)


def refused(refusal: Refusal) -> Response:
    """The answer to a refused request."""
    headers = {401: {"WWW-Authenticate": "Bearer"}, 503: {"Retry-After": "1"}}.get(refusal.status)
    error = {
        "status": refusal.status,
        "message": refusal.message,
        "mistakes": [{"field": one.field, "what": one.what} for one in refusal.mistakes],
    }
    return Response(ascii_json({"error": error}), refusal.status, headers, "application/json")


def wrong_input(mistakes: Iterable[Mistake]) -> Refusal:
    """422 with all that is wrong."""
    listed = list(mistakes)
    return Refusal(422, "; ".join(f"{one.field} {one.what}" for one in listed[:20]) + ".", listed)


def endpoint(handler: Handler) -> Handler:
    """The handler, with what it raises put into an answer."""

    async def answer(request: Request) -> Response:
        try:
            return await handler(request)
        except Refusal as refusal:
            return refused(refusal)
        except ClientDisconnect:
            return refused(Refusal(400, "The request was broken off."))
        except IntegrityError:
            return refused(Refusal(409, "Another request has changed the same thing. Read it again, then try again."))
        except DBAPIError as error:
            raise_mistake(error)
            return refused(Refusal(503, "The database does not answer. Try again in a moment."))

    return answer


def service_app(routes: Sequence[BaseRoute], at_end: Callable[[], Awaitable[None]] | None = None) -> Starlette:
    """A service's application; what no route answers is told in the same form. `at_end` is awaited when it ends."""

    async def told(_request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        text = {
            404: "There is nothing at this path. See /openapi.json.",
            405: "This path does not take this method. See /openapi.json.",
        }
        answer = refused(Refusal(status, text.get(status, "The request could not be answered.")))
        if isinstance(error, HTTPException) and error.headers:
            answer.headers.update(error.headers)
        return answer

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        if at_end is not None:
            await at_end()

    return Starlette(
        routes=routes,
        middleware=[Middleware(Admission)],
        exception_handlers={HTTPException: told},
        lifespan=lifespan,
    )


async def body_of(request: Request, fields: Fields) -> dict[str, Any]:
    """The body, which must be a JSON object of these fields. Raises Refusal."""
    if not is_json(request.headers.get("content-type", "")):
        raise Refusal(415, "The body must be JSON. Send Content-Type: application/json.")
    try:
        value = strict_json(await whole_body(request.stream(), BODY_BYTES))
    except TooLarge as error:
        raise Refusal(413, str(error)) from None
    except ValueError:
        raise Refusal(400, "The body is not JSON, or is nested too deeply. Send a JSON object.") from None
    if not isinstance(value, dict):
        raise Refusal(400, "The body must be a JSON object.")
    mistakes = mistakes_of(value, fields)
    if mistakes:
        raise wrong_input(mistakes)
    return value


def parameters(request: Request, known: Iterable[str]) -> dict[str, str]:
    """The query parameters; one that is unknown or given twice is a mistake. Raises Refusal."""
    pairs = request.query_params.multi_items()
    mistakes = parameter_mistakes([name for name, _ in pairs], known)
    for name, value in pairs:
        wrong = text_mistake(value)
        if wrong:
            mistakes.append(Mistake(name[:60], wrong))
        elif len(value) > 2 * ID_LETTERS and name not in ("query", "target", "context"):
            mistakes.append(Mistake(name[:60], "is too long"))
    if mistakes:
        raise Refusal(400, "; ".join(f"{one.field} {one.what}" for one in mistakes[:20]) + ".", mistakes)
    return dict(pairs)


ID_LETTERS = len(str(ID_AT_MOST))


def whole(values: dict[str, str], name: str, default: int | None, least: int = 1, most: int = ID_AT_MOST) -> int | None:
    """The parameter as a whole number, or the default. Raises Refusal."""
    text = values.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= ID_LETTERS and least <= int(text) <= most):
        raise _one_mistake(name, f"must be a whole number from {least} to {most}")
    return int(text)


def page_of(values: dict[str, str]) -> tuple[int, int]:
    """(offset, limit) of the parameters. Raises Refusal."""
    offset = whole(values, "offset", 0, 0, OFFSET_AT_MOST)
    limit = whole(values, "limit", LIMIT_DEFAULT, 1, LIMIT_AT_MOST)
    assert offset is not None and limit is not None
    return offset, limit


def choice(values: dict[str, str], name: str, known: tuple[str, ...]) -> str | None:
    """The parameter, one of `known`, or None. Raises Refusal."""
    text = values.get(name)
    if text is not None and text not in known:
        raise _one_mistake(name, f"must be one of {', '.join(known)}")
    return text


def search_text(values: dict[str, str]) -> str:
    """The parameter `query`; empty finds everything. Raises Refusal."""
    text = values.get("query", "")
    if len(text) > QUERY_LETTERS:
        raise _one_mistake("query", f"must have at most {QUERY_LETTERS} letters")
    return text


def _one_mistake(name: str, what: str) -> Refusal:
    return Refusal(400, f"{name} {what}.", [Mistake(name, what)])


def identity(request: Request, name: str = "id") -> int:
    """The number in the path. Raises Refusal (404: what is no number names nothing)."""
    text = str(request.path_params[name])
    if not (text.isascii() and text.isdigit() and 0 < len(text) <= ID_LETTERS and 1 <= int(text) <= ID_AT_MOST):
        raise Refusal(404, f"'{text[:60]}' is no number of one here. Numbers are 1 to {ID_AT_MOST}.")
    return int(text)


def page_answer(members: list[dict[str, Any]], total: int, offset: int) -> Response:
    """A page of a list: {"members", "total", "offset"}."""
    return JSONResponse({"members": members, "total": total, "offset": offset})
