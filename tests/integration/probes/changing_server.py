"""A loopback server whose answer can be changed while it runs: a page, a status, silence, garbage, or too much."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from email.utils import formatdate

Answer = Callable[[socket.socket, bytes], None]


class ChangingServer:
    """Answers each request with what `answer` does; `requests` are the heads that came. Its port stays when it goes and
    comes back."""

    def __init__(self) -> None:
        self.answer: Answer = page("")
        self.requests: list[bytes] = []
        self._connections: list[socket.socket] = []
        self._listening: socket.socket | None = None
        self.port = 0
        self.come()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def come(self) -> None:
        """Listen, at the port it had."""
        listening = socket.socket()
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", self.port))
        listening.listen()
        self._listening, self.port = listening, listening.getsockname()[1]
        threading.Thread(target=self._accept, args=(listening,), daemon=True).start()

    def go(self) -> None:
        """Close everything."""
        listening, self._listening = self._listening, None
        for one in (listening, *self._connections):
            if one is not None:
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
                one.close()
        self._connections = []

    def _accept(self, listening: socket.socket) -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            self._connections.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            while True:
                try:
                    request = _whole_request(connection)
                    if not request:
                        return
                    self.requests.append(request)
                    self.answer(connection, request)
                except OSError:
                    return


def _whole_request(connection: socket.socket) -> bytes:
    request = b""
    while b"\r\n\r\n" not in request:
        piece = connection.recv(65536)
        if not piece:
            return b""
        request += piece
    head, _, body = request.partition(b"\r\n\r\n")
    length = next(
        (int(one.split(b":")[1]) for one in head.split(b"\r\n") if one.lower().startswith(b"content-length")), 0
    )
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def page(text: str, status: int = 200, clock_ahead_s: float = 0.0, headers: str = "") -> Answer:
    """A whole page, with the date of a clock that is ahead."""

    def answer(connection: socket.socket, request: bytes) -> None:
        body = text.encode()
        date = formatdate(time.time() + clock_ahead_s, usegmt=True)
        head = f"HTTP/1.1 {status} X\r\nDate: {date}\r\nContent-Length: {len(body)}\r\n{headers}\r\n"
        connection.sendall(head.encode() + body)

    return answer


def says(make: Callable[[bytes], str], clock_ahead_s: float = 0.0) -> Answer:
    """A page made anew for each request."""
    return lambda connection, request: page(make(request), clock_ahead_s=clock_ahead_s)(connection, request)


def silence(connection: socket.socket, request: bytes) -> None:
    """Nothing, for ever."""
    while connection.recv(65536):
        pass


def garbage(connection: socket.socket, request: bytes) -> None:
    """Bytes that are no HTTP."""
    connection.sendall(bytes(range(256)) * 8)
    connection.shutdown(socket.SHUT_RDWR)


def too_much(connection: socket.socket, request: bytes) -> None:
    """A page without an end."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
    piece = b"a_metric 1\n" * 10_000
    while True:
        connection.sendall(piece)


def trickle(connection: socket.socket, request: bytes) -> None:
    """A page that comes a byte at a time."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    while True:
        connection.sendall(b"#")
        time.sleep(0.05)


def half(connection: socket.socket, request: bytes) -> None:
    """A page that is cut off."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nup 1\n")
    connection.shutdown(socket.SHUT_RDWR)
