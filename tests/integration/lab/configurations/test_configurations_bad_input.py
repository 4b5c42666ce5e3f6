"""Wrong, huge, missing and unauthorised input is refused with a message, and nothing is lost or changed."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from configurations_client import Answering

JSON = {"Content-Type": "application/json"}
CHANGES = [
    ("POST", "/gc/components", {"title": "x"}),
    ("POST", "/gc/configurations", {"kind": "stream", "from": 2, "title": "x"}),
    ("PUT", "/gc/configuration/1/contributions/1", {"child": 4}),
    ("POST", "/rm/artifacts?context=1", {"title": "x"}),
    ("PUT", "/cm/artifacts/1?context=1", {"title": "x"}),
    ("POST", "/qm/configurations", {"kind": "baseline", "from": 1, "title": "x"}),
]
INJECTIONS = (
    "xyzzy'; DROP TABLE versions; --",
    "xyzzy' OR '1'='1",
    "xyzzy%' UNION SELECT 1, 2, 3 --",
    "xyzzy\\'; SELECT pg_sleep(9); --",
)
READS = [
    "/gc/components",
    "/gc/configuration/1",
    "/rm/artifacts?context=1",
    "/qm/proxy/gc/configuration/1",
    "/jts/check",
]


@pytest.fixture(scope="module", autouse=True)
def nothing_is_changed(whole: Answering) -> Any:
    before = whole.client.get(f"{whole.ready['url']}/volume").json()
    yield
    assert whole.client.get(f"{whole.ready['url']}/volume").json() == before
    assert whole.telemetry()["gc.restarts"] == whole.telemetry()["rm.restarts"] == 0


def refused(answer: Any, *statuses: int) -> str:
    assert answer.status_code in statuses, f"{answer.request.method} {answer.request.url}: {answer.status_code}"
    message = answer.json()["error"]["message"]
    assert message
    return str(message)


@pytest.mark.parametrize("token", ["", "Bearer", "Bearer x", "Bearer a.b", "Basic Zm9v", "Bearer " + "x" * 5000])
def test_without_a_good_token_nothing_is_shown_or_changed(whole: Answering, token: str) -> None:
    for path in READS:
        assert "token" in refused(whole.raw("GET", path, headers={"Authorization": token}), 401)
    for method, path, body in CHANGES:
        refused(whole.raw(method, path, json=body, headers={"Authorization": token}), 401)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'"x"', b"nul", b'{"title": NaN}', b"[" * 50_000, b"\xff\xfe{}"])
def test_broken_json_is_refused(whole: Answering, content: bytes) -> None:
    for method, path, _ in CHANGES:
        assert "JSON" in refused(whole.raw(method, path, content=content, headers=JSON), 400)


def test_a_body_that_is_not_said_to_be_json_and_one_that_is_huge(whole: Answering) -> None:
    for method, path, _ in CHANGES:
        assert "application/json" in refused(whole.raw(method, path, content=b'{"title": "x"}'), 415)
        huge = b'{"title": "' + b"x" * 200_000 + b'"}'
        refused(whole.raw(method, path, content=huge, headers=JSON), 413)


@pytest.mark.parametrize(
    ("body", "mistakes"),
    [
        ({}, {"title"}),
        ({"title": ""}, {"title"}),
        ({"title": " \t "}, {"title"}),
        ({"title": 5}, {"title"}),
        ({"title": None, "descripton": 1, "project": True}, {"title", "descripton", "project"}),
        ({"title": "x" * 201}, {"title"}),
        ({"title": "a\u0000b"}, {"title"}),
        ({"title": "\ud800"}, {"title"}),
        ({"title": "x", "project": 2**70}, {"project"}),
        ({"title": "x", "project": -1}, {"project"}),
        ({"title": "x", "project": 1.5}, {"project"}),
        ({"title": "x", "links": {}}, {"links"}),
        ({"title": "x", "links": [1]}, {"links[0]"}),
        ({"title": "x", "links": [{"type": "eats", "target": "x"}]}, {"links[0].type", "links[0].target"}),
        ({"title": "x", "links": [{"type": "tracks", "target": "ftp://example.org/a"}]}, {"links[0].target"}),
        ({"title": "x", "links": [{"type": "tracks", "target": "http://a b"}]}, {"links[0].target"}),
        ({"title": "x", "links": [{"type": "tracks", "target": "http://a"}] * 101}, {"links"}),
    ],
)  # fmt: skip
def test_all_mistakes_of_an_artifact_come_at_once(whole: Answering, body: Any, mistakes: set[str]) -> None:
    import json

    answer = whole.raw("POST", "/rm/artifacts?context=1", content=json.dumps(body), headers=JSON)
    refused(answer, 422)
    assert {one["field"] for one in answer.json()["error"]["mistakes"]} == mistakes


@pytest.mark.parametrize(
    "query",
    ["context=0", "context=-1", "context=x", "context=1&context=2", "configuration=1&context=1", "context=1e3", "",
     "context=1&offset=-1", "context=1&limit=0", "context=1&limit=201", "context=1&limit=" + "9" * 400,
     "context=1&what=1", "context=%00", "context=1;drop table versions", "context=99999999999999999999"],
)  # fmt: skip
def test_wrong_parameters_are_refused_by_name(whole: Answering, query: str) -> None:
    refused(whole.raw("GET", f"/rm/artifacts?{query}"), 400)


@pytest.mark.parametrize("number", ["0", "-1", "x", "1.0", "99999999999999999999", "%F0%9F%98%80", "1'--", "٣"])
def test_what_is_no_number_names_nothing(whole: Answering, number: str) -> None:
    for path in (f"/gc/configuration/{number}", f"/gc/components/{number}", f"/qm/versions/{number}",
                 f"/rm/configurations/{number}", f"/cm/artifacts/{number}", f"/rm/trs/changes/{number}x"):  # fmt: skip
        refused(whole.raw("GET", path), 404)


def test_sql_in_any_parameter_of_any_service_finds_nothing(whole: Answering) -> None:
    """Of each parameter of each GET of the documents: a text to search by finds nothing, anything else is refused."""
    tried = set()
    for service, url in whole.urls.items():
        for path, methods in whole.client.get(f"{url}/openapi.json").json()["paths"].items():
            names = [one["name"] for one in methods.get("get", {}).get("parameters", []) if one["in"] == "query"]
            needed = {"context": "1"} if "configuration" in names else {}
            for name in names:
                tried.add((service, name))
                rest = {} if name in ("context", "configuration") else needed
                for text in INJECTIONS:
                    filled = path.replace("{id}", "1").replace("{page}", "1")
                    answer = whole.raw("GET", filled, params={**rest, name: text})
                    if name == "query":
                        assert answer.status_code == 200 and answer.json()["total"] == 0, (path, text)
                    else:
                        assert name in refused(answer, 400)
    assert len(tried) > 25


@pytest.mark.parametrize("text", INJECTIONS)
def test_sql_in_paths_and_credentials_names_nothing_and_nobody(whole: Answering, text: str) -> None:
    part = quote(text, safe="")
    for path in (f"/gc/configuration/{part}", f"/gc/components/{part}", f"/gc/trs/changes/{part}",
                 f"/rm/versions/{part}", f"/cm/artifacts/{part}?context=1", f"/qm/configurations/{part}",
                 f"/rm/proxy/gc/configuration/{part}"):  # fmt: skip
        refused(whole.raw("GET", path), 404)
    for body in ({"username": text, "password": "x"}, {"username": "engineer01", "password": text}):
        refused(whole.raw("POST", "/jts/login", json=body), 401)


def test_what_is_not_there_is_404(whole: Answering) -> None:
    for method, path, body in (
        ("GET", "/gc/configuration/99999", None), ("GET", "/rm/artifacts?context=99999", None),
        ("GET", "/rm/artifacts?configuration=99999", None), ("PUT", "/rm/artifacts/99999?context=1", {"title": "x"}),
        ("DELETE", "/cm/artifacts/99999?context=1", None), ("POST", "/gc/configuration/99999/commit", None),
        ("PUT", "/gc/configuration/99999/contributions/1", {"child": 1}),
        ("PUT", "/gc/configuration/1/contributions/1", {"child": 99999}),
        ("POST", "/gc/configurations", {"kind": "stream", "from": 99999, "title": "x"}),
        ("POST", "/rm/configurations", {"kind": "stream", "from": 99999, "title": "x"}),
        ("GET", "/rm/nothing", None), ("GET", "/gc/trs/changes/99999", None),
        ("GET", "/qm/trs/base?cutoff=99999", None),
        ("GET", "/rm/artifacts?context=1&project=999", None),
    ):  # fmt: skip
        refused(whole.raw(method, path, json=body), 404)


def test_what_is_stored_does_not_allow_it(whole: Answering) -> None:
    for method, path, body in (
        ("POST", "/gc/configurations", {"kind": "stream", "from": 1, "title": "x"}),
        ("POST", "/gc/configurations", {"kind": "staging", "from": 2, "title": "x"}),
        ("POST", "/rm/configurations", {"kind": "baseline", "from": 2, "title": "x"}),
        ("PUT", "/gc/configuration/1/contributions/99", {"child": 4}),
        ("PUT", "/gc/configuration/2/contributions/1", {"child": 4}),
        ("DELETE", "/rm/artifacts/1?context=2", None),
        ("POST", "/gc/configuration/1/commit", None),
    ):
        refused(whole.raw(method, path, json=body), 409)


@pytest.mark.parametrize(
    "body",
    [{}, {"child": 1, "service": "rm", "configuration": 1}, {"service": "rm"}, {"configuration": 1},
     {"service": "jts", "configuration": 1}, {"child": "1"}],
)  # fmt: skip
def test_a_contribution_is_either_local_or_global(whole: Answering, body: Any) -> None:
    refused(whole.raw("PUT", "/gc/configuration/1/contributions/1", json=body), 422)


def test_a_wrong_method_is_405_and_a_wrong_login_401(whole: Answering) -> None:
    refused(whole.raw("PATCH", "/gc/components", json={}), 405)
    for body in ({"username": "engineer01", "password": "x"}, {"username": "nobody", "password": "\ud83d"}):
        import json

        answer = whole.raw("POST", "/jts/login", content=json.dumps(body), headers=JSON)
        refused(answer, 401, 422)
