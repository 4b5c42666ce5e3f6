"""What a knock is: a fault, what is promised under it, and tries that hold the promise or break it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path


class CannotTry(Exception):
    """This machine cannot make the fault; the text says why."""


@dataclass(frozen=True)
class Try:
    """One fault on one command. `broken` says what of the promise did not hold, in words; `measured` are numbers whose
    largest the table shows; `skipped` why it could not be tried."""

    case: str
    broken: tuple[str, ...] = ()
    measured: Mapping[str, float] = field(default_factory=dict)
    skipped: str = ""


@dataclass
class Bench:
    """What the tries of a knock need: a folder of their own, chance from a seed, and how many kills are wanted."""

    folder: Path
    chance: random.Random
    kills: int
    _tries: int = 0

    def try_folder(self) -> Path:
        """An empty folder for the next try."""
        self._tries += 1
        folder = self.folder / f"try-{self._tries}"
        folder.mkdir(parents=True)
        return folder


Tries = Callable[[Bench], Iterator[Try]]


@dataclass(frozen=True)
class Knock:
    """A fault with its promise. No try begins later than `limit_s` after the first; each is bounded by itself."""

    name: str
    promised: str
    limit_s: float
    tries: Tries


KNOCKS: dict[str, Knock] = {}


def knock(name: str, promised: str, limit_s: float = 600.0) -> Callable[[Tries], Tries]:
    """Registers the function that makes the tries."""

    def register(tries: Tries) -> Tries:
        KNOCKS[name] = Knock(name, promised, limit_s, tries)
        return tries

    return register
