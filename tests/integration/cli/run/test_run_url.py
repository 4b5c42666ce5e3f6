"""`plimsoll run --url`: one address without a script."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from command_line import Cli


class _Echo(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        self.server.seen.append((self.command, self.path, self.headers.get("X-One"), self.headers["User-Agent"], body))  # type: ignore[attr-defined]
        self.send_response(503 if self.path == "/sick" else 200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    do_GET = do_POST = do_PUT = _answer

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def echo() -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Echo) as server:
        server.seen = []  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def metrics(cli: Cli, *flags: str) -> dict[str, Any]:
    done = cli("run", "-q", "--summary-export", "s.json", *flags)
    assert done.returncode == 0, done.stderr
    return json.loads((cli.folder / "s.json").read_text())["metrics"]


def test_requests_are_made_as_the_flags_say(cli: Cli, echo: Any) -> None:
    url = f"http://127.0.0.1:{echo.server_port}/a?b=1"
    found = metrics(
        cli, "--url", url, "-u", "2", "-i", "6", "--header", "X-One: 1", "--body", "text", "--method", "put"
    )
    assert found["http_reqs"]["count"] == found["iterations"]["count"] == 6
    assert found["http_req_failed"]["value"] == 0 and found["http_req_duration"]["avg"] > 0
    agent = echo.seen[0][3]
    assert agent.startswith("plimsoll/") and set(echo.seen) == {("PUT", "/a?b=1", "1", agent, "text")}


def test_a_duration_and_a_rate_are_kept(cli: Cli, echo: Any) -> None:
    url = f"http://127.0.0.1:{echo.server_port}/"
    assert metrics(cli, "--url", url, "--rate", "40", "-d", "1s")["http_reqs"]["count"] == 40
    assert metrics(cli, "--url", url, "-u", "2", "-d", "500ms")["http_reqs"]["count"] > 4


def test_failures_are_counted_and_thresholds_of_a_file_judge_them(cli: Cli, echo: Any) -> None:
    url = f"http://127.0.0.1:{echo.server_port}/sick"
    (cli.folder / "k6.json").write_text(json.dumps({"thresholds": {"http_req_failed": ["rate<0.5"]}}))
    done = cli("run", "-q", "--url", url, "-i", "3", "-c", "k6.json", "--out", "json=out.json")
    assert done.returncode == 99 and "3 requests failed" in done.stderr
    rows = [json.loads(line) for line in (cli.folder / "out.json").read_text().splitlines()]
    tags = next(row["data"]["tags"] for row in rows if row["metric"] == "http_reqs" and row["type"] == "Point")
    assert tags["status"] == "503" and tags["error_code"] == "1503" and tags["expected_response"] == "false"
    assert tags["name"] == tags["url"] == url and tags["scenario"] == "default"


def test_flags_of_an_address_are_refused_beside_a_script(cli: Cli) -> None:
    cli.write(script_js="export default function () {}")
    done = cli("run", "--rate", "50", "--method", "POST", "--header", "A: b", "--body", "x", "script.js")
    assert done.returncode == 255 and "--method, --header, --body, --rate: a script is run" in done.stderr


def test_an_address_that_is_none_is_named(cli: Cli) -> None:
    done = cli("run", "-q", "--url", "nonsense")
    assert done.returncode == 104 and "--url nonsense: it is no URL" in done.stderr and "Traceback" not in done.stderr


def test_a_request_without_an_answer_has_its_error_as_a_tag(cli: Cli) -> None:
    done = cli("run", "-q", "--url", "http://127.0.0.1:9/", "-i", "1", "--out", "json=out.json")
    assert done.returncode == 3 and "connection refused" in done.stderr
    rows = [json.loads(line) for line in (cli.folder / "out.json").read_text().splitlines()]
    tags = next(row["data"]["tags"] for row in rows if row["metric"] == "http_reqs" and row["type"] == "Point")
    assert "refused" in tags["error"] and (tags["error_code"], tags["status"]) == ("1212", "0") and "proto" not in tags
