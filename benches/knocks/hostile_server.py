"""A server that answers as no server should, and some things that a good one may: the kind is the path.

Each kind writes bytes to the connection; what a client has to make of them is said beside it.
"""

from __future__ import annotations

import contextlib
import gzip
import socket
import struct
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

Connection = socket.socket
MIB = 1 << 20
LASTS_S = 20.0  # of what never ends


@dataclass(frozen=True)
class Kind:
    """What is written, and which share of the requests it fails (True: all); None: any will do."""

    write: Callable[[Connection], None]
    fails: float | None
    discard: bool = False
    upload_mib: int = 0


def head(*lines: str, status: str = "200 OK") -> bytes:
    """The beginning of an answer."""
    return ("\r\n".join([f"HTTP/1.1 {status}", *lines]) + "\r\n\r\n").encode("latin-1")


def whole(body: bytes, *lines: str, status: str = "200 OK") -> bytes:
    """An answer with a right length."""
    return head(f"Content-Length: {len(body)}", *lines, status=status) + body


def sends(data: bytes) -> Callable[[Connection], None]:
    """Writes that and closes."""
    return lambda connection: connection.sendall(data)


def coded(body: bytes, coding: str) -> Callable[[Connection], None]:
    """An answer that says that its body is compressed in that way."""
    return sends(whole(body, f"Content-Encoding: {coding}"))


def chunked(data: bytes, *lines: str) -> Callable[[Connection], None]:
    """An answer in chunks, which are written as they are."""
    return sends(head("Transfer-Encoding: chunked", *lines) + data)


def endless(beginning: bytes, part: bytes, pause_s: float = 0.0) -> Callable[[Connection], None]:
    """Goes on for LASTS_S or until the client is gone."""

    def write(connection: Connection) -> None:
        connection.sendall(beginning)
        until = time.monotonic() + LASTS_S
        while time.monotonic() < until:
            connection.sendall(part)
            time.sleep(pause_s)

    return write


def nothing(connection: Connection) -> None:
    """Keeps the connection and says nothing."""
    connection.settimeout(LASTS_S)
    with contextlib.suppress(OSError):
        connection.recv(1)


def reset(connection: Connection) -> None:
    """RST in place of an end."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def reset_within(connection: Connection) -> None:
    """RST in the middle of a body."""
    connection.sendall(head("Content-Length: 1000") + b"x" * 100)
    time.sleep(0.05)
    reset(connection)


def bomb() -> bytes:
    """1 GiB of zeros in 1 MiB of gzip."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    block = bytes(MIB)
    return b"".join(packer.compress(block) for _ in range(1024)) + packer.flush()


GZIP = gzip.compress(b"a body that is long enough to be cut " * 50)
ENDLESS_CHUNK = head("Transfer-Encoding: chunked") + b"FFFFFFFFFFFF\r\n"
SLOW_HOP = head("Location: /slow-redirect", "Content-Length: 0", status="302 Found")


def slow_redirect(connection: Connection) -> None:
    """Each hop is quicker than the client's limit, all of them are not."""
    time.sleep(1.2)
    connection.sendall(SLOW_HOP)


KINDS: dict[str, Kind] = {
    "good": Kind(sends(whole(b"hello")), fails=False),
    # connections
    "no-answer": Kind(nothing, fails=True),
    "closed": Kind(sends(b""), fails=True),
    "reset": Kind(reset, fails=True),
    "reset-in-body": Kind(reset_within, fails=True),
    "garbage": Kind(sends(b"\x16\x03\x01\x00 what is this\r\n\r\n"), fails=True),
    "status-of-words": Kind(sends(b"HTTP/1.1 two hundred\r\n\r\n"), fails=True),
    # lengths and chunks
    "short-body": Kind(sends(head("Content-Length: 1000") + b"x" * 10), fails=True),
    "two-lengths": Kind(sends(head("Content-Length: 5", "Content-Length: 6") + b"hello!"), fails=True),
    "negative-length": Kind(sends(head("Content-Length: -5") + b"hello"), fails=True),
    "huge-length": Kind(sends(head("Content-Length: 999999999999999999999999") + b"hello"), fails=True),
    "chunk-cut": Kind(chunked(b"a\r\n0123"), fails=True),
    "chunk-no-last": Kind(chunked(b"5\r\nhello\r\n"), fails=True),
    "chunk-size-of-words": Kind(chunked(b"five\r\nhello\r\n0\r\n\r\n"), fails=True),
    "chunk-size-signed": Kind(chunked(b"+5\r\nhello\r\n0\r\n\r\n"), fails=True),
    "chunk-size-huge": Kind(chunked(b"FFFFFFFFFFFFFFFFFF\r\nhello\r\n0\r\n\r\n"), fails=True),
    "chunk-end-wrong": Kind(chunked(b"3\r\nabcXX0\r\n\r\n"), fails=True),
    "chunk-trailers": Kind(chunked(b"5\r\nhello\r\n0\r\nX-After: 1\r\n\r\n"), fails=False),
    # compression
    "gzip-good": Kind(coded(GZIP, "gzip"), fails=False),
    "gzip-cut": Kind(coded(GZIP[:-20], "gzip"), fails=True),
    "gzip-corrupt": Kind(coded(GZIP[:12] + b"\xff\xff\xff\xff" + GZIP[16:], "gzip"), fails=True),
    "gzip-that-is-none": Kind(coded(b"plain text", "gzip"), fails=True),
    "gzip-cut-in-chunks": Kind(
        chunked(b"%x\r\n%s\r\n0\r\n\r\n" % (20, GZIP[:20]), "Content-Encoding: gzip"), fails=True
    ),
    "deflate-cut": Kind(coded(zlib.compress(b"x" * 1000)[:-5], "deflate"), fails=True),
    "brotli-that-is-none": Kind(coded(b"\xff\xff\xff\xff\xff", "br"), fails=True),
    "zstd-that-is-none": Kind(coded(b"\x28\xb5\x2f\xfd\xff\xff\xff", "zstd"), fails=True),
    # headers
    "headers-200": Kind(sends(whole(b"hello", *(f"X-{at}: {at}" for at in range(200)))), fails=False),
    "header-folded": Kind(sends(whole(b"hello", "X-Folded: a\r\n b")), fails=False),
    "header-of-1-mib": Kind(sends(whole(b"hello", "X-Long: " + "x" * MIB)), fails=None),
    "header-endless": Kind(endless(b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n" * 1000), fails=True),
    # time
    "drip": Kind(endless(head("Content-Length: 1000"), b"x", pause_s=0.5), fails=True),
    "drip-of-head": Kind(endless(b"HTTP/1.1 200 OK\r\n", b"X", pause_s=0.5), fails=True),
    "continue-endless": Kind(endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n", pause_s=0.1), fails=True),
    "slow-redirect": Kind(slow_redirect, fails=0.5),  # the first hop is answered, as k6 counts
    "redirect-to-itself": Kind(sends(whole(b"", "Location: /redirect-to-itself", status="302 Found")), fails=False),
    "early-413": Kind(sends(whole(b"too large", status="413 Too Large")), fails=True, upload_mib=20),
    # size
    "bomb": Kind(coded(b"", "gzip"), fails=None),  # `serve` fills it in
    "endless-body": Kind(endless(head(), bytes(64 << 10)), fails=True),
    "endless-body-discarded": Kind(endless(head(), bytes(64 << 10)), fails=True, discard=True),
    "endless-chunk-discarded": Kind(endless(ENDLESS_CHUNK, bytes(64 << 10)), fails=True, discard=True),
}


@contextmanager
def serve() -> Iterator[str]:
    """The server on a free loopback port; its address."""
    kinds = {**KINDS, "bomb": Kind(coded(bomb(), "gzip"), fails=None)}
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        threading.Thread(target=_accept, args=(listener, kinds), daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def _accept(listener: socket.socket, kinds: dict[str, Kind]) -> None:
    with contextlib.suppress(OSError):  # closed
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=_answer, args=(connection, kinds), daemon=True).start()


def _answer(connection: Connection, kinds: dict[str, Kind]) -> None:
    with contextlib.suppress(OSError), connection:
        connection.settimeout(LASTS_S)
        request = b""
        while b"\r\n\r\n" not in request and (part := connection.recv(65_536)):
            request += part
        words = request.split(b" ", 2)
        if len(words) == 3:
            kinds[words[1].decode().strip("/")].write(connection)
            if words[0] != b"GET":
                time.sleep(1.0)  # what is still sent is not answered by a reset at once
