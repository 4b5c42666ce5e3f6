"""What a running service is asked: GET alone, nothing that does something, ids from its lists; all of it is said."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import plimsoll
from plimsoll.drafts.services import asking
from plimsoll.errors import InputError

ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
DESCRIPTION: dict[str, Any] = {
    "openapi": "3.1.0",
    "servers": [{"url": "https://production.example.org/api"}],
    "paths": {
        "/pets": {"get": {}, "post": {}},
        "/pets/{id}": {"get": {"parameters": [ID]}, "delete": {}},
        "/pets/{id}/visits": {"get": {"parameters": [ID]}},
        "/pets/{id}/visits/{no}": {"get": {"parameters": [ID]}},
        "/owners/{id}": {"get": {"parameters": [ID]}},
        "/me": {"get": {}},
        "/logout": {"get": {}},
        "/moved": {"get": {}},
        "/broken": {"get": {}},
        "/endless": {"get": {}},
    },
}


class Service:
    """Answers by path; `asked` has each request as it came."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.location = "/elsewhere"
        self.answers: dict[str, tuple[int, Any]] = {
            "/openapi.json": (404, ""),
            "/swagger.json": (200, json.dumps(DESCRIPTION)),
            "/api/pets": (200, [{"id": 41, "name": "Tom"}, {"id": 42, "name": "Kim"}]),
            "/api/pets/41": (200, {}),
            "/api/pets/42": (200, {}),
            "/api/pets/41/visits": (200, {"items": [{"no": 5}]}),
            "/api/pets/42/visits": (200, []),
            "/api/pets/41/visits/5": (200, {}),
            "/api/owners/1": (404, ""),
            "/api/owners/2": (200, {}),
            "/api/me": (401, ""),
            "/api/moved": (302, ""),
            "/api/broken": (500, ""),
        }
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                service.asked.append(f"{self.command} {self.path}{self.headers.get('Authorization', '')}")
                if self.path.endswith("/endless"):
                    return self._endless()
                status, body = service.answers.get(self.path.partition("?")[0], (404, ""))
                content = (body if isinstance(body, str) else json.dumps(body)).encode()
                self.send_response(status)
                self.send_header("Content-Type", "text/html" if content.startswith(b"<") else "application/json")
                if status == 302:
                    self.send_header("Location", service.location)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = do_GET

            def _endless(self) -> None:
                self.send_response(200)
                self.end_headers()
                try:
                    while True:
                        self.wfile.write(b"data: 1\n\n" * 1000)
                except OSError:
                    pass

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def service() -> Iterator[Service]:
    found = Service()
    yield found
    found.server.shutdown()
    found.server.server_close()


def test_a_service_is_searched_for_its_description_and_asked_by_get_alone(service: Service, tmp_path: Path) -> None:
    draft = plimsoll.new(service.url, output=tmp_path / "load")
    assert {one.request: [*map(str, (row.values() for row in one.rows))] for one in draft.operations} == {
        "GET /api/pets": [],
        "GET /api/pets/{id}": ["dict_values(['41'])", "dict_values(['42'])"],
        "GET /api/pets/{id}/visits": ["dict_values(['41'])", "dict_values(['42'])"],
        "GET /api/pets/{id}/visits/{no}": ["dict_values(['41', '5'])"],
        "GET /api/owners/{id}": ["dict_values(['2'])", "dict_values(['3'])"],
        "GET /api/moved": [],
    }
    reasons = {one.request: one.reason for one in draft.left_out}
    assert reasons["POST /api/pets"] == reasons["DELETE /api/pets/{id}"] == "it may write"
    assert "answers 401" in reasons["GET /api/me"] and "--token" in reasons["GET /api/me"]
    assert "answers 500" in reasons["GET /api/broken"] and "does something" in reasons["GET /api/logout"]
    assert "no end within" in reasons["GET /api/endless"]
    assert all(line.startswith("GET ") for line in service.asked)
    assert not any("logout" in line or "elsewhere" in line for line in service.asked)
    assert [path for path, _ in draft.asked] == [line.removeprefix("GET ") for line in service.asked]
    said = " ".join(str(draft).split())
    assert "Asked of the service, by GET alone: /openapi.json 404, /openapi.yaml 404, /swagger.json 200, /api/" in said
    assert "production" not in (tmp_path / "load" / "study.yaml").read_text()


def test_the_path_of_the_url_is_not_doubled(service: Service, tmp_path: Path) -> None:
    description = tmp_path / "d.json"
    description.write_text(json.dumps(DESCRIPTION))
    draft = plimsoll.new(f"{service.url}/api/", openapi=description, output=tmp_path / "load")
    assert "GET /pets" in [one.request for one in draft.operations]
    assert "GET /api/pets" in service.asked


def test_a_token_is_sent_and_never_written(service: Service, tmp_path: Path) -> None:
    plimsoll.new(service.url, output=tmp_path / "load", token="s3cr3t")
    assert all(line.endswith("Bearer s3cr3t") for line in service.asked)
    assert not any("s3cr3t" in path.read_text() for path in (tmp_path / "load").iterdir())


def test_a_description_by_its_url_is_read_and_the_service_not_asked(service: Service, tmp_path: Path) -> None:
    service.answers["/d"] = (200, json.dumps({"swagger": "2.0", "paths": {"/a": {"get": {}}}}))
    draft = plimsoll.new(openapi=f"{service.url}/d", output=tmp_path / "load")
    assert service.asked == ["GET /d"] and [one.request for one in draft.operations] == ["GET /a"]
    with pytest.raises(InputError, match="the description answers 404"):
        plimsoll.new(openapi=f"{service.url}/none", output=tmp_path / "other")


def test_without_a_description_the_page_and_its_links_are_taken(service: Service, tmp_path: Path) -> None:
    del service.answers["/swagger.json"]
    links = [
        "/a?x=1&amp;y=2",
        "b",
        "/logout",
        "/style.css",
        "http://other.example/x",
        "/s?token=1",
        "#top",
        "mailto:a@b",
        "/gone",
    ]
    service.answers["/"] = (200, "<html>" + "".join(f'<a class="c" href="{link}">x</a>' for link in links))
    service.answers |= {"/a": (200, ""), "/b": (200, "")}
    draft = plimsoll.new(service.url, output=tmp_path / "load")
    assert [(one.template, one.fixed_query) for one in draft.operations] == [("/", ""), ("/a", "x=1&y=2"), ("/b", "")]
    assert not any("logout" in line or "token" in line for line in service.asked)


def test_where_there_is_nothing_it_is_said_what_was_asked(service: Service, tmp_path: Path) -> None:
    service.answers.clear()
    with pytest.raises(InputError, match=r"no OpenAPI description and no page.*/openapi\.json.*--access-log"):
        plimsoll.new(service.url, output=tmp_path / "load")
    assert not (tmp_path / "load").exists()


def test_where_nothing_answers_it_is_said(service: Service, tmp_path: Path) -> None:
    service.server.shutdown()
    service.server.server_close()
    with pytest.raises(InputError, match="does not answer"):
        plimsoll.new(service.url, output=tmp_path / "load")


def test_no_more_is_asked_than_enough(service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "MOST_ASKED", 4)
    draft = plimsoll.new(service.url, output=tmp_path / "load")
    assert len(service.asked) == 4
    assert "4 questions are enough" in {one.reason for one in draft.left_out}


def test_a_service_that_has_enough_is_left_alone(service: Service, tmp_path: Path) -> None:
    service.answers["/api/pets/41"] = (429, "")
    draft = plimsoll.new(service.url, output=tmp_path / "load")
    assert service.asked[-1] == "GET /api/pets/41" and [one.request for one in draft.operations] == ["GET /api/pets"]


def test_secrets_of_a_description_s_address_are_never_said(service: Service, tmp_path: Path) -> None:
    service.answers["/d"] = (200, json.dumps({"swagger": "2.0", "paths": {"/a": {"get": {}}}}))
    draft = plimsoll.new(openapi=f"{service.url}/d?access_token=s3cr3t", output=tmp_path / "load")
    assert service.asked == ["GET /d?access_token=s3cr3t"]
    assert "s3cr3t" not in f"{draft}{draft.to_json()}{(tmp_path / 'load' / 'study.yaml').read_text()}"
    for address in (f"{service.url}/none?access_token=s3cr3t", f"http://me:s3cr3t@{service.url[7:]}/d"):
        with pytest.raises(InputError) as caught:
            plimsoll.new(openapi=address, output=tmp_path / "other")
        assert "s3cr3t" not in str(caught.value)


def log_of(tmp_path: Path, *paths: str) -> Path:
    log = tmp_path / "access.log"
    line = '127.0.0.1 - - [29/Nov/2026:14:35:{:02d} +0000] "GET {} HTTP/1.1" 200 5 "-" "Mozilla/5.0"\n'
    log.write_text("".join(line.format(at, path) for at, path in enumerate(paths * 3)))
    return log


def test_a_page_that_only_redirects_is_followed_on_its_host(service: Service, tmp_path: Path) -> None:
    """Of hledger-web, Radicale and Prometheus the whole load was one redirect."""
    del service.answers["/swagger.json"]
    service.answers |= {"/": (302, ""), "/elsewhere": (200, '<html><a href="/a">a</a>'), "/a": (200, "")}
    draft = plimsoll.new(service.url, output=tmp_path / "load")
    assert [one.request for one in draft.operations] == ["GET /elsewhere", "GET /a"]
    assert [(one.request, one.reason) for one in draft.left_out] == [("GET /", "it only redirects")]


@pytest.mark.parametrize("path", ["/version", "/app"])
def test_the_path_of_a_url_is_asked_for_as_it_is_given(service: Service, tmp_path: Path, path: str) -> None:
    """etcd answers /version, and 404 to /version/."""
    del service.answers["/swagger.json"]
    service.answers |= {"/version": (200, {"a": 1}), "/app/": (200, "<html>"), "/app/openapi.json": (404, "")}
    draft = plimsoll.new(service.url + path, output=tmp_path / "load")
    assert [one.template for one in draft.operations] == ["/version" if path == "/version" else "/app/"]
    assert draft.url == service.url
    assert f"{path}/openapi.json" in [asked for asked, _ in draft.asked]
    assert any("--har" in note for note in draft.notes)


@pytest.mark.parametrize(
    ("location", "words"),
    [
        ("/login?next=/", "redirects to /login, where users sign in.*--har"),
        ("https://other.example/x", "redirects to https://other.example, which is another address"),
        ("/?token=s3cr3t", "no page"),
        ("http://[", "no page"),
        ("/none", "/ redirects to /none, which answers 404"),
    ],
)
def test_a_redirect_that_is_not_followed_says_why(service: Service, tmp_path: Path, location: str, words: str) -> None:
    del service.answers["/swagger.json"]
    service.answers["/"], service.location = (302, ""), location
    with pytest.raises(InputError, match=words) as caught:
        plimsoll.new(service.url, output=tmp_path / "load")
    assert "s3cr3t" not in str(caught.value)


def test_a_log_s_service_that_does_not_answer_is_said(service: Service, tmp_path: Path) -> None:
    service.server.shutdown()
    service.server.server_close()
    draft = plimsoll.new(service.url, access_log=log_of(tmp_path, "/a", "/b"), output=tmp_path / "load")
    said = " ".join(str(draft).split())
    assert f"Note: {service.url} does not answer" in said and "Next: start the service, then plimsoll capacity" in said
    assert draft.is_silent and len(draft.asked) == 1


def test_operations_of_a_log_that_the_service_does_not_answer_are_named(service: Service, tmp_path: Path) -> None:
    log = log_of(tmp_path, "/api/pets", "/api/me", "/gone", "/logout")
    draft = plimsoll.new(service.url, access_log=log, output=tmp_path / "load")
    assert service.asked == ["GET /api/me", "GET /api/pets", "GET /gone"]
    [note] = [one for one in draft.notes if "fail" in one]
    assert note.startswith(f"2 of 3 operations fail at {service.url}: GET /api/me 401, GET /gone 404. ")
    assert note.endswith("-e TOKEN=….") and not draft.is_silent
    assert len(draft.operations) == 4, "the log says that users do it"


def test_a_log_of_another_service_is_asked_about(service: Service, tmp_path: Path) -> None:
    draft = plimsoll.new(service.url, access_log=log_of(tmp_path, "/x", "/y"), output=tmp_path / "load")
    assert any(one.startswith(f"None of the operations succeeds at {service.url}: GET /x 404") for one in draft.notes)


def test_pages_that_differ_in_their_query_alone_are_one_operation(service: Service, tmp_path: Path) -> None:
    del service.answers["/swagger.json"]
    service.answers |= {"/": (200, '<html><a href="/r?q=1">a</a><a href="/r?q=2">b</a>'), "/r": (200, "")}
    draft = plimsoll.new(service.url, output=tmp_path / "load")
    assert [(one.request, one.rows) for one in draft.operations] == [
        ("GET /", ()),
        ("GET /r", ({"query": "?q=1"}, {"query": "?q=2"})),
    ]
