"""The same over HTTP/2: frames that no server should send, on a TLS connection that agreed on `h2`.

Each kind is a server of its own, as the path of a request is compressed. The frames are those of RFC 9113, written by
hand; headers are those of RFC 7541's static table.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from certificates import self_signed

DATA, HEADERS, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 5, 6, 7, 8, 9
END_STREAM, END_HEADERS = 1, 4
STATUS_200 = b"\x88"
STREAM = 1  # the client's first
LASTS_S = 20.0
PREFACE_BYTES = 24
Connection = ssl.SSLSocket


@dataclass(frozen=True)
class Kind2:
    """What is written after a request came, and whether that is a failure for the client; None: either will do."""

    write: Callable[[Connection], None]
    fails: bool | None = True


def frame(kind: int, flags: int = 0, stream: int = 0, payload: bytes = b"", length: int | None = None) -> bytes:
    """A frame; `length` if it is to lie about that of its payload."""
    size = len(payload) if length is None else length
    return size.to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def sends(*frames: bytes) -> Callable[[Connection], None]:
    """Writes these behind its settings."""
    return lambda connection: connection.sendall(frame(SETTINGS) + b"".join(frames))


def endless(beginning: bytes, part: bytes) -> Callable[[Connection], None]:
    """Goes on for LASTS_S or until the client is gone."""

    def write(connection: Connection) -> None:
        connection.sendall(frame(SETTINGS) + beginning)
        until = time.monotonic() + LASTS_S
        while time.monotonic() < until:
            connection.sendall(part)

    return write


def literal(name: bytes, value: bytes, kept: bool = False) -> bytes:
    """A header that is spelled out, kept in the dynamic table if `kept`; names and values under 127 bytes."""
    return (b"\x40" if kept else b"\x00") + bytes([len(name)]) + name + bytes([len(value)]) + value


HEAD = frame(HEADERS, END_HEADERS, STREAM, STATUS_200)
BODY = frame(DATA, END_STREAM, STREAM, b"hello")
GROW = (2**31 - 1).to_bytes(4, "big")
BOMB = STATUS_200 + literal(b"x", b"y" * 120, True) + b"\xbe" * 16_000  # 16,000 times the newest entry, index 62

KINDS2: dict[str, Kind2] = {
    "good": Kind2(sends(HEAD, BODY), fails=False),
    "goaway": Kind2(sends(frame(GOAWAY, payload=bytes(8)))),
    "reset": Kind2(sends(frame(RST_STREAM, stream=STREAM, payload=(2).to_bytes(4, "big")))),
    "reset-in-body": Kind2(sends(HEAD, frame(RST_STREAM, stream=STREAM, payload=(2).to_bytes(4, "big")))),
    "no-status": Kind2(sends(frame(HEADERS, END_HEADERS, STREAM, literal(b"x", b"y")), BODY)),
    "bad-compression": Kind2(sends(frame(HEADERS, END_HEADERS, STREAM, b"\x80"), BODY)),
    "length-that-is-wrong": Kind2(
        sends(frame(HEADERS, END_HEADERS, STREAM, STATUS_200 + literal(b"content-length", b"9")), BODY)
    ),
    "frame-too-large": Kind2(sends(HEAD, frame(DATA, 0, STREAM, bytes(1 << 20), length=1 << 20))),
    "data-before-headers": Kind2(sends(BODY)),
    "data-of-no-stream": Kind2(sends(frame(DATA, 0, 99, b"x"), HEAD, BODY)),
    "push-that-is-forbidden": Kind2(sends(frame(PUSH_PROMISE, END_HEADERS, STREAM, bytes([0, 0, 0, 2]) + b"\x82"))),
    "window-overflow": Kind2(sends(frame(WINDOW_UPDATE, payload=GROW), frame(WINDOW_UPDATE, payload=GROW))),
    "not-http2": Kind2(lambda connection: connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")),
    "continuation-endless": Kind2(
        endless(frame(HEADERS, 0, STREAM, STATUS_200), frame(CONTINUATION, 0, STREAM, literal(b"x", b"y" * 100) * 100))
    ),
    "settings-endless": Kind2(endless(b"", frame(SETTINGS) * 100)),
    "ping-endless": Kind2(endless(b"", frame(PING, payload=bytes(8)) * 100)),
    "data-empty-endless": Kind2(endless(HEAD, frame(DATA, 0, STREAM) * 100)),
    "header-bomb": Kind2(
        sends(frame(HEADERS, END_HEADERS, STREAM, BOMB), BODY),
        fails=None,
    ),
}  # fmt: skip


@contextmanager
def serve2(kind: Kind2, folder: Path) -> Iterator[str]:
    """A server of that kind on a free loopback port; its address."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*self_signed(folder, "hostile"))
    context.set_alpn_protocols(["h2"])
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        threading.Thread(target=_accept, args=(listener, context, kind), daemon=True).start()
        yield f"https://127.0.0.1:{listener.getsockname()[1]}"


def _accept(listener: socket.socket, context: ssl.SSLContext, kind: Kind2) -> None:
    with contextlib.suppress(OSError):  # closed
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=_answer, args=(connection, context, kind), daemon=True).start()


def _answer(plain: socket.socket, context: ssl.SSLContext, kind: Kind2) -> None:
    with contextlib.suppress(OSError), plain:
        plain.settimeout(LASTS_S)
        with context.wrap_socket(plain, server_side=True) as connection, connection.makefile("rb") as said:
            said.read(PREFACE_BYTES)
            while _next_frame(said) != HEADERS:
                pass
            kind.write(connection)
            connection.settimeout(1.0)  # what the client still says is read, so that closing is no reset
            while said.read(1):
                pass


def _next_frame(said: BinaryIO) -> int:
    """Reads the client's next frame; its type. OSError at the end."""
    head = said.read(9)
    if len(head) < 9:
        raise ConnectionError("the client is gone")
    said.read(int.from_bytes(head[:3], "big"))
    return head[3]
