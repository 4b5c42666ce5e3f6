"""Addresses of artifacts, as clients write them and as they are kept: without what depends on the port, so that the
data may be served elsewhere the next time. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Addresses:
    """The services' URLs by name: `http://127.0.0.1:8762` for rm, whose addresses go on with /rm/."""

    def __init__(self, urls: Mapping[str, str]) -> None:
        self._urls = dict(urls)

    def inward(self, target: str) -> str:
        """/rm/artifacts/5 for what is at a service here; anything else as it is."""
        for name, url in self._urls.items():
            if target.startswith(f"{url}/{name}/"):
                return target.removeprefix(url)
        return target

    def absolute(self, target: str) -> str:
        """The way back."""
        if not target.startswith("/"):
            return target
        name = target.split("/", 2)[1]
        return f"{self._urls[name]}{target}" if name in self._urls else target

    def outward(self, shown: dict[str, Any]) -> dict[str, Any]:
        """An artifact with the targets of its links as clients write them."""
        return {**shown, "links": [{**one, "target": self.absolute(one["target"])} for one in shown["links"]]}
