"""The cases: tables of a ticket system with a planted missing index, or a healthy load, varied by a seed.

Each kind is a function of its draws (`Draw`: rows, width, selectivity, how the application sends constants) that gives
the statement in question; the rest of a load, its share of calls too, comes from the same seed. Statements with several
kinds of conditions are in together.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random

import together
from tickets import (
    HEALTHY,
    LEAST_ROWS,
    PLANTED,
    YEAR_END,
    Case,
    Draw,
    Made,
    Statement,
    comments_on,
    day,
    hex_text,
    number,
    tickets,
)

# The advice was changed for what a trial of these kinds showed; nothing was changed for the others.
TUNED_WITH: tuple[str, ...] = ("foreign key under DELETE", *together.TUNED_WITH)


def case_of(kind: str, seed: int, variation: int) -> Case:
    """The case of that kind: the same for the same seed and variation."""
    draw = Draw(Random(f"{kind} {seed} {variation}"))
    part = PLANTED if kind in PLANTS else HEALTHY
    setup, target, more = (PLANTS | HEALTHIES)[kind](draw)
    rest = draw.of("others_share", [0.2, 0.4, 0.6, 0.8])
    others = [*more, Statement("SELECT title, status FROM ticket WHERE id = %s", number(1, LEAST_ROWS // 2))]
    total = sum(one.weight for one in others)
    others = [Statement(one.text, one.values, rest * one.weight / total) for one in others]
    draw.of("sent", ["constants", "parameters"])
    draw.of("collation", ["C", "C.UTF-8"])
    weighted = Statement(target.text, target.values, 1 - rest, target.rivals)
    return Case(kind, part, draw.said, tuple(setup), weighted, tuple(others))


def _equality(draw: Draw) -> Made:
    customers = draw.count("customers", 100, 5_000)
    return tickets(draw, customers), Statement("SELECT * FROM ticket WHERE customer = %s", number(1, customers)), []


def _two_columns(draw: Draw) -> Made:
    customers = draw.count("customers", 20, 300)
    text = "SELECT id, title FROM ticket WHERE agent = %s AND customer = %s"
    return (
        tickets(draw, customers),
        Statement(text, lambda random, _: (random.randint(1, 40), random.randint(1, customers))),
        [],
    )


def _equality_and_range(draw: Draw) -> Made:
    customers, days = draw.count("customers", 20, 200), draw.of("days", [3, 10, 30])
    text = "SELECT id, amount FROM ticket WHERE created >= %s::timestamptz AND customer = %s"
    since = f"2025-12-{31 - min(days, 30):02d}"
    return tickets(draw, customers), Statement(text, lambda random, _: (since, random.randint(1, customers))), []


def _range(draw: Draw) -> Made:
    hours = draw.of("hours", [2, 12, 48])
    text = (
        "SELECT id, amount FROM ticket WHERE created >= '2025-01-01'::timestamptz + %s * interval '1 day' "
        f"AND created < '2025-01-01'::timestamptz + %s * interval '1 day' + interval '{hours} hours'"
    )
    return tickets(draw), Statement(text, lambda random, _: (day := day(random), day)), []


def _order(draw: Draw) -> Made:
    column, limit = draw.of("by", ["created DESC", "amount", "title"]), draw.of("limit", [10, 50])
    return tickets(draw), Statement(f"SELECT id, title FROM ticket ORDER BY {column} LIMIT {limit}"), []


def _equality_and_order(draw: Draw) -> Made:
    customers = draw.count("customers", 10, 300)
    text = "SELECT id, title FROM ticket WHERE customer = %s ORDER BY created DESC LIMIT 20"
    return tickets(draw, customers), Statement(text, number(1, customers)), []


def _beginning(draw: Draw) -> Made:
    length = draw.of("letters", [3, 4, 5])
    text = "SELECT id, title FROM ticket WHERE title LIKE %s"
    return tickets(draw), Statement(text, lambda random, _: (f"{hex_text(random, length)}%",)), []


def _part_of_text(draw: Draw) -> Made:
    length, how = draw.of("letters", [4, 6]), draw.of("operator", ["ILIKE", "LIKE"])
    text = f"SELECT id, title FROM ticket WHERE title {how} %s"
    return tickets(draw), Statement(text, lambda random, _: (f"%{hex_text(random, length)}%",)), []


def _json_contains(draw: Draw) -> Made:
    kinds = draw.count("kinds", 50, 2_000)
    text = "SELECT id FROM ticket WHERE doc @> %s::jsonb"
    return tickets(draw, kinds=kinds), Statement(text, lambda r, _: (json.dumps({"kind": r.randrange(kinds)}),)), []


def _json_field(draw: Draw) -> Made:
    name, most = draw.of("field", [("order", LEAST_ROWS), ("city", 299)])
    value = "A{}" if name == "order" else "city {}"
    text = f"SELECT id, title FROM ticket WHERE doc->>'{name}' = %s"
    return tickets(draw), Statement(text, lambda random, _: (value.format(random.randint(1, most)),)), []


def _lower_case(draw: Draw) -> Made:
    text = "SELECT id, title FROM ticket WHERE lower(email) = %s"
    return tickets(draw), Statement(text, lambda r, _: (f"user{r.randint(1, LEAST_ROWS)}@example.org",)), []


def _join(draw: Draw) -> Made:
    made = tickets(draw)
    rows = draw.said["rows"]
    text = "SELECT c.id, c.body, t.title FROM ticket t JOIN comment c ON c.ticket = t.id WHERE t.id = %s"
    foreign = draw.of("constraint", ["", "REFERENCES ticket"])
    return [*made, *comments_on(draw, rows, foreign)], Statement(text, number(1, rows // 2)), []


def _delete(draw: Draw) -> Made:
    made = tickets(draw)
    rows = draw.said["rows"]
    foreign = draw.of("constraint", ["REFERENCES ticket", "REFERENCES ticket ON DELETE CASCADE"])
    deleted = Statement("DELETE FROM ticket WHERE id = %s", lambda _, serial: (rows - serial,))
    return [*made, *comments_on(draw, rows, foreign)], deleted, []


def _few_open(draw: Draw) -> Made:
    share, ordered = draw.of("open_share", [0.001, 0.005, 0.02]), draw.of("ordered", [" ORDER BY created LIMIT 20", ""])
    given = draw.of("status", ["'open'", "%s"])
    text = f"SELECT id, title FROM ticket WHERE status = {given}{ordered}"
    values = ("open",) if given == "%s" else ()
    return tickets(draw, open_share=share), Statement(text, lambda *_: values), []


def _elements(draw: Draw) -> Made:
    kinds, operator = draw.count("kinds", 50, 2_000), draw.of("operator", ["@>", "&&"])
    text = f"SELECT id, title FROM ticket WHERE labels {operator} ARRAY[%s]"
    return tickets(draw, kinds=kinds), Statement(text, lambda random, _: (f"l{random.randrange(kinds)}",)), []


def _count(draw: Draw) -> Made:
    customers = draw.count("customers", 100, 2_000)
    text = "SELECT count(*) FROM ticket WHERE customer = %s AND status = 'closed'"
    return tickets(draw, customers), Statement(text, number(1, customers)), []


PLANTS: dict[str, Callable[[Draw], Made]] = {
    "equality": _equality,
    "two columns": _two_columns,
    "equality and range": _equality_and_range,
    "range": _range,
    "order with a limit": _order,
    "equality and order": _equality_and_order,
    "beginning of a text": _beginning,
    "part of a text": _part_of_text,
    "contents of JSON": _json_contains,
    "field of JSON": _json_field,
    "lower case": _lower_case,
    "join": _join,
    "foreign key under DELETE": _delete,
    "few open": _few_open,
    "elements of an array": _elements,
    "count with a filter": _count,
    **together.PLANTS,
}


def _indexed(draw: Draw) -> Made:
    text, keys = draw.of("index", [
        ("SELECT id, title FROM ticket WHERE customer = %s", "(customer)"),
        ("SELECT id, title FROM ticket WHERE customer = %s ORDER BY created DESC LIMIT 20", "(customer, created DESC)"),
        ("SELECT id, title FROM ticket WHERE customer = %s AND amount > 100", "(customer)"),
    ])  # fmt: skip
    return [*tickets(draw), f"CREATE INDEX there ON ticket {keys}"], Statement(text, number(1, 1_000)), []


def _small(draw: Draw) -> Made:
    rows = draw.count("settings", 50, 900)
    made = [
        "CREATE TABLE setting (id bigint PRIMARY KEY, name text, owner int, value text)",
        f"INSERT INTO setting SELECT i, 'name ' || i, i % 9, 'value ' || i FROM generate_series(1, {rows}) i",
    ]
    text = "SELECT value FROM setting WHERE name = %s"
    read = Statement(text, lambda random, _: (f"name {random.randint(1, rows)}",))
    return [*tickets(draw), *made], read, []


def _most_rows(draw: Draw) -> Made:
    text = draw.of("statement", [
        "SELECT sum(amount) FROM ticket WHERE status = 'closed'",
        "SELECT agent, sum(amount) FROM ticket WHERE created > '2025-02-15' GROUP BY agent",
        "SELECT count(*) FROM ticket WHERE amount > 200 AND status <> 'open'",
    ])  # fmt: skip
    return tickets(draw), Statement(text), []


def _no_use(draw: Draw) -> Made:
    text, values = draw.of("statement", [
        ("SELECT count(*) FROM ticket WHERE customer <> %s", "customer"),
        ("SELECT id FROM ticket WHERE extract(hour FROM created) = 3 AND id %% 50 = %s", "share"),
        ("SELECT id, title FROM ticket ORDER BY random() LIMIT 1", ""),
    ])  # fmt: skip
    draws = {"customer": number(1, 1_000), "share": number(0, 49), "": lambda *_: ()}
    return tickets(draw), Statement(text, draws[values]), []


def _whole_table(draw: Draw) -> Made:
    text = draw.of("statement", [
        "SELECT status, count(*) FROM ticket GROUP BY status",
        "SELECT count(*) FILTER (WHERE status = 'open'), count(*) FROM ticket",
        "SELECT date_trunc('month', created) AS month, avg(amount) FROM ticket GROUP BY month ORDER BY month",
    ])  # fmt: skip
    return tickets(draw), Statement(text), []


def _written(draw: Draw) -> Made:
    """Nearly all calls write; a rare look reads the last minutes, by an index that is there, or a table of few rows."""
    rows = draw.count("rows", 2_000, 20_000)
    made = [
        "CREATE TABLE event (id bigint PRIMARY KEY, device int, at timestamptz, value float8)",
        f"INSERT INTO event SELECT i, i % 200, '{YEAR_END}'::timestamptz + i * interval '1 second', random() "
        f"FROM generate_series(1, {rows}) i",
        "CREATE INDEX event_at ON event (at)",
    ]
    put = Statement(
        f"INSERT INTO event VALUES (%s, %s, '{YEAR_END}'::timestamptz + %s * interval '1 second', 0.5)",
        lambda random, serial: (rows + serial, random.randrange(200), rows + serial),
    )
    change = Statement(
        "UPDATE event SET value = value + 1 WHERE id = %s", number(1, rows), draw.of("updates", [0.2, 1])
    )
    look = Statement(
        "SELECT device, count(*) FROM event WHERE device = %s GROUP BY device",
        number(0, 199),
        draw.of("looks", [0.005, 0.02]),
    )
    return [*tickets(draw, rows=LEAST_ROWS), *made], put, [change, look]


HEALTHIES: dict[str, Callable[[Draw], Made]] = {
    "an index is there": _indexed,
    "a small table": _small,
    "most rows": _most_rows,
    "no index serves": _no_use,
    "all of the table": _whole_table,
    "written all the time": _written,
    **together.HEALTHIES,
}
