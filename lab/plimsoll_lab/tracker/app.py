"""The REST paths of the tracker, as a Starlette application.

Handlers read the request, run one transaction and put the answer into words; statements are in `queries.py`.
Every path under /api wants `Authorization: Bearer TOKEN`. Errors are {"error": kind, "error_description": text}.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from sqlalchemy.exc import DBAPIError, IntegrityError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from plimsoll_lab.database import Database, raise_mistake
from plimsoll_lab.json_input import ascii_json
from plimsoll_lab.tracker import queries
from plimsoll_lab.tracker.background import Background
from plimsoll_lab.tracker.calls import Call, Handler, Restore, Tracker
from plimsoll_lab.tracker.json_forms import (
    Refusal,
    caret_of,
    draft_answer,
    ids_of,
    issue_answer,
    no_draft,
    number_of,
    person_answer,
    query_of,
    suggestions_answer,
    text_of,
    texts_of,
)
from plimsoll_lab.tracker.openapi import document
from plimsoll_lab.tracker.page_calls import PAGE_CALLS
from plimsoll_lab.tracker.queries import Change, People, Person
from plimsoll_lab.tracker.schema import PRIORITIES, STATES
from plimsoll_lab.tracker.search_syntax import (
    ATTRIBUTES,
    TAGS,
    UNASSIGNED,
    SyntaxMistake,
    completions,
    parse_command,
    unfinished_word,
)
from plimsoll_lab.tracker.seed import token_digest
from plimsoll_lab.tracker.telemetry import RequestMeter, Telemetry


def create_app(
    database: Database,
    people: People,
    restore: Restore,
    age_recount: bool = False,
    background: Background | None = None,
) -> ASGIApp:
    """The application on a seeded database.

    `restore(connection)` takes the data back to the seeded state; `age_recount` switches the known defect on
    (`queries.py`); `background`, which the caller keeps going, is told of in the telemetry.
    """
    meter = RequestMeter()
    beside = background or Background()
    telemetry = Telemetry(meter, age_recount, beside)
    tracker = Tracker(database, people, telemetry, restore, age_recount)

    def route(path: str, **handlers: Handler) -> Route:
        return Route(path, _endpoint(tracker, handlers), methods=list(handlers))

    async def healthz(_request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def volume(_request: Request) -> Response:
        """How much data there is, for `target.data_volume` of a study; without a token, as probes have none."""
        return JSONResponse({"issues": await database.run(queries.count_all)})

    async def indexing(_request: Request) -> Response:
        """What `plimsoll drain` asks: issues that wait for the text index, and those that it was given."""
        return JSONResponse(await database.run(telemetry.indexing))

    routes = [
        route("/api/issues/{id}", GET=view_issue),
        route("/api/issuesGetter", POST=get_issues),
        route("/api/sortedIssues", GET=sorted_issues),
        route("/api/issuesGetter/count", POST=count_issues),
        route("/api/commands", POST=apply_command),
        route("/api/commands/assist", POST=assist_command),
        route("/api/search/assist", POST=assist_search),
        route("/api/users/me/drafts", POST=create_draft, GET=list_drafts),
        route("/api/users/me/drafts/{id}", POST=update_draft),
        route("/api/issues", POST=create_issue),
        route("/api/users", GET=list_users),
        route("/api/users/me", GET=show_myself),
        route("/api/admin/telemetry", GET=show_telemetry),
        route("/api/admin/reset", POST=reset_data),
        *(route(path, **handlers) for path, handlers in PAGE_CALLS.items()),
        Route("/healthz", healthz),
        Route("/volume", volume),
    ]
    if beside.indexer is not None:
        routes.append(Route("/indexing", indexing))
    described = document(indexing=beside.indexer is not None)

    async def show_document(_request: Request) -> Response:
        return JSONResponse(described)

    routes.append(Route("/openapi.json", show_document))
    return _Metered(Starlette(routes=routes, exception_handlers={HTTPException: _not_routed}), meter)


class _Metered:
    """Counts requests; a plain ASGI wrapper costs a microsecond, Starlette's own kind a hundred."""

    def __init__(self, app: ASGIApp, meter: RequestMeter) -> None:
        self._app, self._meter = app, meter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            self._meter.count()
        await self._app(scope, receive, send)


def _endpoint(tracker: Tracker, handlers: dict[str, Handler]) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        try:
            person = _authenticated(request, tracker.people)
            handler = handlers["GET" if request.method == "HEAD" else request.method]
            return JSONResponse(await handler(Call(tracker, request, person)))
        except Refusal as refusal:
            return _refused(refusal)
        except SyntaxMistake as mistake:
            return _refused(Refusal(400, "invalid_query", str(mistake)))
        except ClientDisconnect:
            return _refused(Refusal(400, "bad_request", "The request was broken off."))
        except IntegrityError:
            return _refused(Refusal(409, "Conflict", "Another request has changed the same thing. Read it again."))
        except DBAPIError as error:
            raise_mistake(error)
            return _refused(Refusal(503, "Unavailable", "The database does not do this now. Try again in a moment."))

    return answer


def _refused(refusal: Refusal) -> Response:
    headers = {"WWW-Authenticate": "Bearer"} if refusal.status == 401 else None
    content = {"error": refusal.kind, "error_description": refusal.text}
    return Response(ascii_json(content), refusal.status, headers, "application/json")


async def _not_routed(_request: Request, error: Exception) -> Response:
    """What the router refuses (no such path, no such method), in the form of the other errors."""
    assert isinstance(error, HTTPException)
    told = {404: "There is nothing at this path.", 405: "This path does not take this method; see Allow."}
    answer = _refused(Refusal(error.status_code, error.detail, f"{told[error.status_code]} See /openapi.json."))
    answer.headers.update(error.headers or {})
    return answer


def _authenticated(request: Request, people: People) -> Person:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    person = people.by_token_sha256.get(token_digest(token.strip())) if scheme.lower() == "bearer" else None
    if person is None:
        raise Refusal(401, "Unauthorized", "Send 'Authorization: Bearer' with a token of users.json.")
    return person


# --- creating ------------------------------------------------------------------------------------------------------


async def create_draft(call: Call) -> Any:
    summary, description = texts_of(await call.json(dict))
    number = await call.tracker.database.run(queries.create_draft, call.person, summary or "", description or "")
    return {"id": f"3-{number}", "summary": summary or "", "description": description or "", "$type": "Issue"}


async def list_drafts(call: Call) -> Any:
    return [draft_answer(row) for row in await call.tracker.database.run(queries.list_drafts, call.person)]


async def update_draft(call: Call) -> Any:
    number = number_of(call.request.path_params["id"])
    summary, description = texts_of(await call.json(dict))
    changes = {key: text for key, text in (("summary", summary), ("description", description)) if text is not None}
    row = await call.tracker.database.run(queries.update_draft, call.person, number, changes)
    if row is None:
        raise no_draft(number)
    return draft_answer(row)


async def create_issue(call: Call) -> Any:
    """From a draft (?draftId=), as the web page does, or from the body alone, as scripts do."""
    recount = call.tracker.age_recount
    summary, description = texts_of(await call.json(dict))
    draft_id = call.request.query_params.get("draftId")
    if draft_id is not None:
        number = number_of(draft_id)
        row = await call.tracker.database.run(queries.publish_draft, call.person, number, recount)
        if row is None:
            raise no_draft(number)
    else:
        if not summary:
            raise Refusal(400, "bad_request", "An issue needs a summary. Send one, or draftId.")
        row = await call.tracker.database.run(queries.create_issue, call.person, summary, description or "", recount)
    return {**issue_answer(row, call.tracker.people), "description": row.description}


# --- finding and viewing -------------------------------------------------------------------------------------------


async def sorted_issues(call: Call) -> Any:
    """Ids of one page, newest first; `before` (an id) goes on after an earlier page."""
    wanted = call.filter(query_of(call.request.query_params))
    limit = call.number("topRoot", queries.PAGE, queries.PAGE_LIMIT)
    before = call.request.query_params.get("before")
    key = None if before is None else number_of(before)
    ids = await call.tracker.database.run(queries.find_ids, wanted, limit, key)
    return {"tree": [{"id": f"2-{number}"} for number in ids], "$type": "IssueTree"}


async def count_issues(call: Call) -> Any:
    wanted = call.filter(query_of(await call.json(dict)))
    count = await call.tracker.database.run(queries.count_matching, wanted)
    exact = wanted.counted or count <= queries.COUNT_LIMIT
    return {"count": count if exact else queries.COUNT_LIMIT, "exact": exact, "$type": "IssueCountResponse"}


async def get_issues(call: Call) -> Any:
    ids = ids_of(await call.json(list))
    rows = await call.tracker.database.run(queries.get_issues, ids)
    return [issue_answer(row, call.tracker.people) for row in rows]


async def view_issue(call: Call) -> Any:
    number = call.issue()
    found = await call.tracker.database.run(queries.get_issue, number)
    if found is None:
        raise Refusal(404, "Not Found", f"There is no issue DEMO-{number}.")
    row, said = found
    people = call.tracker.people
    remarks = [
        {"id": f"4-{c.id}", "text": c.text, "created": c.created_ms, "author": person_answer(people.by_id[c.author_id])}
        for c in said
    ]
    return {**issue_answer(row, people), "description": row.description, "comments": remarks}


async def assist_search(call: Call) -> Any:
    """Completions of the word being typed: attributes, tags, values and summaries of issues."""
    body = await call.json(dict)
    query = query_of(body)
    prefix = unfinished_word(query, caret_of(body))
    words = completions(prefix, (*(f"{name}:" for name in ATTRIBUTES), *(f"#{tag}" for tag in TAGS)))
    words += completions(prefix, (*STATES, *PRIORITIES))
    summaries = await call.tracker.database.run(queries.suggest_summaries, prefix) if len(prefix) > 1 else []
    return {
        "query": query,
        "suggestions": suggestions_answer(words, call.tracker.people, prefix, summaries),
    }


# --- commands ------------------------------------------------------------------------------------------------------


async def apply_command(call: Call) -> Any:
    body = await call.json(dict)
    command = parse_command(text_of(body, "query"), text_of(body, "comment"))
    if command.empty:
        raise Refusal(400, "bad_request", "The command changes nothing. Write one in the key 'query'.")
    ids = ids_of(body.get("issues"))
    change = Change.of(command, call.tracker.people, call.person)
    found = await call.tracker.database.run(queries.apply_change, call.person, ids, change)
    if not found:
        raise Refusal(404, "Not Found", "None of the issues exists. Send ids that /api/sortedIssues gives.")
    return {"issues": [{"id": f"2-{n}", "idReadable": f"DEMO-{n}"} for n in found], "$type": "CommandList"}


async def assist_command(call: Call) -> Any:
    """What the command would do to the issues, and completions of the word being typed."""
    body = await call.json(dict)
    query, tracker = text_of(body, "query"), call.tracker
    ids = ids_of(body.get("issues"))
    rows = await tracker.database.run(queries.get_issues, ids)
    try:
        command = parse_command(query)
        Change.of(command, tracker.people, call.person)
        parts = {"state": command.state, "priority": command.priority, "assignee": command.assignee}
        described = [
            {"description": f"Set {name} to {value} in {len(rows)} issues", "error": False}
            for name, value in parts.items()
            if value is not None
        ]
        if command.comment is not None:
            described.append({"description": f"Add a comment to {len(rows)} issues", "error": False})
    except SyntaxMistake as mistake:
        described = [{"description": str(mistake), "error": True}]
    prefix = unfinished_word(query, caret_of(body))
    words = completions(prefix, ("state", "priority", "assignee", "comment", *STATES, *PRIORITIES, UNASSIGNED))
    return {"query": query, "commands": described, "suggestions": suggestions_answer(words, tracker.people, prefix, [])}


# --- people and the server itself ----------------------------------------------------------------------------------


async def list_users(call: Call) -> Any:
    """Users by login; `$skip` and `$top` page, `query` wants that beginning of a login or name."""
    prefix = call.request.query_params.get("query", "").lower()
    first = call.number("$skip", 0, len(call.tracker.people.all), least=0)
    limit = call.number("$top", queries.PAGE, queries.PAGE_LIMIT)
    found = [p for p in call.tracker.people.all if p.login.startswith(prefix) or p.name.lower().startswith(prefix)]
    return [person_answer(person) for person in found[first : first + limit]]


async def show_myself(call: Call) -> Any:
    return {**person_answer(call.person), "email": call.person.email}


async def show_telemetry(call: Call) -> Any:
    return await call.tracker.database.run(call.tracker.telemetry.read)


async def reset_data(call: Call) -> Any:
    """Back to the seeded data, while serving; requests that come meanwhile wait. Any user may: this is a lab."""
    await call.tracker.database.run_alone(call.tracker.restore)
    return {"status": "reset"}
