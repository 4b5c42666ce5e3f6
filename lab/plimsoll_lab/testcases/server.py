"""Serve the lab on one address, and perhaps one core, until told to stop.

Once it serves, standard output carries one line: {"ready": true, "url": "http://127.0.0.1:8713", "pid": 4711, …}.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from plimsoll_lab.seeded_data import Wanted
from plimsoll_lab.serving import TargetOptions, bound_socket, pin_to_core, say, serve_app, url_of
from plimsoll_lab.testcases.app import create_app
from plimsoll_lab.testcases.data import open_data
from plimsoll_lab.testcases.methods import Store
from plimsoll_lab.testcases.queries import Fixed
from plimsoll_lab.testcases.sessions import Sessions


@dataclass(frozen=True)
class ServerOptions(TargetOptions):
    """The command line of `plimsoll lab testcases`; what each means is in its --help."""

    cases: int | None = None
    recount_results: bool = False


def serve(options: ServerOptions) -> int:
    """Seed if need be, serve until told to stop, return 0. Raises InputError before it serves."""
    pin_to_core(options.cpu)
    listener = bound_socket(options.host, options.port)
    with contextlib.closing(listener):
        wanted = Wanted(options.cases, options.seed, options.reset)
        data = open_data(options.data, wanted, options.dsn, say=say)
        with contextlib.closing(data):
            with data.database.engine.begin() as connection:
                fixed = Fixed.load(connection)
            app = create_app(Store(data.database, Sessions(), fixed, options.recount_results), data.restore)
            url = url_of(options.host, listener.getsockname()[1])
            serve_app(app, listener, {"url": url, "users": str(options.data / "users.json")})
    return 0
