"""`python -m plimsoll_lab.inventory.module`: one module as a process of its own, started by `modules.py`.

How it gets its options and says that it serves: plimsoll_lab/children.py. It ends on SIGTERM as well.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from starlette.applications import Starlette

from plimsoll.errors import PlimsollError
from plimsoll_lab.children import options_from_parent, serve_as_child
from plimsoll_lab.inventory.data_directory import open_database
from plimsoll_lab.serving import bound_socket, server_config, settle_memory


def module_of(options: dict[str, Any]) -> Starlette:
    """The application of the module that `options["name"]` says: storage, search or users."""
    if options["name"] == "search":
        from plimsoll_lab.inventory import search

        return search.create_app(options["storage_url"])
    directory = Path(options["data"])
    database = open_database(directory, options.get("dsn"))
    if options["name"] == "users":
        from plimsoll_lab.inventory import users

        return users.create_app(database, users.Tokens((directory / "secret").read_text()))
    from plimsoll_lab.inventory import storage
    from plimsoll_lab.inventory.profiler import Profiler

    profiler = Profiler() if options["profiler"] else None
    if profiler is not None:
        profiler.start()
    return storage.create_app(database, options["missing_index"], options["load_all"], profiler)


def main() -> int:
    """Serve until told to stop; returns 0."""
    options = options_from_parent()
    listener = bound_socket(options["host"], options["port"])
    app = module_of(options)
    settle_memory()
    serve_as_child(server_config(app), listener)
    # Threads that still read a result are not waited for: nothing of them is kept.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except PlimsollError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
