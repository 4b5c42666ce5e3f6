"""ldx: what points at an artifact, and how the indexing goes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import anyio.to_thread
from sqlalchemy import Connection
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from plimsoll_lab.configurations.addresses import Addresses
from plimsoll_lab.configurations.answers import (
    Refusal,
    endpoint,
    page_answer,
    page_of,
    parameters,
    service_app,
    whole,
)
from plimsoll_lab.configurations.openapi import operation, parameter, whole_document
from plimsoll_lab.configurations.others import Others
from plimsoll_lab.configurations.rules import ID_AT_MOST, URI_LETTERS, URI_PATTERN, Text, mistakes_of
from plimsoll_lab.configurations.tokens import INDEXER, Tokens
from plimsoll_lab.database import Database
from plimsoll_lab.links import index
from plimsoll_lab.links.index import Sight
from plimsoll_lab.links.indexer import Indexer
from plimsoll_lab.links.page import administration_page

SHOWN_POLLS = 20
INDEXED = ("rm", "qm", "cm")


@dataclass(frozen=True)
class LinkService:
    """What the handlers work with. `lineages` keeps what local configurations see, by service, its number and how often
    the service was set back: that never changes."""

    database: Database
    indexer: Indexer
    others: Others
    tokens: Tokens
    addresses: Addresses
    lineages: dict[tuple[str, int, int], list[Sight]]

    async def sights_of(self, context: int) -> list[Sight]:
        """What a global configuration shows of each stream. Raises Refusal: the index does not know it."""
        resolved = await self.database.run(index.resolve, context)
        if resolved is None:
            raise Refusal(404, f"The index knows no global configuration {context}. It may be polled later.")
        token = self.tokens.new(INDEXER)
        found: list[Sight] = []
        for service, project, local in resolved:
            if service not in self.indexer.tallies:
                continue
            known = (service, local, self.indexer.tallies[service].set_back)
            if known not in self.lineages:
                told = await self.others.found(service, f"/{service}/configurations/{local}", token)
                if told is None:
                    continue
                self.lineages[known] = [
                    Sight(service, project, one["stream"], one["upto"], depth)
                    for depth, one in enumerate(told["lineage"])
                ]
            found += self.lineages[known]
        return found


def create_app(service: LinkService) -> Starlette:
    """The service, whose indexer runs beside it."""

    def route(path: str, method: str, handler: Any, free: bool = False) -> Route:
        async def answer(request: Request) -> Response:
            if not free:
                service.tokens.user_of(request)
            done: Response = await handler(service, request)
            return done

        return Route(path, endpoint(answer), methods=[method])

    async def at_end() -> None:
        await service.others.aclose()

    return service_app(
        [
            route("/ldx/backlinks", "GET", backlinks),
            route("/ldx/status", "GET", show_status, free=True),
            route("/ldx/sources/{name}/history", "GET", show_history, free=True),
            route("/ldx/indexed", "GET", show_indexed, free=True),
            route("/ldx/web", "GET", show_page, free=True),
            route("/ldx/reindex", "POST", reindex),
            route("/openapi.json", "GET", show_document, free=True),
            route("/healthz", "GET", healthz, free=True),
        ],
        at_end=at_end,
    )


async def backlinks(service: LinkService, request: Request) -> Response:
    """What points at `target`, in the global configuration `context`; without one, whatever lives now."""
    values = parameters(request, ("target", "context", "offset", "limit"))
    offset, limit = page_of(values)
    context, target = whole(values, "context", None), values.get("target", "")
    mistakes = mistakes_of({"target": target}, {"target!": Text(8, URI_LETTERS, uri=True)})
    if mistakes:
        raise Refusal(400, f"Say what is pointed at: target {mistakes[0].what}.", mistakes)
    sights = None if context is None else await service.sights_of(context)
    found = await service.database.run(index.pointing_at, service.addresses.inward(target), sights)
    shown = [
        {
            **one,
            "artifact": service.addresses.absolute(one["artifact"]),
            "resource": service.addresses.absolute(one["resource"]),
        }
        for one in found[offset : offset + limit]
    ]
    return page_answer(shown, len(found), offset)


async def show_status(service: LinkService, request: Request) -> Response:
    parameters(request, ())
    return JSONResponse(await _status(service))


async def _status(service: LinkService) -> dict[str, Any]:
    """How each source stands, sums over them, and how large the index is."""
    sources = {name: tally.shown() for name, tally in service.indexer.tallies.items()}
    held = await service.database.run(_held)
    counted = ("found", "changes", "retrieved", "waiting", "busyMs")
    sums = {key: sum(one[key] for one in sources.values()) for key in counted}
    switches = service.indexer.switches
    return {
        "sources": sources, **sums, **held, "pollEverySeconds": switches.poll_every_s,
        "threadsPerSource": switches.threads,
    }  # fmt: skip


def _held(connection: Connection) -> dict[str, int]:
    return {**index.counts(connection), "indexBytes": index.size_bytes(connection)}


async def show_indexed(service: LinkService, request: Request) -> Response:
    """Whether the base of every source has been read: 503 until then."""
    parameters(request, ())
    left = [name for name, tally in service.indexer.tallies.items() if not tally.indexed]
    if left:
        raise Refusal(503, f"The base of {', '.join(left)} is still to be read.")
    return JSONResponse({"status": "ok"})


async def show_history(service: LinkService, request: Request) -> Response:
    """The change log of a source: what each poll retrieved, and how long it took."""
    offset, limit = page_of(parameters(request, ("offset", "limit")))
    name = str(request.path_params["name"])
    if name not in service.indexer.tallies:
        raise Refusal(404, f"There is no source {name[:20]!r}; there are {', '.join(service.indexer.tallies)}.")
    rows, total = await service.database.run(index.history, name, offset, limit)
    return page_answer(rows, total, offset)


async def show_page(service: LinkService, request: Request) -> Response:
    parameters(request, ())
    histories = {
        name: (await service.database.run(index.history, name, 0, SHOWN_POLLS))[0] for name in service.indexer.tallies
    }
    return HTMLResponse(administration_page(await _status(service), histories))


async def reindex(service: LinkService, request: Request) -> Response:
    """Empty the index and read every source from its base again."""
    parameters(request, ())
    await anyio.to_thread.run_sync(service.indexer.reindex)
    return JSONResponse({"status": "begun"}, 202)


async def healthz(_service: LinkService, _request: Request) -> Response:
    return JSONResponse({"status": "ok"})


async def show_document(service: LinkService, _request: Request) -> Response:
    return Response(json.dumps(openapi_document(tuple(service.indexer.tallies))), media_type="application/json")


def openapi_document(sources: tuple[str, ...]) -> dict[str, Any]:
    """OpenAPI 3.1, as /openapi.json serves it."""
    number = {"type": "integer", "minimum": 1, "maximum": ID_AT_MOST}
    text = {"type": "string", "minLength": 8, "maxLength": URI_LETTERS, "pattern": f"^{URI_PATTERN}$"}
    page = [
        parameter("offset", {"type": "integer", "minimum": 0, "maximum": 2**31 - 1}),
        parameter("limit", {"type": "integer", "minimum": 1, "maximum": 200}),
    ]
    members = {"type": "object", "required": ["members", "total", "offset"]}
    name = {"name": "name", "in": "path", "required": True, "schema": {"enum": list(sources)}}
    status = {"type": "object", "required": ["sources", "changes", "retrieved", "links", "indexBytes"]}
    begun = {"type": "object", "required": ["status"]}
    wanted = [parameter("target", text, required=True), parameter("context", number), *page]
    return whole_document(
        "ldx",
        {
            "/ldx/backlinks": {"get": operation("findBacklinks", 200, members, (400, 404), wanted)},
            "/ldx/status": {"get": operation("showStatus", 200, status, (400,), free=True)},
            "/ldx/sources/{name}/history": {
                "get": operation("showHistory", 200, members, (400, 404), [name, *page], free=True)
            },
            "/ldx/reindex": {"post": operation("reindex", 202, begun, (400,))},
        },
    )
