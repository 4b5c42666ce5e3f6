"""The script of a recording against a service whose ids, tokens and hidden fields are others each time."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs
from uuid import uuid4

import pytest

ROOT = Path(__file__).parents[3]
K6 = shutil.which("k6") or str(ROOT / "target" / "gauntlet" / "bin" / "k6")


class Tracker:
    """Refuses whatever it did not hand out itself. Its answers are a recording of themselves."""

    def __init__(self) -> None:
        self.tokens: set[str] = set()
        self.drafts: set[str] = set()
        self.fields: dict[str, str] = {}
        self.done: list[str] = []
        self.passwords: list[str] = []
        tracker = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._answer(None)

            def do_POST(self) -> None:
                self._answer(self.rfile.read(int(self.headers["Content-Length"])).decode())

            def _answer(self, body: str | None) -> None:
                cookie = SimpleCookie(self.headers.get("Cookie", "")).get("sid")
                token = self.headers.get("Authorization", "").removeprefix("Bearer ")
                sid = cookie.value if cookie else ""
                status, kind, text, new_sid = tracker.answer(self.command, self.path, body, token, sid)
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(text)))
                if new_sid:
                    self.send_header("Set-Cookie", f"sid={new_sid}")
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(
        self, method: str, path: str, body: str | None, token: str, sid: str
    ) -> tuple[int, str, str, str | None]:
        """(status, type, text, a new cookie)."""
        known = token in self.tokens
        match method, path.split("/"):
            case "POST", ["", "login"]:
                self.passwords.append(json.loads(body or "")["password"])
                self.tokens.add(new := uuid4().hex)
                return 200, "application/json", json.dumps({"user": {"token": new}}), None
            case "POST", ["", "drafts"] if known:
                self.drafts.add(new := str(uuid4().int % 10**9 + 10**4))
                return 201, "application/json", json.dumps([{"id": int(new)}]), None
            case "GET", ["", "drafts", draft] if known and draft in self.drafts:
                return 200, "application/json", "{}", None
            case "POST", ["", "issues"] if known and str(json.loads(body or "")["draft"]) in self.drafts:
                self.done.append("issue")
                return 201, "application/json", "{}", None
            case "GET", ["", "comment"]:
                self.fields[new_sid := uuid4().hex] = field = uuid4().hex
                return 200, "text/html", f'<input type="hidden" name="csrf" value="{field}">', new_sid
            case "POST", ["", "comment"] if parse_qs(body or "").get("csrf") == [self.fields.get(sid)]:
                self.done.append("comment")
                return 302, "text/html", "", None
        return 403, "text/plain", "", None

    def recording(self) -> dict[str, Any]:
        """Somebody who logs in, makes an issue and comments it."""
        entries: list[dict[str, Any]] = []

        def record(
            request: str, body: str | None = None, kind: str = "application/json", token: str = "", sid: str = ""
        ) -> Any:
            method, path = request.split()
            status, answers, text, new_sid = self.answer(method, path, body, token, sid)
            entries.append(
                {
                    "startedDateTime": f"2026-11-28T10:00:{len(entries):02}.000Z",
                    "time": 5,
                    "request": {
                        "method": method,
                        "url": f"https://production.example.org{path}",
                        "headers": [{"name": "authorization", "value": f"Bearer {token}"}] if token else [],
                        **({"postData": {"mimeType": kind, "text": body}} if body is not None else {}),
                    },
                    "response": {"status": status, "content": {"mimeType": answers, "text": text}},
                }
            )
            return text, new_sid

        token = json.loads(record("POST /login", '{"name": "me", "password": "s3cr3t"}')[0])["user"]["token"]
        [draft] = json.loads(record("POST /drafts", '{"title": "x"}', token=token)[0])
        record(f"GET /drafts/{draft['id']}", token=token)
        record("POST /issues", json.dumps({"draft": str(draft["id"])}), token=token)
        page, sid = record("GET /comment")
        field = page.split('value="')[1].split('"')[0]
        record("POST /comment", f"csrf={field}&text=a%20b", "application/x-www-form-urlencoded", sid=sid)
        return {"log": {"entries": entries}}


@pytest.fixture
def tracker() -> Iterator[Tracker]:
    found = Tracker()
    yield found
    found.server.shutdown()
    found.server.server_close()


@pytest.mark.parametrize("program", ["plimsoll", "k6"])
def test_what_was_recorded_is_done_again_with_new_ids(tracker: Tracker, tmp_path: Path, program: str) -> None:
    if program == "k6" and not os.access(K6, os.X_OK):
        pytest.skip("k6 is not here")
    (tmp_path / "use.har").write_text(json.dumps(tracker.recording()))
    assert tracker.done == ["issue", "comment"]
    tracker.tokens.clear()
    tracker.drafts.clear()
    tracker.fields.clear()
    plimsoll = [sys.executable, "-m", "plimsoll"]
    made = _done(tmp_path, *plimsoll, "new", tracker.url, "--har", "use.har")
    assert "user.token of the answer to POST /login is in POST /drafts" in made.stdout
    assert made.stdout.endswith("plimsoll capacity load/study.yaml -e SECRET_PASSWORD=…\n")
    assert "s3cr3t" not in made.stdout
    run = [*plimsoll, "run"] if program == "plimsoll" else [K6, "run"]
    given = ["-e", f"BASE_URL={tracker.url}", "-e", "SECRET_PASSWORD=s3cr3t", "-u", "1", "-i", "2"]
    script = tmp_path / "load" / "script.js"
    script.write_text(f"{script.read_text()}\nexport default session;\n")
    _done(tmp_path, *run, "-q", *given, "--summary-export", "s.json", "load/script.js")
    assert tracker.done == ["issue", "comment"] * 3 and tracker.passwords == ["s3cr3t"] * 3
    metrics = json.loads((tmp_path / "s.json").read_text())["metrics"]
    assert metrics["checks"]["fails"] == 0 and metrics["http_reqs"]["count"] == 12


def test_where_an_answer_lacks_what_comes_next_the_iteration_ends_with_a_failed_check(
    tracker: Tracker, tmp_path: Path
) -> None:
    recording = tracker.recording()
    (tmp_path / "use.har").write_text(json.dumps(recording))
    plimsoll = [sys.executable, "-m", "plimsoll"]
    _done(tmp_path, *plimsoll, "new", tracker.url, "--har", "use.har")
    script = tmp_path / "load" / "script.js"
    script.write_text(f"{script.read_text().replace('/login', '/gone')}\nexport default session;\n")
    _done(tmp_path, *plimsoll, "run", "-q", "-u", "1", "-i", "1", "--summary-export", "s.json", "load/script.js")
    metrics = json.loads((tmp_path / "s.json").read_text())["metrics"]
    assert metrics["http_reqs"]["count"] == 1 and metrics["checks"]["fails"] == 2


def _done(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    return done
