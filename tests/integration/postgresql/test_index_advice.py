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
def test_the_planner_confirms_b_trees_and_nothing_but_a_run_is_a_proof(hypopg, watch, name: str):
    statement, index = PLANTS[name]
    [advice] = advised(watch(), hypopg, statement)["advice"]
    assert f"USING {index.partition(' ')[0]} (" in advice["sql"]
    assert not advice["proven"]
    if advice["method"] == "btree":
        assert advice["proof"] == "planner"
        assert advice["statements"][0]["cost_after"] < 0.8 * advice["statements"][0]["cost_before"]
    else:
        assert (advice["proof"], advice["why_unproven"]) == ("none", "hypopg makes no GIN indexes")
    assert hypopg.execute("SELECT count(*) FROM pg_indexes WHERE schemaname = 'public'").fetchone() == (3,)


@pytest.mark.parametrize("name", HEALTHY)
def test_hypopg_confirms_none_where_none_would_pay(hypopg, watch, name: str):
    assert advised(watch(), hypopg, HEALTHY[name][0])["advice"] == []


def test_an_index_whose_rows_are_sifted_is_improved_upon_only_with_a_proof(hypopg, watch):
    statement = "SELECT id FROM item WHERE customer = 7 AND name = 'nobody'"
    hypopg.execute("CREATE INDEX half ON item (customer)")
    try:
        [advice] = advised(watch(), hypopg, statement)["advice"]
        assert advice["proof"] == "planner"
        assert "name" in advice["sql"]
        hypopg.execute("DROP EXTENSION hypopg")
        found = advised(watch(), hypopg, statement)
        assert found["advice"] == []
        assert "none is named in its place without hypopg or a run" in found["plans"][0]["scans"][0]["why"]
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
    assert advice["needs"] == "CREATE EXTENSION IF NOT EXISTS pg_trgm;"


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
    assert all(one["proof"] == "planner" and one["serves"] == "foreign key under DELETE" for one in advice)
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


SHOP = """
CREATE TABLE product (id int PRIMARY KEY, brand text NOT NULL, name text NOT NULL, price int NOT NULL,
  state text NOT NULL, deleted timestamptz, email text, tags text[], doc jsonb, note text);
SELECT setseed(0.3);
INSERT INTO product SELECT i, 'brand ' || floor(random() * 300), (ARRAY['red', 'blue', 'green'])[1 + i % 3] || ' '
  || (ARRAY['chair', 'table', 'lamp', 'shelf'])[1 + i % 4] || ' ' || substr(md5(i::text), 1, 8), 1000 * random(),
  CASE WHEN random() < 0.02 THEN 'open' ELSE 'closed' END, CASE WHEN random() < 0.9 THEN now() END,
  'User' || i || '@example.org', ARRAY['t' || floor(random() * 400)], jsonb_build_object('kind', floor(random() * 400)),
  repeat('n', 60)
FROM generate_series(1, 60000) i
"""
PAGE = "SELECT id, name, price FROM product WHERE brand = %s AND name ILIKE %s ORDER BY price LIMIT 20"
ASKED = [("brand 7", "%chair%"), ("brand 9", "%lamp%"), ("brand 12", "%red%")]


@pytest.fixture
def shop(hypopg: psycopg.Connection) -> Iterator[psycopg.Connection]:
    """60,000 products of 300 brands, with hypopg; only the primary key is there."""
    for statement in SHOP.split(";"):
        hypopg.execute(statement)
    hypopg.execute("VACUUM ANALYZE product")
    yield hypopg
    hypopg.execute("DROP TABLE product")


def asked(probe: PostgresqlProbe, owner: psycopg.Connection, statement: str, values: list[tuple], bound: bool) -> dict:
    """What the run of a statement with these values is told; `bound`: sent apart from its text."""
    owner.execute("SELECT pg_stat_statements_reset()")
    made = psycopg.Cursor if bound else psycopg.ClientCursor
    assert probe.run_started() == []
    with psycopg.connect(owner.info.dsn, autocommit=True, cursor_factory=made) as client:
        for each in values * 2:
            client.execute(statement, each or None)
            probe.sample()
    return run_details(probe)


def of_index(advice: dict) -> str:
    """What follows the table's name."""
    return advice["sql"].partition(" ON public.product USING ")[2].rstrip(";")


@pytest.mark.parametrize("bound", [False, True], ids=["constants", "parameters"])
def test_an_equality_beside_a_pattern_gets_its_b_tree_and_no_trigrams(shop, watch, bound: bool):
    [advice] = asked(watch(), shop, PAGE, ASKED, bound)["advice"]
    assert of_index(advice) in ("btree (brand)", "btree (brand, price)")
    assert (advice["proof"], advice["values"]) == ("planner", "drawn" if bound else "seen")


def test_without_hypopg_an_estimate_of_a_sample_chooses_the_b_tree(shop, watch):
    shop.execute("DROP EXTENSION hypopg")
    [advice] = asked(watch(), shop, PAGE, ASKED, False)["advice"]
    assert of_index(advice) in ("btree (brand)", "btree (brand, price)")
    assert (advice["proof"], advice["why_unproven"]) == ("none", "hypopg is not there")
    assert advice["sampled_rows"] > 1_000


def test_a_rare_pattern_beside_a_frequent_value_gets_its_trigrams_and_they_give_no_order(shop, watch):
    statement = "SELECT id FROM product WHERE state = %s AND name ILIKE %s ORDER BY price LIMIT 20"
    values = [("closed", f"%{number:x}a{number:x}c7%") for number in range(3)]
    [advice] = asked(watch(), shop, statement, values, False)["advice"]
    assert of_index(advice) == "gin (name gin_trgm_ops)"
    assert not advice["is_order"] and not advice["proven"]


def test_an_index_that_is_in_use_is_said_to_be(shop, watch):
    shop.execute("CREATE INDEX product_page ON product (brand, price)")
    for bound in (False, True):
        found = asked(watch(), shop, PAGE, ASKED, bound)
        assert found["advice"] == []
        [why] = [scan["why"] for plan in found["plans"] for scan in plan["scans"] if "why" in scan] or ["in use"]
        assert "in use" in why
        assert "does not take" not in why


def test_an_index_that_no_plan_takes_is_said_to_be_not_taken_and_for_which_values(shop, watch):
    shop.execute("CREATE INDEX product_note ON product (note)")
    found = asked(watch(), shop, "SELECT sum(price) FROM product WHERE note = %s", [("n" * 60,)], False)
    [why] = [scan["why"] for plan in found["plans"] for scan in plan["scans"]]
    words = "the planner does not take the index product_note, which has these columns, for average values or the "
    assert f"{words}values seen: too many rows" in why
    assert "in use" not in why


def test_an_index_that_average_values_would_take_and_those_seen_do_not_is_said_so(shop, watch):
    shop.execute("CREATE INDEX product_state ON product (state)")
    found = asked(watch(), shop, "SELECT sum(price) FROM product WHERE state = %s", [("closed",)], False)
    [why] = [scan["why"] for plan in found["plans"] for scan in plan["scans"]]
    assert "takes the index product_state for average values, and for none of the values seen" in why


PLANTS_OF_SHOP = {
    "equality, range and order": (
        "SELECT id FROM product WHERE brand = %s AND price > %s ORDER BY price LIMIT 20",
        [("brand 3", 100), ("brand 5", 300), ("brand 8", 500)],
        ("btree (brand, price)",),
    ),
    "not deleted": (
        "SELECT id FROM product WHERE deleted IS NULL AND brand = %s",
        [("brand 3",), ("brand 5",), ("brand 8",)],
        ("btree (brand) WHERE (deleted IS NULL)", "btree (brand, deleted)"),
    ),
    "lower case beside a state": (
        "SELECT id FROM product WHERE lower(email) = %s AND state = %s",
        [("user7@example.org", "open"), ("user9@example.org", "closed"), ("user11@example.org", "open")],
        ("btree ((lower(email)))", "btree (state, (lower(email)))"),  # the planner has no statistics of lower(email)
    ),
    "element beside a frequent state": (
        "SELECT id FROM product WHERE tags @> ARRAY[%s] AND state = %s",
        [("t3", "closed"), ("t7", "closed"), ("t9", "closed")],
        ("gin (tags)",),
    ),
    "JSON beside a range": (
        "SELECT id FROM product WHERE doc @> %s::jsonb AND price > %s",
        [('{"kind": 3}', 10), ('{"kind": 5}', 20), ('{"kind": 9}', 30)],
        ("gin (doc jsonb_path_ops)",),
    ),
}


@pytest.mark.parametrize("bound", [False, True], ids=["constants", "parameters"])
@pytest.mark.parametrize("name", PLANTS_OF_SHOP)
def test_several_conditions_in_one_statement_get_the_index_that_serves_best(shop, watch, name: str, bound: bool):
    statement, values, indexes = PLANTS_OF_SHOP[name]
    found = asked(watch(), shop, statement, values, bound)
    assert [of_index(one) for one in found["advice"]][:1] and of_index(found["advice"][0]) in indexes, found


def test_a_constant_of_the_applications_text_makes_a_partial_index(shop, watch):
    statement = "SELECT id FROM product WHERE state = 'open' AND brand = %s ORDER BY price LIMIT 20"
    [advice] = asked(watch(), shop, statement, [("brand 3",), ("brand 5",)], True)["advice"]
    assert of_index(advice).endswith("WHERE (state = 'open'::text)")


@pytest.fixture
def proven(shop: psycopg.Connection, postgresql_server) -> Iterator[Callable[..., PostgresqlProbe]]:
    """A probe that may make indexes for runs, in the database that it watches."""
    probe = PostgresqlProbe(
        postgresql_server.dsn("plimsoll", "advice"), trial_dsn=postgresql_server.dsn(database="advice")
    )
    yield lambda: probe
    probe.close()


def test_where_indexes_may_be_made_a_run_with_each_decides_and_none_remains(shop, proven):
    [advice] = asked(proven(), shop, PAGE, ASKED, False)["advice"]
    assert advice["proof"] == "executed" and advice["proven"]
    [served] = advice["statements"]
    assert served["time_after_ms"] < served["time_before_ms"] / 5
    compared = [one["sql"] for one in advice["alternatives"]]
    assert any("gin_trgm_ops" in sql for sql in compared)
    times = [one["time_after_ms"] for one in advice["alternatives"] if one["proof"] == "executed"]
    assert served["time_after_ms"] <= 1.5 * min(times)
    names = shop.execute("SELECT indexname FROM pg_indexes WHERE tablename = 'product'").fetchall()
    assert names == [("product_pkey",)]


def test_a_statement_that_writes_is_not_run(shop, proven):
    [advice] = asked(proven(), shop, "UPDATE product SET note = note WHERE brand = %s", [("brand 3",)], False)["advice"]
    assert advice["proof"] == "planner"
    assert "it writes, so that it was not run" in advice["why_unproven"]


def test_a_database_with_fewer_rows_proves_nothing(shop, postgresql_server):
    shop.execute("CREATE DATABASE small")
    try:
        with psycopg.connect(postgresql_server.dsn(database="small"), autocommit=True) as copy:
            copy.execute(SHOP.split(";")[0])
            copy.execute("INSERT INTO product SELECT i, 'b', 'n', 1, 'open' FROM generate_series(1, 100) i")
            copy.execute("ANALYZE")
        probe = PostgresqlProbe(
            postgresql_server.dsn("plimsoll", "advice"), trial_dsn=postgresql_server.dsn(database="small")
        )
        try:
            [advice] = asked(probe, shop, PAGE, ASKED, False)["advice"]
        finally:
            probe.close()
        assert "the database of trial_dsn has 100 rows where this one has 60,000" in advice["why_unproven"]
        assert advice["proof"] == "planner"
    finally:
        shop.execute("DROP DATABASE small WITH (FORCE)")


def test_a_trial_database_that_is_gone_is_said_and_the_planner_decides(shop, postgresql_server):
    probe = PostgresqlProbe(
        postgresql_server.dsn("plimsoll", "advice"), trial_dsn=postgresql_server.dsn(database="not_there")
    )
    try:
        found = asked(probe, shop, PAGE, ASKED, False)
    finally:
        probe.close()
    assert found["advice"][0]["proof"] == "planner"
    assert any("trial_dsn" in note for note in found["notes"])
