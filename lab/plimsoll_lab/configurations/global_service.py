"""gc: components, and global configurations of streams and baselines. The tools ask it which of their own
configurations a global one means; it asks them whether a local configuration that is to contribute exists."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import Connection
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from plimsoll_lab.configurations import change_log, openapi
from plimsoll_lab.configurations import global_queries as queries
from plimsoll_lab.configurations.answers import (
    Refusal,
    body_of,
    choice,
    endpoint,
    identity,
    page_answer,
    page_of,
    parameters,
    search_text,
    service_app,
    whole,
    wrong_input,
)
from plimsoll_lab.configurations.global_queries import KINDS, Conflict, Contribution, NotThere
from plimsoll_lab.configurations.others import Others
from plimsoll_lab.configurations.published_feed import PublishedFeed, Runs
from plimsoll_lab.configurations.rules import CONTRIBUTION, NEW_COMPONENT, NEW_GLOBAL
from plimsoll_lab.configurations.tokens import Tokens, bearer
from plimsoll_lab.json_input import Mistake


@dataclass(frozen=True)
class GlobalService:
    """What the handlers work with."""

    database: Runs
    others: Others
    tokens: Tokens
    counts: dict[str, int]

    async def change(self, work: Any, *arguments: Any) -> Any:
        """The result of a change. Raises Refusal where it is not allowed."""
        try:
            return await self.database.run(work, *arguments)
        except NotThere as missing:
            raise Refusal(404, str(missing)) from None
        except Conflict as conflict:
            raise Refusal(409, str(conflict)) from None


def create_app(database: Runs, others: Others, tokens: Tokens, url: str) -> Starlette:
    """The service at `url` on a seeded database."""
    service = GlobalService(database, others, tokens, {"resolutions": 0})
    published = PublishedFeed("gc", url, database, change_log.GLOBAL, queries.members)

    def route(path: str, **handlers: Any) -> Route:
        async def dispatch(request: Request) -> Response:
            tokens.user_of(request)
            handler = handlers["GET" if request.method == "HEAD" else request.method]
            answer: Response = await handler(service, request)
            return answer

        return Route(path, endpoint(dispatch), methods=list(handlers))

    async def volume(_request: Request) -> Response:
        return JSONResponse(await database.run(queries.volume))

    async def telemetry(_request: Request) -> Response:
        return JSONResponse(service.counts)

    async def document(_request: Request) -> Response:
        return JSONResponse(openapi.document("gc"))

    async def healthz(_request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    return service_app(
        [
            route("/gc/components", GET=find_components, POST=create_component),
            route("/gc/components/{id}", GET=show_component),
            route("/gc/configurations", GET=find_configurations, POST=create_configuration),
            route("/gc/configuration/{id}", GET=show_configuration, DELETE=delete_configuration),
            route("/gc/configuration/{id}/contributions/{position}", PUT=set_contribution),
            route("/gc/configuration/{id}/commit", POST=commit),
            *published.routes(),
            Route("/gc/volume", endpoint(volume), methods=["GET"]),
            Route("/gc/telemetry", endpoint(telemetry), methods=["GET"]),
            Route("/openapi.json", document),
            Route("/healthz", healthz),
        ],
        at_end=others.aclose,
    )


async def find_components(service: GlobalService, request: Request) -> Response:
    values = parameters(request, ("query", "offset", "limit"))
    offset, limit = page_of(values)
    found = await service.database.run(queries.find_components, search_text(values), offset, limit)
    return page_answer(found.rows, found.total, offset)


async def create_component(service: GlobalService, request: Request) -> Response:
    parameters(request, ())
    body = await body_of(request, NEW_COMPONENT)
    made = await service.database.run(queries.create_component, body["title"])
    return JSONResponse(made, 201, {"Location": f"/gc/components/{made['id']}"})


async def show_component(service: GlobalService, request: Request) -> Response:
    parameters(request, ())
    found = await service.database.run(queries.get_component, identity(request))
    if found is None:
        raise Refusal(404, f"There is no component {identity(request)}.")
    return JSONResponse(found)


async def find_configurations(service: GlobalService, request: Request) -> Response:
    values = parameters(request, ("query", "kind", "component", "offset", "limit"))
    offset, limit = page_of(values)
    kind, component = choice(values, "kind", KINDS), whole(values, "component", None)
    work = partial(queries.find_configurations, offset=offset, limit=limit)
    found = await service.database.run(work, search_text(values), kind, component)
    rows = [
        {"id": row["id"], "title": row["title"], "kind": row["kind"], "component": row["component_id"]}
        for row in found.rows
    ]
    return page_answer(rows, found.total, offset)


async def create_configuration(service: GlobalService, request: Request) -> Response:
    parameters(request, ())
    body = await body_of(request, NEW_GLOBAL)
    made = await service.change(queries.create_configuration, body["kind"], body["from"], body["title"])
    return JSONResponse(made, 201, {"Location": f"/gc/configuration/{made['id']}"})


async def show_configuration(service: GlobalService, request: Request) -> Response:
    """The configuration, what contributes to it directly, and what the whole hierarchy comes to."""
    parameters(request, ())
    found = await service.database.run(_with_resolution, identity(request))
    if found is None:
        raise Refusal(404, f"There is no global configuration {identity(request)}.")
    service.counts["resolutions"] += 1
    return JSONResponse(found)


def _with_resolution(connection: Connection, wanted: int) -> dict[str, Any] | None:
    found = queries.get_configuration(connection, wanted)
    return None if found is None else {**found, "resolved": queries.resolve(connection, wanted)}


async def delete_configuration(service: GlobalService, request: Request) -> Response:
    parameters(request, ())
    await service.change(queries.delete_staging, identity(request))
    return Response(status_code=204)


async def set_contribution(service: GlobalService, request: Request) -> Response:
    parameters(request, ())
    where, position = identity(request), identity(request, "position")
    body = await body_of(request, CONTRIBUTION)
    wanted = await _contribution(service, body, bearer(request))
    return JSONResponse(await service.change(queries.set_contribution, where, position, wanted))


async def _contribution(service: GlobalService, body: dict[str, Any], token: str) -> Contribution:
    local = {"service", "configuration"} & body.keys()
    if ("child" in body) == bool(local) or (local and len(local) < 2):
        raise wrong_input([Mistake("body", "must have service and configuration, or child alone")])
    if "child" in body:
        return Contribution(child=body["child"])
    name, number = body["service"], body["configuration"]
    found = await service.others.found(name, f"/{name}/configurations/{number}", token)
    if found is None:
        raise wrong_input([Mistake("configuration", f"{number} is none of {name}")])
    return Contribution(service=name, project=found["project"], local=number, local_kind=found["kind"])


async def commit(service: GlobalService, request: Request) -> Response:
    parameters(request, ())
    return JSONResponse(await service.change(queries.commit, identity(request)))
