"""A proxy that tests look into: HTTP with whole URLs, CONNECT, SOCKS5, each over TLS too. Every name it is asked for is
this machine."""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer


@dataclass
class Seen:
    """What came to the proxy. `lines`: the first of each request, or "SOCKS5 host:port"."""

    port: int = 0
    lines: list[str] = field(default_factory=list)
    credentials: list[str] = field(default_factory=list)
    connections: int = 0
    refusal: str | None = None  # the answer to every CONNECT, instead of a tunnel


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(1 << 16):
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


@contextlib.contextmanager
def _answered_by(port: int, client: socket.socket) -> Iterator[socket.socket]:
    """A connection to the target, whose bytes go back to the client meanwhile."""
    with socket.create_connection(("127.0.0.1", port)) as there:
        back = threading.Thread(target=_pump, args=(there, client))
        back.start()
        try:
            yield there
        finally:
            with contextlib.suppress(OSError):
                there.shutdown(socket.SHUT_WR)
            back.join()


class _Handler(StreamRequestHandler):
    seen: Seen

    def handle(self) -> None:
        self.seen.connections += 1
        first = self.rfile.read(1)
        if first == b"\x05":
            self._socks()
        elif first:
            self._http(first)

    def _block(self) -> bytes:
        return self.rfile.read(self.rfile.read(1)[0])

    def _socks(self) -> None:
        if 2 in self._block():
            self.wfile.write(b"\x05\x02")
            assert self.rfile.read(1) == b"\x01"
            self.seen.credentials.append(f"{self._block().decode()}:{self._block().decode()}")
            self.wfile.write(b"\x01\x00")
        else:
            self.wfile.write(b"\x05\x00")
        assert self.rfile.read(4)[3] == 3, "the name is the proxy's to look up"
        host, port = self._block().decode(), int.from_bytes(self.rfile.read(2), "big")
        self.seen.lines.append(f"SOCKS5 {host}:{port}")
        self.wfile.write(b"\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x00")
        self._tunnel(port)

    def _tunnel(self, port: int) -> None:
        with _answered_by(port, self.connection) as there:
            _pump(self.connection, there)

    def _head(self, first: bytes = b"") -> str:
        lines = [first + self.rfile.readline()]
        while lines[-1] not in (b"\r\n", b""):
            lines.append(self.rfile.readline())
        head = b"".join(lines).decode("latin-1")
        if head:
            self.seen.lines.append(head.split("\r\n", 1)[0])
            self.seen.credentials += re.findall(r"(?im)^proxy-authorization: (.*)\r$", head)
        return head

    def _http(self, first: bytes) -> None:
        head = self._head(first)
        method, url, _ = self.seen.lines[-1].split(" ")
        if method == "CONNECT" and self.seen.refusal is not None:
            self.wfile.write(f"HTTP/1.1 {self.seen.refusal}\r\nContent-Length: 2\r\n\r\nno".encode())
        elif method == "CONNECT":
            self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
            self._tunnel(int(url.rsplit(":", 1)[1]))
        else:
            with _answered_by(int(re.findall(r"http://[^/:]+:(\d+)/", url)[0]), self.connection) as there:
                while head:
                    length = re.search(r"(?im)^content-length: (\d+)", head)
                    head = re.sub(r"^(\w+) http://[^/]+", r"\1 ", re.sub(r"(?im)^proxy-.*\r\n", "", head))
                    there.sendall(head.encode("latin-1") + self.rfile.read(int(length[1]) if length else 0))
                    head = self._head()


@contextlib.contextmanager
def forwarding_proxy() -> Iterator[Seen]:
    """Serves on a free port of 127.0.0.1 until the end of the block."""
    seen = Seen()
    handler = type("Handler", (_Handler,), {"seen": seen})
    with ThreadingTCPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        seen.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield seen
        finally:
            server.shutdown()
            thread.join()


@contextlib.contextmanager
def tls_before(port: int, folder: Path) -> Iterator[int]:
    """The port at which the port given is reached over TLS, with client.pem and client.key of the folder."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "client.pem", folder / "client.key")
    context.set_alpn_protocols(["http/1.1"])

    async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await source.read(1 << 16):
                sink.write(data)
                await sink.drain()
        sink.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there_reader, there_writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(pump(reader, there_writer), pump(there_reader, writer))

    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(serve, "127.0.0.1", 0, ssl=context))
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        server.close()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
