"""Entries of pg_stat_statements under names that change: one statement, with the query that a cursor is of."""

from __future__ import annotations

import pytest

from plimsoll.probes.postgresql.named_statements import NamedStatements, named
from plimsoll.probes.postgresql.statements import Window, shown_text


def counters(calls: float, ms: float) -> dict[str, float]:
    return {"calls": calls, "exec_ms": ms, "rows": 10 * calls}


@pytest.mark.parametrize(
    ("text", "verb", "name", "shape"),
    [
        ('FETCH FORWARD 1000 FROM "c_7f_1"', "fetch", "c_7f_1", 'FETCH FORWARD … FROM "…"'),
        ("fetch all in Mine;", "fetch", "mine", 'fetch all in "…"'),
        ("MOVE BACKWARD 5 FROM c1", "move", "c1", 'MOVE BACKWARD … FROM "…"'),
        ('CLOSE "c_7f_1"', "close", "c_7f_1", 'CLOSE "…"'),
        ("SAVEPOINT sa_savepoint_12", "savepoint", "sa_savepoint_12", 'SAVEPOINT "…"'),
        ("RELEASE SAVEPOINT s3", "release", "s3", 'RELEASE SAVEPOINT "…"'),
        ("ROLLBACK TO SAVEPOINT s3", "rollback", "s3", 'ROLLBACK TO SAVEPOINT "…"'),
    ],
)
def test_a_name_is_taken_out(text: str, verb: str, name: str, shape: str) -> None:
    found = named(text)
    assert found is not None and (found.verb, found.name, found.shape, found.query) == (verb, name, shape, "")


def test_a_cursor_s_query_is_what_follows_its_for() -> None:
    text = "DECLARE \"c 1\" NO SCROLL CURSOR WITHOUT HOLD FOR SELECT id FROM item WHERE title = 'x' FOR UPDATE;"
    found = named(text)
    assert found is not None and found.name == "c 1"
    assert found.query == "SELECT id FROM item WHERE title = 'x' FOR UPDATE"
    assert found.query_shape == "SELECT id FROM item WHERE title = '…' FOR UPDATE"
    assert found.shape == f'DECLARE "…" NO SCROLL CURSOR WITHOUT HOLD FOR {found.query_shape}'


@pytest.mark.parametrize(
    "text",
    ["", "FETCH", "SELECT 1", "ROLLBACK", "COMMIT", "DECLARE c", "DECLARE c CURSOR", "FETCH 'a'", "fetches FROM c",
     "CLOSE ;"],
)  # fmt: skip
def test_what_carries_no_name_stays(text: str) -> None:
    assert named(text) is None


def test_crumbs_of_one_cursor_s_query_are_one_statement_which_is_told_and_planned_by_it() -> None:
    joined = NamedStatements()
    joined.add(
        {
            1: "DECLARE \"c_1\" CURSOR FOR SELECT id FROM item WHERE size > 7 AND title = 'secret'",
            2: 'FETCH FORWARD 5 FROM "c_1"',
            3: 'FETCH FORWARD 50 FROM "c_1"',
            4: "DECLARE \"c_2\" CURSOR FOR SELECT id FROM item WHERE size > 8 AND title = 'other'",
            5: 'FETCH FORWARD 5 FROM "c_2"',
            6: 'FETCH FORWARD 5 FROM "of_a_function"',
        }
    )
    crumbs = [(number, counters(1, 10.0 * number)) for number in (1, 2, 3, 4, 5, 6)]
    window = joined.joined(Window([(99, counters(3, 45.0)), *crumbs], evicted=2))
    texts = [joined.texts.get(key, "another") for key, _ in window.statements]
    shape = "SELECT id FROM item WHERE size > … AND title = '…'"
    assert texts == [
        f'FETCH FORWARD … FROM "…" ({shape})',
        'FETCH FORWARD … FROM "…"',
        f'DECLARE "…" CURSOR FOR {shape}',
        "another",
    ]
    assert [shown_text(text) for text in texts] == texts  # as the events of a run hold them
    assert window.statements[0][1] == counters(3, 100.0)
    assert window.evicted == 2 and window.total_ms == 255.0
    assert not any("secret" in text or "other" in text.split() for text in joined.texts.values())
    planned = joined.queries[window.statements[0][0]]
    assert planned == "SELECT id FROM item WHERE size > 7 AND title = 'secret'"


def test_the_key_of_a_statement_is_the_same_in_another_run_and_under_other_names() -> None:
    keys = set()
    for name in ("a_1", "b_2"):
        joined = NamedStatements()
        joined.add({7: f"DECLARE {name} CURSOR FOR SELECT 1", 8: f"FETCH 1 FROM {name}"})
        keys.add(joined.joined(Window([(8, counters(1, 1))])).statements[0][0])
    assert len(keys) == 1


def test_a_name_of_cursors_of_several_queries_tells_of_none() -> None:
    joined = NamedStatements()
    joined.add(
        {1: "DECLARE c CURSOR FOR SELECT 1 FROM a", 2: "DECLARE c CURSOR FOR SELECT 1 FROM b", 3: "FETCH 1 FROM c"}
    )
    [(key, _)] = joined.joined(Window([(3, counters(1, 1))])).statements
    assert joined.texts[key] == 'FETCH … FROM "…"' and key not in joined.queries
