"""etcd by its gRPC gateway: configuration and leases over JSON. Go, from Debian."""

from __future__ import annotations

import base64
import json
import urllib.request
from contextlib import contextmanager
from pathlib import Path

from processes import await_answer, running
from registries import Cache

from plimsoll_lab.ports import free_port
from products.product import Product, Started


def install(cache: Cache) -> None:
    cache.debian("etcd-server")


@contextmanager
def stands(cache: Cache, folder: Path) -> Started:
    port, peer, log = free_port(), free_port(), folder / "etcd.log"
    url = f"http://127.0.0.1:{port}"
    own = f"http://127.0.0.1:{peer}"
    command = [
        "etcd", "--data-dir", folder / "data", "--listen-client-urls", url, "--advertise-client-urls", url,
        "--listen-peer-urls", own, "--initial-advertise-peer-urls", own, "--initial-cluster", f"default={own}",
        "--unsafe-no-fsync", "--logger", "zap",
    ]  # fmt: skip
    with running(command, log) as process:
        await_answer(f"{url}/health", process, log)
        for number in range(2000):
            value = json.dumps({"service": number, "hosts": [f"10.0.{number % 250}.{k}" for k in range(12)]})
            put(url, f"/services/{number % 50}/{number}", value)
        yield {"BASE_URL": url}


def put(url: str, key: str, value: str) -> None:
    """Write one key."""
    body = {"key": base64.b64encode(key.encode()).decode(), "value": base64.b64encode(value.encode()).decode()}
    request = urllib.request.Request(f"{url}/v3/kv/put", json.dumps(body).encode())
    urllib.request.urlopen(request, timeout=10).close()


PRODUCT = Product("etcd", "Go", "etcd, its gRPC gateway", "Debian etcd-server 3.4", install, stands, "/health")
