"""Serve the configurations: the address of the whole in this process, five services in their own, until SIGTERM or
SIGINT.

Ports: the whole has --port P, then gc, rm, qm, cm, jts; with --port 0 each has a free one. This process answers
/rootservices (where the others are), /healthz, /volume, /admin/telemetry and /openapi.json, and no request of users
passes through it.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from plimsoll.errors import InputError
from plimsoll_lab.configurations.answers import service_app
from plimsoll_lab.configurations.data import WantedData, prepare_data
from plimsoll_lab.configurations.load_files import write_load_files
from plimsoll_lab.configurations.openapi import front_document
from plimsoll_lab.configurations.processes import Service, Services
from plimsoll_lab.folder import write_file
from plimsoll_lab.serving import TargetOptions, bound_socket, pin_to_core, say, serve_app, url_of
from plimsoll_lab.supervised import ports_after

SERVICES = ("gc", "rm", "qm", "cm", "jts")
COUNTED = ("gc", "rm", "qm", "cm")
MODULE = "plimsoll_lab.configurations.service"
SHARING_CORE = ("gc", "jts")


@dataclass(frozen=True)
class ServerOptions(TargetOptions):
    """The command line of `plimsoll lab configurations`; what each means is in its --help."""

    components: int | None = None
    artifacts: int | None = None
    resolve_each: bool = False
    recount_artifacts: bool = False
    shared_cpu: int | None = None


def serve(options: ServerOptions) -> int:
    """Seed if need be, serve until told to stop, return 0. Raises InputError before it serves."""
    if options.components == 0:
        raise InputError("Without components there is nothing to work in", "Give --components 1 or more.")
    pin_to_core(options.cpu)
    with contextlib.closing(bound_socket(options.host, options.port)) as listener:
        ports = dict(zip(SERVICES, ports_after(options.host, options.port, len(SERVICES)), strict=True))
        wanted = WantedData(options.components, options.artifacts, options.seed, options.reset)
        prepared = prepare_data(options.data, wanted, options.dsn, say)
        urls = {name: url_of(options.host, ports[name]) for name in SERVICES}
        shared = {
            "host": options.host, "urls": urls, "data": str(options.data), "dsn": options.dsn, "seed": prepared.seed,
            "secret": prepared.secret, "resolve_each": options.resolve_each,
            "recount_artifacts": options.recount_artifacts,
        }  # fmt: skip
        cpus = {name: options.shared_cpu if name in SHARING_CORE else None for name in SERVICES}
        started = [Service(name, ports[name], MODULE, {**shared, "cpu": cpus[name]}) for name in SERVICES]
        services = Services(started, say)
        with contextlib.closing(prepared.lock), services.running():
            url = url_of(options.host, listener.getsockname()[1])
            where = {"url": url, "services": urls}
            write_file(options.data / "services.json", json.dumps(where, indent=1) + "\n")
            study = write_load_files(options.data, url, ports)
            say(f"To load it, in another terminal: plimsoll capacity {study}")
            ready = {"url": url, "users": str(options.data / "users.json"), "study": str(study), "services": urls}
            app = front(urls, services)
            serve_app(app, listener, ready, lifespan="on", keep_going=services.watch)
    return 0


def front(urls: Mapping[str, str], services: Services) -> Starlette:
    """The application of the whole's address."""
    client = httpx.AsyncClient(timeout=10, trust_env=False)

    async def rootservices(_request: Request) -> Response:
        return JSONResponse(dict(urls))

    async def healthz(_request: Request) -> Response:
        up = all(one.up for one in services.all)
        return JSONResponse({"status": "ok" if up else "starting"}, 200 if up else 503)

    async def volume(_request: Request) -> Response:
        """How much each service holds, and sums: for `target.data_volume` of a study, and what put changes in."""
        told = {name: await _asked(name, "volume") for name in COUNTED}
        artifacts = sum(told[name].get("versions", 0) for name in COUNTED)
        links = sum(told[name].get("links", 0) for name in COUNTED)
        changes = sum(told[name].get("changes", 0) for name in COUNTED)
        return JSONResponse({**told, "versions": artifacts, "links": links, "changes": changes})

    async def telemetry(_request: Request) -> Response:
        told = services.states()
        for name in SERVICES:
            told |= {f"{name}.{key}": value for key, value in (await _asked(name, "telemetry")).items()}
        return JSONResponse(told)

    async def show_document(_request: Request) -> Response:
        return JSONResponse(front_document(SERVICES))

    async def _asked(name: str, what: str) -> dict[str, Any]:
        try:
            answer = await client.get(f"{urls[name]}/{name}/{what}")
        except httpx.HTTPError:
            return {}
        return answer.json() if answer.status_code == 200 else {}

    return service_app(
        [
            Route("/rootservices", rootservices),
            Route("/healthz", healthz),
            Route("/volume", volume),
            Route("/admin/telemetry", telemetry),
            Route("/openapi.json", show_document),
        ],
        at_end=client.aclose,
    )
