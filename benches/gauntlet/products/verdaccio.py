"""Verdaccio: a private npm registry, files on disk. JavaScript, from npm."""

from __future__ import annotations

import base64
import hashlib
import json
import urllib.request
from contextlib import contextmanager
from pathlib import Path

from processes import await_answer, running
from registries import Cache

from plimsoll_lab.ports import free_port
from products.product import Product, Started

# Verdaccio asks for a tag of node-fetch in place of a version; the version keeps the install repeatable.
MANIFEST = '{"name": "gauntlet", "version": "1.0.0", "overrides": {"node-fetch": "2.6.7"}}'
PACKAGES = 20
CONFIGURATION = """
storage: {folder}/storage
auth: {{htpasswd: {{file: {folder}/htpasswd}}}}
uplinks: {{}}
packages:
  "**": {{access: $all, publish: $all}}
log: {{type: file, path: {folder}/verdaccio-log.txt, level: warn}}
web: {{enable: true}}
"""


def install(cache: Cache) -> None:
    cache.npm("verdaccio", "verdaccio@6.8.0", manifest=MANIFEST)


@contextmanager
def stands(cache: Cache, folder: Path) -> Started:
    place, port, log = (
        cache.npm("verdaccio", "verdaccio@6.8.0", manifest=MANIFEST),
        free_port(),
        folder / "verdaccio.log",
    )
    configuration = folder / "config.yaml"
    configuration.write_text(CONFIGURATION.format(folder=folder))
    program = place / "node_modules" / ".bin" / "verdaccio"
    url = f"http://127.0.0.1:{port}"
    with running([program, "-c", configuration, "-l", f"127.0.0.1:{port}"], log) as process:
        await_answer(f"{url}/-/ping", process, log)
        for number in range(PACKAGES):
            publish(url, f"harbour-{number}", number)
        yield {"BASE_URL": url}


def publish(url: str, name: str, number: int) -> None:
    """Versions of a package, as npm publishes them."""
    archive = b"not a real archive " * 2000
    content, digest = base64.b64encode(archive).decode(), hashlib.sha1(archive).hexdigest()
    for version in (f"1.{minor}.0" for minor in range(6)):
        file = f"{name}-{version}.tgz"
        manifest = {
            "name": name, "version": version, "description": f"Package {number}", "readme": "# Read me\n" * 40,
            "dist": {"tarball": f"{url}/{name}/-/{file}", "shasum": digest},
        }  # fmt: skip
        attached = {"content_type": "application/octet-stream", "data": content, "length": len(archive)}
        body = {
            "_id": name, "name": name, "dist-tags": {"latest": version}, "versions": {version: manifest},
            "_attachments": {file: attached},
        }  # fmt: skip
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{url}/{name}", json.dumps(body).encode(), headers, method="PUT")
        urllib.request.urlopen(request, timeout=30).close()


PRODUCT = Product("verdaccio", "JavaScript", "Verdaccio, files", "npm verdaccio 6.8.0", install, stands, "/-/ping")
