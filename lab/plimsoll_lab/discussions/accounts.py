"""The accounts service: profiles of several users at once, in a process and a database of its own.

    python -m plimsoll_lab.discussions.accounts        started by the forum's server; ends with it

How it gets its options and when it ends: plimsoll_lab/children.py.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import random
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Boolean, Column, Connection, Integer, MetaData, String, Table, insert, select
from sqlalchemy.exc import DBAPIError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from plimsoll.errors import InputError, PlimsollError
from plimsoll_lab.children import OF_A_TERMINAL, options_from_parent, serve_as_child
from plimsoll_lab.database import Database, postgresql_engine, raise_mistake, sqlite_engine
from plimsoll_lab.discussions.accounts_openapi import MOST_USERNAMES, NAME_IN_WORDS, SIZES, USERNAME, document
from plimsoll_lab.discussions.seed import invented_people
from plimsoll_lab.json_input import ascii_json, parameter_mistakes
from plimsoll_lab.serving import bound_socket, server_config, settle_memory

GRACE_S = 1

metadata = MetaData()
profiles = Table(
    "profiles",
    metadata,
    Column("username", String(32), primary_key=True),
    Column("has_image", Boolean, nullable=False),
    Column("version", Integer, nullable=False),
)


@dataclass(frozen=True)
class AccountsOptions:
    """What the forum says when it starts this service; `key` must come with each request."""

    host: str
    port: int
    data: str
    seed: int
    key: str
    dsn: str | None = None


def create_accounts_app(database: Database, key: str) -> Starlette:
    """The application on filled tables."""
    handled = {"requests": 0}

    async def accounts(request: Request) -> Response:
        if not hmac.compare_digest(request.headers.get("x-api-key", "").encode(), key.encode()):
            return _refused(401, "Send the key of this service as X-API-Key.")
        given = request.query_params.multi_items()
        mistakes = parameter_mistakes([name for name, _ in given], ("username",))
        if mistakes:
            return _refused(400, "; ".join(f"{one.field} {one.what}" for one in mistakes[:20]) + ".")
        names = dict(given).get("username", "").split(",")
        if len(names) > MOST_USERNAMES or not all(USERNAME.fullmatch(name) for name in names):
            return _refused(400, f"username must be 1 to {MOST_USERNAMES} names with commas between, {NAME_IN_WORDS}.")
        handled["requests"] += 1
        try:
            return JSONResponse(await database.run(_profiles, names))
        except DBAPIError as error:
            raise_mistake(error)
            return _refused(503, "The database does not do this now. Try again in a moment.")

    async def status(_request: Request) -> Response:
        return JSONResponse({"service": "accounts", **handled})

    async def show_document(_request: Request) -> Response:
        return JSONResponse(document())

    routes = [
        Route("/api/user/v1/accounts", accounts),
        Route("/status", status),
        Route("/healthz", status),
        Route("/openapi.json", show_document),
    ]
    return Starlette(routes=routes, exception_handlers={HTTPException: _not_routed})


def _refused(status: int, text: str, headers: Mapping[str, str] | None = None) -> Response:
    return Response(ascii_json({"detail": text}), status, headers, "application/json")


async def _not_routed(_request: Request, error: Exception) -> Response:
    """What the router refuses (no such path, no such method), in the form of the other errors."""
    assert isinstance(error, HTTPException)
    told = {404: "There is nothing at this path.", 405: "This path does not take this method; see Allow."}
    return _refused(error.status_code, f"{told[error.status_code]} See /openapi.json.", error.headers)


def fill(connection: Connection, seed: int) -> None:
    """Make the profiles of the seeded people, if they are not there; nine in ten have an image."""
    metadata.create_all(connection)
    if connection.execute(select(profiles.c.username).limit(1)).first() is None:
        source = random.Random(seed)
        rows = [
            {"username": one.username, "has_image": source.random() < 0.9, "version": source.randint(1, 10**9)}
            for one in invented_people(seed)
        ]
        connection.execute(insert(profiles), rows)


def _profiles(connection: Connection, names: list[str]) -> list[dict[str, Any]]:
    rows = connection.execute(select(profiles).where(profiles.c.username.in_(names)).order_by(profiles.c.username))
    return [
        {"username": row.username, "profile_image": _image(row.username, row.has_image, row.version)} for row in rows
    ]


def _image(username: str, has_image: bool, version: int) -> dict[str, Any]:
    name = f"profile-images/{username}" if has_image else "static/default"
    suffix = f"?v={version}" if has_image else ""
    addresses = {f"image_url_{size}": f"/{name}_{pixels}.jpg{suffix}" for size, pixels in SIZES.items()}
    return {"has_image": bool(has_image), **addresses}


def serve_accounts(options: AccountsOptions) -> int:
    """Serve until the forum ends. Raises InputError before it serves."""
    listener = bound_socket(options.host, options.port)
    engine = postgresql_engine(options.dsn) if options.dsn else sqlite_engine(Path(options.data) / "accounts.db")
    database = Database(engine)
    try:
        with contextlib.closing(listener), contextlib.closing(database):
            with engine.begin() as connection:
                fill(connection, options.seed)
            settle_memory()
            serve_as_child(server_config(create_accounts_app(database, options.key), grace_s=GRACE_S), listener)
    except DBAPIError as error:
        raise InputError(f"The accounts service has no database: {error.orig}", "Check --dsn.") from None
    return 0


def main() -> int:
    """Read the options from standard input and serve; the forum alone ends this process, no signal does."""
    options = options_from_parent(ignored=(*OF_A_TERMINAL, signal.SIGTERM))
    try:
        return serve_accounts(AccountsOptions(**options))
    except PlimsollError as error:
        print(json.dumps({"ready": False, "what": error.what, "next_step": error.next_step}), flush=True)
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
