"""How a target serves: one process on one address, perhaps one core, until SIGTERM, SIGINT or SIGHUP.

The socket is bound before anything slow happens, so that a port in use is told at once; connections that arrive
while the data is seeded are refused, as the socket listens only when the target is ready. Then one line is printed
to standard output: {"ready": true, "url": "http://127.0.0.1:8710", "pid": 4711, …}. A target's own processes beside it
are in children.py.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import uvicorn

from plimsoll.errors import InputError
from plimsoll_lab.remote_token import behind_token, needs_token

Say = Callable[[str], None]
KeepGoing = Callable[[], Coroutine[Any, Any, None]]
AtEnd = Callable[[], Awaitable[None]]

LISTEN_BACKLOG = 4096
GRACE_S = 5
# uvicorn's own 5 s would close connections just as a user's next request is on its way.
KEEP_ALIVE_S = 75
_ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@dataclass(frozen=True)
class TargetOptions:
    """What every target takes on its command line; what each means is in its --help."""

    data: Path
    host: str = "127.0.0.1"
    port: int = 0
    seed: int | None = None
    dsn: str | None = None
    cpu: int | None = None
    reset: bool = False


def say(text: str) -> None:
    """A line for whoever started the target, on standard error: standard output carries the ready line alone."""
    print(text, file=sys.stderr, flush=True)


def url_of(host: str, port: int) -> str:
    """http://host:port, an IPv6 address in brackets."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def pin_to_core(cpu: int | None) -> None:
    """Run this process on one core only; None changes nothing. Raises InputError where that cannot be."""
    if cpu is None:
        return
    if not hasattr(os, "sched_setaffinity"):
        raise InputError("This system cannot tie a process to a core", "Leave --cpu out.")
    allowed = os.sched_getaffinity(0)
    if cpu not in allowed:
        raise InputError(f"There is no core {cpu} for this process", f"Give --cpu one of {sorted(allowed)}.")
    os.sched_setaffinity(0, {cpu})


def bound_socket(host: str, port: int) -> socket.socket:
    """A socket bound to host and port (0: a free one), not yet listening. Raises InputError, also where others than
    this machine could come without a token."""
    needs_token(host)
    if not host:
        raise InputError("--host is empty", "Give an address of this machine, as in --host 127.0.0.1.")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise InputError(f"There is no address {host}: {error.strerror}", "Give another --host.") from None
    try:
        if port:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        listener.close()
        raise port_refused(host, port, error) from None
    return listener


def port_refused(host: str, port: int, error: OSError) -> InputError:
    """What to raise where that port cannot be listened on."""
    return InputError(
        f"Port {port} of {host} cannot be used: {error.strerror}",
        "Stop what listens there, or give another --port (0 takes a free one).",
    )


def settle_memory() -> None:
    """Before serving: what lives as long as the process need not be looked at in every collection."""
    gc.collect()
    gc.freeze()


def server_config(
    app: Any, *, lifespan: Literal["on", "off"] = "off", log_level: str = "warning", grace_s: int = GRACE_S
) -> uvicorn.Config:
    """uvicorn as targets run it: uvloop, httptools, no access log; `grace_s` for requests that run when it ends. With
    the token of `plimsoll lab --host`, others than this machine need it (remote_token.py)."""
    return uvicorn.Config(
        behind_token(app),
        loop="uvloop",
        http="httptools",
        ws="none",
        lifespan=lifespan,
        access_log=False,
        log_level=log_level,
        server_header=False,
        backlog=LISTEN_BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=grace_s,
    )


class QuietServer(uvicorn.Server):
    """uvicorn that listens late, prints `ready` as a line of JSON when it serves, and ends quietly when told to stop.

    `keep_going()` runs beside the requests from then on and is cancelled before the end; `at_end()` is awaited when
    the last connection is closed.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        ready: Mapping[str, object],
        keep_going: KeepGoing | None = None,
        at_end: AtEnd | None = None,
    ) -> None:
        super().__init__(config)
        self._ready = dict(ready)
        self._keep_going = keep_going
        self._at_end = at_end
        self._going: asyncio.Task[None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        for listener in sockets or []:
            try:
                listener.listen(LISTEN_BACKLOG)
            except OSError as error:  # bound by two processes, and the other one was faster
                host, port = listener.getsockname()[:2]
                raise port_refused(host, port, error) from None
        await super().startup(sockets=sockets)
        if self._keep_going is not None:
            self._going = asyncio.create_task(self._keep_going())
        print(json.dumps(self._ready), flush=True)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._going is not None:
            self._going.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._going
        await super().shutdown(sockets=sockets)
        if self._at_end is not None:
            await self._at_end()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """SIGTERM, SIGINT and SIGHUP stop the server, unless the process ignores them. uvicorn would raise them again
        at the end, and so exit with 143."""
        wanted = [number for number in _ENDING if signal.getsignal(number) is not signal.SIG_IGN]
        before = {number: signal.signal(number, self.handle_exit) for number in wanted}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def serve_app(
    app: Any,
    listener: socket.socket,
    ready: Mapping[str, object],
    *,
    lifespan: Literal["on", "off"] = "off",
    log_level: str = "warning",
    keep_going: KeepGoing | None = None,
    at_end: AtEnd | None = None,
) -> None:
    """Serve the ASGI application on a bound socket until told to stop.

    The ready line is {"ready": true, "pid": …} and `ready`, which begins with "url". Raises InputError if another
    process listens on that port by now.
    """
    settle_memory()
    line = {"ready": True, "url": ready["url"], "pid": os.getpid(), **ready}
    config = server_config(app, lifespan=lifespan, log_level=log_level)
    QuietServer(config, line, keep_going, at_end).run(sockets=[listener])
