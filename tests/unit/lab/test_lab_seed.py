"""Invented data: the same seed gives the same data."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from plimsoll_lab.seeding import word_pool
from plimsoll_lab.tracker import seed
from plimsoll_lab.tracker.schema import PRIORITIES, STATES

WORDS_OF_THE_LOAD_SCRIPT = Path(seed.__file__).parent / "load" / "words.json"


def test_the_same_seed_gives_the_same_issues_and_tokens() -> None:
    pool = word_pool(7)
    assert list(seed.invented_issues(50, 7, pool)) == list(seed.invented_issues(50, 7, word_pool(7)))
    assert seed.invented_users(7) == seed.invented_users(7)


def test_another_seed_gives_other_issues_and_tokens() -> None:
    pool = word_pool(7)
    assert list(seed.invented_issues(5, 7, pool)) != list(seed.invented_issues(5, 8, pool))
    assert seed.invented_users(7)[0].token != seed.invented_users(8)[0].token


def test_a_larger_seeding_begins_with_the_smaller_one() -> None:
    pool = word_pool(1)
    assert list(seed.invented_issues(40, 1, pool))[:10] == list(seed.invented_issues(10, 1, pool))


def test_there_are_99_users_with_a_token_each() -> None:
    people = seed.invented_users(1)
    assert len(people) == len({person.token for person in people}) == 99
    assert people[0].login == "user001"
    assert people[0].token.startswith("perm-user001.")
    assert people[0].token not in people[0].token_sha256


def test_issues_stay_within_the_fields_and_their_values() -> None:
    issues = [row for row, _ in seed.invented_issues(500, 1, word_pool(1))]
    assert all(len(row["description"]) <= 200 and len(row["summary"].split()) >= 4 for row in issues)
    assert {row["state"] for row in issues} == set(STATES)
    assert {row["priority"] for row in issues} == set(PRIORITIES)


def test_words_differ_in_frequency_so_that_searches_differ_in_hits() -> None:
    rows = [row for row, _ in seed.invented_issues(2000, 1, word_pool(1))]
    found = Counter(word for row in rows for word in set(f"{row['summary']} {row['description']}".lower().split()))
    assert max(found.values()) > 0.05 * len(rows)
    assert sum(1 for times in found.values() if times <= 5) > 500


def test_the_load_script_searches_for_words_that_issues_hold() -> None:
    words = set(json.loads(WORDS_OF_THE_LOAD_SCRIPT.read_text()))
    assert len(words & set(word_pool(1).words)) >= 0.95 * len(words)
