"""Who may ask the live page, and change something through it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from asgi_client import TestClient
from page_asked import HOST, csrf_of

from plimsoll.runs.kept.labels import tags_of
from plimsoll.runs.writer import RunWriter
from plimsoll.ui.folder import Folder

TOKEN = "a-token-of-enough-length"
Ask = Callable[..., TestClient]


def tagged(client: TestClient, run: Path, csrf: str, **headers: str) -> int:
    data = {"csrf": csrf, "tags": "seen"}
    return client.post(f"/runs/{run.name}/tags", data=data, headers=headers).status_code


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "evil.example:6570", "", "a@b", "[::1"])
def test_a_name_that_somebody_made_to_lead_here_is_refused(page: Ask, host: str) -> None:
    assert page().get("/", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("host", [HOST, "localhost:6570", "[::1]:6570", "127.0.0.1"])
def test_addresses_and_names_of_this_machine_are_answered(page: Ask, host: str) -> None:
    assert page().get("/", headers={"host": host}).status_code == 200


def test_with_a_token_any_name_may_lead_here_as_the_cookie_is_of_one_name(page: Ask) -> None:
    client = page(TOKEN)
    assert client.get("/", headers={"host": "load.example"}).status_code == 403
    entered = client.get(f"/?token={TOKEN}", headers={"host": "load.example"})
    assert entered.status_code == 303 and "domain=" not in entered.headers["set-cookie"].lower()


def test_a_wrong_token_is_refused_and_the_right_one_is_kept_in_a_cookie(page: Ask, finished: Path) -> None:
    client = page(TOKEN)
    assert client.get("/").status_code == 403
    assert client.get(f"/runs/{finished.name}/events").status_code == 403
    wrong = client.get("/?token=wrong")
    assert wrong.status_code == 403 and "not the right one" in wrong.text and "set-cookie" not in wrong.headers
    entered = client.get(f"/?q=x&token={TOKEN}")
    assert entered.status_code == 303 and entered.headers["location"] == "/?q=x"
    cookie = entered.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie
    assert client.get("/").status_code == 200


def test_a_token_leads_to_no_other_site(page: Ask) -> None:
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": "//evil.example/", "query_string": f"token={TOKEN}".encode()}
    app = page(TOKEN).app
    asyncio.run(app(scope | {"headers": [(b"host", HOST.encode())]}, None, send))
    assert dict(sent[0]["headers"])[b"location"] == b"/evil.example/"


def test_a_forged_cookie_is_no_token(page: Ask) -> None:
    client = page(TOKEN)
    client.cookies.set("plimsoll-6570", "wrong")
    assert client.get("/").status_code == 403
    assert client.get("/", headers={"cookie": 'plimsoll-6570="\xe4'.encode("latin-1")}).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:8000"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": f"http://{HOST}", "sec-fetch-site": "cross-site"},
    ],
)
def test_what_another_page_sends_changes_nothing(page: Ask, finished: Path, headers: dict[str, str]) -> None:
    client = page()
    assert tagged(client, finished, csrf_of(client, finished.name), **headers) == 403
    assert tags_of(finished) == ()


def test_a_form_without_the_pages_secret_changes_nothing(page: Ask, finished: Path) -> None:
    client = page()
    for csrf in ("", "wrong", csrf_of(page(), finished.name)):
        assert tagged(client, finished, csrf, origin=f"http://{HOST}") == 403
    assert tags_of(finished) == ()
    assert tagged(client, finished, csrf_of(client, finished.name), origin=f"http://{HOST}") == 303
    assert tags_of(finished) == ("seen",)


def test_nothing_is_changed_by_a_visit(page: Ask, finished: Path) -> None:
    for what in ("control", "note", "tags", "keep"):
        assert page().get(f"/runs/{finished.name}/{what}").status_code == 405
    assert page().get(f"/runs/{finished.name}/delete").status_code == 200
    assert finished.is_dir()


@pytest.mark.parametrize("name", ["%2e%2e", "..%2f..", "%2fetc", "a%00b", "runs", "x" * 3000])
def test_no_name_leads_out_of_the_folder(page: Ask, finished: Path, name: str) -> None:
    for path in (f"/runs/{name}", f"/runs/{name}/report", f"/runs/{finished.name}:{name}", f"/static/{name}"):
        assert page().get(path).status_code == 404


def test_a_link_in_the_folder_is_no_run(page: Ask, finished: Path, tmp_path: Path) -> None:
    link = finished.with_name("20260101-000000-run-0000")
    elsewhere = tmp_path / "elsewhere" / "20260101-000001-run-0000"
    elsewhere.parent.mkdir()
    finished.rename(elsewhere)
    link.symlink_to(elsewhere)
    client = page()
    assert link.name not in client.get("/").text
    assert client.get(f"/runs/{link.name}").status_code == 404
    assert client.post(f"/runs/{link.name}/delete", data={"csrf": "x"}).status_code == 404


def test_a_run_that_goes_on_is_not_deleted(page: Ask, writer: RunWriter) -> None:
    client = page()
    data = {"csrf": csrf_of(client, writer.path.name)}
    refused = client.post(f"/runs/{writer.path.name}/delete", data=data)
    assert refused.status_code == 409 and "still running" in refused.text
    assert writer.path.is_dir()


def test_a_finished_run_is_deleted_after_asking(page: Ask, finished: Path) -> None:
    client = page()
    assert "Delete it for good" in client.get(f"/runs/{finished.name}/delete").text
    assert finished.is_dir()
    assert (
        client.post(f"/runs/{finished.name}/delete", data={"csrf": csrf_of(client, finished.name)}).status_code == 303
    )
    assert not finished.exists()


def test_every_answer_says_that_nothing_is_loaded_from_elsewhere(page: Ask, finished: Path) -> None:
    client = page()
    for path in ("/", f"/runs/{finished.name}", "/static/page.js", "/nothing", f"/runs/{finished.name}/report"):
        policy = client.get(path).headers["content-security-policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
    assert policy.startswith("sandbox allow-scripts;") and "connect-src" not in policy


def test_a_report_is_written_into_no_run_directory(page: Ask, finished: Path) -> None:
    before = sorted(path.name for path in finished.iterdir())
    assert "<h1>" in page().get(f"/runs/{finished.name}/report").text
    assert sorted(path.name for path in finished.iterdir()) == before


def test_names_of_others_are_shown_as_text(page: Ask, finished: Path) -> None:
    manifest = finished / "manifest.json"
    text = manifest.read_text().replace('"script": null', '"script": {"path": "<script>alert(1)</script>"}')
    manifest.write_text(text)
    for path in ("/", f"/runs/{finished.name}", f"/runs/{finished.name}/delete"):
        answer = page().get(path).text
        assert "<script>alert" not in answer and "&lt;script&gt;alert(1)" in answer


def test_runs_of_studies_have_names_and_links_between_have_none(finished: Path, tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    many = tmp_path / "20260101-000000-studies-0000"
    study = many / "20260101-000001-study-0000"
    study.mkdir(parents=True)
    (study / finished.name).mkdir()
    (study / finished.name / "manifest.json").write_bytes((finished / "manifest.json").read_bytes())
    name = f"{many.name}:{study.name}:{finished.name}"
    assert folder.name_of(study / finished.name) == name and folder.find(name) == study / finished.name
    assert folder.name_of(tmp_path) is None and folder.name_of(Path("/etc")) is None
    (tmp_path / "link").symlink_to(many)
    assert folder.find(name.replace(many.name, "link")) is None
    assert folder.find(f"{name}:x") is None and folder.find(f"..:{tmp_path.name}:runs") is None
