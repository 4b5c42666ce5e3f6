"""An application for tests: each request is one statement in MariaDB, over a pool of a few connections.

python visits_server.py PORT_OF_MARIADB CONNECTIONS prints its URL.
"""

from __future__ import annotations

import random
import sys
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import SimpleQueue
from typing import Any

import pymysql

CUSTOMERS = 10_000


class VisitsServer(ThreadingHTTPServer):
    """A thread a connection, which waits for a connection of the pool."""

    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, database_port: int, connections: int) -> None:
        super().__init__(("127.0.0.1", 0), Visits)
        self.pool: SimpleQueue[Any] = SimpleQueue()
        for _ in range(connections):
            self.pool.put(
                pymysql.connect(host="127.0.0.1", port=database_port, user="root", database="shop", autocommit=True)
            )


class Visits(BaseHTTPRequestHandler):
    """Answers how many visits some customer made."""

    protocol_version = "HTTP/1.1"
    server: VisitsServer

    def do_GET(self) -> None:
        connection = self.server.pool.get()
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT id FROM visits WHERE customer = %s", (random.randrange(CUSTOMERS),))
                body = str(len(cursor.fetchall())).encode()
        finally:
            self.server.pool.put(connection)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        with suppress(ConnectionError):  # who asked has given up
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keep the tests' output clean."""


if __name__ == "__main__":
    server = VisitsServer(int(sys.argv[1]), int(sys.argv[2]))
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
