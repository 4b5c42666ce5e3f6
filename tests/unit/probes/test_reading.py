"""Numbers of a target from every kind of place, and the consumer's probe."""

from __future__ import annotations

import http.server
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.errors import InputError
from plimsoll.probes.consumer import ConsumerProbe
from plimsoll.probes.probe import ProbeUnavailable
from plimsoll.probes.reading import reading


@pytest.fixture
def url() -> Iterator[str]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"queue": [{"length": 17}], "name": "x"}')

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_number_in_json_by_url_and_by_path(url: str) -> None:
    assert reading(f"{url}/status#queue.0.length")() == 17
    assert reading("/status#queue.0.length", url=url)() == 17
    with pytest.raises(ProbeUnavailable, match="length2 is missing"):
        reading(f"{url}/status#queue.0.length2")()
    with pytest.raises(ProbeUnavailable, match="is no number"):
        reading(f"{url}/status#name")()


def test_a_query_a_log_a_size_and_a_command(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "q.db") as database:
        database.execute("CREATE TABLE jobs (done INTEGER)")
        database.executemany("INSERT INTO jobs VALUES (?)", [(0,), (0,), (1,)])
    database.close()
    count = reading(f"sql:sqlite:///{tmp_path}/q.db SELECT count(*) FROM jobs WHERE done = 0")
    assert count() == 2
    log = tmp_path / "x.log"
    log.write_text("done 1\nstarted 2\ndone 3\nhalf a li")
    lines = reading("log:x.log ^done", directory=tmp_path)
    assert lines() == 2
    with log.open("a") as file:
        file.write("ne\ndone 4\n")
    assert lines() == 3
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "part").write_bytes(bytes(1234))
    assert reading("size:index", directory=tmp_path)() == 1234
    assert reading("echo hello; echo 41.5")() == 41.5


@pytest.mark.parametrize(
    ("text", "words"), [("", "nothing says"), ("sql:sqlite:///x", "no query"), ("log:x (", "no regular expression")]
)
def test_what_cannot_be_understood_is_said_at_once(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        reading(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("exit 3", "ended with 3"),
        ("echo many", "is no number"),
        ("size:/nowhere", "there is no"),
        ("log:/nowhere x", "read"),
    ],
)
def test_a_reading_that_fails_is_unavailable(text: str, words: str) -> None:
    with pytest.raises(ProbeUnavailable, match=words):
        reading(text)()


def test_the_probe_gives_what_it_can_read_and_notes_the_rest_once() -> None:
    probe = ConsumerProbe({"waiting": lambda: 5.0, "put_in": reading("echo many")})
    assert probe.sample() == {"waiting": 5.0} and probe.sample() == {"waiting": 5.0}
    [note] = probe.take_notes()
    assert "put_in cannot be read" in note and probe.take_notes() == []
    with pytest.raises(ProbeUnavailable, match="put_in"):
        ConsumerProbe({"put_in": reading("echo many")}).sample()
