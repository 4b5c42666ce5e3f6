"""A target with one planted limit; everything else it has in plenty. Standard library only, but for a database.

python app.py --port 20700 --cpu-ms 2                     one busy thread (Python runs one at a time)
              --share-port                                another process may listen there as well
              --close                                     each connection is closed after its answer
              --workers 4 --wait-ms 40                    connections wait for a worker
              --pool 4 --to 127.0.0.1:20701 --wait-ms 40  connections to a dependency that takes so long
              --lock-ms 10                                a lock that is held so long
              --fail-above 50                             requests beyond so many a second get a 429
              --hold-mib 2                                memory that each request keeps for a second
              --job-every 5 --job-ms 800                  a job that holds the lock
              --writer-ms 10                              one thread computes so long for each request
              --leak-kib 50                               memory that each request keeps for good
              --write-kib 64 --write-to FILE              what each request writes to the disk, past the page cache
              --reply-kib 32                              the size of an answer
              --pool 8 --dsn postgresql://… --statement "SELECT …"   a statement of a database; %s is a number at random
"""

from __future__ import annotations

import argparse
import http.client
import mmap
import os
import queue
import random
import threading
import time
from concurrent.futures import Future
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LARGEST = 1_000_000


class Work:
    """What a request does."""

    def __init__(self, asked: argparse.Namespace) -> None:
        self.asked = asked
        self.lock = threading.Lock()
        self.held: list[tuple[float, bytearray]] = []
        self.leaked: list[bytearray] = []
        self.pool: queue.Queue[Any] = queue.Queue()
        self.second, self.in_second = 0, 0
        self.asks: queue.Queue[Future[None]] = queue.Queue()
        self.own = threading.local()
        self.places = iter(range(0, 2**62))
        for _ in range(asked.pool if asked.to or asked.dsn else 0):
            self.pool.put(self._session() if asked.dsn else self._connection())
        if asked.write_to:
            self.file = os.open(asked.write_to, os.O_RDWR | os.O_CREAT | os.O_DIRECT | os.O_DSYNC, 0o600)
            self.page = mmap.mmap(-1, int(asked.write_kib * 1024))  # aligned, as O_DIRECT asks for

    def __call__(self) -> int:
        asked = self.asked
        if asked.fail_above and self._is_above():
            return int(asked.fail_status)
        if asked.cpu_ms:
            _compute(asked.cpu_ms)
        if asked.writer_ms:
            answer: Future[None] = Future()
            self.asks.put(answer)
            answer.result()
        if asked.hold_mib:
            self._hold(asked.hold_mib)
        if asked.leak_kib:
            self.leaked.append(bytearray(b"x" * int(asked.leak_kib * 1024)))
        if asked.write_to:
            place = next(self.places) % 64
            os.pwrite(self.file, self.page, place * len(self.page))
        if asked.lock_ms:
            with self.lock:
                time.sleep(asked.lock_ms / 1000)
        if asked.to or asked.dsn:
            self._ask()
        elif asked.wait_ms:
            time.sleep(asked.wait_ms / 1000)
        return 200

    def _ask(self) -> None:
        """The dependency or the database, by a connection of the pool; without one each thread has its own."""
        if self.asked.pool:
            connection = self.pool.get()
        elif hasattr(self.own, "connection"):
            connection = self.own.connection
        else:
            connection = self.own.connection = self._connection()
        try:
            if self.asked.dsn:
                values = (random.randrange(LARGEST),) * self.asked.statement.count("%s")
                connection.execute(self.asked.statement, values)
            else:
                connection.request("GET", "/")
                connection.getresponse().read()
        finally:
            if self.asked.pool:
                self.pool.put(connection)

    def _connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self.asked.to, timeout=60)

    def _session(self) -> Any:
        import psycopg

        return psycopg.connect(self.asked.dsn, autocommit=True)

    def writer(self) -> None:
        """The one thread that computes for all requests."""
        while True:
            answer = self.asks.get()
            _compute(self.asked.writer_ms)
            answer.set_result(None)

    def job(self) -> None:
        """The periodic job."""
        while True:
            time.sleep(self.asked.job_every)
            with self.lock:
                time.sleep(self.asked.job_ms / 1000)

    def _is_above(self) -> bool:
        with self.lock:
            now = int(time.monotonic())
            if now != self.second:
                self.second, self.in_second = now, 0
            self.in_second += 1
            return self.in_second > self.asked.fail_above

    def _hold(self, mib: float) -> None:
        now = time.monotonic()
        with self.lock:
            self.held = [one for one in self.held if one[0] > now - 1]
            self.held.append((now, bytearray(b"x" * int(mib * 2**20))))


def _compute(ms: float) -> None:
    until = time.thread_time() + ms / 1000
    while time.thread_time() < until:
        pass


class Server(ThreadingHTTPServer):
    """A thread for each connection, at most so many at a time."""

    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, asked: argparse.Namespace) -> None:
        self.work = Work(asked)
        self.workers = threading.Semaphore(asked.workers) if asked.workers else None
        self.reply = b"ok" + b"." * int(asked.reply_kib * 1024)
        self.allow_reuse_port = asked.share_port
        super().__init__((asked.host, asked.port), Handler)

    def process_request(self, request, client_address):  # type: ignore[no-untyped-def]
        if self.workers is not None:
            self.workers.acquire()
        super().process_request(request, client_address)

    def process_request_thread(self, request, client_address):  # type: ignore[no-untyped-def]
        try:
            super().process_request_thread(request, client_address)
        finally:
            if self.workers is not None:
                self.workers.release()


class Handler(BaseHTTPRequestHandler):
    """GET answers when the work is done."""

    server: Server
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self) -> None:
        status = 200 if self.path == "/ready" else self.server.work()
        reply = b"ok" if self.path == "/ready" else self.server.reply
        self.send_response(status)
        self.send_header("Content-Length", str(len(reply)))
        if self.server.workers is not None or self.server.work.asked.close:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_: object) -> None:
        pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    for name in (
        "cpu-ms", "wait-ms", "lock-ms", "hold-mib", "job-every", "job-ms", "writer-ms", "leak-kib", "write-kib",
        "reply-kib",
    ):  # fmt: skip
        parser.add_argument(f"--{name}", type=float, default=0.0)
    for name in ("workers", "pool", "fail-above"):
        parser.add_argument(f"--{name}", type=int, default=0)
    parser.add_argument("--share-port", action="store_true")
    parser.add_argument("--close", action="store_true")
    parser.add_argument("--fail-status", type=int, default=429)
    parser.add_argument("--host", default="127.0.0.1")
    for name in ("to", "dsn", "statement", "write-to", "name"):  # name: a word to find the process by
        parser.add_argument(f"--{name}")
    asked = parser.parse_args()
    server = Server(asked)
    if asked.job_every:
        threading.Thread(target=server.work.job, daemon=True).start()
    if asked.writer_ms:
        threading.Thread(target=server.work.writer, daemon=True).start()
    server.serve_forever()


if __name__ == "__main__":
    main()
