"""The storage module: instances as JSON documents in the database, their search, bulk export of ids, reference data."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from plimsoll_lab.inventory import queries
from plimsoll_lab.inventory.answers import Handler, Refusal, endpoint, json_body, module_app, page_of, parameters
from plimsoll_lab.inventory.cql import parse_query
from plimsoll_lab.inventory.database import Database
from plimsoll_lab.inventory.documents import is_identity, mistakes_of
from plimsoll_lab.inventory.profiler import Profiler
from plimsoll_lab.inventory.queries import Conflict
from plimsoll_lab.inventory.statements import Dialect
from plimsoll_lab.json_input import Mistake


@dataclass(frozen=True)
class Storage:
    """What the handlers work with."""

    database: Database
    dialect: Dialect
    references: dict[str, list[dict[str, str]]]
    load_all: bool = False
    profiler: Profiler | None = None
    reference_ids: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        ids = frozenset(entry["id"] for entries in self.references.values() for entry in entries)
        object.__setattr__(self, "reference_ids", ids)


def create_app(
    database: Database, missing_index: bool = False, load_all: bool = False, profiler: Profiler | None = None
) -> Starlette:
    """The module on a seeded database; `load_all` switches the known defect on (`queries.py`)."""
    dialect = Dialect(database.name, not missing_index)
    with database.engine.begin() as connection:
        references = queries.list_references(connection)
    storage = Storage(database, dialect, references, load_all, profiler)
    kinds = [
        Route(f"/{kind}", endpoint(partial(list_references, storage, kind)), methods=["GET"]) for kind in references
    ]

    def route(path: str, method: str, handler: Callable[..., Any]) -> Route:
        return Route(path, endpoint(partial(handler, storage)), methods=[method])

    async def healthz(_request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    one = "/instance-storage/instances/{id}"
    by_method: dict[str, Handler] = {
        "GET": partial(get_instance, storage),
        "PUT": partial(replace_instance, storage),
        "DELETE": partial(delete_instance, storage),
    }
    many: dict[str, Handler] = {"GET": partial(search, storage), "POST": partial(create_instance, storage)}
    return module_app(
        [
            Route("/instance-storage/instances", endpoint(_of_methods(many)), methods=list(many)),
            Route(one, endpoint(_of_methods(by_method)), methods=list(by_method)),
            route("/instance-bulk/ids", "GET", export_ids),
            *kinds,
            route("/volume", "GET", volume),
            route("/admin/profile", "GET", show_profile),
            Route("/healthz", healthz),
        ]
    )


def _of_methods(handlers: dict[str, Handler]) -> Handler:
    async def handle(request: Request) -> Response:
        return await handlers["GET" if request.method == "HEAD" else request.method](request)

    return handle


async def search(storage: Storage, request: Request) -> Response:
    """One page of a search."""
    values = parameters(request, ("query", "offset", "limit"))
    offset, limit = page_of(values)
    query = parse_query(values.get("query", ""))
    work = queries.find_page_loading_all if storage.load_all else queries.find_page
    page = await storage.database.read(work, query, storage.dialect, offset, limit)
    text = f'{{"instances":[{",".join(page.documents)}],"totalRecords":{page.total}}}'
    return Response(text.encode(), media_type="application/json")


async def export_ids(storage: Storage, request: Request) -> Response:
    """All ids of a search, streamed."""
    query = parse_query(parameters(request, ("query",)).get("query", ""))
    work = queries.export_ids_loading_all if storage.load_all else queries.export_ids
    pieces = storage.database.stream(work, query, storage.dialect)
    first = await anext(pieces)  # a mistake is told before the answer has begun

    async def all_pieces() -> AsyncIterator[bytes]:
        async with contextlib.aclosing(pieces):  # type: ignore[type-var]  # an async generator
            yield first
            async for piece in pieces:
                yield piece

    return StreamingResponse(all_pieces(), media_type="application/json")


async def list_references(storage: Storage, kind: str, request: Request) -> Response:
    """One kind of reference data."""
    offset, limit = page_of(parameters(request, ("offset", "limit")))
    entries = storage.references[kind]
    return JSONResponse({reference_key(kind): entries[offset : offset + limit], "totalRecords": len(entries)})


def reference_key(kind: str) -> str:
    """The name of the list in the answer: instance-types gives instanceTypes."""
    first, *rest = kind.split("-")
    return first + "".join(word.capitalize() for word in rest)


async def get_instance(storage: Storage, request: Request) -> Response:
    identity = _identity(request)
    document = await storage.database.read(queries.get_instance, identity)
    if document is None:
        raise _not_there(identity)
    return Response(document.encode(), media_type="application/json")


async def create_instance(storage: Storage, request: Request) -> Response:
    document = await _document(storage, request)
    try:
        stored = await storage.database.write(queries.create_instance, document, _now())
    except Conflict as conflict:
        raise Refusal(409, "conflict", str(conflict)) from None
    return JSONResponse(stored, 201, {"Location": f"/instance-storage/instances/{stored['id']}"})


async def replace_instance(storage: Storage, request: Request) -> Response:
    identity = _identity(request)
    document = await _document(storage, request)
    if document.get("id", identity) != identity:
        raise Refusal(422, "validation", mistakes=[Mistake("id", "is not the one of the path")])
    try:
        stored = await storage.database.write(queries.replace_instance, identity, document, _now())
    except Conflict as conflict:
        raise Refusal(409, "conflict", str(conflict)) from None
    if stored is None:
        raise _not_there(identity)
    return Response(status_code=204)


async def delete_instance(storage: Storage, request: Request) -> Response:
    identity = _identity(request)
    if not await storage.database.write(queries.delete_instance, identity):
        raise _not_there(identity)
    return Response(status_code=204)


async def volume(storage: Storage, _request: Request) -> Response:
    """How much data there is, for `target.data_volume` of a study."""
    return JSONResponse({"instances": await storage.database.read(queries.count_all)})


async def show_profile(storage: Storage, request: Request) -> Response:
    """What the profiler saw so far."""
    parameters(request, ())
    if storage.profiler is None:
        raise Refusal(404, "profiler", "The profiler is off. Start the inventory with --profiler.")
    return JSONResponse(storage.profiler.report())


async def _document(storage: Storage, request: Request) -> dict[str, Any]:
    document = await json_body(request)
    mistakes = mistakes_of(document, storage.reference_ids)
    if mistakes:
        raise Refusal(422, "validation", mistakes=mistakes)
    document.pop("metadata", None)  # the server's own
    return document


def _identity(request: Request) -> str:
    identity: str = request.path_params["id"]
    if not is_identity(identity):
        raise Refusal(400, "id", f"'{identity[:60]}' is no id. Ids are UUIDs in lower case.")
    return identity


def _not_there(identity: str) -> Refusal:
    return Refusal(404, "not_found", f"There is no instance {identity}.")


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
