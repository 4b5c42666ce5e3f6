"""A server of WebSockets that is not ours (the package `websockets`), and one of bare sockets that does what no sound
server does.

python websocket_server.py PORT        serves the first until it is ended
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import ssl
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode
from websockets.http11 import Request, Response
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol


@dataclass
class Served:
    """What the server saw: `ends` has path and code of each socket that was closed."""

    url: str = ""
    ends: list[tuple[str, int]] = field(default_factory=list)
    received: list[str | bytes] = field(default_factory=list)
    flooded: int = 0

    def ended(self, count: int) -> list[tuple[str, int]]:
        """`ends`, once there are so many: the server may still be at it when the run has ended."""
        deadline = time.monotonic() + 20
        while len(self.ends) < count and time.monotonic() < deadline:
            time.sleep(0.01)
        return sorted(self.ends)


def _protocol(_: ServerProtocol, offered: Sequence[Subprotocol]) -> Subprotocol | None:
    return next((name for name in offered if name in ("chat", "news")), None)


def _refuse(connection: ServerConnection, request: Request) -> Response | None:
    if request.path.startswith("/refuse"):
        return connection.respond(HTTPStatus.FORBIDDEN, "not here\n")
    return None


def _mark(_: ServerConnection, request: Request, response: Response) -> Response:
    if request.path.startswith("/cookie"):
        response.headers["Set-Cookie"] = "fresh=1"
    return response


async def _act(ws: ServerConnection, path: str, served: Served) -> None:
    what, _, rest = path.strip("/").partition("/")
    if what == "headers":
        assert ws.request is not None
        await ws.send(json.dumps({name.lower(): value for name, value in ws.request.headers.raw_items()}))
    elif what == "push":
        for number in range(int(rest)):
            await ws.send(f"{number}")
        await ws.close()
    elif what == "parts":
        await ws.send(["one ", "two ", "ünd drei"])
    elif what == "close":
        await ws.close(int(rest), "because")
    elif what == "raw":
        ws.transport.write(bytes.fromhex(rest))
        await asyncio.sleep(0.3)
        ws.transport.abort()
    elif what == "flood":
        while True:
            await ws.send("x" * int(rest or 10_000))
            served.flooded += 1
    elif what == "ping":
        await (await ws.ping(b"ours"))
        await ws.send("answered")


async def _serve(served: Served, port: int, context: ssl.SSLContext | None, ready: Callable[[int], None]) -> None:
    async def handle(ws: ServerConnection) -> None:
        assert ws.request is not None
        path = ws.request.path
        with contextlib.suppress(ConnectionClosed):
            await _act(ws, path, served)
            async for message in ws:
                served.received.append(message[:100])
                if message == "die":
                    half = Frame(Opcode.TEXT, b"half of it").serialize(mask=False)
                    ws.transport.write(half[:6])
                    await asyncio.sleep(0.05)
                    ws.transport.abort()
                elif path != "/sink":
                    await ws.send(message)
        await ws.wait_closed()
        served.ends.append((path, ws.close_code or 0))

    options = {
        "select_subprotocol": _protocol,
        "process_request": _refuse,
        "process_response": _mark,
        "max_size": None,
        "ssl": context,
    }
    async with serve(handle, "127.0.0.1", port, **options) as server:  # type: ignore[arg-type]
        ready(next(iter(server.sockets)).getsockname()[1])
        await asyncio.Event().wait()


@contextlib.contextmanager
def _in_thread(work: Callable[[Callable[[int], None]], Awaitable[None]]) -> Iterator[int]:
    """Runs the work in a loop of its own until the block ends; its port."""
    loop, ported = asyncio.new_event_loop(), threading.Event()
    port = [0]

    def ready(number: int) -> None:
        port[0] = number
        ported.set()

    async def run() -> None:
        await work(ready)

    task = loop.create_task(run())

    def turn() -> None:
        asyncio.set_event_loop(loop)
        with contextlib.suppress(asyncio.CancelledError):
            loop.run_until_complete(task)
        left = asyncio.all_tasks(loop)
        for one in left:
            one.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        loop.close()

    thread = threading.Thread(target=turn)
    thread.start()
    try:
        assert ported.wait(20)
        yield port[0]
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join()


@contextlib.contextmanager
def websocket_server(certificate: tuple[Path, Path] | None = None) -> Iterator[Served]:
    """The server, over TLS where it has a certificate."""
    logging.getLogger("websockets").setLevel(logging.CRITICAL)
    served, context = Served(), None
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
    with _in_thread(lambda ready: _serve(served, 0, context, ready)) as port:
        served.url = f"ws{'s' if context else ''}://127.0.0.1:{port}"
        yield served


@contextlib.contextmanager
def bare_server(answers: bool = True) -> Iterator[str]:
    """The URL of a server that opens sockets and then neither reads nor writes; without `answers` it says nothing."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            protocol = ServerProtocol()
            protocol.receive_data(head)
            request = protocol.events_received()[0]
            assert isinstance(request, Request)
            if answers:
                writer.write(protocol.accept(request).serialize())
            writer.transport.pause_reading()  # type: ignore[attr-defined]
            try:
                await asyncio.sleep(120)
            finally:
                writer.transport.abort()

    async def work(ready: Callable[[int], None]) -> None:
        async with await asyncio.start_server(handle, "127.0.0.1", 0) as server:
            ready(server.sockets[0].getsockname()[1])
            await server.serve_forever()

    with _in_thread(work) as port:
        yield f"ws://127.0.0.1:{port}"


if __name__ == "__main__":
    asyncio.run(_serve(Served(), int(sys.argv[1]), None, lambda port: print(port, flush=True)))
