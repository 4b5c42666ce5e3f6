"""Differences of pg_stat_statements over the columns that versions 13 to 17 document, and the values of a second."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest

from plimsoll.probes.postgresql.activity import SeenTexts
from plimsoll.probes.postgresql.probe import size_bytes, window_json
from plimsoll.probes.postgresql.rights import Rights
from plimsoll.probes.postgresql.seconds import query_of, values_of
from plimsoll.probes.postgresql.statements import (
    Texts,
    between,
    counters_in,
    is_own,
    reading_of,
    shown_text,
    statement_json,
)
from plimsoll.probes.postgresql.tables import estimated_bloat, scanned, unused
from plimsoll.probes.probe import Rates

VERSIONS = json.loads((Path(__file__).parent / "versions.json").read_text())


def rows(**calls: int) -> list[dict]:
    """Statements q1, q2 … with so many calls of 10 ms and 3 rows each."""
    return [
        {"queryid": int(name[1:]), "calls": count, "exec_ms": 10.0 * count, "plan_ms": 0.0, "rows": 3 * count}
        for name, count in calls.items()
    ]


INFO = {"dealloc": 0, "reset_at": "2026-11-01"}


@pytest.mark.parametrize("version", VERSIONS)
def test_each_version_has_all_counters_under_the_name_of_its_own(version: str):
    found = counters_in(VERSIONS[version]["statement_columns"])
    assert set(found) >= {"calls", "exec_ms", "plan_ms", "rows", "blocks_hit", "blocks_read", "wal_bytes"}
    assert found["block_read_ms"] == ("shared_blk_read_time" if version == "17" else "blk_read_time")


def test_an_older_extension_on_a_newer_server_gives_what_it_has():
    found = counters_in(["queryid", "query", "calls", "total_time", "rows", "shared_blks_hit"])
    assert found == {"calls": "calls", "exec_ms": "total_time", "rows": "rows", "blocks_hit": "shared_blks_hit"}


@pytest.mark.parametrize("version", VERSIONS)
def test_the_query_of_a_second_asks_the_view_that_the_version_has(version: str):
    text = query_of(int(version) * 10_000 + 3)
    others = {"pg_stat_bgwriter", "pg_stat_checkpointer"} - {VERSIONS[version]["checkpoint_view"]}
    assert VERSIONS[version]["checkpoint_view"] in text
    assert not any(other in text for other in others)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_window_is_the_difference_dearest_first(version: str):
    info = VERSIONS[version]["info"]
    window = between(reading_of(rows(q1=10, q2=5), info), reading_of(rows(q1=12, q2=45, q3=1), info))
    assert [(key, counters["calls"]) for key, counters in window.statements] == [(2, 40.0), (1, 2.0), (3, 1.0)]
    assert (window.was_reset, window.evicted, window.began_anew) == (False, 0, 0)
    entry = statement_json(*window.statements[0], window.total_ms)
    assert (entry["share"], entry["mean_ms"], entry["calls"], entry["rows"]) == (pytest.approx(40 / 43), 10.0, 40, 120)


def test_after_a_reset_only_what_came_since_is_counted_and_said():
    later = {"dealloc": 0, "reset_at": "2026-11-02"}
    window = between(reading_of(rows(q1=1000, q2=1), INFO), reading_of(rows(q1=3, q2=4), later))
    assert window.was_reset
    assert {key: counters["calls"] for key, counters in window.statements} == {1: 3.0, 2: 4.0}


def test_an_entry_that_was_evicted_and_came_back_counts_from_there():
    window = between(reading_of(rows(q1=1000, q2=1), INFO), reading_of(rows(q1=3, q2=4), INFO | {"dealloc": 7}))
    assert (window.evicted, window.began_anew, window.was_reset) == (7, 1, False)
    assert {key: counters["calls"] for key, counters in window.statements} == {1: 3.0, 2: 3.0}


def test_statements_of_other_users_that_are_hidden_are_counted():
    hidden = [{"queryid": None, "calls": 5, "exec_ms": 1.0, "rows": 0}]
    later = [{"queryid": None, "calls": 25, "exec_ms": 9.0, "rows": 0}]
    window = between(reading_of([*rows(q1=1), *hidden], INFO), reading_of([*rows(q1=2), *later], INFO))
    assert window.hidden_calls == 20
    assert window_json(window)["hidden_calls"] == 20


def test_a_long_window_keeps_the_dearest_and_counts_the_others():
    many = {f"q{number}": number for number in range(1, 61)}
    found = window_json(between(reading_of([], INFO), reading_of(rows(**many), INFO)))
    assert len(found["statements"]) == 25
    assert found["others"] == 35
    assert found["total_ms"] == 10.0 * sum(range(1, 61))


def test_our_own_statements_are_known_by_their_mark():
    assert is_own("SELECT /* plimsoll */ 1")
    assert is_own("SET statement_timeout = 1500")
    assert not is_own("SELECT 1 FROM plimsoll")
    assert Texts().known == {}


def test_a_shown_text_is_bounded():
    assert len(shown_text(f"SELECT {'a, ' * 5000} b")) < 6_100


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def second(**more: object) -> dict:
    names = (
        "connections active idle idle_in_transaction other lock_waits light_lock_waits io_waits longest_transaction_s "
        "longest_statement_s longest_lock_wait_s xact_commit xact_rollback blks_read blks_hit rows_written temp_files "
        "temp_bytes deadlocks seq_scans seq_rows wal_bytes checkpoints_timed checkpoints_req"
    )
    return dict.fromkeys(names.split(), 0) | more


def test_the_values_of_a_second_are_rates_of_the_counters():
    clock = Clock()
    rates = Rates(clock)
    first = values_of(second(connections=30, active=10, blks_hit=Decimal(1000)), rates, 100)
    assert first["connections_share"] == 0.3
    assert "commits_per_s" not in first
    assert "cache_hit_share" not in first
    clock.now = 2.0
    row = second(xact_commit=400, blks_hit=1180, blks_read=20, seq_rows=Decimal("1e6"), wal_bytes=4096, deadlocks=1)
    values = values_of(row, rates, 100)
    assert values["commits_per_s"] == 200
    assert values["cache_hit_share"] == 0.9
    assert values["sequential_rows_per_s"] == 500_000
    assert values["wal_bytes_per_s"] == 2048
    assert values["deadlocks_per_s"] == 0.5


def test_counters_that_fell_after_a_restart_give_no_rate():
    clock = Clock()
    rates = Rates(clock)
    values_of(second(xact_commit=1000, blks_hit=10), rates, 100)
    clock.now = 1.0
    values = values_of(second(xact_commit=5, blks_hit=20), rates, 100)
    assert "commits_per_s" not in values
    assert values["cache_hit_share"] == 1.0


def table(name: str, **more: int) -> dict:
    return {"schema": "s", "name": name, "scans": 0, "rows_read": 0, "written": 0, "live": 9, "dead": 0} | more


def test_tables_read_in_sequence_come_with_the_rows_of_a_scan():
    before = {1: table("a", scans=5, rows_read=500), 2: table("b")}
    after = {1: table("a", scans=7, rows_read=900, written=3), 2: table("b"), 3: table("new", scans=1, rows_read=9000)}
    found = scanned(before, after)
    assert [one["table"] for one in found] == ["s.new", "s.a"]
    assert found[1] == {
        "table": "s.a", "scans": 2, "rows_read": 400, "rows_per_scan": 200.0, "written": 3, "live_rows": 9,
    }  # fmt: skip


def test_unused_indexes_are_those_that_keep_no_rule_and_were_there_before():
    def index(name: str, scans: int = 0, rule: bool = False) -> dict:
        return {
            "schema": "s", "table": "t", "name": name, "scans": scans, "bytes": 10, "keeps_rule": rule, "valid": True,
        }  # fmt: skip

    after = {1: index("used", 3), 2: index("unused"), 3: index("primary", rule=True), 4: index("made now")}
    assert [one["index"] for one in unused({1: {}, 2: {}, 3: {}}, after)] == ["s.unused"]


def test_bloat_is_estimated_from_the_width_of_rows():
    row = {"schema": "s", "name": "t", "pages": 1000, "rows": 40_000.0, "width": 100.0, "columns_seen": 3, "columns": 3}
    [found] = estimated_bloat([row | {"fillfactor": 100.0}], 8192, is_index=False)
    assert found["by"] == "estimate"
    assert found["share"] == pytest.approx(1 - 40_000 / (8168 // 132) / 1000)
    unseen = row | {"columns_seen": 2, "fillfactor": 100.0}
    assert estimated_bloat([unseen], 8192, is_index=False) == []


FACTS = {
    "database": "shop", "role": "app", "quoted_role": "app", "version": 150004, "version_text": "15.4",
    "max_connections": 100, "preloaded": "", "extensions": ["plpgsql"], "available": ["pg_stat_statements"],
    "reads_stats": True,
}  # fmt: skip


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({}, ["shared_preload_libraries", "restart", "CREATE EXTENSION pg_stat_statements"]),
        ({"preloaded": "pg_stat_statements"}, ['CREATE EXTENSION pg_stat_statements; in the database "shop"']),
        ({"preloaded": None}, ["unless it is done already", "CREATE EXTENSION pg_stat_statements"]),
        ({"available": []}, ["Install it", "postgresql-15"]),
        ({"reads_stats": False, "preloaded": "pg_stat_statements"}, ["GRANT pg_monitor TO app", "pg_read_all_stats"]),
    ],
)
def test_what_is_missing_is_said_with_the_statement_that_adds_it(facts: dict, words: list[str]):
    text = " ".join(Rights(FACTS | facts).missing())
    assert all(word in text for word in words), text


def test_an_extension_that_is_there_but_not_loaded_is_said():
    rights = Rights(FACTS | {"extensions": ["pg_stat_statements"]}, "it must be loaded")
    assert not rights.can_read_statements
    assert "it must be loaded" in rights.missing()[0]


def test_nothing_is_missing_where_all_is_there():
    assert Rights(FACTS | {"extensions": ["pg_stat_statements"]}).missing() == []


@pytest.mark.parametrize(("text", "count"), [("1kB", 1024), ("4096", 4096), ("2048B", 2048), ("1MB", 1024**2)])
def test_settings_in_the_units_of_the_server_are_bytes(text: str, count: int):
    assert size_bytes(text) == count


def test_seen_statements_are_found_by_id_or_before_version_14_by_their_shape():
    seen = SeenTexts(1024)
    seen.add(5, "SELECT a FROM t WHERE j->>'k' = 'v'")
    seen.add(None, "SELECT b FROM t WHERE j->>'z' = 'v'")
    seen.add(6, "<insufficient privilege>")
    assert seen.constants(5, "SELECT a FROM t WHERE j->>$1 = $2") == [{1: "'k'", 2: "'v'"}]
    assert seen.constants(9, "SELECT b FROM t WHERE j->>$1 = $2") == [{1: "'z'", 2: "'v'"}]
    assert seen.constants(6, "SELECT c FROM t") == []
    seen.add(5, "SELECT a FROM t WHERE j->>'k' = 'w'")
    seen.add(5, "SELECT a FROM t WHERE j->>'k' = 'v'")
    assert [one[2] for one in seen.constants(5, "SELECT a FROM t WHERE j->>$1 = $2")] == ["'v'", "'w'"]
