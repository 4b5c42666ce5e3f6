"""Digests of performance_schema without a server: differences, resets, and statements without their constants."""

from __future__ import annotations

import pytest

from plimsoll.probes.mysql.connection import _version
from plimsoll.probes.mysql.digests import between, masked, reading_of, scanned, statement_json
from plimsoll.probes.mysql.rights import quoted
from plimsoll.probes.mysql.seconds import status_of, values_of
from plimsoll.probes.probe import Rates


def row(digest: str | None, calls: int, ms: float, **more: float) -> dict:
    counters = {"rows": 0, "rows_examined": 0, "no_index_calls": 0, "temp_disk_tables": 0, "errors": 0, "lock_ps": 0}
    return {"schema_name": "shop", "digest": digest, "calls": calls, "time_ps": ms * 1e9, **counters, **more}


def test_the_difference_of_two_readings_ranks_statements_by_their_time() -> None:
    before = reading_of([row("a", 10, 100.0), row("b", 5, 50.0)])
    after = reading_of([row("a", 12, 110.0), row("b", 5, 50.0), row("c", 4, 90.0, rows=8, lock_ps=2e9)])
    window = between(before, after)
    assert [key[1] for key, _ in window.statements] == ["c", "a"] and not window.was_reset
    assert window.total_ms == pytest.approx(100)
    first = statement_json(*window.statements[0], window.total_ms)
    assert first["share"] == pytest.approx(0.9) and first["mean_ms"] == pytest.approx(22.5)
    assert (first["id"], first["calls"], first["rows"], first["lock_ms"]) == ("shop:c", 4, 8, 2.0)
    assert "rows_examined" not in first


def test_after_a_truncate_the_second_reading_stands_alone() -> None:
    before = reading_of([row("a", 10, 100.0), row("b", 5, 50.0)])
    window = between(before, reading_of([row("a", 2, 20.0)]))
    assert window.was_reset and [(key[1], one["calls"]) for key, one in window.statements] == [("a", 2)]
    window = between(before, reading_of([row("a", 2, 20.0), row("b", 6, 60.0)]))
    assert window.was_reset and {key[1]: one["calls"] for key, one in window.statements} == {"a": 2, "b": 1}


def test_calls_for_which_there_was_no_row_left_are_counted() -> None:
    window = between(reading_of([row(None, 3, 1.0)]), reading_of([row(None, 10, 9.0), row("a", 1, 1.0)]))
    assert window.untold_calls == 7 and len(window.statements) == 1


def test_tables_that_were_read_in_sequence_come_most_first() -> None:
    before = {"a": (100.0, 5.0), "b": (1000.0, 0.0)}
    after = {"a": (5100.0, 6.0), "b": (1000.0, 9.0), "c": (7000.0, 0.0)}
    assert scanned(before, after) == [
        {"table": "c", "rows_read": 7000, "written": 0},
        {"table": "a", "rows_read": 5000, "written": 1},
    ]


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("SELECT a FROM t WHERE b = 'it\\'s' AND c = \"x \\\" y\"", "SELECT a FROM t WHERE b = '…' AND c = '…'"),
        ("SELECT `2fast`, t1.a2 FROM t1 LIMIT 5, 0x1F", "SELECT `2fast`, t1.a2 FROM t1 LIMIT …, …"),
        ("SELECT 1 -- token abc\n FROM t /* secret */ # more\n", "SELECT … FROM t"),
        ("SELECT 'two''quotes', 'cut off here", "SELECT '…', '…'"),
        ("SELECT x'AB', N'ab', _utf8 'c'", "SELECT '…', '…', _utf8 '…'"),
        ("SET @a = -1.5e3", "SET @a = -…"),
    ],
)
def test_a_statement_is_shown_without_its_constants(sent: str, shown: str) -> None:
    assert masked(sent) == shown


def test_accounts_are_quoted_for_a_grant() -> None:
    assert quoted("app@10.0.%") == "'app'@'10.0.%'"
    assert quoted("o'x@y@localhost") == "'o''x@y'@'localhost'"


@pytest.mark.parametrize(
    ("text", "is_mariadb", "version"),
    [
        ("10.11.6-MariaDB-0+deb12u1", True, (10, 11, 6)),
        ("5.5.5-10.6.12-MariaDB-log", True, (10, 6, 12)),
        ("8.0.36", False, (8, 0, 36)),
        ("5.7.44-log", False, (5, 7, 44)),
    ],
)
def test_versions_are_read_as_servers_write_them(text: str, is_mariadb: bool, version: tuple[int, ...]) -> None:
    assert _version(text, is_mariadb) == version


def test_a_second_leaves_out_our_own_connection_and_what_a_version_does_not_tell() -> None:
    now = [0.0]
    rates = Rates(lambda: now[0])
    rows = {"Threads_connected": "4", "Threads_running": "2", "Questions": "100", "Innodb_buffer_pool_reads": "5",
            "Innodb_buffer_pool_read_requests": "100", "Ssl_cipher": "x"}  # fmt: skip

    def status() -> dict[str, float]:
        return status_of({"variable_name": name, "value": value} for name, value in rows.items())

    first = values_of(status(), rates, 100)
    assert first == {"connections": 3.0, "connections_active": 1.0, "connections_max": 100.0, "connections_share": 0.03}
    now[0] = 2.0
    rows |= {"Questions": "140", "Innodb_buffer_pool_reads": "7", "Innodb_buffer_pool_read_requests": "120"}
    second = values_of(status(), rates, 100)
    assert (second["statements_per_s"], second["blocks_read_per_s"], second["blocks_hit_per_s"]) == (20.0, 1.0, 9.0)
    assert second["cache_hit_share"] == 0.9 and "deadlocks_per_s" not in second and "blocks_asked_per_s" not in second
