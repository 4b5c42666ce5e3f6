"""Statements of MariaDB and MySQL that used no index: which they are, and what is claimed of a missing one."""

from __future__ import annotations

from typing import Any

import pytest

from plimsoll.findings.database.without_index import locks_what_it_reads, ran_without_index, uses_index, without_index

ORDERS = {"table": "orders", "rows_read": 5_000_000}
LINES = {"table": "shop.lines", "rows_read": 90_000}


def digest(calls: int = 100, rows: int = 20, examined: int = 50_000, no_index: float = 1.0) -> dict[str, Any]:
    """A statement whose calls return and read so many rows each."""
    return {
        "id": "shop:1", "calls": calls, "rows": rows * calls, "rows_examined": examined * calls,
        "no_index_calls": round(no_index * calls),
    }  # fmt: skip


def remedy(text: str, one: dict[str, Any] | None = None, tables: tuple[dict[str, Any], ...] = (ORDERS, LINES)) -> str:
    found = without_index([one or digest()], text, tables)
    assert found is not None
    return found.remedy


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("SELECT `id` FROM `orders` WHERE `customer` = ?", "ALTER TABLE `orders` ADD INDEX (`customer`)"),
        ("SELECT * FROM `shop` . `orders` WHERE `state` = ? ;", "ALTER TABLE `shop`.`orders` ADD INDEX (`state`)"),
        ("SELECT ID FROM `orders` WHERE STATUS = ?", "ALTER TABLE `orders` ADD INDEX (`status`)"),
        (
            "SELECT `o` . `id` , `o` . `note` FROM `orders` AS `o` WHERE `o` . `customer` = ? AND `o` . `state` = ? "
            "ORDER BY `o` . `id` DESC",
            "ALTER TABLE `orders` ADD INDEX (`customer`, `state`)",
        ),
    ],
)
def test_columns_are_named_where_equalities_of_one_table_are_all_that_it_asks(text: str, sql: str) -> None:
    assert remedy(text) == (
        f"run {sql}, if EXPLAIN shows no index that it could use. A call should then read about 20 rows in place of "
        "50,000. Its effect is not proven, as no planner was asked"
    )


@pytest.mark.parametrize(
    "text",
    [
        "SELECT `id` FROM `orders` WHERE `note` LIKE ?",
        "SELECT `id` FROM `orders` WHERE `customer` = ? LIMIT ?",
        "SELECT COUNT ( * ) FROM `orders` WHERE `customer` = ?",
        "SELECT DISTINCT `customer` FROM `orders` WHERE `state` = ?",
        "SELECT `id` FROM `orders` WHERE `customer` = ? OR `state` = ?",
        "SELECT `id` FROM `orders` WHERE `customer` = ? AND `id` > ?",
        "SELECT `id` FROM `orders` WHERE `customer` = `state`",
        "SELECT `o` . `id` FROM `orders` `o` JOIN `customers` `c` ON `c` . `id` = `o` . `customer` WHERE `c` . `x` = ?",
        "SELECT `id` FROM `orders` WHERE `customer` = ? GROUP BY `state`",
        "UPDATE `orders` SET `note` = ? WHERE `customer` = ?",
    ],
)
def test_of_other_statements_the_one_table_that_was_read_whole_is_named_and_no_column(text: str) -> None:
    assert remedy(text) == (
        "see by EXPLAIN what it reads `orders` for, and give it an index for that (ALTER TABLE `orders` ADD INDEX …). "
        "Its effect is not proven, as no planner was asked"
    )


def test_an_equality_that_most_rows_fulfil_makes_no_index_evident() -> None:
    text = "SELECT `id` FROM `orders` WHERE `state` = ?"
    assert remedy(text, digest(rows=40_000)).startswith("see by EXPLAIN what it reads `orders` for")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM `orders` JOIN `lines` ON `lines` . `note` = `orders` . `note`",  # both were read
        "SELECT * FROM `orders` JOIN LINES ON LINES . `note` = `orders` . `note`",  # keywords come without quotes
        "SELECT * FROM `elsewhere` WHERE `x` LIKE ?",
        "SELECT `id` FROM `orders` WHERE `a` = ? AND ...",  # cut off: more tables may follow
    ],
)
def test_where_several_or_no_tables_come_into_question_none_is_named(text: str) -> None:
    assert remedy(text).startswith("see by EXPLAIN which table it reads whole")


def test_a_statement_that_asks_for_all_rows_gets_no_index() -> None:
    assert remedy("SELECT * FROM `orders`").startswith("have it read fewer rows")


def test_what_was_seen_is_told_of_all_statements_of_one_text() -> None:
    found = without_index([digest(calls=300), digest(calls=100, no_index=0.6)], "SELECT * FROM `orders`", ())
    assert found is not None and found.words == (
        "It used no index in 90% of its calls, and read 50,000 rows for the 20 that a call returned or changed."
    )


@pytest.mark.parametrize("one", [digest(no_index=0.4), digest(examined=900), {"id": "1", "calls": 10}])
def test_statements_that_mostly_use_one_read_little_or_of_which_nothing_is_counted_have_none_missing(
    one: dict[str, Any],
) -> None:
    assert not ran_without_index(one) and without_index([one], "SELECT * FROM `orders` WHERE `a` = ?", ()) is None


def test_a_small_table_read_whole_is_no_use_of_an_index() -> None:
    assert not uses_index(digest(examined=10)) and uses_index(digest(no_index=0.0))


def test_only_changes_without_an_index_lock_what_they_read() -> None:
    texts = {"1": "SELECT * FROM `orders` WHERE `a` = ?", "2": "DELETE FROM `orders` WHERE `a` = ?"}
    scan, delete = digest() | {"id": "1"}, digest() | {"id": "2"}
    assert locks_what_it_reads([scan, delete], texts) == texts["2"]
    assert locks_what_it_reads([scan, delete | {"no_index_calls": 0}], texts) is None
