"""From a scan as EXPLAIN prints it to the indexes that could serve it."""

from __future__ import annotations

import pytest

from plimsoll.probes.postgresql.expressions import bare, comparisons, functions, sort_key
from plimsoll.probes.postgresql.index_candidates import JSONB, TEXT, TSVECTOR, VARCHAR, candidates, quoted
from plimsoll.probes.postgresql.plans import Scan, deleted_from, wasteful_scans

TYPES = {"doc": JSONB, "name": VARCHAR, "tags": 1009, "during": 3910}


def type_of(scan: Scan, expression: str) -> int:
    return TSVECTOR if expression.startswith("to_tsvector") else TYPES.get(expression, TEXT)


def indexes(condition: str, *, sort: tuple[str, ...] = (), join: str = "", c: bool = False) -> list[str]:
    scan = Scan("public", "item", "i", 10.0, condition, join, 1.0, sort)
    return [one.definition.removeprefix("ON public.item USING ") for one in candidates(scan, type_of, c)]


@pytest.mark.parametrize(
    ("condition", "index"),
    [
        ("(i.customer = 5)", "btree (customer)"),
        ("('5'::bigint = i.customer)", "btree (customer)"),
        ("(i.customer = ANY ('{1,2}'::bigint[]))", "btree (customer)"),
        ("((i.name)::text = 'x'::text)", "btree (name)"),
        ("((i.doc ->> 'title'::text) = 'x'::text)", "btree ((doc ->> 'title'::text))"),
        ("(lower((i.doc ->> 'k'::text)) ~~ 'x%'::text)", "btree ((lower((doc ->> 'k'::text))) text_pattern_ops)"),
        ("((i.name)::text ~~* '%x%'::text)", "gin (name gin_trgm_ops)"),
        ("((i.name)::text ~~ $1)", "gin (name gin_trgm_ops)"),
        ("(to_tsvector('simple'::regconfig, i.a) @@ '''x'''::tsquery)", "gin ((to_tsvector('simple'::regconfig, a)))"),
        ("(i.doc @> '{\"a\": 1}'::jsonb)", "gin (doc jsonb_path_ops)"),
        ("(i.doc ? 'a'::text)", "gin (doc)"),
        ("(i.tags && '{a,b}'::text[])", "gin (tags)"),
        ("(i.during && '[2020-01-01,2020-02-01)'::tstzrange)", "gist (during)"),
        ("((i.customer = 5) AND (i.created > '2020-01-01'::date))", "btree (customer, created)"),
        ('(i."Odd Name" = 5)', 'btree ("Odd Name")'),
    ],
)  # fmt: skip
def test_the_operator_of_a_condition_names_the_index(condition: str, index: str):
    assert indexes(condition)[0] == index


@pytest.mark.parametrize(
    "condition",
    [
        "(i.customer <> 5)",
        "((i.customer = 5) OR (i.state = 'open'::text))",
        "(i.customer = i.owner)",
        "(i.customer IS NOT NULL)",
        "(i.customer = ALL ('{1,2}'::bigint[]))",
        "(NOT (SubPlan 1))",
    ],
)
def test_a_condition_that_no_index_helps_names_none(condition: str):
    assert indexes(condition) == []


def test_a_prefix_needs_no_operator_class_in_the_c_collation():
    assert indexes("((i.name)::text ~~ 'x%'::text)", c=True) == ["btree (name)"]


def test_a_sort_with_a_limit_comes_behind_equal_columns():
    found = indexes("(i.state = 'open'::text)", sort=("i.created DESC", "(lower(i.title))"))
    assert found[0] == "btree (state, created DESC, (lower(title)))"


def test_a_sort_by_something_of_another_table_gives_nothing():
    assert indexes("", sort=("i.created", "o.name")) == []


def test_a_join_counts_as_an_equality():
    assert indexes("", join="(o.id = i.order_id)") == ["btree (order_id)"]


def test_a_hidden_json_key_makes_a_candidate_that_is_not_known():
    scan = Scan("public", "item", "i", 10.0, "((i.doc ->> $1) = $2)")
    assert [one.is_known for one in candidates(scan, type_of, False)] == [False]


def test_names_are_quoted_where_they_need_it():
    assert [quoted(name) for name in ("item", "Item", "order", "2nd", 'a"b')] == [
        "item",
        '"Item"',
        '"order"',
        '"2nd"',
        '"a""b"',
    ]


def test_expressions_are_compared_without_brackets_and_spaces():
    assert bare("(lower((doc ->> 'a'::text)))") == bare("lower(doc ->> 'a'::text)")
    assert comparisons("(public.f(i.a) = 1)", "i")[0].left == "public.f(a)"
    assert functions("public.f(a, g(b, c), ARRAY[1,2])") == [("f", 3), ("g", 2)]
    assert sort_key("i.created DESC NULLS LAST", "i") == ("created", "DESC NULLS LAST")


def node(kind: str, *children: dict, **more: object) -> dict:
    relation = {"Parent Relationship": "Outer", "Plan Rows": 100, "Total Cost": 1.0}
    return {"Node Type": kind, **relation, **more, "Plans": list(children)}


def seq(name: str, **more: object) -> dict:
    return node("Seq Scan", **{"Relation Name": name, "Alias": name, "Schema": "s", **more})  # type: ignore[arg-type]


def test_a_sort_counts_for_the_scan_below_it_only_under_a_limit():
    limited = node("Limit", node("Sort", seq("a"), **{"Sort Key": ["a.x"]}))
    assert wasteful_scans(limited)[0].sort_keys == ("a.x",)
    assert wasteful_scans(node("Sort", seq("a"), **{"Sort Key": ["a.x"]}))[0].sort_keys == ()
    grouped = node("Limit", node("Sort", node("Aggregate", seq("a")), **{"Sort Key": ["a.x"]}))
    assert wasteful_scans(grouped)[0].sort_keys == ()


def test_both_sides_of_a_join_know_its_condition_and_the_rows_of_the_other():
    inner = node("Hash", seq("b", **{"Plan Rows": 7}), **{"Parent Relationship": "Inner", "Plan Rows": 7})
    plan = node("Hash Join", seq("a", **{"Plan Rows": 5000}), inner, **{"Hash Cond": "(a.b_id = b.id)"})
    first, second = wasteful_scans(plan)
    assert (first.table, first.join, first.other_rows) == ("a", "(a.b_id = b.id)", 7.0)
    assert (second.table, second.join, second.other_rows) == ("b", "(a.b_id = b.id)", 5000.0)


def test_an_index_whose_rows_are_sifted_counts_with_both_conditions():
    index = node("Index Scan", **{"Relation Name": "item", "Alias": "i", "Schema": "public"})  # type: ignore[arg-type]
    index |= {"Index Cond": "(i.customer = 7)", "Filter": "((i.state = 'open'::text) AND (i.created > $1))"}
    [scan] = wasteful_scans(index)
    assert scan.by_index
    assert [one.left for one in comparisons(scan.filter, "i")] == ["state", "created", "customer"]
    assert wasteful_scans(index | {"Filter": None}) == []


def test_the_index_for_a_look_at_referring_rows_says_what_it_is_for():
    scan = Scan("public", "comment", "comment", 5.0, "(comment.ticket = $1)", is_check=True)
    [one] = candidates(scan, type_of, False)
    assert (one.kind, one.definition) == ("foreign key under DELETE", "ON public.comment USING btree (ticket)")


def test_what_a_plan_deletes_from_is_found_at_its_top_and_in_a_with():
    gone = node("ModifyTable", seq("a"), **{"Operation": "Delete", "Relation Name": "a", "Schema": "s"})  # type: ignore[arg-type]
    assert deleted_from(gone) == [("s", "a")]
    assert deleted_from(node("CTE Scan", gone)) == [("s", "a")]
    assert deleted_from(node("ModifyTable", **{"Operation": "Update", "Relation Name": "a", "Schema": "s"})) == []  # type: ignore[arg-type]
