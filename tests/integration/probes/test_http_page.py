"""Pages read over loopback: everything a server may do, in bounded time, without a secret in any message."""

from __future__ import annotations

import gzip
import socket
import time
from collections.abc import Callable, Iterator

import pytest
from changing_server import ChangingServer, garbage, half, page, silence, too_much, trickle

from plimsoll.errors import InputError
from plimsoll.probes import ProbeUnavailable
from plimsoll.probes.http.page import HttpPage, with_variables


@pytest.fixture
def reading() -> Iterator[Callable[..., HttpPage]]:
    """Makes pages that are closed with the test."""
    made: list[HttpPage] = []

    def make(url: str, **options: object) -> HttpPage:
        made.append(HttpPage(url, **options))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_a_page_comes_with_its_headers_and_times_over_one_connection(server: ChangingServer, reading) -> None:
    server.answer = page("up 1\n")
    one = reading(f"{server.url}/metrics?format=text")
    before = time.time()
    for _ in range(3):
        fetched = one.fetch()
    assert fetched.text() == "up 1\n"
    assert before <= fetched.sent_unix <= fetched.received_unix <= time.time()
    assert "date" in fetched.headers
    assert [request.split(b"\r\n")[0] for request in server.requests] == [b"GET /metrics?format=text HTTP/1.1"] * 3


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (page("", status=500), "answered with status 500. See that server's log"),
        (page("", status=401), "answered with status 401. Give its credentials"),
        (page("", status=404), "answered with status 404. Correct the path"),
        (page("", status=302, headers="Location: http://u:pw@other/x?token=abc\r\n"), "Give the address it sends to"),
        (garbage, "this is no HTTP"),
        (half, "cannot be read|before its announced length"),
        (silence, "no whole answer within 0.3 s"),
        (trickle, "no whole answer within 0.3 s"),
        (too_much, "is larger than 1 MiB"),
    ],
)
def test_whatever_a_server_does_is_unavailable_with_a_reason(
    server: ChangingServer, reading, answer, words: str
) -> None:
    server.answer = answer
    one = reading(f"http://user:hunter2@127.0.0.1:{server.port}/m?token=s3cret", limit_s=0.3, most_bytes=1 << 20)
    if answer is too_much:
        one = reading(f"{server.url}/m", limit_s=10, most_bytes=1 << 20)
    with pytest.raises(ProbeUnavailable, match=words) as raised:
        one.fetch()
    assert not any(secret in str(raised.value) for secret in ("hunter2", "s3cret", "user:", "abc", "pw"))
    server.answer = page("up 1\n")
    assert one.fetch().text() == "up 1\n"


def test_a_server_that_goes_and_comes_back_is_read_again(server: ChangingServer, reading) -> None:
    server.answer = page("up 1\n")
    one = reading(server.url)
    one.fetch()
    server.go()
    with pytest.raises(ProbeUnavailable, match="Check that it runs"):
        one.fetch()
    server.come()
    assert one.fetch().text() == "up 1\n"


def test_a_kept_connection_that_the_server_closed_is_made_anew_without_a_word(server: ChangingServer, reading) -> None:
    def once(connection: socket.socket, request: bytes) -> None:
        page("up 1\n")(connection, request)
        connection.shutdown(socket.SHUT_RDWR)

    server.answer = once
    one = reading(server.url)
    assert [one.fetch().text() for _ in range(3)] == ["up 1\n"] * 3


def test_user_and_password_of_the_url_are_sent_as_a_header(server: ChangingServer, reading) -> None:
    server.answer = page("up 1\n")
    reading(f"http://me:p%40ss@127.0.0.1:{server.port}/").fetch()
    assert b"Authorization: Basic bWU6cEBzcw==" in server.requests[0]


def test_a_packed_page_is_unpacked_within_bounds(server: ChangingServer, reading) -> None:
    def packed(size: int):
        body = gzip.compress(b"a" * size)
        head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        return lambda connection, request: connection.sendall(head + body)

    server.answer = packed(5000)
    assert reading(server.url, most_bytes=1 << 20).fetch().body == b"a" * 5000
    server.answer = packed(64 << 20)
    with pytest.raises(ProbeUnavailable, match="larger than 1 MiB"):
        reading(server.url, most_bytes=1 << 20).fetch()


def test_nobody_at_the_port_and_no_such_host_are_told_apart_from_silence(reading) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        with pytest.raises(ProbeUnavailable, match="refused"):
            reading(f"http://127.0.0.1:{free.getsockname()[1]}/").fetch()
    with pytest.raises(ProbeUnavailable, match="no-such-host"):
        reading("http://no-such-host.invalid/").fetch()


def test_headers_take_variables_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGE_TOKEN", "abc")
    assert with_variables({"Authorization": "Bearer ${PAGE_TOKEN}"}, "k") == {"Authorization": "Bearer abc"}
    with pytest.raises(InputError, match=r"k: the environment has no PAGE_TOKEN_2\. Set it"):
        with_variables({"X": "${PAGE_TOKEN_2}"}, "k")
