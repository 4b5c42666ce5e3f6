"""The REST paths of the forum, on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import func, select

from plimsoll_lab.discussions.schema import comments, threads

Api = Any  # the client of conftest.py, logged in as user002
Serving = Callable[..., Any]
COURSE = "course-v1:DemoX+Load1+2026"
ROOT = "/api/discussion/v1"
LIST = f"{ROOT}/threads/?course_id=course-v1:DemoX%2BLoad1%2B2026"


def new_thread(api: Api) -> Any:
    return api.send(
        "POST",
        f"{ROOT}/threads/",
        {"course_id": COURSE, "topic_id": "x", "title": "A lamp", "raw_body": "Is out."},
        201,
    )


def new_comment(api: Api, thread: Any, parent: Any = None) -> Any:
    body = {"thread_id": thread["id"], "raw_body": "Since noon.", **({"parent_id": parent["id"]} if parent else {})}
    return api.send("POST", f"{ROOT}/comments/", body, 201)


def kept_counts_are_true(api: Api) -> bool:
    with api.forum.database.engine.connect() as connection:
        counted = select(func.count()).where(comments.c.thread_id == threads.c.id).scalar_subquery()
        rows = connection.execute(select(threads.c.comment_count, counted)).all()
        parent = comments.alias()
        of_parent = select(func.count()).where(comments.c.parent_id == parent.c.id).scalar_subquery()
        rows += connection.execute(select(parent.c.child_count, of_parent)).all()
    return all(kept == true for kept, true in rows)


def test_pages_show_each_thread_of_a_course_once_the_latest_first(forum: Api) -> None:
    first = forum.send("GET", f"{LIST}&page_size=5")
    assert first["pagination"]["count"] == 12 and first["pagination"]["num_pages"] == 3
    found, address = list(first["results"]), first["pagination"]["next"]
    while address:
        page = forum.send("GET", address)
        found += page["results"]
        address = page["pagination"]["next"]
    assert len({thread["id"] for thread in found}) == 12
    times = [thread["last_activity_at"] for thread in found]
    assert times == sorted(times, reverse=True)
    by_comments = forum.send("GET", f"{LIST}&order_by=comment_count")["results"]
    assert by_comments[0]["comment_count"] == max(thread["comment_count"] for thread in found)


def test_a_thread_lives_from_creation_to_deletion_with_all_that_hangs_on_it(forum: Api) -> None:
    thread = new_thread(forum)
    response = new_comment(forum, thread)
    child = new_comment(forum, thread, response)
    new_comment(forum, thread)
    path = f"{ROOT}/threads/{thread['id']}/"
    assert forum.send("GET", path)["comment_count"] == 3
    listed = forum.send("GET", f"{ROOT}/comments/?thread_id={thread['id']}")["results"]
    assert [one["parent_id"] for one in listed] == [None, None] and listed[0]["child_count"] == 1
    assert [one["id"] for one in forum.send("GET", f"{ROOT}/comments/{response['id']}/")["results"]] == [child["id"]]
    assert kept_counts_are_true(forum)
    assert forum.send("PATCH", path, {"title": "Two lamps", "voted": True})["title"] == "Two lamps"
    forum.send("DELETE", f"{ROOT}/comments/{response['id']}/", status=204)
    assert forum.send("GET", path)["comment_count"] == 1 and kept_counts_are_true(forum)
    forum.send("GET", f"{ROOT}/comments/{child['id']}/", status=404)
    forum.send("DELETE", path, status=204)
    for method in ("GET", "DELETE"):
        forum.send(method, path, status=404)
    forum.send("GET", f"{ROOT}/comments/?thread_id={thread['id']}", status=404)
    assert kept_counts_are_true(forum)


def test_a_vote_counts_once_per_user_and_can_be_taken_back(forum: Api) -> None:
    thread = new_thread(forum)
    response = new_comment(forum, thread)
    other = forum.logged_in_as("user003")
    for path in (f"{ROOT}/threads/{thread['id']}/", f"{ROOT}/comments/{response['id']}/"):
        for voter, voted, count in ((forum, True, 1), (forum, True, 1), (other, True, 2), (forum, False, 1)):
            answer = voter.send("PATCH", path, {"voted": voted})
            assert (answer["voted"], answer["vote_count"]) == (voted, count)


def test_others_may_vote_but_not_change_or_delete_and_a_moderator_may(forum: Api) -> None:
    thread = new_thread(forum)
    response = new_comment(forum.logged_in_as("user003"), thread)
    stranger, moderator = forum.logged_in_as("user004"), forum.logged_in_as("user001")
    thread_path, path = f"{ROOT}/threads/{thread['id']}/", f"{ROOT}/comments/{response['id']}/"
    stranger.send("PATCH", thread_path, {"title": "Mine"}, 403)
    stranger.send("PATCH", path, {"raw_body": "Mine"}, 403)
    stranger.send("PATCH", path, {"endorsed": True}, 403)
    stranger.send("DELETE", thread_path, status=403)
    stranger.send("DELETE", path, status=403)
    assert forum.send("PATCH", path, {"endorsed": True})["endorsed"] is True  # the thread's author
    moderator.send("DELETE", path, status=204)
    moderator.send("DELETE", thread_path, status=204)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
@pytest.mark.parametrize(("index", "after_change"), [("new", 0), ("old", 1)])
def test_a_changed_comment_is_unread_again_by_the_old_count_only(
    kind: str, index: str, after_change: int, serving: Serving, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    dsn = request.getfixturevalue("forum_dsn") if kind == "postgresql" else None
    with serving(tmp_path, dsn, unread_index=index) as api:
        thread = new_thread(api)
        path = f"{ROOT}/threads/{thread['id']}/"
        other = api.logged_in_as("user003")
        said = new_comment(other, thread)
        assert api.send("GET", path)["unread_comment_count"] == 1
        assert api.send("PATCH", path, {"read": True})["unread_comment_count"] == 0
        other.send("PATCH", f"{ROOT}/comments/{said['id']}/", {"raw_body": "Since one."})
        assert api.send("GET", path)["unread_comment_count"] == after_change


def test_both_indexes_count_the_same_on_seeded_data(serving: Serving, tmp_path: Path) -> None:
    counts = []
    for index in ("old", "new"):
        (tmp_path / index).mkdir()
        with serving(tmp_path / index, unread_index=index) as api:
            page = api.send("GET", f"{LIST}&page_size=100")["results"]
            counts.append({thread["id"]: thread["unread_comment_count"] for thread in page})
    assert counts[0] == counts[1] and sum(counts[0].values()) > 0


def test_only_the_new_index_can_be_entered_by_the_thread(serving: Serving, tmp_path: Path) -> None:
    plans = {}
    for index, since in (("old", "updated_ms"), ("new", "created_ms")):
        (tmp_path / index).mkdir()
        with serving(tmp_path / index, unread_index=index) as api, api.forum.database.engine.connect() as connection:
            statement = f"SELECT count(*) FROM comments WHERE thread_id = 5 AND author_id != 3 AND {since} >= 1"
            plans[index] = str(connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}").all())
    assert "USING COVERING INDEX unread_new (thread_id=?)" in plans["new"]
    assert "unread_old" not in plans["old"] and "COVERING" not in plans["old"]


def test_profile_images_cost_one_transaction_a_page_and_are_left_out_unless_asked_for(forum: Api) -> None:
    plain = forum.send("GET", f"{LIST}&page_size=12")["results"]
    assert all("users" not in thread for thread in plain)
    with_images = forum.send("GET", f"{LIST}&page_size=12&requested_fields=profile_image")["results"]
    shown = {name: one["profile"]["image"] for thread in with_images for name, one in thread["users"].items()}
    assert set(shown) == {thread["author"] for thread in with_images}
    assert any(image["has_image"] for image in shown.values())
    status = forum.client.get("/status").json()["by_operation"]["thread_list"]
    assert (status["requests"], status["transactions"], status["accounts_calls"]) == (2, 3, 1)
    assert status["transactions_per_request"] == 1.5 and status["accounts_share"] == pytest.approx(1 / 3)


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_call_for_each_author_multiplies_the_transactions(
    serving: Serving, tmp_path: Path, request: pytest.FixtureRequest, database: str
) -> None:
    dsn = request.getfixturevalue("forum_dsn") if database == "postgresql" else None
    with serving(tmp_path, dsn, accounts_calls="author") as api:
        page = api.send("GET", f"{LIST}&page_size=12&requested_fields=profile_image")["results"]
        authors = len({thread["author"] for thread in page})
        status = api.client.get("/status").json()["by_operation"]["thread_list"]
        assert authors > 5 and status["accounts_calls"] == authors
        assert status["accounts_share"] == pytest.approx(authors / (authors + 1))


def test_without_the_accounts_service_pages_come_without_images_and_the_status_says_so(
    serving: Serving, tmp_path: Path
) -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    with serving(tmp_path, transport=httpx.MockTransport(refuse)) as api:
        page = api.send("GET", f"{LIST}&requested_fields=profile_image")["results"]
        assert page[0]["users"][page[0]["author"]]["profile"]["image"] == {"has_image": False}
        assert api.client.get("/status").json()["accounts_failed"] == 1


def test_the_data_go_back_to_the_seeded_state(forum: Api) -> None:
    before = forum.client.get("/volume").json()
    new_comment(forum, new_thread(forum))
    forum.send("POST", "/admin/reset", status=403)
    forum.logged_in_as("user001").send("POST", "/admin/reset")
    assert forum.client.get("/volume").json() == before
    forum.send("GET", LIST, status=401)
    again = forum.logged_in_as("user002")
    assert int(new_thread(again)["id"], 16) == 61 and kept_counts_are_true(again)


def test_reads_beside_a_reset_wait_and_are_answered(forum: Api) -> None:
    """A reset takes the sessions with it, so that what comes after it is told to log in."""
    for _ in range(4):
        reader, moderator = forum.logged_in_as("user002"), forum.logged_in_as("user001")

        def ask(place: int, reader: Api = reader, moderator: Api = moderator) -> int:
            who, method, path = (moderator, "POST", "/admin/reset") if place == 9 else (reader, "GET", LIST)
            cookie = "; ".join(f"{name}={value}" for name, value in who.cookies.items())
            headers = {"Cookie": cookie, "X-CSRFToken": who.cookies["csrftoken"]}
            return int(forum.client.request(method, path, headers=headers).status_code)

        with ThreadPoolExecutor(8) as pool:
            told = list(pool.map(ask, range(24)))
        assert set(told) <= {200, 204, 401} and {200, 401} & set(told)
    assert forum.logged_in_as("user002").send("GET", LIST)["results"]
