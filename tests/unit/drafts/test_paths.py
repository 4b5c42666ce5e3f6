"""Paths become templates by evidence: by the form of a segment, or by how many stand at one place."""

from __future__ import annotations

import string

import pytest

from plimsoll.drafts.paths import Places, shape_of, values_in


@pytest.mark.parametrize(
    ("path", "shape"),
    [
        ("/issues/17/links", "/issues/{}/links"),
        ("/issues/DEMO-17", "/issues/{}"),
        ("/u/6f1c2b3a-1111-2222-3333-444455556666", "/u/{}"),
        ("/f/9b74c9897bac770ffc029102a200c5de", "/f/{}"),
        ("/s/01ARZ3NDEKTSV4RRFFQ69G5FAV", "/s/{}"),
        ("/a/YWJjZGVmZ2hpamts1A==", "/a/{}"),
        ("/users/joe%40example.org", "/users/{}"),
        ("/blog/2026/11/28/", "/blog/{}/{}/{}/"),
        ("/", "/"),
        ("/api/v2/issues", "/api/v2/issues"),
        ("/rest/api/2/issue/10", "/rest/api/2/issue/{}"),
        ("/oauth2/authorize", "/oauth2/authorize"),
        ("/deadbeef/facade", "/deadbeef/facade"),
        ("/about-us/contact", "/about-us/contact"),
    ],
)
def test_a_segment_is_an_id_by_its_form(path: str, shape: str) -> None:
    assert shape_of(path) == shape


def test_a_path_without_end_has_a_shape_and_its_values() -> None:
    path = "/a" * 100 + "/17"
    shape = shape_of(path)
    assert len(shape.split("/")) < 30 and len(values_in(path, shape)) == 1


def test_many_titles_at_one_place_are_values() -> None:
    counts = {f"GET /articles/how-to-{word}": 50 for word in string.ascii_lowercase} | {"GET /articles/search": 40}
    merged = Places().learn(counts)
    assert set(merged.values()) == {"GET /articles/{}"} and len(merged) == 26
    assert "GET /articles/search" not in merged


def test_what_lies_below_many_titles_is_merged_too() -> None:
    counts = {
        f"{method} /users/joe-of-{sign}/{what}": 5
        for sign in string.ascii_lowercase
        for what in "xy"
        for method in ("GET", "PUT")
    }
    assert set(Places().learn(counts).values()) == {f"{m} /users/{{}}/{what}" for m in ("GET", "PUT") for what in "xy"}


def test_two_places_with_many_values_are_both_found() -> None:
    counts = {
        f"GET /r/town-of-{one}/day-of-{two}": 3 for one in string.ascii_lowercase for two in string.ascii_lowercase
    }
    assert set(Places().learn(counts).values()) == {"GET /r/{}/{}"}


def test_sisters_of_an_api_stay_apart() -> None:
    """Jira has some 80 resources below /rest/api/2, each of which is asked for often."""
    words = [f"{one}{two}" for one in ("issue", "user", "project", "filter", "group", "role") for two in "abcdefghijkl"]
    words += [f"{one}-{two}" for one in ("order", "user") for two in ("items", "settings", "types", "roles", "states")]
    assert Places().learn({f"GET /rest/api/2/{word}": 900 for word in words}) == {}


def test_names_of_which_more_and_more_come_are_values() -> None:
    words = [f"{one}{two}" for one in "abcdefgh" for two in ("anna", "bert", "carl", "dora", "emil", "fred")]
    counts = {f"GET /users/{word}": 1 + place % 4 for place, word in enumerate(words)}
    assert set(Places().learn(counts).values()) == {"GET /users/{}"}


def test_a_few_names_with_digits_are_values_and_versions_are_not() -> None:
    counts = {f"GET /users/user{number}": 900 for number in range(9)} | {f"GET /v{number}": 900 for number in range(20)}
    assert set(Places().learn(counts).values()) == {"GET /users/{}"}


def test_paths_that_only_failed_are_no_evidence() -> None:
    counts = {f"GET /wp-{one}{two}.php": 0 for one in "abcdefghij" for two in "abcdefghij"} | {"GET /shop": 10}
    assert Places().learn(counts) == {}


def test_values_are_those_at_the_places() -> None:
    assert values_in("/a/17/b/x-y", "/a/{}/b/{}") == ["17", "x-y"]


def test_what_was_learned_holds_for_what_comes_later() -> None:
    places = Places()
    places.learn({f"GET /users/user{number}/photos": 900 for number in range(9)})
    assert places.applied("PUT /users/user77/photos") == "PUT /users/{}/photos"
    assert places.applied("GET /users/me/photos") == "GET /users/me/photos"
    assert places.applied("GET /others/user77") == "GET /others/user77"
