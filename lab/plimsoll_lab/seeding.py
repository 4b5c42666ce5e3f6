"""Invented data: words with their frequencies, and how many rows are written at once.

Faker is slow (some 50 us a word), so it is asked once for pools of words and names; texts are then drawn from the
pools. Words are drawn with the weights 1/(rank + 20)^0.8: a few are in every tenth text, most in one of some hundred,
so that a search meets both many and few hits (real text is steeper: Zipf's exponent is about 1).
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any

from faker import Faker
from sqlalchemy import Connection, Table, text


@dataclass(frozen=True)
class WordPool:
    """Words in order of frequency and their summed weights, for `random.choices`."""

    words: tuple[str, ...]
    summed_weights: tuple[float, ...]

    def text(self, source: random.Random, words: int) -> str:
        """`words` words, the first with a capital."""
        return " ".join(source.choices(self.words, cum_weights=self.summed_weights, k=words)).capitalize()


@lru_cache(maxsize=2)
def word_pool(seed: int) -> WordPool:
    """About 3,000 words: Faker's English words, business words, family names and towns, the rare ones last."""
    faker = seeded_faker(seed)
    common = sorted(set(faker.get_words_list()))
    random.Random(seed).shuffle(common)
    rare = [faker.bs() for _ in range(400)] + [faker.last_name() for _ in range(2500)]
    rare += [faker.city() for _ in range(1000)]
    words = tuple(dict.fromkeys([*common, *(word.lower() for phrase in rare for word in phrase.split())]))
    return WordPool(words, tuple(accumulate((rank + 20) ** -0.8 for rank in range(1, len(words) + 1))))


def seeded_faker(seed: int) -> Faker:
    """Faker in American English; the same seed gives the same names, in the same order."""
    faker = Faker("en_US")
    faker.seed_instance(seed)
    return faker


def write_rows(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert many rows, whose keys are the same and in the same order: executemany in SQLite, COPY in PostgreSQL."""
    if not rows:
        return
    columns = ", ".join(rows[0])
    values = [tuple(row.values()) for row in rows]
    if connection.dialect.name == "sqlite":
        marks = ", ".join("?" * len(rows[0]))
        connection.exec_driver_sql(f"INSERT INTO {table.name} ({columns}) VALUES ({marks})", values)
        return
    driver_connection: Any = connection.connection.driver_connection
    with driver_connection.cursor() as cursor, cursor.copy(f"COPY {table.name} ({columns}) FROM STDIN") as copy:
        for value in values:
            copy.write_row(value)


def continue_numbers(connection: Connection, table: Table, column: str = "id") -> None:
    """Let PostgreSQL's sequence go on after the numbers that were written; SQLite does so by itself."""
    if connection.dialect.name != "sqlite":
        sequence = f"pg_get_serial_sequence('{table.name}', '{column}')"
        following = f"setval({sequence}, coalesce(max({column}), 0) + 1, false)"
        connection.execute(text(f"SELECT {following} FROM {table.name}"))
