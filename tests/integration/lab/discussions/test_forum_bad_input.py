"""What is wrong with a request is told by 4xx, never by 500, and nothing is lost or changed by it."""

from __future__ import annotations

import threading
from typing import Any

import pytest

Api = Any  # the client of conftest.py, logged in as user002
COURSE = "course-v1:DemoX+Load1+2026"
ROOT = "/api/discussion/v1"
FIRST = "000000000000000000000001"
GOOD = {"course_id": COURSE, "topic_id": "x", "title": "A lamp", "raw_body": "Is out."}
INJECTION = "'; DROP TABLE threads; --"


WRONG: list[tuple[str, str, Any, int]] = [
    ("GET", "/threads/", None, 400),
    ("GET", "/threads/?course_id=", None, 400),
    ("GET", "/threads/?course_id=x&page=0", None, 400),
    ("GET", "/threads/?course_id=x&page=99999999999999999999999", None, 400),
    ("GET", "/threads/?course_id=x&page_size=101", None, 400),
    ("GET", "/threads/?course_id=x&order_by=title", None, 400),
    ("GET", "/threads/?course_id=x&requested_fields=profile_image,secret", None, 400),
    ("GET", "/threads/?course_id=x&colour=red", None, 400),
    ("GET", "/threads/?course_id=%00", None, 400),
    ("GET", f"/threads/?{'&'.join(f'a{n}=1' for n in range(60))}", None, 400),
    ("GET", "/threads/1/", None, 404),
    ("GET", "/threads/ffffffffffffffffffffffff/", None, 404),
    ("GET", f"/threads/{FIRST}'%20OR%201=1/", None, 404),
    ("GET", "/comments/", None, 400),
    ("GET", "/comments/?thread_id=1%20OR%201=1", None, 400),
    ("GET", "/comments/?thread_id=ffffffffffffffffffffffff", None, 404),
    ("GET", "/comments/?thread_id=00000000000000007fffffff", None, 404),
    ("GET", "/comments/?thread_id=00000000000000000fffffff", None, 404),
    ("POST", "/threads/", {}, 400),
    ("POST", "/threads/", [], 400),
    ("POST", "/threads/", {**GOOD, "title": 7}, 400),
    ("POST", "/threads/", {**GOOD, "title": None}, 400),
    ("POST", "/threads/", {**GOOD, "title": "x" * 301}, 400),
    ("POST", "/threads/", {**GOOD, "title": "   "}, 400),
    ("POST", "/threads/", {**GOOD, "title": "zero \0 byte"}, 400),
    ("POST", "/threads/", {**GOOD, "title": "half a pair \ud800"}, 400),
    ("POST", "/threads/", {**GOOD, "raw_body": "x" * 20_001}, 400),
    ("POST", "/threads/", {**GOOD, "raw_body": "x" * 300_000}, 413),
    ("POST", "/threads/", {**GOOD, "type": "rant"}, 400),
    ("POST", "/threads/", {**GOOD, "type": []}, 400),
    ("POST", "/threads/", {**GOOD, "id": FIRST}, 400),
    ("POST", "/threads/", {**GOOD, "half \ud800": 1}, 400),
    ("POST", "/comments/", {"thread_id": FIRST, "parent_id": FIRST[:-1] + "g", "raw_body": "x"}, 400),
    ("POST", "/comments/", {"thread_id": FIRST, "parent_id": 1, "raw_body": "x"}, 400),
    ("POST", "/comments/", {"thread_id": FIRST, "parent_id": "00000000000000007fffffff", "raw_body": "x"}, 404),
    ("POST", "/comments/", {"thread_id": "00000000000000007fffffff", "raw_body": "x"}, 404),
    ("PATCH", f"/threads/{FIRST}/", {"voted": "yes"}, 400),
    ("PATCH", f"/threads/{FIRST}/", {"voted": 1}, 400),
    ("PATCH", "/threads/00000000000000007fffffff/", {"voted": True}, 404),
    ("PATCH", "/comments/00000000000000007fffffff/", {"voted": True}, 404),
    ("PATCH", f"/comments/{FIRST}/", {"vote_count": 10**400}, 400),
    ("DELETE", "/comments/00000000000000007fffffff/", None, 404),
    ("PUT", f"/threads/{FIRST}/", {}, 405),
    ("GET", "/nothing/", None, 404),
]
WITH_A_BODY = (
    ("POST", "/threads/"),
    ("PATCH", f"/threads/{FIRST}/"),
    ("POST", "/comments/"),
    ("PATCH", f"/comments/{FIRST}/"),
)
NO_OBJECTS = (b"", b"{", b"\xff\xfe{}", b"null", b"[" * 100_000, b'{"a":' * 50_000, b"1" * 5_000)


def test_a_wrong_request_is_answered_with_what_is_wrong(forum: Api) -> None:
    before = forum.client.get("/volume").json()
    for method, path, body, status in WRONG:
        assert forum.send(method, ROOT + path, body, status)["developer_message"], path
    for content in NO_OBJECTS:
        for method, path in WITH_A_BODY:
            told = forum.send(method, ROOT + path, content=content, status=400)
            assert "JSON" in told["developer_message"], (method, path, content[:20])
    assert forum.client.get("/volume").json() == before


def test_all_mistakes_come_at_once_by_field(forum: Api) -> None:
    told = forum.send("POST", f"{ROOT}/threads/", {"title": 7, "type": "rant", "colour": "red"}, 400)
    assert set(told["field_errors"]) == {"course_id", "topic_id", "title", "raw_body", "type", "colour"}


def test_sql_in_texts_is_text(forum: Api) -> None:
    before = forum.client.get("/volume").json()
    made = forum.send("POST", f"{ROOT}/threads/", {**GOOD, "title": INJECTION, "course_id": INJECTION}, 201)
    assert made["title"] == INJECTION
    for name in ("course_id", "topic_id", "author"):
        query = {"course_id": INJECTION, name: INJECTION}
        address = forum.client.build_request("GET", f"{ROOT}/threads/", params=query).url.raw_path.decode()
        found = forum.send("GET", address)["results"]
        assert len(found) == (1 if name == "course_id" else 0)
    assert forum.client.get("/volume").json()["threads"] == before["threads"] + 1


@pytest.mark.parametrize("cookies", [{}, {"sessionid": "wrong"}, {"sessionid": INJECTION}, {"sessionid": ""}])
def test_without_a_session_there_is_nothing_to_see_or_change(forum: Api, cookies: dict[str, str]) -> None:
    for method, path in (("GET", f"/threads/{FIRST}/"), ("DELETE", f"/threads/{FIRST}/"), ("POST", "/threads/")):
        told = forum.send(method, ROOT + path, GOOD if method == "POST" else None, 401, cookies=cookies)
        assert "Log in" in told["developer_message"]
    assert forum.send("GET", f"{ROOT}/threads/{FIRST}/")["id"] == FIRST


def test_a_change_without_the_csrf_token_or_with_a_wrong_one_is_refused(forum: Api) -> None:
    session, token = forum.cookies["sessionid"], forum.cookies["csrftoken"]
    json_type = {"Content-Type": "application/json"}
    wrong = [
        ({"sessionid": session, "csrftoken": token}, {}),
        ({"sessionid": session}, {"X-CSRFToken": token}),
        ({"sessionid": session, "csrftoken": token}, {"X-CSRFToken": "f" * len(token)}),
        ({"sessionid": session, "csrftoken": ""}, {"X-CSRFToken": ""}),
    ]
    before = forum.client.get("/volume").json()
    for cookies, headers in wrong:
        for method, path in (("POST", "/threads/"), ("PATCH", f"/threads/{FIRST}/"), ("DELETE", f"/threads/{FIRST}/")):
            told = forum.send(method, ROOT + path, GOOD, 403, cookies=cookies, headers={**headers, **json_type})
            assert "CSRF" in told["developer_message"]
    assert forum.client.get("/volume").json() == before


def test_a_wrong_password_and_a_form_that_is_none_are_refused(forum: Api) -> None:
    path = "/api/user/v1/account/login_session/"
    form = {"Content-Type": "application/x-www-form-urlencoded", "X-CSRFToken": forum.cookies["csrftoken"]}
    right = "email=user002@example.com&password="
    for content, status in (
        (f"{right}wrong", 403),
        ("email=nobody@example.com&password=x", 403),
        (f"email={INJECTION}&password=x", 403),
        ("email=user002@example.com", 400),
        ("email=%00&password=x", 400),
        ("&".join("a=1" for _ in range(30)), 400),
        ("a" * 300_000, 413),
    ):
        assert forum.send("POST", path, content=content.encode(), headers=form, status=status)["developer_message"]
    assert forum.send("POST", path, content=b"{}", status=415)["developer_message"]
    assert forum.client.get("/auto_auth").status_code == 404  # off unless asked for


def test_a_session_ends_with_the_logout(forum: Api) -> None:
    forum.send("POST", "/logout", status=204)
    forum.send("GET", "/api/user/v1/me", status=401)


def test_of_deletes_at_the_same_time_one_succeeds_and_changes_then_find_nothing(forum: Api) -> None:
    """Threads of their own, so that the transactions of PostgreSQL meet."""
    thread = forum.send("POST", f"{ROOT}/threads/", GOOD, 201)
    path = f"{ROOT}/threads/{thread['id']}/"
    headers = {
        "Cookie": "; ".join(f"{name}={value}" for name, value in forum.cookies.items()),
        "X-CSRFToken": forum.cookies["csrftoken"],
    }
    forum.client.cookies.clear()
    seen: dict[str, list[int]] = {"DELETE": [], "POST": [], "PATCH": []}
    gate = threading.Barrier(12)

    def send(method: str, address: str, body: Any) -> None:
        gate.wait()
        seen[method].append(forum.client.request(method, address, json=body, headers=headers).status_code)

    comment = {"thread_id": thread["id"], "raw_body": "Since noon."}
    calls = [("DELETE", path, None), ("POST", f"{ROOT}/comments/", comment), ("PATCH", path, {"voted": True})]
    running = [threading.Thread(target=send, args=call) for call in calls * 4]
    for one in running:
        one.start()
    for one in running:
        one.join()
    assert sorted(seen["DELETE"]) == [204, 404, 404, 404]
    assert set(seen["POST"]) <= {201, 404} and set(seen["PATCH"]) <= {200, 404}
    assert forum.client.get("/volume").json()["threads"] == 60
    forum.send("GET", f"{ROOT}/comments/?thread_id={thread['id']}", status=404)
