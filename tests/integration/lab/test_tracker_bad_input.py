"""What no client should send the tracker is answered with 4xx and a message, on SQLite and on PostgreSQL."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from plimsoll_lab.tracker.json_forms import BODY_BYTES, DESCRIPTION_LETTERS, QUERY_LETTERS

Api = Any  # the client of conftest.py, logged in as user001
LARGEST = 2**31 - 1
DIGITS = "1" * 5_000  # Python reads no number of over 4,300
DEEP = "[" * 100_000 + "]" * 100_000


def sent(api: Api, path: str, content: str | bytes) -> Any:
    """The answer to a POST of these bytes."""
    token = {"Authorization": f"Bearer {api.users[0]['token']}"}
    return api.client.post(path, content=content, headers=token)


def test_what_is_no_id_is_refused_and_quoted_in_short(api: Api) -> None:
    for wrong in ("\ud800", "x" * 1000, "", 7, None, [[["x"]]], "2-1\n", "2-١"):
        reference = {"id": wrong}
        for path, body in (
            ("/api/issuesGetter", [reference]),
            ("/api/commands/assist", {"query": "", "issues": [reference]}),
            ("/api/users/me/recent/issues", {"issue": reference}),
        ):
            told = api.post(path, body, status=404)["error_description"]
            assert "no id" in told and len(told) < 200


def test_json_that_cannot_be_read_is_refused(api: Api) -> None:
    for body in (
        DEEP,
        '{"query": ' + DEEP + "}",
        "{",
        b"\xff",
        b" \n",
        '{"caret": NaN}',
        '{"caret": 1e999}',
        "[1]",
        DIGITS,
    ):
        answer = sent(api, "/api/search/assist", body)
        assert answer.status_code == 400 and answer.json()["error_description"], body[:20]


def test_a_number_of_any_length_is_cut_to_the_largest_page(api: Api) -> None:
    assert len(api.get(f"/api/sortedIssues?topRoot={DIGITS}")["tree"]) == 300
    assert len(api.get(f"/api/users?$top={DIGITS}")) == 99
    assert api.get(f"/api/users?$skip={DIGITS}") == []
    assert len(api.get("/api/users?$top=0002")) == 2
    for name, value in (("$top", "0"), ("$top", "-1"), ("$top", ""), ("$skip", "-1"), ("$skip", "x"), ("$skip", "²")):
        assert api.get(f"/api/users?{name}={value}", status=400)["error_description"]


def test_a_body_beyond_the_limit_is_413(api: Api) -> None:
    assert sent(api, "/api/issues", b"x" * (BODY_BYTES + 1)).status_code == 413
    assert "bytes" in sent(api, "/api/users/me/drafts", b" " * (BODY_BYTES + 1)).json()["error_description"]
    api.post("/api/issues", {"summary": "\U0001f41e" * 300, "description": "\U0001f41e" * DESCRIPTION_LETTERS})


def test_what_is_no_search_is_refused(api: Api) -> None:
    for query in (0, False, [], {}, "a\0b", "\ud800", "x" * (QUERY_LETTERS + 1)):
        for path in ("/api/issuesGetter/count", "/api/search/assist"):
            assert api.post(path, {"query": query}, status=400)["error_description"]
        assert api.post("/api/issuesGetter/counts", {"queries": [query]}, status=400)["error_description"]


def test_the_longest_search_is_answered(api: Api) -> None:
    for query in ("漢" * QUERY_LETTERS, "a " * (QUERY_LETTERS // 2), "\U00020000" * QUERY_LETTERS):
        assert api.post("/api/issuesGetter/count", {"query": query})["count"] >= 0
        assert "suggestions" in api.post("/api/search/assist", {"query": query.strip()})


def test_a_caret_is_a_whole_number(api: Api) -> None:
    assert api.post("/api/search/assist", {"query": "Minor", "caret": 3})["suggestions"][0]["option"] == "Minor"
    for caret in ("1", 1.5, True, []):
        assert api.post("/api/search/assist", {"query": "M", "caret": caret}, status=400)["error_description"]


def test_the_largest_id_has_no_neighbours_and_is_404(api: Api) -> None:
    for part in ("", "/links", "/comments", "/sprints", "/activitiesPage", "/issueWatchers", "/draftComment"):
        api.get(f"/api/issues/2-{LARGEST}{part}", status=404)
    assert api.get(f"/api/sortedIssues?before=2-{LARGEST}&topRoot=1")["tree"] == [{"id": "2-300"}]


def test_paths_and_methods_that_are_not_there_are_told_in_the_same_form(api: Api) -> None:
    assert "/openapi.json" in api.get("/api/nothing", status=404)["error_description"]
    answer = api.client.delete("/api/issues")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert answer.json()["error_description"]


def test_the_same_draft_kept_by_many_at_once_is_there_once(api: Api) -> None:
    def keep(number: int) -> int:
        path = f"/api/issues/DEMO-{3 + number % 2}/draftComment"
        return int(sent(api, path, f'{{"text": "version {number}"}}').status_code)

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(keep, range(60))) <= {200, 409}
    assert api.get("/api/issues/DEMO-3/draftComment")["text"].startswith("version")
