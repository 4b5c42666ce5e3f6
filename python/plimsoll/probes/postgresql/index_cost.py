"""What a scan by an index would cost, in the planner's unit, where no planner can be asked: hypopg makes no GIN and no
GiST indexes, and may not be there at all.

The heap is what PostgreSQL's own cost_bitmap_heap_scan and index_pages_fetched say (src/backend/optimizer/path/
costsize.c; Mackert and Lohman, "Index scans using a finite LRU buffer", 1989, all of it cached): of T pages, a share
2N / (2T + N) is fetched for N rows, each the nearer to a sequential page the more of them are. Of the index, pages down
the tree and the entries that are read count. An estimate is as good as the count of rows that it is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from plimsoll.probes.postgresql.connection import MARK, Session

DESCENT_PAGES = 2.0
CHECK_OPERATORS = 20.0  # a pattern or a JSON document compared again, in comparisons of numbers
SKIPPED = 20.0  # GIN skips within a long list of rows to those of the shortest ("fast scan"), at about this ratio
_SETTINGS = f"""SELECT {MARK} pg_catalog.current_setting('seq_page_cost')::float8 AS seq_page,
  pg_catalog.current_setting('random_page_cost')::float8 AS random_page,
  pg_catalog.current_setting('cpu_tuple_cost')::float8 AS tuple,
  pg_catalog.current_setting('cpu_index_tuple_cost')::float8 AS entry,
  pg_catalog.current_setting('cpu_operator_cost')::float8 AS operator"""


@dataclass(frozen=True)
class Prices:
    """The server's settings of the planner's costs."""

    seq_page: float = 1.0
    random_page: float = 4.0
    tuple: float = 0.01
    entry: float = 0.005
    operator: float = 0.0025

    @classmethod
    def of(cls, session: Session) -> Prices:
        """Ask for them."""
        [row] = session.rows(_SETTINGS)
        return cls(**{name: float(value) for name, value in row.items()})


def heap_cost(rows: float, pages: float, prices: Prices, checks: float = 1.0) -> float:
    """Of fetching that many rows of a table of `pages` by a bitmap, each with `checks` comparisons."""
    pages = max(1.0, pages)
    fetched = min(pages, 2 * pages * rows / (2 * pages + rows)) if rows > 0 else 0.0
    each = prices.random_page - (prices.random_page - prices.seq_page) * sqrt(fetched / pages)
    return fetched * each + rows * (prices.tuple + checks * prices.operator)


def tree_cost(rows: float, pages: float, prices: Prices) -> float:
    """Of `rows` neighbours in a B-tree, and their heap."""
    return DESCENT_PAGES * prices.random_page + rows * prices.entry + heap_cost(rows, pages, prices)


def ordered_cost(limit: float, kept_share: float, rows: float, pages: float, prices: Prices) -> float:
    """Of the first `limit` rows in the order of a B-tree whose `rows` are read until enough of them are kept; each is
    fetched by itself."""
    read = min(rows, limit / max(kept_share, 1e-9))
    fetched = min(read, max(pages, 1.0) * 2)
    return DESCENT_PAGES * prices.random_page + read * (prices.entry + prices.tuple) + fetched * prices.random_page


def search_cost(entries: Sequence[float], rows: float, pages: float, prices: Prices) -> float:
    """Of a search in a GIN or GiST: `entries` rows under each of its keys, `rows` that have all of them and are fetched
    and compared again."""
    fewest = min(entries, default=rows)
    read = sum(min(one, SKIPPED * max(fewest, 1.0)) for one in entries) if entries else rows
    down = max(1, len(entries)) * DESCENT_PAGES * prices.random_page / 2
    return down + read * prices.entry + heap_cost(rows, pages, prices, CHECK_OPERATORS)
