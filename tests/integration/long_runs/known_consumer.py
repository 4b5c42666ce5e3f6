"""A loopback server with an asynchronous consumer of known rate: `python known_consumer.py PORT RATE_PER_S
[INDEX_FILE]`.

POST /put adds an item to the queue; GET /status is {"waiting", "put", "done"}. The consumer takes one item every 1 /
rate s, in simulated steps of elapsed time, so that its rate is exact whatever the machine does, and appends 100 bytes
to the index for each.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Queue:
    """Items put in and done; `advance` does as many as the time since the last call allows."""

    def __init__(self, rate_per_s: float, index: Path | None) -> None:
        self.rate_per_s, self.index = rate_per_s, index
        self.put = self.done = 0
        self._credit, self._at = 0.0, time.monotonic()
        self._lock = threading.Lock()
        if index is not None:
            index.write_bytes(b"")

    def advance(self, put: int = 0) -> dict[str, int]:
        with self._lock:
            now = time.monotonic()
            waiting = self.put - self.done
            self._credit = min(self._credit + (now - self._at) * self.rate_per_s, float(waiting)) if waiting else 0.0
            self._at = now
            took = int(self._credit)
            self._credit -= took
            self.done += took
            self.put += put
            if took and self.index is not None:
                with self.index.open("ab") as file:
                    file.write(bytes(100 * took))
            return {"waiting": self.put - self.done, "put": self.put, "done": self.done}


def serve(port: int, queue: Queue) -> None:
    """Serve until killed."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer(queue.advance())

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self._answer(queue.advance(put=1))

        def _answer(self, document: dict[str, int]) -> None:
            body = json.dumps(document).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    serve(int(sys.argv[1]), Queue(float(sys.argv[2]), Path(sys.argv[3]) if len(sys.argv) > 3 else None))
