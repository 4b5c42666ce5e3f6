"""rm, qm, cm: artifacts in local streams and baselines, and the proxy through which clients reach gc.

Where an artifact is meant is said by `context`, a global configuration, or by `configuration`, a local one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from plimsoll_lab.configurations import change_log, openapi
from plimsoll_lab.configurations import local_queries as queries
from plimsoll_lab.configurations.addresses import Addresses
from plimsoll_lab.configurations.answers import (
    Refusal,
    body_of,
    choice,
    endpoint,
    identity,
    page_answer,
    page_of,
    parameters,
    service_app,
    whole,
)
from plimsoll_lab.configurations.contexts import Contexts
from plimsoll_lab.configurations.local_queries import Conflict, Draft, NotThere
from plimsoll_lab.configurations.others import Others
from plimsoll_lab.configurations.published_feed import PublishedFeed, Runs
from plimsoll_lab.configurations.rules import CHANGED_ARTIFACT, NEW_ARTIFACT, NEW_LOCAL
from plimsoll_lab.configurations.tokens import STEP, Tokens, bearer, could_be_token

TOOLS = ("rm", "qm", "cm")
VERSIONED = frozenset(("rm", "qm"))


@dataclass(frozen=True)
class Switches:
    """The known defects, off by default."""

    resolve_each: bool = False
    recount_artifacts: bool = False


@dataclass(frozen=True)
class Tool:
    """What the handlers work with."""

    name: str
    database: Runs
    others: Others
    tokens: Tokens
    contexts: Contexts
    recount: bool
    counts: dict[str, int]
    addresses: Addresses

    @property
    def versioned(self) -> bool:
        return self.name in VERSIONED

    async def run(self, work: Any, *arguments: Any) -> Any:
        """The result of the work. Raises Refusal where something is not there, or not allowed."""
        try:
            return await self.database.run(work, *arguments)
        except NotThere as missing:
            raise Refusal(404, str(missing)) from None
        except Conflict as conflict:
            raise Refusal(409, str(conflict)) from None

    async def configuration_of(self, values: dict[str, str], project: int | None, token: str) -> tuple[int, int | None]:
        """(local configuration, global one or None) that the parameters say. Raises Refusal."""
        context, local = whole(values, "context", None), whole(values, "configuration", None)
        if (context is None) == (local is None):
            raise Refusal(400, "Say where: context (a global configuration) or configuration (a local one), not both.")
        if local is not None:
            return local, None
        assert context is not None
        return (await self.contexts.local_of(context, project, token)).configuration, context


def create_app(
    name: str, database: Runs, others: Others, tokens: Tokens, urls: Mapping[str, str], switches: Switches
) -> Starlette:
    """The tool of that name on a seeded database; `urls` of all services."""
    contexts = Contexts(name, others, switches.resolve_each)
    tool = Tool(name, database, others, tokens, contexts, switches.recount_artifacts, {"proxied": 0}, Addresses(urls))
    published = PublishedFeed(name, urls[name], database, change_log.LOCAL, _members_of(tool.versioned))

    def route(path: str, **handlers: Any) -> Route:
        async def dispatch(request: Request) -> Response:
            user = tokens.user_of(request)
            handler = handlers["GET" if request.method == "HEAD" else request.method]
            answer: Response = await handler(tool, request, user)
            return answer

        return Route(f"/{name}{path}", endpoint(dispatch), methods=list(handlers))

    async def volume(_request: Request) -> Response:
        return JSONResponse(await database.run(queries.volume))

    async def telemetry(_request: Request) -> Response:
        return JSONResponse({**tool.counts, "resolutionsAsked": contexts.asked})

    async def document(_request: Request) -> Response:
        return JSONResponse(openapi.document(name))

    async def healthz(_request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    routes = [
        route("/projects", GET=list_projects),
        route("/configurations", GET=list_configurations, POST=create_configuration),
        route("/configurations/{id}", GET=show_configuration),
        route("/artifacts", GET=list_artifacts, POST=create_artifact),
        route("/artifacts/{id}", GET=show_artifact, PUT=change_artifact, DELETE=delete_artifact),
        *([route("/versions/{id}", GET=show_version)] if tool.versioned else []),
        Route(f"/{name}/proxy/gc/{{rest:path}}", endpoint(_proxied(tool)), methods=["GET"]),
        *published.routes(),
        Route(f"/{name}/volume", endpoint(volume), methods=["GET"]),
        Route(f"/{name}/telemetry", endpoint(telemetry), methods=["GET"]),
        Route("/openapi.json", document),
        Route("/healthz", healthz),
    ]
    return service_app(routes, at_end=others.aclose)


def _members_of(versioned: bool) -> Any:
    def members(connection: Connection, cutoff: int, after: int, limit: int) -> list[tuple[int, str]]:
        return queries.members(connection, versioned, cutoff, after, limit)

    return members


async def list_projects(tool: Tool, request: Request, _user: str) -> Response:
    offset, limit = page_of(parameters(request, ("offset", "limit")))
    rows, total = await tool.run(queries.list_projects, offset, limit)
    return page_answer(rows, total, offset)


async def list_configurations(tool: Tool, request: Request, _user: str) -> Response:
    values = parameters(request, ("project", "kind", "offset", "limit"))
    offset, limit = page_of(values)
    project, kind = whole(values, "project", None), choice(values, "kind", ("stream", "baseline"))
    rows, total = await tool.run(queries.list_configurations, project, kind, offset, limit)
    return page_answer(rows, total, offset)


async def create_configuration(tool: Tool, request: Request, _user: str) -> Response:
    parameters(request, ())
    body = await body_of(request, NEW_LOCAL)
    made = await tool.run(queries.create_configuration, body["kind"], body["from"], body["title"])
    return JSONResponse(made, 201, {"Location": f"/{tool.name}/configurations/{made['id']}"})


async def show_configuration(tool: Tool, request: Request, _user: str) -> Response:
    parameters(request, ())
    found = await tool.run(queries.get_configuration, identity(request))
    if found is None:
        raise Refusal(404, f"There is no configuration {identity(request)}.")
    return JSONResponse(found)


async def list_artifacts(tool: Tool, request: Request, _user: str) -> Response:
    values = parameters(request, ("context", "configuration", "project", "offset", "limit"))
    offset, limit = page_of(values)
    project, token = whole(values, "project", None), bearer(request)
    configuration, context = await tool.configuration_of(values, project, token)
    rows, total = await tool.run(queries.list_artifacts, configuration, offset, limit)
    if tool.contexts.resolve_each and context is not None:
        for row in rows:  # the known defect: what holds for the whole page is asked for each of its artifacts
            row["configuration"] = (await tool.contexts.local_of(context, project, token)).configuration
    else:
        rows = [{**row, "configuration": configuration} for row in rows]
    return page_answer([tool.addresses.outward(row) for row in rows], total, offset)


async def create_artifact(tool: Tool, request: Request, user: str) -> Response:
    values = parameters(request, ("context", "configuration"))
    body = await body_of(request, NEW_ARTIFACT)
    stream, context = await tool.configuration_of(values, body.get("project"), bearer(request))
    draft = Draft(body["title"], body.get("description", ""), _links(tool, body, []), user, context)
    made = await tool.run(queries.create_artifact, stream, draft, tool.versioned, tool.recount)
    return JSONResponse(tool.addresses.outward(made), 201, {"Location": f"/{tool.name}/artifacts/{made['id']}"})


async def show_artifact(tool: Tool, request: Request, _user: str) -> Response:
    """The artifact as a configuration shows it; a defect also without one, as it has no versions."""
    values = parameters(request, ("context", "configuration", "project"))
    wanted = identity(request)
    if not tool.versioned and not values:
        found = await tool.run(queries.get_unversioned, wanted)
        if found is None:
            raise Refusal(404, f"There is no artifact {wanted}.")
        return JSONResponse(tool.addresses.outward(found))
    configuration, _ = await tool.configuration_of(values, whole(values, "project", None), bearer(request))
    found = await tool.run(queries.get_artifact, configuration, wanted)
    if found is None:
        raise Refusal(404, f"There is no artifact {wanted} in the configuration {configuration}.")
    return JSONResponse({**tool.addresses.outward(found), "configuration": configuration})


async def change_artifact(tool: Tool, request: Request, user: str) -> Response:
    values = parameters(request, ("context", "configuration"))
    body = await body_of(request, CHANGED_ARTIFACT)
    stream, context = await tool.configuration_of(values, body.get("project"), bearer(request))
    targets = _links(tool, body, None)
    draft = Draft(body.get("title"), body.get("description"), targets, user, context, body.get("version"))
    changed = await tool.run(queries.change_artifact, stream, identity(request), draft, tool.versioned)
    return JSONResponse(tool.addresses.outward(changed))


async def delete_artifact(tool: Tool, request: Request, user: str) -> Response:
    values = parameters(request, ("context", "configuration", "project"))
    project = whole(values, "project", None)
    stream, _ = await tool.configuration_of(values, project, bearer(request))
    await tool.run(queries.delete_artifact, stream, identity(request), user, tool.versioned)
    return Response(status_code=204)


async def show_version(tool: Tool, request: Request, _user: str) -> Response:
    parameters(request, ())
    found = await tool.run(queries.get_version, identity(request))
    if found is None:
        raise Refusal(404, f"There is no version {identity(request)}.")
    return JSONResponse(tool.addresses.outward(found))


def _proxied(tool: Tool) -> Any:
    async def passed_on(request: Request) -> Response:
        """GET of gc on behalf of the client; jts says first whether its token is good."""
        token, rest = bearer(request), str(request.path_params["rest"])
        first, _, last = rest.partition("/")
        plain = first in ("configurations", "components") and not last
        if not (plain or (first in ("configuration", "components") and last.isascii() and last.isdigit())):
            raise Refusal(404, "The proxy passes on configurations, configuration/NUMBER, components of gc.")
        if not could_be_token(token) or (await tool.others.ask("jts", "/jts/check", token))[0] != 200:
            raise Refusal(401, f"The token is missing, wrong or expired. {STEP}")
        tool.counts["proxied"] += 1
        query = request.scope["query_string"].decode("latin-1")
        status, body = await tool.others.ask("gc", f"/gc/{rest}", token, query)
        return Response(body, status, media_type="application/json")

    return passed_on


def _links(tool: Tool, body: dict[str, Any], otherwise: Any) -> Any:
    if "links" not in body:
        return otherwise
    return [(one["type"], tool.addresses.inward(one["target"])) for one in body["links"]]
