"""Numbers of a target from every kind of place, and the consumer's probe."""

from __future__ import annotations

import http.server
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from asked_consumer import asked

from plimsoll.errors import InputError
from plimsoll.probes.consumer.probe import ConsumerProbe
from plimsoll.probes.consumer.reading import reading
from plimsoll.probes.probe import ProbeUnavailable


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
    log.write_text("done 1\nstarted 2\ndone 3\ndo")
    lines = reading("log:x.log ^done", directory=tmp_path)
    assert lines() == 0
    with log.open("a") as file:
        file.write("ne 4\nhalf a line\ndone 5\n")
    assert lines() == 2
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "part").write_bytes(bytes(1234))
    assert reading("size:index", directory=tmp_path)() == 1234
    assert reading("echo hello; echo 41.5")() == 41.5


def test_a_log_counts_from_its_end_and_one_that_comes_later_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plimsoll.probes.consumer.reading.MOST_BYTES", 100)
    old, late = tmp_path / "old.log", tmp_path / "late.log"
    old.write_text("done\n" * 50)  # longer than what one reading takes
    lines, later = (reading(f"log:{path.name} done", directory=tmp_path) for path in (old, late))
    assert [lines(), lines(), lines()] == [0, 0, 0]
    with old.open("a") as file:
        file.write("done\n")
    assert lines() == 1
    with pytest.raises(ProbeUnavailable, match="cannot be read"):
        later()
    late.write_text("done\ndone\n")
    assert later() == 2
    old.rename(tmp_path / "old.log.1")
    old.write_text("done\n" * 60)  # longer than its predecessor
    assert [lines() for _ in range(4)] == [21, 41, 61, 61]


def test_a_log_without_line_ends_begins_at_its_end(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    log.write_text("done" * 100_000)
    lines = reading("log:x.log done", directory=tmp_path)
    assert lines() == 0
    with log.open("a") as file:
        file.write("\ndone\n")
    assert lines() == 1


def test_a_query_s_error_without_words_is_data_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise RuntimeError

    monkeypatch.setattr("sqlalchemy.create_engine", fails)
    with pytest.raises(ProbeUnavailable, match=r"gave no number \(RuntimeError\)"):
        reading("sql:sqlite:///x.db SELECT 1")()


def test_a_driver_s_error_does_not_tell_the_password(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(address: object, **_: object) -> None:
        raise RuntimeError(f"no host in {address}, hunter2x was tried")

    monkeypatch.setattr("sqlalchemy.create_engine", fails)
    with pytest.raises(ProbeUnavailable, match="no host") as caught:
        reading("sql:postgresql://app:hunter2x@db/x SELECT 1")()
    assert "hunter2x" not in str(caught.value)


@pytest.mark.parametrize(
    ("dsn", "limits"),
    [
        ("sqlite:///x.db", {"timeout": 5}),
        ("sqlite:///x.db?timeout=9", {}),
        ("postgresql://app@db/x", {"connect_timeout": 5}),
        ("postgresql+psycopg2://app@db/x", {"connect_timeout": 5}),
        ("postgresql://app@db/x?connect_timeout=9", {}),
    ],
)
def test_a_query_has_a_limit_for_connecting_unless_its_dsn_has(
    monkeypatch: pytest.MonkeyPatch, dsn: str, limits: dict[str, int]
) -> None:
    given: list[object] = []

    def engine(_: object, **options: object) -> None:
        given.append(options["connect_args"])
        raise RuntimeError

    monkeypatch.setattr("sqlalchemy.create_engine", engine)
    with pytest.raises(ProbeUnavailable):
        reading(f"sql:{dsn} SELECT 1")()
    assert given == [limits]


def test_a_command_that_fails_does_not_tell_the_password_in_it() -> None:
    with pytest.raises(ProbeUnavailable) as caught:
        reading("echo psql postgresql://app:hunter2x@db/x >&2; exit 1")()
    assert "hunter2x" not in str(caught.value)


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
    assert asked(probe) == {"waiting": 5.0} and asked(probe) == {"waiting": 5.0}
    [note] = probe.take_notes()
    assert "put_in cannot be read" in note and probe.take_notes() == []
    with pytest.raises(ProbeUnavailable, match="put_in"):
        asked(ConsumerProbe({"put_in": reading("echo many")}))
