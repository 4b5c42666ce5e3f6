"""Serve the link index beside the `configurations` that it follows, until SIGTERM or SIGINT.

DIR/links.db        the index, unless a DSN is given (then a schema links of that database)
DIR/lock            held by the process that serves from DIR
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

from plimsoll.errors import InputError
from plimsoll_lab.configurations.addresses import Addresses
from plimsoll_lab.configurations.others import Others
from plimsoll_lab.configurations.tokens import INDEXER, Tokens
from plimsoll_lab.database import Database, postgresql_engine, sqlite_engine
from plimsoll_lab.folder import locked_folder, remove_database
from plimsoll_lab.links import index
from plimsoll_lab.links.app import LinkService, create_app
from plimsoll_lab.links.indexer import Indexer, Switches
from plimsoll_lab.links.load_files import write_load_files
from plimsoll_lab.links.source import Source
from plimsoll_lab.seeded_data import database_errors
from plimsoll_lab.serving import bound_socket, pin_to_core, say, serve_app, url_of

KNOWN_SOURCES = ("gc", "rm", "qm", "cm")
DEFAULT_SOURCES = ("gc", "qm", "cm")
TOKEN_KEPT_S = 3600.0
SCHEMA = "links"


@dataclass(frozen=True)
class ServerOptions:
    """The command line of `plimsoll lab links`; what each means is in its --help."""

    data: Path
    configurations: Path
    host: str = "127.0.0.1"
    port: int = 0
    source: Sequence[str] | None = None
    dsn: str | None = None
    cpu: int | None = None
    reset: bool = False
    poll_every: float = 60.0
    threads: int = 2
    reindex_all: bool = False
    keep_versions: bool = False


def serve(options: ServerOptions) -> int:
    """Serve until told to stop, return 0. Raises InputError before it serves."""
    urls, secret = _followed(options.configurations)
    pin_to_core(options.cpu)
    with contextlib.ExitStack() as at_end:
        listener = at_end.enter_context(contextlib.closing(bound_socket(options.host, options.port)))
        at_end.enter_context(contextlib.closing(locked_folder(options.data)))
        tokens, addresses = Tokens(secret), Addresses(urls)
        names = tuple(dict.fromkeys(options.source or DEFAULT_SOURCES))
        _prepare(options, names)
        sources = [Source(name, urls[name], addresses, _token(tokens), options.threads) for name in names]
        engine = _engine(options)
        at_end.callback(engine.dispose)
        switches = Switches(options.poll_every, options.threads, options.reindex_all, options.keep_versions)
        indexer = Indexer(engine, sources, switches)
        database = at_end.enter_context(contextlib.closing(Database(_engine(options))))
        app = create_app(LinkService(database, indexer, Others(urls), tokens, addresses, {}))
        url = url_of(options.host, listener.getsockname()[1])
        study = write_load_files(options.data, url, options.configurations)
        say(f"To load it, in another terminal: plimsoll drain {study}")
        indexer.start()
        at_end.callback(indexer.stop)
        serve_app(app, listener, {"url": url, "study": str(study)}, lifespan="on")
    return 0


def _followed(folder: Path) -> tuple[dict[str, str], str]:
    """URLs and secret of the configurations whose folder it is. Raises InputError."""
    try:
        urls: dict[str, str] = json.loads((folder / "services.json").read_text(encoding="utf-8"))["services"]
        return urls, (folder / "secret").read_text(encoding="utf-8")
    except (OSError, ValueError, KeyError) as error:
        reason = getattr(error, "strerror", None) or "it holds something else"
        step = "Start `plimsoll lab configurations` first, and give its data folder as --configurations."
        raise InputError(f"{folder} is no data folder of running configurations: {reason}", step) from None


def _prepare(options: ServerOptions, sources: Sequence[str]) -> None:
    file = options.data / "links.db"
    if options.dsn is None and options.reset:
        remove_database(file)
    with database_errors("the link index", file if options.dsn is None else None):
        engine = _engine(options)
        try:
            if options.dsn is not None:
                with engine.begin() as connection:
                    connection.exec_driver_sql(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
                engine.dispose()  # connections know a schema that was there when they were opened
            with engine.begin() as connection:
                wrong = index.prepare(connection, sources, options.reset)
        finally:
            engine.dispose()
    if wrong:
        raise InputError(f"{(options.dsn and 'the database') or file} holds {wrong}", "Begin anew with --reset.")


def _engine(options: ServerOptions) -> Engine:
    if options.dsn is None:
        return sqlite_engine(options.data / "links.db", connect_args={"timeout": 30})
    arguments: dict[str, Any] = {"options": f"-csearch_path={SCHEMA}", "connect_timeout": 10}
    return postgresql_engine(options.dsn, connect_args=arguments)


def _token(tokens: Tokens) -> Callable[[], str]:
    """Gives the indexer's token, a new one each hour."""
    kept: list[Any] = [0.0, ""]

    def token() -> str:
        if kept[0] < time.monotonic() or not kept[1]:
            kept[:] = [time.monotonic() + TOKEN_KEPT_S, tokens.new(INDEXER)]
        return str(kept[1])

    return token
