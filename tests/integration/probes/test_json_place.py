"""A place in a JSON document: what servers do that is no document, and no password in what is told of it."""

from __future__ import annotations

import base64
import socket

import pytest
from changing_server import Answer, ChangingServer, garbage, half, page, trickle

from plimsoll.errors import InputError
from plimsoll.probes.http.json_place import JsonPlace
from plimsoll.probes.probe import ProbeUnavailable


def raw(text: bytes) -> Answer:
    """Sends that and closes."""

    def answer(connection: socket.socket, _head: bytes) -> None:
        connection.sendall(text)
        connection.close()

    return answer


def test_user_and_password_of_the_url_are_sent_and_never_told(server: ChangingServer) -> None:
    server.answer = page('{"waiting": [3, 4]}')
    place = JsonPlace(f"http://app:p%40ss-w0rd@127.0.0.1:{server.port}/status?key=geheim#waiting.1")
    assert place.value() == 4
    sent = base64.b64encode(b"app:p@ss-w0rd")
    assert b"Basic " + sent in server.requests[0] and b"GET /status?key=geheim " in server.requests[0]
    server.go()
    with pytest.raises(ProbeUnavailable) as caught:
        place.value()
    assert not any(secret in str(caught.value) for secret in ("w0rd", "geheim", "app:"))


def test_user_and_password_do_not_follow_a_redirect(server: ChangingServer) -> None:
    other = ChangingServer()
    other.answer = page('{"waiting": 4}')
    server.answer = page("", 302, headers=f"Location: {other.url}/status\r\n")
    assert JsonPlace(f"http://app:hunter22@127.0.0.1:{server.port}/status#waiting").value() == 4
    other.go()
    assert b"Authorization" in server.requests[0] and b"Authorization" not in other.requests[0]


BROKEN_OFF = b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n'
TOO_DEEP = page('{"a":' * 100_000)


@pytest.mark.parametrize("answer", [raw(BROKEN_OFF), raw(b""), half, garbage, trickle, TOO_DEEP])
def test_what_is_no_whole_document_is_unavailable(server: ChangingServer, answer: Answer) -> None:
    server.answer = answer
    with pytest.raises(ProbeUnavailable, match="gave no JSON"):
        JsonPlace(f"{server.url}/status#a", limit_s=0.5).value()


@pytest.mark.parametrize("url", ["http://[::1:9090/status#a", "http://app:hunter22@h:x/status", "http://h:99999/#a"])
def test_what_is_no_url_is_wrong_input_without_its_password(url: str) -> None:
    with pytest.raises(InputError) as caught:
        JsonPlace(url)
    assert "hunter22" not in str(caught.value)
