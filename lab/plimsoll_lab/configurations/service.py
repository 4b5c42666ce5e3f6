"""`python -m plimsoll_lab.configurations.service`: gc, rm, qm, cm or jts as a process of its own, started by
`processes.py`. How it gets its options and says that it serves: plimsoll_lab/children.py."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Any

from starlette.applications import Starlette

from plimsoll.errors import PlimsollError
from plimsoll_lab.children import options_from_parent, serve_as_child
from plimsoll_lab.configurations.data import open_database
from plimsoll_lab.configurations.others import Others
from plimsoll_lab.configurations.tokens import Tokens
from plimsoll_lab.serving import bound_socket, pin_to_core, server_config, settle_memory


def main() -> int:
    """Serve until told to stop; returns 0."""
    options = options_from_parent()
    pin_to_core(options["cpu"])
    with contextlib.ExitStack() as at_end:
        listener = at_end.enter_context(bound_socket(options["host"], options["port"]))
        app = _app_of(options, at_end)
        settle_memory()
        serve_as_child(server_config(app, lifespan="on"), listener)
    return 0


def _app_of(options: dict[str, Any], at_end: contextlib.ExitStack) -> Starlette:
    name, urls, tokens = options["name"], options["urls"], Tokens(options["secret"])
    if name == "jts":
        from plimsoll_lab.configurations import user_service

        return user_service.create_app(options["seed"], tokens)
    database = at_end.enter_context(contextlib.closing(open_database(name, Path(options["data"]), options["dsn"])))
    if name == "gc":
        from plimsoll_lab.configurations import global_service

        return global_service.create_app(database, Others(urls), tokens, urls["gc"])
    from plimsoll_lab.configurations import tool_service

    switches = tool_service.Switches(options["resolve_each"], options["recount_artifacts"])
    return tool_service.create_app(name, database, Others(urls), tokens, urls, switches)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except PlimsollError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
