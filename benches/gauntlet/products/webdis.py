"""Webdis: Redis over HTTP, as a cache and counter behind a small site. C, from Debian."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path

from processes import await_answer, done, running
from registries import Cache

from plimsoll_lab.ports import free_port
from products.product import Product, Started


def install(cache: Cache) -> None:
    cache.debian("redis-server", "webdis")


@contextmanager
def stands(cache: Cache, folder: Path) -> Started:
    port, redis = free_port(), free_port()
    configuration = folder / "webdis.json"
    configuration.write_text(
        json.dumps({
            "redis_host": "127.0.0.1", "redis_port": redis, "http_host": "127.0.0.1", "http_port": port,
            "threads": 2, "pool_size": 10, "daemonize": False, "websockets": False, "verbosity": 2,
            "logfile": str(folder / "webdis.log"), "acl": [{"disabled": ["DEBUG"]}],
        })
    )  # fmt: skip
    command = ["redis-server", "--port", redis, "--bind", "127.0.0.1", "--save", "", "--dir", folder]
    with running(command, folder / "redis.log"), running(["webdis", configuration], folder / "start.log") as process:
        await_answer(f"http://127.0.0.1:{port}/PING", process, folder / "start.log")
        seed = "".join(f"SET page:{number} {'x' * 2000}\n" for number in range(5000))
        for member in range(200):  # who follows whom: 3,000 of 20,000 each
            follows = " ".join(str((member * 577 + step * (7 + member % 5)) % 20_000) for step in range(3000))
            seed += f"SADD follows:{member} {follows}\n"
        done(["redis-cli", "-p", redis], folder / "seed.log", stdin=seed.encode())
        yield {"BASE_URL": f"http://127.0.0.1:{port}"}


PRODUCT = Product("webdis", "C", "Webdis, Redis", "Debian webdis, redis-server", install, stands, "/PING")
