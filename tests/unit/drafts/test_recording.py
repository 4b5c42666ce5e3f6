"""A browser's recording: which requests stay, what they take from earlier answers, what is never written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import plimsoll
from plimsoll.drafts.draft import Draft
from plimsoll.engine import EngineConfig, inspect
from plimsoll.errors import InputError
from plimsoll.study import load_study

ORIGIN = "https://app.example.org"
JSON = "application/json"


def _entry(request: str, answer: Any = "", body: Any = None, **changes: Any) -> dict[str, Any]:
    method, _, path = request.partition(" ")
    text = answer if isinstance(answer, str) else json.dumps(answer)
    entry: dict[str, Any] = {
        "startedDateTime": "2026-11-28T10:00:00.000Z",
        "time": 12.5,
        "request": {"method": method, "url": path if "://" in path else f"{ORIGIN}{path}", "headers": []},
        "response": {
            "status": changes.get("status", 200),
            "content": {"mimeType": changes.get("answers", JSON), "text": text},
        },
    }
    if body is not None:
        kind = changes.get("sends", JSON)
        entry["request"]["postData"] = {"mimeType": kind, "text": body if isinstance(body, str) else json.dumps(body)}
    if "bearer" in changes:
        entry["request"]["headers"].append({"name": "Authorization", "value": f"Bearer {changes['bearer']}"})
    return entry


def _draft(folder: Path, *entries: dict[str, Any]) -> tuple[Draft, str]:
    """The draft and its script, which the engine loads, as it does the study."""
    for second, entry in enumerate(entries):
        entry["startedDateTime"] = f"2026-11-28T10:{second // 60:02}:{second % 60:02}.000+01:00"
    (folder / "use.har").write_text(json.dumps({"log": {"version": "1.2", "entries": list(entries)}}))
    draft = plimsoll.new("http://127.0.0.1:1", har=folder / "use.har", output=folder / "load", force=True)
    load_study(folder / "load" / "study.yaml")
    assert "session" in inspect(EngineConfig(folder / "load" / "script.js"))["exports"]
    return draft, (folder / "load" / "script.js").read_text()


def test_an_id_of_an_answer_is_taken_again_wherever_it_is_sent(tmp_path: Path) -> None:
    draft, script = _draft(
        tmp_path,
        _entry("POST /drafts", {"draft": {"id": 17}}, {"title": "it's `${x}`"}),
        _entry("GET /drafts/17?parent=17", {}),
        _entry("POST /issues", {}, {"draft": 17, "text": "17", "tags": [], "no": 3, "is": True, "none": None}),
    )
    assert "const id1 = valueIn(answer1, 'draft.id');" in script
    assert (
        "send('GET', `/drafts/${encodeURIComponent(id1)}?parent=${encodeURIComponent(id1)}`, 'GET /drafts/{id}');"
        in script
    )
    assert "{ 'draft': id1, 'text': String(id1), 'tags': [], 'no': 3, 'is': true, 'none': null }" in script
    assert draft.taken[0] == "draft.id of the answer to POST /drafts is in GET /drafts/{id}"
    assert [one.request for one in draft.steps] == ["POST /drafts", "GET /drafts/{id}", "POST /issues"]


def test_what_a_user_knew_before_or_is_there_by_chance_stays(tmp_path: Path) -> None:
    draft, script = _draft(
        tmp_path,
        _entry("GET /projects/4711", {"id": 4711, "count": 25, "state": "open", "owner": {"id": 9}}),
        _entry("GET /projects/4711/issues?size=25&state=open&page=2", {}),
        _entry("GET /users/9", {}),
    )
    assert "'/projects/4711/issues?size=25&state=open&page=2'" in script
    assert [one.rpartition(" is in ")[2] for one in draft.taken] == ["GET /users/{id}"]


def test_a_token_of_a_login_is_sent_with_later_requests(tmp_path: Path) -> None:
    token = "t0kenT0kenT0kenT0ken"
    draft, script = _draft(
        tmp_path,
        _entry("POST /login", {"token": token}, {"user": "me", "password": "p4ss-w0rd"}),
        _entry("GET /me", {}, bearer=token),
    )
    assert "send('GET', '/me', 'GET /me', null, {}, token1);" in script
    assert "'password': SECRET_PASSWORD" in script and "const SECRET_PASSWORD = __ENV.SECRET_PASSWORD || '';" in script
    written = "".join(path.read_text() for path in (tmp_path / "load").iterdir()) + str(draft) + repr(draft.to_json())
    assert str(draft).endswith("study.yaml -e SECRET_PASSWORD=…")
    assert token not in written and "p4ss-w0rd" not in written
    assert "SECRET_PASSWORD is password of POST /login." in " ".join(str(draft).split())


def test_a_hidden_field_of_a_page_is_taken_for_its_form(tmp_path: Path) -> None:
    page = '<form><input type="hidden" name="csrf_token" value="a&amp;b1c2"><input name="q"></form>'
    _, script = _draft(
        tmp_path,
        _entry("GET /form", page, answers="text/html; charset=utf-8"),
        _entry("POST /form", "", "csrf_token=a%26b1c2&tag=x&tag=y", sends="application/x-www-form-urlencoded"),
    )
    assert "fieldIn(answer1, 'csrf_token')" in script
    assert "{ 'csrf_token': csrfToken1, 'tag': ['x', 'y'] }" in script


def test_two_values_of_one_name_have_two_variables(tmp_path: Path) -> None:
    _, script = _draft(
        tmp_path,
        _entry("GET /pairs", [{"id": "a1b2c3d4e5f6"}, {"id": "b1b2c3d4e5f6"}, {"id": "c1b2c3d4e5f6"}]),
        *(_entry(f"GET /one/{sign}1b2c3d4e5f6", {}) for sign in "cab"),
    )
    assert len({line.split()[1] for line in script.splitlines() if "valueIn(answer1" in line}) == 3


def test_variables_of_different_answers_are_never_the_same(tmp_path: Path) -> None:
    entries = [_entry("GET /first", {"id1": "a1b2c3d4e5f6", "answer": "c1b2c3d4e5f6"})]
    entries += [_entry("GET /use/a1b2c3d4e5f6/c1b2c3d4e5f6", {})]
    entries += [_entry(f"GET /between{at}", {}) for at in range(8)]
    entries += [_entry("GET /eleventh", {"id": "b1b2c3d4e5f6"}), _entry("GET /use/b1b2c3d4e5f6", {})]
    _, script = _draft(tmp_path, *entries)
    assert script.count(" = valueIn(answer") == 3


def test_what_no_load_makes_again_is_named(tmp_path: Path) -> None:
    draft, script = _draft(
        tmp_path,
        _entry("GET /"),
        _entry("GET /app.js", answers="text/javascript"),
        _entry("GET /logo", answers="image/png"),
        _entry("GET https://tracker.example/x"),
        _entry("OPTIONS /api"),
        _entry("GET /gone", status=404),
        _entry("GET wss://app.example.org/ws"),
        _entry("POST /upload", "", "x", sends="multipart/form-data; boundary=x"),
        _entry("POST /soap", "", "<password>s3cr3t</password>", sends="text/xml"),
        _entry("GET /reset/6f1c2b3a4d5e6f7081"),
    )
    assert {(one.kind, one.requests) for one in draft.left_out} == {
        ("static", 2),
        ("host", 1),
        ("preflight", 1),
        ("failed", 1),
        ("other", 1),
        ("upload", 1),
        ("private", 2),
    }
    assert len(draft.steps) == 1 and "s3cr3t" not in script


def test_the_rate_is_one_recording_after_the_other(tmp_path: Path) -> None:
    draft, _ = _draft(tmp_path, *(_entry(f"GET /p{at}") for at in range(100)))
    assert draft.operations[0].per_user_hour == pytest.approx(3600 / 99, rel=0.01)
    assert draft.expected_users is None


def test_a_body_that_is_none_of_ours_is_sent_as_it_was(tmp_path: Path) -> None:
    _, script = _draft(tmp_path, _entry("POST /x", "", "a'b\n{", sends="text/plain"))
    assert "'a\\'b\\n{', { 'Content-Type': 'text/plain' }" in script


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("[]", "no log.entries"),
        ('{"log": 1}', "no log.entries"),
        ('{"log": {"entries": []}}', "no request of http"),
        ('{"log": {"entries": [1, {"request": 2}, {"request": {"url": "data:x"}}]}}', "no request of http"),
        (json.dumps({"log": {"entries": [_entry("GET /x", status=500)]}}), "could make again"),
        (json.dumps({"log": {"entries": [_entry("GET /x") | {"startedDateTime": "?"}]}}), "could make again"),
        (json.dumps({"log": {"entries": [_entry("GET /x")] * 501}}), "501 requests, more than 500"),
    ],
)
def test_what_is_no_recording_is_said(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "use.har").write_text(text)
    with pytest.raises(InputError, match=words):
        plimsoll.new(har=tmp_path / "use.har", output=tmp_path / "load")
    assert not (tmp_path / "load").exists()


def test_strange_parts_of_a_recording_are_no_harm(tmp_path: Path) -> None:
    deep: Any = 1
    for _ in range(300):
        deep = {"a": [deep]}
    odd = _entry("POST /x", deep, deep)
    odd["response"]["content"]["encoding"] = "base64"
    bare = _entry("GET /y", deep)
    bare["request"]["headers"] = None
    bare["request"]["postData"] = 7
    bare["time"] = None
    draft, _ = _draft(tmp_path, odd, bare, _entry("GET /z", {"__proto__": "a1b2c3d4e5", "a.b": 1}))
    assert len(draft.steps) == 2 and [one.kind for one in draft.left_out] == ["broken"]
