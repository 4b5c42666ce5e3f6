"""The REST paths of the tracker, each on SQLite and on PostgreSQL."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import func, select

from plimsoll_lab.tracker.schema import issue_counts, issues

Api = Any  # the client of conftest.py, logged in as user001
ISSUES = 300


def published(api: Api, summary: str, description: str = "") -> Any:
    draft = api.post("/api/users/me/drafts", {"summary": summary})["id"]
    api.post(f"/api/users/me/drafts/{draft}", {"description": description})
    return api.post(f"/api/issues?draftId={draft}")


def counts_are_true(api: Api) -> bool:
    """Whether the kept counts equal a fresh count of the table."""
    with api.database.engine.connect() as connection:
        fresh = select(issues.c.state, issues.c.priority, func.count()).group_by(issues.c.state, issues.c.priority)
        kept = select(issue_counts).where(issue_counts.c.count != 0)
        return {tuple(row) for row in connection.execute(fresh)} == {tuple(row) for row in connection.execute(kept)}


def test_a_wrong_token_is_refused_with_401(api: Api) -> None:
    for headers in ({}, {"Authorization": "Bearer perm-user001.wrong"}, {"Authorization": "Basic x"}):
        answer = api.client.get("/api/users/me", headers=headers)
        assert answer.status_code == 401
        assert answer.json()["error"] == "Unauthorized"


def test_healthz_needs_no_token(api: Api) -> None:
    assert api.client.get("/healthz").json() == {"status": "ok"}


def test_users_see_themselves_and_each_other(api: Api) -> None:
    assert api.get("/api/users/me")["login"] == "user001"
    assert len(api.get("/api/users")) == 99
    assert [user["login"] for user in api.get("/api/users?$skip=2&$top=2")] == ["user003", "user004"]


def test_a_draft_becomes_an_issue_once(api: Api) -> None:
    draft = api.post("/api/users/me/drafts", {})["id"]
    api.post(f"/api/users/me/drafts/{draft}", {"summary": "Lamp is out", "description": "Since noon"})
    assert [own["id"] for own in api.get("/api/users/me/drafts")] == [draft]
    issue = api.post(f"/api/issues?draftId={draft}")
    assert (issue["summary"], issue["description"], issue["state"]) == ("Lamp is out", "Since noon", "Submitted")
    assert api.get(f"/api/issues/{issue['idReadable']}")["reporter"]["login"] == "user001"
    assert api.get("/api/users/me/drafts") == []
    api.post(f"/api/issues?draftId={draft}", status=404)
    assert counts_are_true(api)


def test_nobody_can_touch_the_draft_of_another(api: Api) -> None:
    draft = api.post("/api/users/me/drafts", {"summary": "Mine"})["id"]
    other = api.logged_in_as("user002")
    other.post(f"/api/users/me/drafts/{draft}", {"summary": "Yours"}, status=404)
    other.post(f"/api/issues?draftId={draft}", status=404)
    assert api.get("/api/users/me/drafts")[0]["summary"] == "Mine"


def test_scripts_create_an_issue_with_one_request(api: Api) -> None:
    issue = api.post("/api/issues", {"summary": "At once"})
    assert issue["id"] == f"2-{ISSUES + 1}"
    assert api.post("/api/issuesGetter/count", {"query": ""})["count"] == ISSUES + 1
    api.post("/api/issues", {}, status=400)


def test_text_is_found_as_soon_as_it_is_created(api: Api) -> None:
    assert api.get("/api/sortedIssues?query=zyzzyva")["tree"] == []
    first = published(api, "A Zyzzyva in the attic")["id"]
    second = published(api, "Another insect", "perhaps a zyzzyva, brown")["id"]
    assert [found["id"] for found in api.get("/api/sortedIssues?query=zyzzyva")["tree"]] == [second, first]
    assert [found["id"] for found in api.get("/api/sortedIssues?query=zyzzyva+attic")["tree"]] == [first]
    assert api.post("/api/issuesGetter/count", {"query": "zyzzyva"})["count"] == 2
    suggestions = api.post("/api/search/assist", {"query": "zyzz", "caret": 4})["suggestions"]
    assert [each["option"] for each in suggestions] == ["Another insect", "A Zyzzyva in the attic"]


def test_pages_go_on_newest_first_without_gap_or_repetition(api: Api) -> None:
    seen: list[int] = []
    before = ""
    while True:
        page = api.get(f"/api/sortedIssues?topRoot=80{before}")["tree"]
        if not page:
            break
        seen += [int(entry["id"].split("-")[1]) for entry in page]
        before = f"&before={page[-1]['id']}"
    assert seen == list(range(ISSUES, 0, -1))


@pytest.mark.parametrize(
    "query",
    [
        "state: Open",
        "priority: Major",
        "#Unresolved",
        "#Unassigned",
        "for: me",
        "state: Fixed by: user003",
        "a #Resolved",
    ],
)
def test_the_count_of_a_search_is_the_length_of_its_list(api: Api, query: str) -> None:
    listed = api.client.build_request("GET", "/api/sortedIssues", params={"query": query, "topRoot": 500}).url
    ids = api.get(f"{listed.raw_path.decode()}")["tree"]
    assert api.post("/api/issuesGetter/count", {"query": query}) == {
        "count": len(ids),
        "exact": True,
        "$type": "IssueCountResponse",
    }


def test_the_getter_keeps_the_order_and_leaves_out_what_is_not_there(api: Api) -> None:
    wanted = [{"id": "2-7"}, {"idReadable": "DEMO-3"}, {"id": "2-999999"}, {"id": "2-5"}]
    assert [issue["id"] for issue in api.post("/api/issuesGetter", wanted)] == ["2-7", "2-3", "2-5"]


def test_a_command_changes_state_priority_assignee_and_comments(api: Api) -> None:
    before = api.get("/api/issues/DEMO-9")
    command = {"query": "state In Progress priority Critical assignee me comment On it", "issues": [{"id": "2-9"}]}
    assert api.post("/api/commands/assist", command)["commands"][0]["error"] is False
    assert api.post("/api/commands", command)["issues"] == [{"id": "2-9", "idReadable": "DEMO-9"}]
    after = api.get("/api/issues/DEMO-9")
    assert (after["state"], after["priority"], after["assignee"]["login"]) == ("In Progress", "Critical", "user001")
    assert after["commentsCount"] == before["commentsCount"] + 1 == len(after["comments"])
    assert after["comments"][-1]["text"] == "On it"
    assert after["updated"] > before["updated"]
    api.post("/api/commands", {"query": "assignee Unassigned", "issues": [{"id": "2-9"}, {"id": "2-10"}]})
    assert api.get("/api/issues/DEMO-9")["assignee"] is None
    assert counts_are_true(api)


def test_an_impossible_command_is_shown_by_assist_and_refused(api: Api) -> None:
    command = {"query": "state Wrong", "issues": [{"id": "2-9"}]}
    assert api.post("/api/commands/assist", command)["commands"][0]["error"] is True
    assert "Use one of" in api.post("/api/commands", command, status=400)["error_description"]
    api.post("/api/commands", {"query": "assignee nobody", "issues": [{"id": "2-9"}]}, status=400)
    api.post("/api/commands", {"query": "state Fixed", "issues": [{"id": "2-999999"}]}, status=404)


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/api/issues/DEMO-999999", None, 404),
        ("GET", "/api/issues/99999999999999999999", None, 404),
        ("GET", "/api/sortedIssues?topRoot=none", None, 400),
        ("GET", "/api/sortedIssues?query=colour:red", None, 400),
        ("POST", "/api/issuesGetter", {"id": 1}, 400),
        ("POST", "/api/issuesGetter", [], 400),
        ("POST", "/api/issuesGetter/count", {"query": 1}, 400),
        ("POST", "/api/users/me/drafts", {"summary": "x" * 301}, 400),
        ("POST", "/api/issues", {"summary": "zero \0 byte"}, 400),
        ("POST", "/api/issues", {"summary": "half a pair \ud800"}, 400),
    ],
)
def test_a_wrong_request_is_answered_with_what_is_wrong(
    api: Api, method: str, path: str, body: Any, status: int
) -> None:
    assert api.send(method, path, body, status)["error_description"]


@pytest.mark.parametrize("query", ['"', "'", "*", "a* OR b", "NEAR(a b)", "%", "a:", "\\", "käse 漢字 🐞"])
def test_no_search_text_breaks_the_text_index(api: Api, query: str) -> None:
    url = api.client.build_request("GET", "/api/sortedIssues", params={"query": query}).url
    assert "tree" in api.get(url.raw_path.decode())
    assert "suggestions" in api.post("/api/search/assist", {"query": query})


def test_telemetry_is_a_flat_document(api: Api) -> None:
    document = api.get("/api/admin/telemetry")
    assert all(isinstance(value, (str, int, float, bool)) for value in document.values())
    assert document["issues"] == ISSUES
    assert document["textIndexSize"].endswith(" MB")
    assert document["requests"] >= 1


def test_reset_takes_the_data_back_to_the_seeded_state(api: Api) -> None:
    published(api, "Soon gone")
    api.post("/api/commands", {"query": "state Fixed comment x", "issues": [{"id": f"2-{n}"} for n in range(1, 50)]})
    api.post("/api/admin/reset")
    assert api.post("/api/issuesGetter/count", {})["count"] == ISSUES
    assert api.get("/api/sortedIssues?query=gone+soon")["tree"] == []
    assert counts_are_true(api)
    assert published(api, "Next")["id"] == f"2-{ISSUES + 1}"
