"""A front that asks a back on loopback over a pool of connections, each a process of its own, pinned as a test says.

Each answers after a piece of CPU work of its own, and asks another before that if it was told to, by a TCP port or a
unix socket.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

_SERVER = r"""
import http.client, json, os, queue, socket, socketserver, sys, threading, time
from http.server import BaseHTTPRequestHandler

told = json.loads(sys.argv[1])
if told.get("cpus"):
    os.sched_setaffinity(0, told["cpus"])

def work(seconds):
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass

class Unix(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(told["asks"])

class Pooled:
    def __init__(self, size):
        self.free = queue.Queue()
        for _ in range(size):
            self.free.put(None)
    def ask(self):
        one = self.free.get()
        try:
            if one is None:
                by_path = isinstance(told["asks"], str)
                one = Unix("back") if by_path else http.client.HTTPConnection("127.0.0.1", told["asks"])
            one.request("GET", "/")
            return one.getresponse().read()
        finally:
            self.free.put(one)

pool = Pooled(told.get("pool", 2)) if told.get("asks") else None

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    def do_GET(self):
        work(told.get("work_s", 0.001))
        body = pool.ask() if pool else b"done"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()
    def log_message(self, *_):
        pass
    def address_string(self):
        return "someone"

class Tcp(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True
    request_queue_size = 256

if told.get("path"):
    class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
        daemon_threads = True
    Handler.disable_nagle_algorithm = False
    server, where = Server(told["path"], Handler), told["path"]
else:
    server = Tcp(("127.0.0.1", told.get("port", 0)), Handler)
    where = server.server_address[1]
for _ in range(told.get("workers", 1) - 1):
    if os.fork() == 0:
        break
else:
    print(json.dumps(where), flush=True)
server.serve_forever()
"""


@contextmanager
def served(**told: Any) -> Iterator[tuple[int | str, int]]:
    """(port or path, process id) of a server: `work_s` CPU seconds for an answer, `cpus` that it may use, `asks` (port
    or path of another) over a `pool` of connections, `path` to listen on, `workers` that share the port."""
    with subprocess.Popen(
        [sys.executable, "-c", _SERVER, json.dumps(told)], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline()), process.pid
        finally:
            for child in _children(process.pid):
                os.kill(child, signal.SIGKILL)
            process.kill()


def _children(pid: int) -> Sequence[int]:
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(word) for word in file.read().split()]
