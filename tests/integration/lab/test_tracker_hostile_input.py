"""What is sent without a token, as SQL or by many at once changes nothing in the tracker that it should not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from plimsoll_lab.tracker.openapi import document

Api = Any  # the client of conftest.py, logged in as user001
ISSUES = 300
AT_ONCE = 12
INJECTIONS = (
    "'; DROP TABLE issues; --",
    "1' OR '1'='1",
    '"; DELETE FROM comments WHERE ""="',
    "1); UPDATE issues SET summary = ('x",
    "%' UNION SELECT token_sha256 FROM users --",
    "\\'; SELECT pg_sleep(9); --",
)


def operations() -> Iterator[tuple[str, str, bool]]:
    """(method, path with ids in it, whether it needs no token) of everything in the OpenAPI document."""
    for path, methods in document()["paths"].items():
        for method, told in methods.items():
            filled = path.replace("{id}", "DEMO-1").replace("{field}", "state")
            yield method.upper(), filled, told.get("security") == []


def counts(api: Api) -> dict[str, Any]:
    """How many issues there are in each state and of each priority, and of whom."""
    searches = ("", "#Unresolved", "state: Fixed", "priority: Major", "by: user001", "#Unassigned")
    told = {query: api.post("/api/issuesGetter/count", {"query": query})["count"] for query in searches}
    return told | {"comments": api.get("/api/issues/DEMO-5")["commentsCount"], "users": len(api.get("/api/users"))}


def at_once(api: Api, path: str, bodies: list[Any]) -> list[Any]:
    """The answers to POSTs of these bodies, sent together."""
    token = {"Authorization": f"Bearer {api.users[0]['token']}"}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(lambda body: api.client.post(path, content=json.dumps(body), headers=token), bodies))


@pytest.mark.parametrize(
    "token", [None, "", "Bearer", "Bearer perm-user001.wrong", "Basic dXNlcjAwMTp4", INJECTIONS[1]]
)
def test_every_path_of_the_document_refuses_whoever_has_no_token_or_a_wrong_one(api: Api, token: str | None) -> None:
    before = counts(api)
    headers = {} if token is None else {"Authorization": token}
    guarded = 0
    for method, path, free in operations():
        answer = api.client.request(method, path, content="{}" if method != "GET" else None, headers=headers)
        assert answer.status_code == (200 if free else 401), f"{method} {path}: {answer.status_code}"
        if not free:
            guarded += 1
            assert answer.json()["error_description"] and answer.headers["www-authenticate"] == "Bearer"
    assert guarded > 25 and counts(api) == before


def test_sql_in_texts_is_text_and_is_found_again_as_it_was_written(api: Api) -> None:
    before = counts(api)
    for text in INJECTIONS:
        made = api.post("/api/issues", {"summary": text, "description": text})
        path = f"/api/issues/{made['idReadable']}"
        assert api.post(f"{path}/comments", {"text": text})["text"] == text
        api.post("/api/commands", {"query": "", "comment": text, "issues": [{"id": made["id"]}]})
        api.post(f"{path}/draftComment", {"text": text})
        seen = api.get(path)
        assert (seen["summary"], seen["description"]) == (text, text)
        assert [one["text"] for one in seen["comments"]] == [text, text]
        assert api.get(f"{path}/draftComment")["text"] == text
    after = counts(api)
    assert (after[""], after["by: user001"]) == (before[""] + len(INJECTIONS), before["by: user001"] + len(INJECTIONS))
    assert {key: after[key] for key in ("comments", "users")} == {key: before[key] for key in ("comments", "users")}
    for word in ("pg_sleep", "token_sha256"):
        assert api.post("/api/issuesGetter/count", {"query": word})["count"] == 1


def test_sql_in_searches_commands_and_ids_finds_and_changes_nothing(api: Api) -> None:
    before = counts(api)
    for text in INJECTIONS:
        for query in (text, f"for: {text}", f"state: {text}", f"#{text}"):
            given = {"query": query, "issues": [{"id": "2-5"}]}
            assert_found_nothing(api, "/api/issuesGetter/count", given)
            assert api.post("/api/commands", given, status=400)["error_description"]
            assert "suggestions" in api.post("/api/search/assist", given)
        assert api.post("/api/issuesGetter", [{"id": text}], status=404)["error_description"]
        for path, parameters, status in (
            ("/api/sortedIssues", {"before": text}, 404),
            ("/api/users", {"$top": text}, 400),
            ("/api/users", {"query": text}, 200),
        ):
            url = api.client.build_request("GET", path, params=parameters).url.raw_path.decode()
            assert api.get(url, status=status) == [] or status != 200
        part = api.client.build_request("GET", f"/api/issues/{text}").url.raw_path.decode()
        assert api.get(part, status=404) and api.post(f"{part}/comments", {"text": "x"}, status=404)
    assert counts(api) == before


def assert_found_nothing(api: Api, path: str, body: Any) -> None:
    [answer] = at_once(api, path, [body])
    told = answer.json()
    assert answer.status_code in (200, 400) and (told.get("count") == 0 or told["error_description"]), told


def test_a_draft_that_is_published_many_times_at_once_makes_one_issue(api: Api) -> None:
    before = counts(api)
    draft = api.post("/api/users/me/drafts", {"summary": "Once only"})["id"]
    answers = at_once(api, f"/api/issues?draftId={draft}", [{}] * AT_ONCE)
    assert sorted(answer.status_code for answer in answers) == [200] + [404] * (AT_ONCE - 1)
    after = counts(api)
    assert (after[""], after["by: user001"]) == (before[""] + 1, before["by: user001"] + 1)


def test_a_comment_that_is_published_many_times_at_once_is_there_once(api: Api) -> None:
    for number in range(5):
        path = f"/api/issues/DEMO-{10 + number}"
        before = api.get(path)["commentsCount"]
        api.post(f"{path}/draftComment", {"text": "Once only"})
        answers = at_once(api, f"{path}/comments", [{}] * AT_ONCE)
        assert sorted(answer.status_code for answer in answers) == [200] + [400] * (AT_ONCE - 1)
        assert api.get(path)["commentsCount"] == before + 1 == len(api.get(f"{path}/comments"))


def test_of_comments_at_once_each_is_answered_with_itself(api: Api) -> None:
    before = api.get("/api/issues/DEMO-5")["commentsCount"]
    texts = [f"Seen {number} times" for number in range(3 * AT_ONCE)]
    answers = at_once(api, "/api/issues/DEMO-5/comments", [{"text": text} for text in texts])
    assert [answer.json()["text"] for answer in answers] == texts
    kept = {one["id"]: one["text"] for one in api.get("/api/issues/DEMO-5/comments")}
    assert all(kept[answer.json()["id"]] == text for answer, text in zip(answers, texts, strict=True))
    assert api.get("/api/issues/DEMO-5")["commentsCount"] == before + len(texts)


def test_of_commands_at_once_on_one_issue_none_is_lost(api: Api) -> None:
    before = counts(api)
    texts = [f"Told {number} times" for number in range(3 * AT_ONCE)]
    states = ("Open", "Fixed", "Submitted")
    bodies = [
        {
            "query": f"state {states[number % 3]} comment {text}",
            "issues": [{"id": "2-5"}, {"id": f"2-{6 + number % 5}"}],
        }
        for number, text in enumerate(texts)
    ]
    assert {answer.status_code for answer in at_once(api, "/api/commands", bodies)} == {200}
    assert {one["text"] for one in api.get("/api/issues/DEMO-5/comments")} >= set(texts)
    after = counts(api)
    assert after["comments"] == before["comments"] + len(texts) and after[""] == ISSUES == before[""]
    every = [api.post("/api/issuesGetter/count", {"query": f"state: {state}"})["count"] for state in states]
    found = [len(api.get(f"/api/sortedIssues?topRoot=500&query=state:+{state}")["tree"]) for state in states]
    assert every == found
