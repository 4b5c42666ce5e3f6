"""PocketBase: a back end with sign-in, records and rules on SQLite. Go, from the Go module proxy."""

from __future__ import annotations

import json
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from processes import await_answer, done, running
from registries import Cache

from plimsoll_lab.ports import free_port
from products.product import Product, Started

MODULE = (
    "pocketbase", "github.com/pocketbase/pocketbase", "v0.36.8", "github.com/pocketbase/pocketbase/examples/base"
)  # fmt: skip
ADMIN = {"identity": "admin@example.org", "password": "only for the bench"}
POSTS = {
    "name": "posts", "type": "base", "listRule": "", "viewRule": "", "createRule": "",
    "fields": [
        {"name": "title", "type": "text"}, {"name": "text", "type": "text"}, {"name": "topic", "type": "text"},
        {"name": "likes", "type": "number"},
        {"name": "created", "type": "autodate", "onCreate": True},
    ],
    "indexes": ["CREATE INDEX posts_topic ON posts (topic)"],
}  # fmt: skip


def install(cache: Cache) -> None:
    cache.go(*MODULE)


@contextmanager
def stands(cache: Cache, folder: Path) -> Started:
    program, port, log = cache.go(*MODULE), free_port(), folder / "pocketbase.log"
    data = f"--dir={folder / 'data'}"
    done([program, "superuser", "upsert", ADMIN["identity"], ADMIN["password"], data], log)
    url = f"http://127.0.0.1:{port}"
    with running([program, "serve", f"--http=127.0.0.1:{port}", data], log) as process:
        await_answer(f"{url}/api/health", process, log)
        token = call(f"{url}/api/collections/_superusers/auth-with-password", ADMIN)["token"]
        call(f"{url}/api/collections", POSTS, token)
        for n in range(1500):
            post = {"title": f"Post {n}", "text": "words " * 80, "topic": f"topic{n % 40}", "likes": n % 90}
            call(f"{url}/api/collections/posts/records", post, token)
        yield {"BASE_URL": url}


def call(url: str, body: dict[str, Any], token: str = "") -> dict[str, Any]:
    """A POST of JSON, answered in JSON."""
    headers = {"Content-Type": "application/json", "Authorization": token}
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers), timeout=30) as answer:
        return dict(json.load(answer))


PRODUCT = Product(
    "pocketbase", "Go", "PocketBase, SQLite", "Go module proxy, pocketbase 0.36.8", install, stands, "/api/health"
)
