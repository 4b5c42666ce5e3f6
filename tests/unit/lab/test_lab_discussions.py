"""The forum's invented data, its forms and its counts of transactions."""

from __future__ import annotations

import pytest

from plimsoll_lab.discussions import seed
from plimsoll_lab.discussions.forms import Form, Refusal, id_number, id_text
from plimsoll_lab.discussions.openapi import document
from plimsoll_lab.discussions.transactions import Fan, Transactions
from plimsoll_lab.seeding import word_pool


def test_the_same_seed_gives_the_same_threads_and_secrets_and_a_larger_seeding_begins_with_the_smaller() -> None:
    small, large = (list(seed.invented_threads(count, 3, word_pool(3))) for count in (4, 9))
    assert large[:4] == small
    assert seed.invented_people(3) == seed.invented_people(3)
    assert seed.invented_people(3)[0].secret != seed.invented_people(4)[0].secret


def test_kept_numbers_of_comments_are_those_of_the_rows() -> None:
    for rows in seed.invented_threads(20, 1, word_pool(1)):
        assert rows.thread["comment_count"] == len(rows.comments)
        for row in rows.comments:
            children = [one for one in rows.comments if one["parent_id"] == row["id"]]
            assert row["child_count"] == len(children)
            assert (row["kind"] == "comment") == (row["parent_id"] is not None)


@pytest.mark.parametrize("text", ["", "1", "g" * 24, "F" * 24, None, 7, "0" * 23 + "1\n"])
def test_what_is_no_id_is_none(text: object) -> None:
    assert id_number(text) is None


def test_an_id_beyond_a_column_is_the_id_of_nothing() -> None:
    assert id_number(id_text(2**31 - 1)) == 2**31 - 1
    assert id_number(id_text(2**31)) == id_number("f" * 24) == id_number("0" * 24) == 0


def test_a_form_tells_all_mistakes_at_once() -> None:
    form = Form({"page": "0", "title": 7, "voted": 1, "id": "x", "colour": "red"})
    form.number("page", 1, 10)
    form.text("title", 300)
    form.text("body", 300, required=True)
    form.flag("voted")
    form.id("id")
    with pytest.raises(Refusal) as refused:
        form.finish()
    assert refused.value.status == 400
    assert set(refused.value.fields) == {"page", "title", "body", "voted", "id", "colour"}


@pytest.mark.parametrize("blank", ["", " ", "\t\n", "\x1c\x85", "\u3000\ufeff", "\x00a", "a\ud800"])
def test_text_needs_a_letter_that_one_sees_and_none_that_no_database_keeps(blank: str) -> None:
    form = Form({"title": blank, "body": f" {blank} x" if "\x00" not in blank and "\ud800" not in blank else "é"})
    assert form.text("title", 300) is None and form.text("body", 300) is not None
    with pytest.raises(Refusal):
        form.finish()


def test_transactions_are_requests_and_their_calls() -> None:
    counts = Transactions()
    assert counts.document()["accounts_share"] is None
    counts.add("thread_list", Fan(calls=5, failed=1))
    counts.add("thread_read", Fan())
    whole = counts.document()
    assert (whole["requests"], whole["transactions"], whole["accounts_failed"]) == (2, 7, 1)
    assert whole["transactions_per_request"] == 3.5 and whole["accounts_share"] == pytest.approx(5 / 7)
    assert whole["by_operation"]["thread_list"]["accounts_share"] == pytest.approx(5 / 6)


def test_the_openapi_document_has_automatic_login_only_where_it_is_on() -> None:
    assert "/auto_auth" in document(True)["paths"] and "/auto_auth" not in document(False)["paths"]
    operations = [
        one["operationId"]
        for path in document()["paths"].values()
        for name, one in path.items()
        if name != "parameters"
    ]
    assert len(operations) == len(set(operations)) == 16
