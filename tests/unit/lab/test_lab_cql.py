"""The inventory's query language: what it understands, and what it says of what it does not."""

from __future__ import annotations

import random

import pytest

from plimsoll_lab.inventory.cql import (
    CLAUSES_AT_MOST,
    Combined,
    Everything,
    Exactly,
    NotEmpty,
    Query,
    QueryMistake,
    SortKey,
    Word,
    Words,
    folded,
    parse_query,
)


def words(index: str, relation: str, *texts: str) -> Words:
    return Words(index, relation, tuple(Word(text.rstrip("*"), text.endswith("*")) for text in texts))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "clause"),
    [
        ("", Everything()),
        ("cql.allRecords=1", Everything()),
        ("water", words("keyword", "all", "water")),
        ('"Water Music"', words("keyword", "all", "water", "music")),
        ('title all "Water music"', words("title", "all", "water", "music")),
        ("TITLE ANY water", words("title", "any", "water")),
        ('contributors adj "händel georg*"', words("contributors", "adj", "handel", "georg*")),
        ("identifiers = 978*", words("identifiers", "all", "978*")),
        ("all", words("keyword", "all", "all")),
        ("subjects=*", NotEmpty("subjects")),
        ('hrid == "in01"', Exactly("hrid", "in01")),
        ('title == "The Water, Music"', Exactly("title", "the water music")),
        ("title <> water", Combined("not", Everything(), words("title", "all", "water"))),
        (r'title all "a \"b\" \\ c"', words("title", "all", "a", "b", "c")),
    ],
)
def test_a_clause_is_understood(text: str, clause: object) -> None:
    assert parse_query(text) == Query(clause)  # type: ignore[arg-type]


def test_booleans_join_from_left_to_right_and_parentheses_change_that() -> None:
    a, b, c = (words("keyword", "all", letter) for letter in "abc")
    assert parse_query("a or b and c").clause == Combined("and", Combined("or", a, b), c)
    assert parse_query("a or (b and c)").clause == Combined("or", a, Combined("and", b, c))
    assert parse_query("a NOT b").clause == Combined("not", a, b)


def test_sort_keys_have_directions() -> None:
    query = parse_query("water sortby title/sort.descending hrid")
    assert query.sort == (SortKey("title", True), SortKey("hrid"))
    assert parse_query("sortby title") == Query(Everything(), (SortKey("title"),))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("title =", "The end of the query stands where a term should be"),
        ("(a or b", "Close the parenthesis of letter 1"),
        ("a b", "'b' at letter 3 is not expected here"),
        ("a)", "')' at letter 2 is not expected here"),
        ("and a", "stands where a clause should begin"),
        ("a and", "The end of the query stands where a clause"),
        ('title all "open', "The quote at letter 11 is not closed"),
        ("colour = red", "There is no index 'colour' (letter 1). Use one of keyword, title"),
        ("title > a", "'>' at letter 7 is not supported"),
        ("title within a", "'within' at letter 7 is not supported"),
        ("subjects == law", "== and subjects do not go together"),
        ("id all x", "id takes = or <> only"),
        ("title = *ter", "has a wildcard that is not at the end"),
        ("title = wa*er", "has a wildcard that is not at the end"),
        ("title = wat?", "has a wildcard that is not at the end"),
        ('title adj "wat* music"', "only the last word may end with *"),
        ('title all "!!!"', "holds no word"),
        ("a prox b", "'prox' at letter 3 is not supported"),
        ("a sortby", "stands where the sort key should be"),
        ("a sortby price", "'price' at letter 10 is nothing to sort by"),
        ("a sortby title/up", "'up' at letter 16 is no direction"),
        ("title =/ignoreCase a", "begins a modifier"),
        ("cql.allRecords=2", "takes = 1 only"),
        ("a\0b", "zero byte"),
        ("x" * 5000, "5000 letters"),
        ("(" * 200 + "a", "levels of parentheses"),
        (" or ".join("a" * (CLAUSES_AT_MOST + 1)), "clauses"),
    ],
)
def test_a_mistake_says_what_where_and_what_to_write(text: str, told: str) -> None:
    with pytest.raises(QueryMistake) as caught:
        parse_query(text)
    assert told in str(caught.value)
    assert str(caught.value).endswith(".")


def test_no_text_does_anything_but_parse_or_be_refused() -> None:
    source = random.Random(4)
    pieces = [
        "title",
        "all",
        "any",
        "=",
        "==",
        "<>",
        "and",
        "or",
        "not",
        "(",
        ")",
        '"',
        '"a b"',
        "*",
        "a*",
        "sortby",
        "/",
        "descending",
        "\\",
        "ß",
        "'; DROP TABLE instances; --",
        "🐞",
        " ",
        "NEAR(",
        "cql.allRecords",
        "1",
        "id",
    ]
    outcomes = {"parsed": 0, "refused": 0}
    for _ in range(5000):
        text = " ".join(source.choice(pieces) for _ in range(source.randint(1, 12)))
        try:
            parse_query(text)
            outcomes["parsed"] += 1
        except QueryMistake:
            outcomes["refused"] += 1
    assert min(outcomes.values()) > 100


def test_words_are_folded_without_accents_and_marks() -> None:
    assert folded("  Éric_Satie: «Trois Gymnopédies», Straße 2½ ") == "eric satie trois gymnopedies strasse 21 2"
    assert folded("x" * 100) == "x" * 64
