"""What the tracker's pages ask beside their main request, each on SQLite and on PostgreSQL."""

from __future__ import annotations

from typing import Any

import pytest

Api = Any  # the client of conftest.py, logged in as user001


def test_a_comment_is_drafted_kept_and_published(api: Api) -> None:
    assert api.get("/api/issues/DEMO-7/draftComment")["text"] == ""
    before = api.get("/api/issues/DEMO-7")["commentsCount"]
    path = "/api/issues/DEMO-7/draftComment"
    api.post(path, {"text": "I have"})
    api.send("PUT", path, {"text": "I have seen it"})
    assert api.get(path)["text"] == "I have seen it"
    assert api.logged_in_as("user002").get(path)["text"] == ""
    assert api.post("/api/issues/DEMO-7/comments", {})["text"] == "I have seen it"
    assert api.get(path)["text"] == ""
    assert api.post("/api/issues/DEMO-7/comments", {"text": "Me too"})["author"]["login"] == "user001"
    assert [one["text"] for one in api.get("/api/issues/DEMO-7/comments")[:2]] == ["Me too", "I have seen it"]
    assert api.get("/api/issues/DEMO-7")["commentsCount"] == before + 2


def test_around_an_issue_stand_what_was_done_who_watches_links_and_its_sprint(api: Api) -> None:
    api.logged_in_as("user003").post("/api/issues/DEMO-9/comments", {"text": "Here as well"})
    done = api.get("/api/issues/DEMO-9/activitiesPage")["activities"]
    assert (done[0]["category"], done[0]["added"]["text"]) == ("Comments", "Here as well")
    assert done[-1]["category"] == "IssueCreated"
    reporter = api.get("/api/issues/DEMO-9")["reporter"]["login"]
    watching = [one["user"]["login"] for one in api.get("/api/issues/DEMO-9/issueWatchers")["issueWatchers"]]
    assert watching[0] == reporter and "user003" in watching and len(watching) == len(set(watching))
    [linked] = api.get("/api/issues/DEMO-9/links")
    assert [one["idReadable"] for one in linked["issues"]] == ["DEMO-8", "DEMO-10"]
    assert api.get("/api/issues/DEMO-251/sprints")[0]["name"] == "Sprint 2"


def test_the_issues_seen_are_kept_latest_first_and_twenty_of_them(api: Api) -> None:
    for number in [*range(1, 25), 3]:
        api.post("/api/users/me/recent/issues", {"issue": {"id": f"2-{number}"}})
    seen = [one["idReadable"] for one in api.get("/api/users/me/recent/issues")]
    assert len(seen) <= 20 and len(seen) == len(set(seen)) and "DEMO-3" in seen and "DEMO-1" not in seen
    assert api.logged_in_as("user004").get("/api/users/me/recent/issues") == []


def test_the_frame_of_a_page_counts_searches_and_lists_values(api: Api) -> None:
    counts = api.post("/api/issuesGetter/counts", {"queries": ["", "state: Open"]})
    single = [api.post("/api/issuesGetter/count", {"query": one["query"]})["count"] for one in counts]
    assert [one["count"] for one in counts] == single
    assert len(api.get("/api/inbox/folders?$top=-1&start=1")) == 4
    assert {one["permission"]["key"] for one in api.get("/api/permissions/cache")} >= {"READ_ISSUE", "CREATE_COMMENT"}
    assert [one["presentation"] for one in api.get("/api/filterFields/project/values?query=&type=Issue")] == ["DEMO"]
    assert len(api.get("/api/filterFields/assignee/values")) == 99
    assert len(api.get("/api/admin/widgets/general")) == 5


@pytest.mark.parametrize(
    "path",
    [
        f"/api/issues/{issue}/{part}"
        for issue in ("DEMO-999999", "nonsense", "DEMO-99999999999")
        for part in ("comments", "draftComment", "activitiesPage", "issueWatchers", "links", "sprints")
    ],
)
def test_an_issue_that_is_not_there_is_404(api: Api, path: str) -> None:
    api.get(path, status=404)
    if path.endswith(("comments", "draftComment")):
        api.post(path, {"text": "Hello"}, status=404)


@pytest.mark.parametrize(
    "path, body",
    [
        ("/api/issues/DEMO-1/comments", {}),
        ("/api/issues/DEMO-1/comments", {"text": 5}),
        ("/api/issues/DEMO-1/comments", {"text": "a\0b"}),
        ("/api/issues/DEMO-1/comments", {"text": "x" * 100_001}),
        ("/api/issues/DEMO-1/draftComment", {"text": ["x"]}),
        ("/api/users/me/recent/issues", {"issue": "2-1"}),
        ("/api/users/me/recent/issues", {}),
        ("/api/issuesGetter/counts", {"queries": []}),
        ("/api/issuesGetter/counts", {"queries": [""] * 21}),
        ("/api/issuesGetter/counts", {"queries": [7]}),
        ("/api/issuesGetter/counts", {"queries": "x"}),
    ],
)
def test_wrong_bodies_are_refused_with_a_message(api: Api, path: str, body: Any) -> None:
    status = 404 if body == {"issue": "2-1"} or "recent" in path else 400
    assert api.post(path, body, status=status)["error_description"]


def test_issues_like_a_draft_are_those_that_share_the_most_words_of_its_summary(api: Api) -> None:
    made = [
        api.post("/api/issues", {"summary": summary, "description": description})["id"]
        for summary, description in (
            ("Zyzzyva eats quokka", ""),
            ("The quokka is out", ""),
            ("Nothing", "of a zyzzyva"),
            ("Else", ""),
        )
    ]
    draft = api.post("/api/users/me/drafts", {"summary": "A quokka, a \"ZYZZYVA\" | and 'xylotomy'"})["id"]
    path = f"/api/users/me/drafts/{draft}/similar"
    found = [one["id"] for one in api.post(path, {})]
    assert [one for one in found if one in made] == [made[0], made[1], made[2]] and len(found) <= 20
    assert found[0] == made[0]
    assert [one["id"] for one in api.post(f"{path}?$top=1&fields=id")] == [made[0]]


@pytest.mark.parametrize("summary", ["", "?!", "'; DROP TABLE issues; --", "\"' | & ! ( ) * :", "漢" * 300, "NEAR OR"])
def test_of_any_draft_it_is_told_what_is_like_it(api: Api, summary: str) -> None:
    draft = api.post("/api/users/me/drafts", {"summary": summary})["id"]
    path = f"/api/users/me/drafts/{draft}/similar"
    assert isinstance(api.post(path, {"summary": summary}), list)
    api.logged_in_as("user002").post(path, status=404)
    for wrong, body, status in (
        ("/api/users/me/drafts/3-999999/similar", {}, 404),
        ("/api/users/me/drafts/x'--/similar", {}, 404),
        (path, [], 400),
        (f"{path}?$top=0", {}, 400),
    ):
        assert api.post(wrong, body, status=status)["error_description"]


def test_the_pages_are_told_of_the_server(api: Api) -> None:
    told = api.get("/api/config")
    assert (told["project"], told["users"], told["guestLogin"]) == ("DEMO", 99, False)


def test_a_field_that_is_not_there_is_404(api: Api) -> None:
    api.get("/api/filterFields/colour/values", status=404)
