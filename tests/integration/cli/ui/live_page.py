"""A verb with its page, and a page in a browser."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field

from playwright.sync_api import Page


@dataclass
class Watched:
    """A page, and what it did that it must not: errors on the console, requests to elsewhere."""

    page: Page
    origin: str
    wrong: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on(
            "console", lambda said: self.wrong.append(said.text) if said.type in ("error", "warning") else None
        )
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", lambda asked: self._look(asked.url))

    def _look(self, url: str) -> None:
        if not url.startswith((self.origin, "data:")):
            self.wrong.append(f"a request to {url}")


@dataclass
class Live:
    """A verb that goes on with its page."""

    process: subprocess.Popen[str]
    url: str
    said: list[str]

    @property
    def origin(self) -> str:
        """Where its pages are."""
        return "/".join(self.url.split("/")[:3])

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.origin.rsplit(":", 1)[1])

    def wait(self, within_s: float = 60.0) -> int:
        """Its exit code; what it says is read meanwhile."""
        assert self.process.stderr is not None
        self.said += self.process.communicate(timeout=within_s)[1].splitlines()
        return self.process.returncode


def violated(page: Page, axe: str) -> list[str]:
    """What axe finds wrong with a page as it is."""
    page.evaluate(axe)
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
    return [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found]


Begin = Callable[..., Live]
OpenPage = Callable[..., Watched]
