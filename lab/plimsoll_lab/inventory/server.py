"""Serve the inventory: the gateway in this process, its modules in three others, until SIGTERM or SIGINT.

The sockets' ports: the gateway has --port P, storage P+1, search P+2, users P+3; with --port 0 each has a free one.
When all serve, the ready line is printed (plimsoll_lab/serving.py).
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

from plimsoll_lab.inventory.data_directory import Wanted, prepare_data
from plimsoll_lab.inventory.gateway import Gateway, telemetry_document
from plimsoll_lab.inventory.load_files import write_load_files
from plimsoll_lab.inventory.modules import Module, Modules
from plimsoll_lab.serving import TargetOptions, bound_socket, pin_to_core, say, serve_app, url_of
from plimsoll_lab.supervised import ports_after

MODULES = ("storage", "search", "users")


@dataclass(frozen=True)
class ServerOptions(TargetOptions):
    """The command line of `plimsoll lab inventory`; what each means is in its --help."""

    instances: int | None = None
    missing_index: bool = False
    load_all: bool = False
    profiler: bool = False
    memory_limit: int | None = None


def serve(options: ServerOptions) -> int:
    """Seed if need be, serve until told to stop, return 0. Raises InputError before it serves."""
    pin_to_core(options.cpu)
    with contextlib.closing(bound_socket(options.host, options.port)) as listener:
        ports = dict(zip(MODULES, ports_after(options.host, options.port, len(MODULES)), strict=True))
        wanted = Wanted(options.instances, options.seed, options.reset, options.missing_index)
        facts, lock = prepare_data(options.data, wanted, options.dsn, say)
        urls = {name: url_of(options.host, ports[name]) for name in MODULES}
        modules = Modules([_module(name, ports[name], urls, options) for name in MODULES], say)
        with contextlib.closing(lock), modules.running():
            url = url_of(options.host, listener.getsockname()[1])
            study = write_load_files(options.data, url, ports, facts.count)
            say(f"To load it, in another terminal: plimsoll sweep {study}")
            ready = {
                "url": url,
                "users": str(options.data / "users.json"),
                "study": str(study),
                "modules": {one.name: one.port for one in modules.all},
            }
            gateway = Gateway(urls, lambda: telemetry_document(modules.states()))
            # A module that breaks off is told in one line by the gateway, not as a traceback.
            serve_app(gateway, listener, ready, log_level="critical", keep_going=modules.watch, at_end=gateway.aclose)
    return 0


def _module(name: str, port: int, urls: dict[str, str], options: ServerOptions) -> Module:
    given: dict[str, Any] = {"host": options.host, "data": str(options.data), "dsn": options.dsn}
    if name == "search":
        given = {"host": options.host, "storage_url": urls["storage"]}
    if name == "storage":
        given |= {"missing_index": options.missing_index, "load_all": options.load_all, "profiler": options.profiler}
    limit_mb = options.memory_limit if name == "storage" else None
    return Module(name, port, "plimsoll_lab.inventory.module", given, memory_limit_mb=limit_mb)
