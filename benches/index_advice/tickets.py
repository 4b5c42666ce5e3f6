"""The table of tickets that cases are made of, and what a seed draws for a case."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

PLANTED, HEALTHY = "planted", "healthy"
YEAR_END, HEX = "2026-01-01", "0123456789abcdef"
LEAST_ROWS, MOST_ROWS = 20_000, 160_000


@dataclass(frozen=True)
class Statement:
    """A statement of the application, %s for its values, which `values` draws; its number never comes again. `rivals`:
    what somebody might make for it (all that follows CREATE INDEX), of which the advice should be the best or near."""

    text: str
    values: Callable[[Random, int], tuple[Any, ...]] = lambda _, __: ()
    weight: float = 1.0
    rivals: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """A database and a load on it. `target`: the statement that a planted index is missing for, or that looks so."""

    kind: str
    part: str
    parameters: dict[str, Any]
    setup: tuple[str, ...]
    target: Statement
    others: tuple[Statement, ...]

    @property
    def statements(self) -> tuple[Statement, ...]:
        """All of the load."""
        return (self.target, *self.others)


@dataclass
class Draw:
    """What a seed gives a variation; `said` is what of it is recorded."""

    random: Random
    said: dict[str, Any] = field(default_factory=dict)

    def of(self, name: str, choices: list[Any]) -> Any:
        """One of the choices, recorded under that name."""
        self.said[name] = self.random.choice(choices)
        return self.said[name]

    def count(self, name: str, low: int, high: int) -> int:
        """A whole number between those, evenly by its logarithm."""
        self.said[name] = round(low * (high / low) ** self.random.random())
        return int(self.said[name])


Made = tuple[list[str], Statement, list[Statement]]


def tickets(draw: Draw, customers: int = 1_000, kinds: int = 500, open_share: float = 0.01, rows: int = 0) -> list[str]:
    """The table of tickets, `note` of it so wide as the seed says."""
    rows = rows or draw.count("rows", LEAST_ROWS, MOST_ROWS)
    width = draw.of("width_bytes", [32, 160, 480])
    return [
        "CREATE TABLE ticket (id bigint PRIMARY KEY, customer int NOT NULL, agent int NOT NULL, status text NOT NULL, "
        "created timestamptz NOT NULL, amount numeric(10, 2), title text, email text, doc jsonb, labels text[], "
        "note text)",
        f"SELECT setseed({draw.random.random():.6f})",
        f"""INSERT INTO ticket SELECT i, 1 + floor(random() * {customers}), 1 + floor(random() * 40),
          CASE WHEN random() < {open_share} THEN 'open' WHEN random() < 0.1 THEN 'archived' ELSE 'closed' END,
          '{YEAR_END}'::timestamptz - random() * interval '365 days', (1000 * random())::numeric(10, 2),
          substr(md5(random()::text), 1, 10) || ' ' || substr(md5(i::text), 1, 10), 'User' || i || '@Example.org',
          jsonb_build_object('order', 'A' || i, 'kind', floor(random() * {kinds}), 'city', 'city ' || i % 300),
          ARRAY['l' || floor(random() * {kinds}), 'm' || floor(random() * {kinds})], repeat('n', {width})
        FROM generate_series(1, {rows}) i""",
    ]


def comments_on(draw: Draw, tickets: int, foreign: str) -> list[str]:
    """Comments on the first half of the tickets."""
    rows, width = draw.count("comments", 2 * LEAST_ROWS, MOST_ROWS), draw.of("body_bytes", [40, 200])
    return [
        f"CREATE TABLE comment (id bigint PRIMARY KEY, ticket bigint NOT NULL {foreign}, body text)",
        f"INSERT INTO comment SELECT i, 1 + floor(random() * {tickets // 2}), repeat('c', {width}) "
        f"FROM generate_series(1, {rows}) i",
    ]


def number(low: int, high: int) -> Callable[[Random, int], tuple[Any, ...]]:
    return lambda random, _: (random.randint(low, high),)


def hex_text(random: Random, length: int) -> str:
    return "".join(random.choice(HEX) for _ in range(length))


def day(random: Random) -> int:
    return random.randint(1, 360)
