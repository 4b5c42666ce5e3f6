"""Which of several options is advised, what an index is estimated to cost, and what stands for a parameter."""

from __future__ import annotations

import pytest

from plimsoll.probes.postgresql.expressions import comparisons
from plimsoll.probes.postgresql.index_candidates import TEXT, Candidate, Key, candidates
from plimsoll.probes.postgresql.index_cost import Prices, heap_cost, ordered_cost, search_cost, tree_cost
from plimsoll.probes.postgresql.index_options import Option, cheapest, paired
from plimsoll.probes.postgresql.plans import Scan, wasteful_scans
from plimsoll.probes.postgresql.row_sample import Sampled
from plimsoll.probes.postgresql.statement_values import statement_of
from plimsoll.probes.postgresql.trigrams import conditions_of, trigrams
from plimsoll.probes.postgresql.workload import Workload

PRICES = Prices()


def option(keys: str, cost: float | None, proof: str = "planner", method: str = "btree", predicate: str = "") -> Option:
    made = tuple(Key(key) for key in keys.split())
    return Option((Candidate("public", "item", method, made, "", predicate=predicate),), cost, proof)  # type: ignore[arg-type]


def keys_of(chosen: Option | None) -> str:
    return "" if chosen is None else " ".join(key.expression for key in chosen.candidates[0].keys)


def test_the_cheapest_is_advised_and_of_nearly_equal_ones_the_shorter():
    assert keys_of(cheapest([option("a b", 500.0), option("a", 900.0)])) == "a b"
    assert keys_of(cheapest([option("a b", 500.0), option("a", 540.0)])) == "a"
    assert keys_of(cheapest([option("a b", 5.0), option("a", 12.0)])) == "a", "two pages are nothing"


def test_a_part_of_the_rows_is_preferred_where_it_costs_the_same():
    assert cheapest([option("a b", 50.0), option("b", 51.0, predicate="(a = 1)")]).candidates[0].predicate  # type: ignore[union-attr]


def test_an_estimate_has_to_promise_twice_what_the_planner_does():
    tree, search = option("a", 100.0), option("t", 60.0, "none", "gin")
    assert cheapest([search, tree]) is tree
    assert cheapest([option("t", 45.0, "none", "gin"), tree]).proof == "none"  # type: ignore[union-attr]
    assert cheapest([option("t", None, "none", "gin"), tree]) is tree
    assert cheapest([search]) is search
    assert cheapest([]) is None


def test_two_indexes_together_are_the_best_tree_and_the_best_search():
    [both] = paired([option("a", 100.0), option("b", 300.0), option("t", 900.0, "none", "gin")])
    assert [one.keys[0].expression for one in both.candidates] == ["a", "t"]
    assert both.cost is None
    assert paired([option("a", 100.0)]) == []


def test_a_heap_scan_costs_a_random_page_for_a_row_and_all_pages_in_sequence_for_all_rows():
    assert heap_cost(1, 1_000, PRICES) == pytest.approx(4.0, rel=0.05)
    whole = heap_cost(1_000_000, 1_000, PRICES)
    assert whole == pytest.approx(1_000 + 1_000_000 * 0.0125, rel=0.02), "seq_page_cost for each page"
    assert heap_cost(0, 1_000, PRICES) == 0.0


def test_an_estimate_grows_with_the_rows():
    assert tree_cost(10, 1_000, PRICES) < tree_cost(100, 1_000, PRICES) < tree_cost(10_000, 1_000, PRICES)
    few, many = (search_cost([rows, rows], rows, 1_000, PRICES) for rows in (10, 10_000))
    assert few < many


def test_a_frequent_key_of_a_search_is_skipped_to_the_rows_of_a_rare_one():
    rare = search_cost([10, 100_000], 10, 1_000, PRICES)
    assert rare < search_cost([100_000, 100_000], 10, 1_000, PRICES) / 5


def test_rows_in_order_are_read_until_enough_of_them_are_kept():
    every, tenth = (ordered_cost(20, share, 100_000, 1_000, PRICES) for share in (1.0, 0.1))
    assert tenth == pytest.approx(10 * every, rel=0.1)


def test_the_trigrams_of_a_pattern_are_those_within_its_words():
    assert trigrams("%Chair%") == ["cha", "hai", "air"]
    assert trigrams("%ab%") == []
    assert trigrams("%a_bcd%e\\%f%") == ["bcd"]
    assert len(conditions_of("name", "'%chair%'::text")) == 3
    assert conditions_of("name", "$1") == []


def test_a_sample_tells_the_share_of_conditions_together_and_bounds_what_it_did_not_meet():
    rows = [frozenset("ab"), frozenset("a"), frozenset("b"), frozenset()] * 250
    looked = Sampled(("a", "b", "c"), rows)
    assert looked.share(["a"]) == 0.5
    assert looked.share(["a", "b"]) == 0.25
    assert looked.share(["c"]) == pytest.approx(0.003)
    assert looked.share(["a", "z"]) is None
    assert Sampled(("a",), ()).share(["a"]) is None


def test_tests_for_null_and_booleans_are_conditions_of_their_own():
    condition = "((i.gone IS NULL) AND (i.made IS NOT NULL) AND i.active AND (NOT i.hidden) AND (i.a = 1))"
    asked = [(one.left, one.operator, one.right, one.text) for one in comparisons(condition, "i")]
    assert asked == [
        ("gone", "IS", "NULL", "gone IS NULL"),
        ("made", "IS", "NOT NULL", "made IS NOT NULL"),
        ("active", "IS", "TRUE", "active"),
        ("hidden", "IS", "FALSE", "NOT hidden"),
        ("a", "=", "1", "a = 1"),
    ]
    assert comparisons("(o.active AND lower(i.name))", "i") == []


def definitions(condition: str, own: tuple[str, ...] = (), sort: tuple[str, ...] = (), gin: bool = False) -> list[str]:
    scan = Scan("public", "item", "i", 10.0, condition, sort_keys=sort)
    found = candidates(scan, lambda _, __: TEXT, True, own, has_btree_gin=gin)
    return [one.definition.removeprefix("ON public.item USING ") for one in found]


def test_an_equality_beside_a_pattern_with_an_order_has_trees_and_trigrams_as_candidates():
    condition = "((i.name ~~* '%x%'::text) AND (i.brand = 'a'::text))"
    assert definitions(condition, sort=("i.price",)) == [
        "gin (name gin_trgm_ops)", "btree (brand, price)", "btree (brand)", "btree (price)",
    ]  # fmt: skip
    assert "gin (brand, name gin_trgm_ops)" in definitions(condition, gin=True)


def test_only_a_b_tree_whose_keys_end_in_the_sort_gives_its_order():
    scan = Scan(
        "public", "item", "i", 10.0, "((i.name ~~* '%x%'::text) AND (i.brand = 'a'::text))", sort_keys=("i.price",)
    )
    found = {
        one.definition.partition("USING ")[2]: one.gives_order for one in candidates(scan, lambda _, __: TEXT, True)
    }
    assert [text for text, gives in found.items() if gives] == ["btree (brand, price)", "btree (price)"]


def test_what_a_test_for_null_or_an_own_constant_fixes_may_stand_in_where_of_the_index():
    condition = "((i.gone IS NULL) AND (i.brand = 'a'::text) AND (i.state = 'open'::text))"
    assert "btree (brand, state) WHERE (gone IS NULL)" in definitions(condition)
    assert "btree (brand) WHERE (gone IS NULL) AND (state = 'open'::text)" in definitions(
        condition, ("state = 'open'::text",)
    )
    assert not any("state = " in text for text in definitions(condition)), "it may be a value that changes"


def test_equality_range_and_order_have_the_order_with_the_range_behind_it():
    condition = "((i.brand = 'a'::text) AND (i.stock > 5))"
    found = definitions(condition, sort=("i.price DESC",))
    assert found[:3] == ["btree (brand, price DESC)", "btree (brand, price DESC, stock)", "btree (brand, stock)"]


NORMALISED = "SELECT id FROM item WHERE state = $1 AND brand = $2"


def test_a_driver_that_binds_leaves_the_applications_own_constants_in_the_text():
    statement = statement_of(NORMALISED, [{1: "'open'", 2: "$1"}])
    assert statement.binds and statement.complete == ()
    assert (statement.generic, statement.parameters) == ("SELECT id FROM item WHERE state = 'open' AND brand = $1", 1)


def test_of_texts_with_all_values_what_is_the_same_in_each_stays_for_average_values():
    statement = statement_of(NORMALISED, [{1: "'open'", 2: "'a'"}, {1: "'open'", 2: "'b'"}])
    assert len(statement.complete) == 2 and statement.origin == "seen" and not statement.binds
    assert statement.generic == "SELECT id FROM item WHERE state = 'open' AND brand = $1"
    alone = statement_of(NORMALISED, [{1: "'open'", 2: "'a'"}])
    assert (alone.generic, alone.parameters) == (NORMALISED, 2)


def test_a_statement_that_was_never_seen_has_its_parameters_only():
    statement = statement_of(NORMALISED, [])
    assert statement.texts == ((NORMALISED, 2),)


def _bitmap(index: str) -> dict:
    below = {"Node Type": "Bitmap Index Scan", "Index Name": index}
    return {
        "Node Type": "Bitmap Heap Scan", "Relation Name": "item", "Alias": "i", "Schema": "public", "Plan Rows": 40,
        "Total Cost": 90.0, "Filter": "(i.name ~~* '%x%'::text)", "Recheck Cond": "(i.brand = 'a'::text)",
        "Plans": [below],
    }  # fmt: skip


SEQUENTIAL = {"Node Type": "Seq Scan", "Relation Name": "item", "Alias": "i", "Schema": "public", "Plan Rows": 9,
              "Total Cost": 900.0}  # fmt: skip


def use(generic: dict | None, *plans: dict) -> str:
    seen = statement_of(NORMALISED, [{1: "'a'", 2: f"'{number}'"} for number in range(len(plans))])
    return Workload(seen, plans, generic).use_of("item_brand")


def test_an_index_is_said_to_be_in_use_or_not_as_the_plans_are():
    taken = _bitmap("item_brand")
    assert use(taken, taken, taken) == "the index item_brand is in use"
    assert use(SEQUENTIAL, taken, taken) == "the index item_brand is in use"
    assert use(taken, taken, SEQUENTIAL) == "the index item_brand is in use for some of the values seen"
    assert "for average values, and for none of the values seen" in use(taken, SEQUENTIAL)
    assert "does not take" in use(SEQUENTIAL, SEQUENTIAL)
    assert use(None, SEQUENTIAL).endswith("for the values seen")


def test_a_scan_by_an_index_knows_the_index_and_its_cost():
    [scan] = wasteful_scans(_bitmap("item_brand"))
    assert (scan.by_index, scan.indexes, scan.cost) == (True, ("item_brand",), 90.0)


def test_many_rows_that_are_sorted_for_the_few_of_a_limit_are_a_scan_to_look_at():
    read = {"Node Type": "Index Scan", "Relation Name": "item", "Alias": "i", "Schema": "public", "Plan Rows": 5_000,
            "Total Cost": 90.0, "Index Cond": "(i.brand = 'a'::text)", "Index Name": "item_brand"}  # fmt: skip
    sort = {"Node Type": "Sort", "Sort Key": ["i.price"], "Plan Rows": 5_000, "Plans": [read]}
    [scan] = wasteful_scans({"Node Type": "Limit", "Plan Rows": 20, "Plans": [sort]})
    assert (scan.sort_keys, scan.limit_rows, scan.by_index) == (("i.price",), 20.0, True)
    assert wasteful_scans(sort) == []
