"""The REST paths of the forum, as a Starlette application.

Handlers read the request, run one transaction of the database and put the answer into words. Paths under
/api/discussion/v1 want a session; what changes something also wants the CSRF token (`people.py`). Errors are
{"developer_message": text, "field_errors": {field: {"developer_message": text}}}, as in Open edX.

Each answer says in X-Transactions how many server-side transactions it took, and in X-Accounts-Calls how many of them
were calls of the accounts service.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from plimsoll_lab.database import Database, raise_mistake
from plimsoll_lab.discussions import changes, people, queries
from plimsoll_lab.discussions.answers import ROOT, comment_answer, page_answer, thread_answer, viewer_answer
from plimsoll_lab.discussions.forms import (
    BODY_BYTES,
    BODY_LETTERS,
    LARGEST_PAGE,
    LARGEST_PAGE_SIZE,
    PAGE_SIZE,
    THREAD_ORDERS,
    TITLE_LETTERS,
    Form,
    Refusal,
    form_fields,
    id_number,
    json_object,
)
from plimsoll_lab.discussions.openapi import document
from plimsoll_lab.discussions.people import CSRF_COOKIE, CSRF_HEADER, SESSION_COOKIE, Viewer
from plimsoll_lab.discussions.profile_images import ProfileImages
from plimsoll_lab.discussions.queries import AnyRow, Listing
from plimsoll_lab.discussions.schema import LEARNER, THREAD_KINDS, UnreadIndex
from plimsoll_lab.discussions.seed import PEOPLE
from plimsoll_lab.discussions.transactions import Fan, Transactions
from plimsoll_lab.json_input import TooLarge, whole_body

JSON_TYPES = ("application/json", "application/merge-patch+json")
FORM_TYPE = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Forum:
    """What the handlers work with. `restore(connection)` takes the data back to the seeded state."""

    database: Database
    images: ProfileImages
    restore: Callable[[Connection], None]
    unread_index: UnreadIndex = "new"
    auto_auth: bool = False
    transactions: Transactions = field(default_factory=Transactions)


@dataclass(frozen=True)
class Call:
    """One request of a viewer who is logged in."""

    forum: Forum
    request: Request
    viewer: Viewer
    fan: Fan

    async def run(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """`work(connection, *arguments)` as one transaction of the database."""
        return await self.forum.database.run(work, *arguments)

    async def changes(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """As `run`, with the viewer as first argument."""
        return await self.run(work, self.viewer, *arguments)

    async def body(self) -> Form:
        """The JSON object of the body."""
        return Form(json_object(await _body(self.request, JSON_TYPES)))

    @property
    def query(self) -> Form:
        return Form(_query(self.request))

    def id(self, what: str) -> int:
        """The id of the path."""
        number = id_number(self.request.path_params["id"])
        if number is None:
            raise _absent(what)
        return number

    async def images(self, wanted: bool, rows: Iterable[AnyRow]) -> dict[str, dict[str, Any]] | None:
        """Images of the rows' authors, if they are wanted."""
        return await self.forum.images.of((row.username for row in rows), self.fan) if wanted else None


Handler = Callable[[Call], Awaitable[Response]]


def create_app(forum: Forum) -> Starlette:
    """The application on a seeded database."""

    def route(path: str, **handlers: tuple[str, Handler]) -> Route:
        return Route(path, _endpoint(forum, handlers), methods=list(handlers))

    def open_route(
        path: str, operation: str, handler: Callable[[Forum, Request], Awaitable[Response]], method: str
    ) -> Route:
        return Route(path, _open_endpoint(forum, operation, handler), methods=[method])

    routes = [
        route(f"{ROOT}/threads/", GET=("thread_list", list_threads), POST=("thread_create", create_thread)),
        route(
            f"{ROOT}/threads/{{id}}/",
            GET=("thread_read", read_thread),
            PATCH=("thread_change", change_thread),
            DELETE=("thread_delete", delete_thread),
        ),
        route(f"{ROOT}/comments/", GET=("comment_list", list_comments), POST=("comment_create", create_comment)),
        route(
            f"{ROOT}/comments/{{id}}/",
            GET=("comment_read", read_comment),
            PATCH=("comment_change", change_comment),
            DELETE=("comment_delete", delete_comment),
        ),
        route("/api/user/v1/me", GET=("me", show_myself)),
        route("/logout", POST=("logout", log_out)),
        route("/admin/reset", POST=("reset", reset_data)),
        open_route("/csrf/api/v1/token", "csrf_token", give_token, "GET"),
        open_route("/api/user/v1/account/login_session/", "login", log_in, "POST"),
        open_route("/auto_auth", "auto_auth", log_in_automatically, "GET"),
        Route("/healthz", _health),
        Route("/volume", _volume(forum)),
        Route("/status", _status(forum)),
        Route("/openapi.json", _openapi(forum)),
    ]

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        await forum.images.close()

    return Starlette(routes=routes, lifespan=lifespan, exception_handlers={HTTPException: _http_error})


def _endpoint(forum: Forum, handlers: dict[str, tuple[str, Handler]]) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        operation, handler = handlers["GET" if request.method == "HEAD" else request.method]
        fan = Fan()
        try:
            viewer = await _viewer(forum, request)
            people.check_token(request.method, request.cookies.get(CSRF_COOKIE), request.headers.get(CSRF_HEADER))
            response = await handler(Call(forum, request, viewer, fan))
        except Refusal as refusal:
            response = _refused(refusal)
        except DBAPIError as error:
            response = _refused(_unavailable(error))
        return _counted(forum, operation, fan, response)

    return answer


def _open_endpoint(
    forum: Forum, operation: str, handler: Callable[[Forum, Request], Awaitable[Response]]
) -> Callable[[Request], Awaitable[Response]]:
    """For paths that need no session."""

    async def answer(request: Request) -> Response:
        try:
            response = await handler(forum, request)
        except Refusal as refusal:
            response = _refused(refusal)
        except DBAPIError as error:
            response = _refused(_unavailable(error))
        return _counted(forum, operation, Fan(), response)

    return answer


def _counted(forum: Forum, operation: str, fan: Fan, response: Response) -> Response:
    forum.transactions.add(operation, fan)
    response.headers["X-Transactions"] = str(1 + fan.calls)
    response.headers["X-Accounts-Calls"] = str(fan.calls)
    return response


def _unavailable(error: DBAPIError) -> Refusal:
    """What is told where the database does not do it now; raises the error where it is a mistake of this program."""
    raise_mistake(error)
    return Refusal(503, "The database does not do this now. Try again in a moment.")


def _refused(refusal: Refusal) -> Response:
    content: dict[str, Any] = {"developer_message": refusal.text}
    if refusal.fields:
        content["field_errors"] = {name: {"developer_message": text} for name, text in refusal.fields.items()}
    return JSONResponse(content, refusal.status)


async def _http_error(_request: Request, error: Exception) -> Response:
    """What the router refuses (no such path, no such method), in the form of the other errors."""
    assert isinstance(error, HTTPException)
    told = {404: "There is no such path; see /openapi.json.", 405: "This path has no such method; see Allow."}
    return JSONResponse(
        {"developer_message": told.get(error.status_code, error.detail)}, error.status_code, error.headers
    )


async def _viewer(forum: Forum, request: Request) -> Viewer:
    session = request.cookies.get(SESSION_COOKIE)
    viewer = await forum.database.run(people.viewer_of, session) if session else None
    if viewer is None:
        raise Refusal(401, "Log in at /api/user/v1/account/login_session/ and send the cookie sessionid.")
    return viewer


async def _body(request: Request, types: tuple[str, ...]) -> bytes:
    """The body, at most BODY_BYTES of it."""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given not in types:
        raise Refusal(415, f"The body has the type '{given[:100]}'. Send {types[0]}.")
    try:
        return await whole_body(request.stream(), BODY_BYTES)
    except TooLarge as error:
        raise Refusal(413, str(error)) from None
    except ClientDisconnect:
        raise Refusal(400, "The body ended early.") from None


def _query(request: Request) -> dict[str, str]:
    try:
        return dict(parse_qsl(request.url.query, keep_blank_values=True, max_num_fields=50))
    except ValueError:
        raise Refusal(400, "The query string has over 50 parameters.") from None


def _absent(what: str) -> Refusal:
    return Refusal(404, f"There is no such {what}.")


# --- threads -------------------------------------------------------------------------------------------------------


async def list_threads(call: Call) -> Response:
    query = call.query
    course = query.text("course_id", 100, required=True)
    page, size = _paging(query)
    topic, author = query.text("topic_id", 50), query.text("author", 32)
    order = query.choice("order_by", THREAD_ORDERS) or THREAD_ORDERS[0]
    wants_images = query.wants_images()
    query.finish()
    listing = Listing(course or "", page, size, topic, author, order)

    def read(connection: Connection) -> Any:
        found = queries.list_threads(connection, listing)
        return found, queries.seen_by(connection, call.viewer.id, found.rows, call.forum.unread_index)

    found, seen = await call.run(read)
    images = await call.images(wants_images, found.rows)
    results = [thread_answer(row, call.viewer, seen, images) for row in found.rows]
    return JSONResponse(page_answer(found, results, f"{ROOT}/threads/", _query(call.request), page, size))


async def read_thread(call: Call) -> Response:
    query = call.query
    wants_images = query.wants_images()
    query.finish()

    def read(connection: Connection) -> AnyRow | None:
        return queries.get_thread(connection, call.id("thread"))

    return await _thread(call, await call.run(read), wants_images)


async def create_thread(call: Call) -> Response:
    form = await call.body()
    values = {
        "course_id": form.text("course_id", 100, required=True),
        "topic_id": form.text("topic_id", 50, required=True),
        "kind": form.choice("type", THREAD_KINDS) or THREAD_KINDS[0],
        "title": form.text("title", TITLE_LETTERS, required=True),
        "body": form.text("raw_body", BODY_LETTERS, required=True),
    }
    form.finish()
    return await _thread(call, await call.changes(changes.create_thread, values), status=201)


async def change_thread(call: Call) -> Response:
    number, form = call.id("thread"), await call.body()
    given = {
        "topic_id": form.text("topic_id", 50),
        "kind": form.choice("type", THREAD_KINDS),
        "title": form.text("title", TITLE_LETTERS),
        "body": form.text("raw_body", BODY_LETTERS),
    }
    voted, read = form.flag("voted"), form.flag("read")
    form.finish()
    values = {name: value for name, value in given.items() if value is not None}
    return await _thread(call, await call.changes(changes.change_thread, number, values, voted, read))


async def delete_thread(call: Call) -> Response:
    if await call.changes(changes.delete_thread, call.id("thread")) is None:
        raise _absent("thread")
    return Response(status_code=204)


async def _thread(call: Call, row: AnyRow | None, wants_images: bool = False, status: int = 200) -> Response:
    if row is None:
        raise _absent("thread")
    seen = await call.run(queries.seen_by, call.viewer.id, [row], call.forum.unread_index)
    images = await call.images(wants_images, [row])
    return JSONResponse(thread_answer(row, call.viewer, seen, images), status)


# --- responses and comments ----------------------------------------------------------------------------------------


async def list_comments(call: Call) -> Response:
    """The responses to a thread."""
    query = call.query
    thread_id = query.id("thread_id", required=True)
    page, size = _paging(query)
    wants_images = query.wants_images()
    query.finish()

    def read(connection: Connection) -> Any:
        if thread_id is None or queries.get_thread(connection, thread_id) is None:
            raise _absent("thread")
        found = queries.list_responses(connection, thread_id, page, size)
        return found, queries.voted_comments(connection, call.viewer.id, found.rows)

    return await _comment_page(call, await call.run(read), wants_images, page, size, f"{ROOT}/comments/")


async def read_comment(call: Call) -> Response:
    """The comments on a response, as in Open edX."""
    query = call.query
    page, size = _paging(query)
    wants_images = query.wants_images()
    query.finish()
    number = call.id("comment")

    def read(connection: Connection) -> Any:
        if queries.get_comment(connection, number) is None:
            raise _absent("comment")
        found = queries.list_children(connection, number, page, size)
        return found, queries.voted_comments(connection, call.viewer.id, found.rows)

    return await _comment_page(call, await call.run(read), wants_images, page, size, call.request.url.path)


async def _comment_page(call: Call, read: Any, wants_images: bool, page: int, size: int, path: str) -> Response:
    found, voted = read
    images = await call.images(wants_images, found.rows)
    results = [comment_answer(row, call.viewer, voted, images) for row in found.rows]
    return JSONResponse(page_answer(found, results, path, _query(call.request), page, size))


async def create_comment(call: Call) -> Response:
    form = await call.body()
    thread_id = form.id("thread_id", required=True)
    parent_id = form.id("parent_id")
    body = form.text("raw_body", BODY_LETTERS, required=True)
    form.finish()
    row = await call.changes(changes.create_comment, thread_id, parent_id, body)
    if row is None:
        raise _absent("thread")
    return JSONResponse(comment_answer(row, call.viewer, set(), None), 201)


async def change_comment(call: Call) -> Response:
    number, form = call.id("comment"), await call.body()
    body = form.text("raw_body", BODY_LETTERS)
    voted, endorsed = form.flag("voted"), form.flag("endorsed")
    form.finish()
    row = await call.changes(changes.change_comment, number, body, voted, endorsed)
    if row is None:
        raise _absent("comment")
    mine = await call.run(queries.voted_comments, call.viewer.id, [row])
    return JSONResponse(comment_answer(row, call.viewer, mine, None))


async def delete_comment(call: Call) -> Response:
    if await call.changes(changes.delete_comment, call.id("comment")) is None:
        raise _absent("comment")
    return Response(status_code=204)


def _paging(query: Form) -> tuple[int, int]:
    page = query.number("page", 1, LARGEST_PAGE)
    return page, query.number("page_size", PAGE_SIZE, LARGEST_PAGE_SIZE)


# --- people and the server itself ----------------------------------------------------------------------------------


async def give_token(_forum: Forum, request: Request) -> Response:
    token = request.cookies.get(CSRF_COOKIE)
    token = token if token and token.isalnum() and len(token) <= 64 else people.new_token()
    response = JSONResponse({"csrfToken": token})
    response.set_cookie(CSRF_COOKIE, token, samesite="lax")
    return response


async def log_in(forum: Forum, request: Request) -> Response:
    people.check_token(request.method, request.cookies.get(CSRF_COOKIE), request.headers.get(CSRF_HEADER))
    form = Form(form_fields(await _body(request, (FORM_TYPE,))))
    email, password = form.text("email", 100, required=True), form.text("password", 100, required=True)
    form.finish()
    found = await forum.database.run(people.log_in, email, password)
    if found is None:
        raise Refusal(403, "Email or password is wrong.")
    return _logged_in(*found)


async def log_in_automatically(forum: Forum, request: Request) -> Response:
    """A session without a password, for load tests; the server must have been started with --auto-auth."""
    if not forum.auto_auth:
        raise Refusal(404, "Automatic login is off. Start the server with --auto-auth.")
    query = Form(_query(request))
    username = query.text("username", 32)
    query.finish()
    found = await forum.database.run(people.log_in_without_password, username or f"user{random.randint(2, PEOPLE):03d}")
    if found is None:
        told = {"username": f"There is no user of that name; there are user001 to user{PEOPLE:03d}."}
        raise Refusal(400, "The request has mistakes in: username. Correct them.", told)
    return _logged_in(*found)


def _logged_in(viewer: Viewer, session: str) -> Response:
    response = JSONResponse(viewer_answer(viewer))
    response.set_cookie(SESSION_COOKIE, session, httponly=True, samesite="lax")
    response.set_cookie(CSRF_COOKIE, people.new_token(), samesite="lax")
    return response


async def log_out(call: Call) -> Response:
    await call.run(people.log_out, call.request.cookies[SESSION_COOKIE])
    response = Response(status_code=204)
    response.delete_cookie(SESSION_COOKIE)
    return response


async def show_myself(call: Call) -> Response:
    return JSONResponse(viewer_answer(call.viewer))


async def reset_data(call: Call) -> Response:
    """Back to the seeded data, while serving; everybody is logged out. A moderator may."""
    if call.viewer.role == LEARNER:
        raise Refusal(403, "Only a moderator may reset the data; user001 is one.")
    await call.forum.database.run_alone(call.forum.restore)
    return JSONResponse({"status": "reset"})


async def _health(_request: Request) -> Response:
    return JSONResponse({"status": "ok"})


def _volume(forum: Forum) -> Callable[[Request], Awaitable[Response]]:
    async def answer(_request: Request) -> Response:
        """How much data there is, for `target.data_volume` of a study; without a session, as probes have none."""
        try:
            return JSONResponse(await forum.database.run(queries.volume))
        except DBAPIError as error:
            return _refused(_unavailable(error))

    return answer


def _status(forum: Forum) -> Callable[[Request], Awaitable[Response]]:
    async def answer(_request: Request) -> Response:
        about = {"database": forum.database.name, "unread_index": forum.unread_index}
        return JSONResponse({**about, **forum.transactions.document()})

    return answer


def _openapi(forum: Forum) -> Callable[[Request], Awaitable[Response]]:
    described = document(forum.auto_auth)

    async def answer(_request: Request) -> Response:
        return JSONResponse(described)

    return answer
