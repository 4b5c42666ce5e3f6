"""Serve the tracker: one process, one core, until SIGTERM or SIGINT.

The socket is bound before anything slow happens, so that a port in use is told at once; connections that arrive
while the data is seeded are refused, as the socket listens only when the tracker is ready. Then one line is printed
to standard output: {"ready": true, "url": "http://127.0.0.1:8710", "pid": 4711, …}.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from plimsoll.errors import InputError
from plimsoll.lab.tracker import queries
from plimsoll.lab.tracker.app import create_app
from plimsoll.lab.tracker.data_directory import Wanted, open_data, seeded_facts
from plimsoll.lab.tracker.load_files import write_load_files

LISTEN_BACKLOG = 4096
GRACE_S = 5
# uvicorn's own 5 s would close connections just as a user's next request is on its way.
KEEP_ALIVE_S = 75


@dataclass(frozen=True)
class ServerOptions:
    """The command line of `plimsoll lab tracker`; what each means is in its --help."""

    data: Path
    host: str = "127.0.0.1"
    port: int = 0
    issues: int | None = None
    seed: int | None = None
    dsn: str | None = None
    cpu: int | None = None
    reset: bool = False
    age_recount: bool = False


def serve(options: ServerOptions) -> int:
    """Seed if need be, serve until told to stop, return 0. Raises InputError before it serves."""
    pin_to_core(options.cpu)
    listener = bound_socket(options.host, options.port)
    with contextlib.closing(listener):
        wanted = Wanted(options.issues, options.seed, options.reset)
        database, restore, lock = open_data(options.data, wanted, options.dsn, say=_say)
        with contextlib.closing(lock), contextlib.closing(database):
            with database.engine.begin() as connection:
                people = queries.load_people(connection)
                facts = seeded_facts(connection)
            app = create_app(database, people, restore, options.age_recount)
            # What lives as long as the process need not be looked at in every collection.
            gc.collect()
            gc.freeze()
            host = f"[{options.host}]" if ":" in options.host else options.host
            url = f"http://{host}:{listener.getsockname()[1]}"
            study = write_load_files(options.data, url, facts.issues if facts else 0)
            _say(f"To load it, in another terminal: plimsoll capacity {study}")
            ready = {"ready": True, "url": url, "pid": os.getpid(), "users": str(options.data / "users.json")}
            ready["study"] = str(study)
            config = uvicorn.Config(
                app,
                loop="uvloop",
                http="httptools",
                ws="none",
                lifespan="off",
                access_log=False,
                log_level="warning",
                server_header=False,
                backlog=LISTEN_BACKLOG,
                timeout_keep_alive=KEEP_ALIVE_S,
                timeout_graceful_shutdown=GRACE_S,
            )
            _Server(config, ready).run(sockets=[listener])
    return 0


def pin_to_core(cpu: int | None) -> None:
    """Run this process on one core only. Raises InputError where that cannot be."""
    if cpu is None:
        return
    if not hasattr(os, "sched_setaffinity"):
        raise InputError("This system cannot tie a process to a core", "Leave --cpu out.")
    allowed = os.sched_getaffinity(0)
    if cpu not in allowed:
        raise InputError(f"There is no core {cpu} for this process", f"Give --cpu one of {sorted(allowed)}.")
    os.sched_setaffinity(0, {cpu})


def bound_socket(host: str, port: int) -> socket.socket:
    """A socket bound to host and port (0: a free one), not yet listening. Raises InputError."""
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
        raise _port_refused(host, port, error) from None
    return listener


def _port_refused(host: str, port: int, error: OSError) -> InputError:
    return InputError(
        f"Port {port} of {host} cannot be used: {error.strerror}",
        "Stop what listens there, or give another --port (0 takes a free one).",
    )


class _Server(uvicorn.Server):
    """uvicorn, which tells when it serves, and which ends quietly when told to stop."""

    def __init__(self, config: uvicorn.Config, ready: dict[str, object]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        for listener in sockets or []:
            try:
                listener.listen(LISTEN_BACKLOG)
            except OSError as error:  # bound by two processes, and the other one was faster
                host, port = listener.getsockname()[:2]
                raise _port_refused(host, port, error) from None
        await super().startup(sockets=sockets)
        print(json.dumps(self._ready), flush=True)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """SIGTERM and SIGINT stop the server. uvicorn would raise them again at the end, and so exit with 143."""
        wanted = (signal.SIGTERM, signal.SIGINT)
        before = {number: signal.signal(number, self.handle_exit) for number in wanted}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
