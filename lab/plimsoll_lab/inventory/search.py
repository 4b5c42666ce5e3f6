"""The search module: the interface that the catalogue's pages use, in front of the storage module.

It reads the query, so that a mistake costs the storage nothing, asks the storage for the page, and gives every
instance the links of its pages.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from plimsoll_lab.inventory.answers import Refusal, endpoint, module_app, page_of, parameters
from plimsoll_lab.inventory.cql import parse_query
from plimsoll_lab.inventory.documents import is_identity

ANSWER_LIMIT_S = 60


def create_app(storage_url: str) -> Starlette:
    """The module in front of the storage at that URL."""
    storage = httpx.AsyncClient(
        base_url=storage_url, timeout=httpx.Timeout(ANSWER_LIMIT_S, connect=5), trust_env=False,
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=32, keepalive_expiry=60),
    )  # fmt: skip

    async def healthz(_request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    return module_app(
        [
            Route("/inventory/instances", endpoint(partial(find, storage)), methods=["GET"]),
            Route("/inventory/instances/{id}", endpoint(partial(show, storage)), methods=["GET"]),
            Route("/healthz", healthz),
        ]
    )


async def find(storage: httpx.AsyncClient, request: Request) -> Response:
    """One page of a search, with links."""
    values = parameters(request, ("query", "offset", "limit"))
    page_of(values)
    parse_query(values.get("query", ""))
    answer = await _asked(storage, "/instance-storage/instances", values)
    if answer.status_code != 200:
        return Response(answer.content, answer.status_code, media_type="application/json")
    found = answer.json()
    return JSONResponse(
        {"instances": [_with_links(one) for one in found["instances"]], "totalRecords": found["totalRecords"]}
    )


async def show(storage: httpx.AsyncClient, request: Request) -> Response:
    """One instance, with links."""
    parameters(request, ())
    identity = request.path_params["id"]
    if not is_identity(identity):
        raise Refusal(400, "id", f"'{identity[:60]}' is no id. Ids are UUIDs in lower case.")
    answer = await _asked(storage, f"/instance-storage/instances/{identity}", {})
    if answer.status_code != 200:
        return Response(answer.content, answer.status_code, media_type="application/json")
    return JSONResponse(_with_links(answer.json()))


async def _asked(storage: httpx.AsyncClient, path: str, values: dict[str, str]) -> httpx.Response:
    try:
        return await storage.get(path, params=values)
    except httpx.TimeoutException:
        raise Refusal(504, "storage", f"The storage module did not answer within {ANSWER_LIMIT_S} s.") from None
    except httpx.ConnectError:
        raise Refusal(
            503, "storage", "The storage module does not run. It is started again; try in a moment."
        ) from None
    except httpx.TransportError:
        raise Refusal(502, "storage", "The storage module broke off. See its restarts at /admin/telemetry.") from None


def _with_links(instance: dict[str, Any]) -> dict[str, Any]:
    return {**instance, "links": {"self": f"/inventory/instances/{instance['id']}"}}
