"""How many rows a condition keeps, from a sample of the table's pages, and values that stand in its rows.

The planner has no statistics for much of what searches ask (a pattern, contents of JSON), nor for two columns together;
a sample of about 3,000 rows tells the share of each condition, and of any of them together, to a few percent of the
table. It reads about as many pages as ANALYZE does of a small table, within SAMPLE_S. Only IMMUTABLE functions and
operators are called, which change nothing. TABLESAMPLE SYSTEM takes whole pages, so that rows which lie together count
together (postgresql.org/docs/current/sql-select.html).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from plimsoll.probes.postgresql.connection import MARK, Session
from plimsoll.probes.postgresql.index_candidates import quoted

MOST_ROWS = 3_000
SAMPLE_S = 2.0
NONE_OF = 3.0  # none of n: at most 3/n, with 95% (the "rule of three")


@dataclass(frozen=True)
class Sampled:
    """Which of the conditions each row of a sample meets, a set of places in `conditions` for each row."""

    conditions: Sequence[str]
    rows: Sequence[frozenset[str]] = field(repr=False)

    def met(self, conditions: Collection[str]) -> int | None:
        """How many rows meet all of them; None where one of them was not looked at."""
        if not self.rows or not set(conditions) <= set(self.conditions):
            return None
        wanted = frozenset(conditions)
        return sum(1 for row in self.rows if wanted <= row)

    def share(self, conditions: Collection[str]) -> float | None:
        """The share of the rows that meet all of them; a bound from above where no row does; None where one of them
        was not looked at."""
        met = self.met(conditions)
        if met is None:
            return None
        return met / len(self.rows) if met else min(1.0, NONE_OF / len(self.rows))


def sample(session: Session, place: tuple[str, str], table_rows: float, conditions: Sequence[str]) -> Sampled | None:
    """Look at rows of the table (schema, name); None where that is refused or takes longer than SAMPLE_S."""
    conditions = list(dict.fromkeys(conditions))
    if not conditions:
        return None
    columns = ", ".join(f"({condition}) AS c{number}" for number, condition in enumerate(conditions))
    rows = _rows(session, place, table_rows, columns)
    if rows is None:
        return None
    met = [frozenset(condition for number, condition in enumerate(conditions) if row[f"c{number}"]) for row in rows]
    return Sampled(conditions, met)


def values_of_rows(
    session: Session, place: tuple[str, str], table_rows: float, expressions: Sequence[str], count: int
) -> list[tuple[str, ...]]:
    """The values of these expressions in `count` rows that lie apart, as text; empty where they cannot be read."""
    columns = ", ".join(f"({expression})::text AS c{number}" for number, expression in enumerate(expressions))
    rows = _rows(session, place, table_rows, columns) or []
    read = (tuple(row[f"c{number}"] for number in range(len(expressions))) for row in rows)
    whole = [tuple(map(str, row)) for row in read if None not in row]
    apart = max(1, len(whole) // count)
    return whole[apart // 2 :: apart][:count]


def _rows(
    session: Session, place: tuple[str, str], table_rows: float, columns: str
) -> Sequence[Mapping[str, object]] | None:
    percent = min(100.0, max(0.001, 100.0 * MOST_ROWS / max(1.0, table_rows)))
    text = (
        f"SELECT {MARK} {columns} FROM ONLY {quoted(place[0])}.{quoted(place[1])} "
        f"TABLESAMPLE SYSTEM ({percent:.6f}) REPEATABLE (1) LIMIT {2 * MOST_ROWS}"
    )
    with session.within(SAMPLE_S):
        try:
            return session.run(text)
        except Exception as error:
            if not session.outlives(error):
                raise
            return None
