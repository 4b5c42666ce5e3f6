"""A socket, and the loop that serves the live page at it."""

from __future__ import annotations

import asyncio
import ipaddress
import secrets
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING

from plimsoll.errors import InputError

if TYPE_CHECKING:
    from plimsoll.ui.app import LivePage

PORT = 6570
MOST_CONNECTIONS = 500
TRIES = 20  # ports from PORT on, where nobody named one
LEAST_TOKEN = 16
LOWER = 10  # of the scheduler's priorities: on a busy machine the generator comes first
LAST_WORDS_S = 0.5  # for the last state to reach viewers
NEEDED = ("starlette", "uvicorn")  # the extra `ui`


def check_installed() -> None:
    """InputError where the packages that serve a page are missing."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        what = (
            f"the live page needs {' and '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not installed"
        )
        raise InputError(what, "Install them: pip install 'plimsoll-line[ui]'.")


def listening_socket(host: str, port: int | None) -> socket.socket:
    """A socket that listens there; `port` None: PORT, or the next that is free. InputError where it cannot."""
    tries = range(PORT, PORT + TRIES) if port is None else (port,)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for one in tries:
        found = socket.socket(family, socket.SOCK_STREAM)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((host, one))
            found.listen(64)
            return found
        except OSError as error:
            found.close()
            failure = error
    step = "Choose another with --port, or leave --port out." if port is not None else "Name a free one with --port."
    raise InputError(f"cannot listen at {host}:{tries[0]}: {failure.strerror or failure}", step)


def address_of(found: socket.socket, token: str | None = None) -> str:
    """The address of the page, as a browser takes it."""
    host, port = found.getsockname()[:2]
    shown = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(host, host)
    shown = f"[{shown}]" if ":" in shown else shown
    return f"http://{shown}:{port}/" + (f"?token={token}" if token else "")


def new_token() -> str:
    """One that nobody guesses."""
    return secrets.token_urlsafe(24)


def token_for(host: str, given: str | None) -> str | None:
    """The token that a page at that host asks for: the given one, a new one where others reach it, else none."""
    if given is not None:
        return given
    return None if is_loopback(host) else new_token()


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches that address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


async def serve(found: socket.socket, page: LivePage, until: Callable[[], Awaitable[object]]) -> None:
    """Serve until `until` returns or a signal asks to end; then viewers get the last state, and are not waited for
    longer than LAST_WORDS_S."""
    import uvicorn

    class Server(uvicorn.Server):
        """One that leaves signals to this file: its own way ends in a KeyboardInterrupt that nobody awaits."""

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    config = uvicorn.Config(
        page.asgi, log_config=None, access_log=False, lifespan="off", ws="none", http="h11", loop="asyncio",
        server_header=False, log_level="critical", timeout_graceful_shutdown=1, timeout_keep_alive=5,
        limit_concurrency=MOST_CONNECTIONS,
    )  # fmt: skip
    server, asked = Server(config), asyncio.Event()
    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(one, asked.set)
    serving = asyncio.ensure_future(server.serve(sockets=[found]))
    ends = [asyncio.ensure_future(until()), asyncio.ensure_future(asked.wait())]
    await asyncio.wait({serving, *ends}, return_when=asyncio.FIRST_COMPLETED)
    for one_end in ends:
        one_end.cancel()
    with suppress(asyncio.TimeoutError):
        await asyncio.wait_for(page.close(), LAST_WORDS_S)
    await asyncio.sleep(0.05)
    server.should_exit = True
    await asyncio.wait({serving}, timeout=LAST_WORDS_S)
