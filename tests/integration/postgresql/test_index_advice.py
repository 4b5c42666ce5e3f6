"""Planted missing indexes on a real server: the advice names each, and the index, once made, cuts what is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import psycopg
import pytest
from postgresql_server import run_details

from plimsoll.probes.postgresql import PostgresqlProbe

PLANTS = {
    "equality": ("SELECT * FROM item WHERE customer = 7", "btree (customer)"),
    "several values": ("SELECT * FROM item WHERE customer IN (7, 8)", "btree (customer)"),
    "JSON key": ("SELECT id FROM item WHERE doc->>'title' = 'x'", "btree ((doc ->> 'title'::text))"),
    "lower case": ("SELECT id FROM item WHERE lower(name) = 'abc'", "btree ((lower((name)::text)))"),
    "beginning": ("SELECT id FROM item WHERE name LIKE 'abc%'", "btree (name)"),
    "part of a text": ("SELECT id FROM item WHERE name ILIKE '%abcde%'", "gin (name gin_trgm_ops)"),
    "full text": (
        "SELECT id FROM item WHERE to_tsvector('simple', doc->>'title') @@ to_tsquery('simple', 'abc')",
        "gin ((to_tsvector('simple'::regconfig, (doc ->> 'title'::text))))",
    ),
    "contents of JSON": ("SELECT id FROM item WHERE doc @> '{\"kind\": 5}'", "gin (doc jsonb_path_ops)"),
    "elements": ("SELECT id FROM item WHERE tags @> ARRAY['t5']", "gin (tags)"),
    "order": ("SELECT id FROM item ORDER BY created DESC LIMIT 20", "btree (created DESC)"),
    "equality and range": (
        "SELECT id FROM item WHERE customer = 7 AND created > '2025-12-31'",
        "btree (customer, created)",
    ),
    "equality and order": (
        "SELECT id FROM item WHERE customer = 7 ORDER BY created DESC LIMIT 20",
        "btree (customer, created DESC)",
    ),
    "join": (
        "SELECT i.id FROM customer c JOIN item i ON i.customer = c.id WHERE c.id = 7",
        "btree (customer)",
    ),
    "update": ("UPDATE item SET state = state WHERE customer = 7", "btree (customer)"),
}
HEALTHY = {
    "most rows": ("SELECT * FROM item WHERE state = 'closed'", "keeps 99%"),
    "all rows": ("SELECT sum(customer) FROM item", "needs all of its rows"),
    "a small table": ("SELECT * FROM setting WHERE key = 'a'", "small"),
    "either of two": ("SELECT id FROM item WHERE customer = 7 OR state = 'open'", "no index helps"),
    "not immutable": ("SELECT id FROM item WHERE to_tsvector(name) @@ to_tsquery('abc')", "not IMMUTABLE"),
}


@pytest.fixture
def unhinted(database: psycopg.Connection) -> psycopg.Connection:
    """The database without hypopg."""
    database.execute("DROP EXTENSION IF EXISTS hypopg")
    return database


@pytest.fixture
def hypopg(database: psycopg.Connection) -> psycopg.Connection:
    """The database with hypopg; skipped where the server has none."""
    available = database.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'hypopg'").fetchone()
    if available is None:
        pytest.skip("hypopg is not installed (Debian: postgresql-15-hypopg)")
    database.execute("CREATE EXTENSION IF NOT EXISTS hypopg")
    return database


def advised(probe: PostgresqlProbe, database: psycopg.Connection, statement: str) -> dict:
    """What the run of one statement, five times, is told."""
    database.execute("SELECT pg_stat_statements_reset()")
    assert probe.run_started() == []
    for _ in range(5):
        database.execute(statement)
    probe.sample()
    return run_details(probe)


def blocks_read(database: psycopg.Connection, statement: str) -> int:
    """Blocks that the statement touches."""
    [[plan]] = database.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}").fetchone()
    return int(plan["Plan"]["Shared Hit Blocks"]) + int(plan["Plan"]["Shared Read Blocks"])


@pytest.mark.parametrize("name", PLANTS)
def test_a_missing_index_is_named_and_cuts_what_is_read(unhinted, watch: Callable[..., PostgresqlProbe], name: str):
    statement, index = PLANTS[name]
    found = advised(watch(), unhinted, statement)
    table_and_index = [one["sql"].partition(" ON public.item USING ")[2] for one in found["advice"]]
    assert table_and_index == [f"{index};"], found["plans"]
    assert not found["advice"][0]["proven"]
    unhinted.execute("VACUUM item")  # the update above left old rows
    before = blocks_read(unhinted, statement)
    unhinted.execute(found["advice"][0]["sql"].replace("INDEX CONCURRENTLY", "INDEX CONCURRENTLY planted"))
    try:
        unhinted.execute("ANALYZE item")
        assert blocks_read(unhinted, statement) < before / 2
        assert advised(watch(), unhinted, statement)["advice"] == []
    finally:
        unhinted.execute("DROP INDEX planted")


@pytest.mark.parametrize("name", HEALTHY)
def test_where_no_index_would_pay_none_is_named_and_the_reason_is(unhinted, watch, name: str):
    statement, why = HEALTHY[name]
    found = advised(watch(), unhinted, statement)
    assert found["advice"] == []
    assert why in found["plans"][0]["scans"][0]["why"]


@pytest.mark.parametrize("name", PLANTS)
def test_hypopg_proves_b_trees_and_the_others_are_said_to_be_unproven(hypopg, watch, name: str):
    statement, index = PLANTS[name]
    [advice] = advised(watch(), hypopg, statement)["advice"]
    assert f"USING {index.partition(' ')[0]} (" in advice["sql"]
    if advice["method"] == "btree":
        assert advice["proven"]
        assert advice["statements"][0]["cost_after"] < 0.8 * advice["statements"][0]["cost_before"]
    else:
        assert advice["why_unproven"] == "hypopg makes no GIN indexes"
    assert hypopg.execute("SELECT count(*) FROM pg_indexes WHERE schemaname = 'public'").fetchone() == (3,)


@pytest.mark.parametrize("name", HEALTHY)
def test_hypopg_proves_none_where_none_would_pay(hypopg, watch, name: str):
    assert advised(watch(), hypopg, HEALTHY[name][0])["advice"] == []


def test_an_index_whose_rows_are_sifted_is_improved_upon_only_with_a_proof(hypopg, watch):
    statement = "SELECT id FROM item WHERE customer = 7 AND name = 'nobody'"
    hypopg.execute("CREATE INDEX half ON item (customer)")
    try:
        [advice] = advised(watch(), hypopg, statement)["advice"]
        assert advice["proven"]
        assert "name" in advice["sql"]
        hypopg.execute("DROP EXTENSION hypopg")
        found = advised(watch(), hypopg, statement)
        assert found["advice"] == []
        assert "without a proof" in found["plans"][0]["scans"][0]["why"]
    finally:
        hypopg.execute("DROP INDEX half")


def test_parameters_of_the_driver_are_planned_as_unknown(unhinted, watch):
    probe = watch()
    probe.run_started()
    for number in range(5):
        text = "SELECT id FROM item WHERE doc->>'title' = %s AND state <> %s"
        unhinted.execute(text, (f"x{number}", "lost"), prepare=True)
    probe.sample()
    [advice] = run_details(probe)["advice"]
    assert "((doc ->> 'title'::text))" in advice["sql"]


def test_a_statement_that_was_never_seen_as_sent_says_what_is_hidden(unhinted, watch):
    probe = watch()
    probe.run_started()
    for _ in range(5):
        unhinted.execute("SELECT id FROM item WHERE doc->>'title' = 'never seen'")
    unhinted.execute("SELECT 1")
    probe.sample()
    found = run_details(probe)
    assert found["advice"] == []
    assert "pg_stat_statements hides" in found["plans"][0]["scans"][0]["why"]


def test_missing_trigrams_are_asked_for_first(unhinted, watch):
    unhinted.execute("DROP EXTENSION pg_trgm")
    try:
        [advice] = advised(watch(), unhinted, PLANTS["part of a text"][0])["advice"]
    finally:
        unhinted.execute("CREATE EXTENSION pg_trgm")
    assert advice["needs"] == "CREATE EXTENSION pg_trgm;"


@pytest.fixture
def referring(hypopg: psycopg.Connection) -> Iterator[psycopg.Connection]:
    """Tickets, their comments, which go with them, and files of comments, no foreign key of which has an index."""
    hypopg.execute("CREATE TABLE ticket AS SELECT i AS id FROM generate_series(1, 5000) i")
    hypopg.execute("ALTER TABLE ticket ADD PRIMARY KEY (id)")
    hypopg.execute(
        "CREATE TABLE comment (id int PRIMARY KEY, ticket int REFERENCES ticket ON DELETE CASCADE, body text)"
    )
    hypopg.execute("INSERT INTO comment SELECT i, i % 2000 + 1, repeat('c', 40) FROM generate_series(1, 20000) i")
    hypopg.execute("CREATE TABLE file (id int PRIMARY KEY, comment int REFERENCES comment, name text)")
    hypopg.execute("INSERT INTO file SELECT i, i, repeat('f', 40) FROM generate_series(1, 20000) i")
    hypopg.execute("VACUUM ANALYZE")
    yield hypopg
    hypopg.execute("DROP TABLE ticket, comment, file CASCADE")


def test_a_delete_that_reads_referring_tables_whole_is_told_the_index_of_each(referring, watch):
    statement = "DELETE FROM ticket WHERE id = 4000"
    advice = advised(watch(), referring, statement)["advice"]
    assert {one["sql"].partition(" ON ")[2] for one in advice} == {
        "public.comment USING btree (ticket);",
        "public.file USING btree (comment);",
    }
    assert all(one["proven"] and one["serves"] == "foreign key under DELETE" for one in advice)
    for one in advice:
        referring.execute(one["sql"])
    assert advised(watch(), referring, statement)["advice"] == []


def test_cursors_of_one_query_are_one_statement_and_its_index_is_named(unhinted: psycopg.Connection, watch):
    probe = watch()
    unhinted.execute("SELECT pg_stat_statements_reset()")
    assert probe.run_started() == []
    for customer in range(12):
        with unhinted.transaction(), unhinted.cursor(name=f"read_{customer}") as cursor:
            cursor.execute(f"SELECT id, doc FROM item WHERE customer = {customer}")
            assert len(cursor.fetchmany(30)) == 30
            cursor.fetchall()
    probe.sample()
    texts: dict[str, str] = {}
    events = probe.run_ended()
    texts |= {one["id"]: one["text"] for kind, one in events if kind == "database_statement"}
    [found] = [details for kind, details in events if kind == "database_run"]
    fetches = [one for one in found["statements"] if texts[one["id"]].startswith("FETCH")]
    shape = "SELECT id, doc FROM item WHERE customer = …"
    assert {texts[one["id"]] for one in fetches} == {
        f'FETCH FORWARD … FROM "…" ({shape})',
        f'FETCH FORWARD ALL FROM "…" ({shape})',
    }
    assert {one["calls"] for one in fetches} == {12}
    assert sum(one["share"] for one in fetches) > 0.5
    assert "btree (customer);" in {one["sql"].partition(" USING ")[2] for one in found["advice"]}
