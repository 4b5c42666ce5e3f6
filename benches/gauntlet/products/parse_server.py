"""Parse Server: a back end for mobile apps, objects over REST, on PostgreSQL. JavaScript, from npm."""

from __future__ import annotations

import json
import urllib.request
from contextlib import contextmanager
from pathlib import Path

from postgresql_server import PostgresqlServer
from processes import await_answer, on_target_cores, running
from registries import Cache

from plimsoll_lab.ports import free_port
from products.product import Product, Started

KEYS = {"X-Parse-Application-Id": "notes", "Content-Type": "application/json"}


def install(cache: Cache) -> None:
    cache.debian("postgresql")
    cache.npm("parse", "parse-server@8.6.94")


@contextmanager
def stands(cache: Cache, folder: Path) -> Started:
    place, port, log = cache.npm("parse", "parse-server@8.6.94"), free_port(), folder / "parse.log"
    with on_target_cores(PostgresqlServer(preload="")) as database:
        configuration = folder / "parse.json"
        configuration.write_text(
            json.dumps({
                "appId": "notes", "masterKey": "only for the seed", "port": port, "host": "127.0.0.1",
                "databaseURI": database.dsn(), "serverURL": f"http://127.0.0.1:{port}/parse", "logLevel": "error",
                "allowClientClassCreation": True, "mountPath": "/parse", "logsFolder": str(folder / "logs"),
            })
        )  # fmt: skip
        with running(
            ["node", place / "node_modules" / "parse-server" / "bin" / "parse-server", configuration], log
        ) as it:
            await_answer(f"http://127.0.0.1:{port}/parse/health", it, log)
            seed(f"http://127.0.0.1:{port}/parse")
            yield {"BASE_URL": f"http://127.0.0.1:{port}"}


def seed(url: str) -> None:
    """Notes of a hundred owners."""
    for n in range(1500):
        note = {"owner": f"owner{n % 100}", "title": f"Note {n}", "text": "remember " * 30, "stars": n % 6}
        request = urllib.request.Request(f"{url}/classes/Note", json.dumps(note).encode(), headers=KEYS)
        urllib.request.urlopen(request, timeout=60).close()


PRODUCT = Product(
    "parse-server",
    "JavaScript",
    "Parse Server, PostgreSQL",
    "npm parse-server 8.6.94",
    install,
    stands,
    "/parse/health",
)
