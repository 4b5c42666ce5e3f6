"""What the bench knows of a product."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from registries import Cache

SCRIPTS = Path(__file__).parents[1] / "scripts"
Standing = Callable[[Cache, Path], AbstractContextManager[Mapping[str, str]]]
Install = Callable[[Cache], None]


@dataclass(frozen=True)
class Product:
    """A product that nobody here wrote.

    `stack`: what serves and stores; `source`: registry, package and version; `install` brings it into the cache;
    `stands`: a context that starts it fresh in an empty folder, with seeded data, and gives the variables of its script
    (BASE_URL first); `ready`: the path that tells that it answers; `think_s`: sleep in an iteration.
    """

    name: str
    language: str
    stack: str
    source: str
    install: Install
    stands: Standing
    ready: str = "/"
    think_s: float = 0.0

    @property
    def script(self) -> Path:
        """Its script in the style of its users."""
        return SCRIPTS / f"{self.name}.js"


Started = Iterator[Mapping[str, str]]
