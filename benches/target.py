"""The server that the benches load: nginx where it is installed, else the testkit's, on the first core."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
BODY = '{"id":1,"items":[{"name":"a"},{"name":"b"}],"text":"' + "x" * 140 + '"}'
CAN_PIN = shutil.which("taskset") is not None and (os.cpu_count() or 1) > 1


def pinned(core: int) -> list[str]:
    """What stands before a command to keep it on one core; nothing where that cannot be."""
    return ["taskset", "-c", str(core)] if CAN_PIN else []


def raise_open_files() -> int:
    """Lets this process and its children open as many files as the machine allows; how many."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def server_name() -> str:
    """What serves here, with its version."""
    if not shutil.which("nginx"):
        return "plimsoll-testkit"
    return subprocess.run(["nginx", "-v"], capture_output=True, text=True, check=True).stderr.split(": ")[-1].strip()


@contextmanager
def target(folder: Path) -> Iterator[str]:
    """The URL of a server that answers every request with about 200 bytes of JSON."""
    files = raise_open_files()
    port = free_port()
    if shutil.which("nginx"):
        configuration = folder / "nginx.conf"
        configuration.write_text(
            f"worker_processes 1; worker_rlimit_nofile {files}; daemon off; pid {folder}/pid;\n"
            f"error_log {folder}/error.log;\n"
            f"events {{ worker_connections {files - 100}; }}\n"
            f"http {{ access_log off; keepalive_requests 1000000000;\n"
            f"server {{ listen 127.0.0.1:{port} backlog=16384;\n"
            f"location / {{ default_type application/json; return 200 '{BODY}'; }} }} }}\n"
        )
        command = ["nginx", "-c", str(configuration)]
    else:
        command = [str(ROOT / "target/release/plimsoll-testkit"), "--servers", "0", "--port", str(port)]
    server = subprocess.Popen([*pinned(0), *command], stdout=subprocess.DEVNULL)
    try:
        await_listening(port)
        yield f"http://127.0.0.1:{port}/"
    finally:
        server.terminate()
        server.wait()


def free_port() -> int:
    """A port between those that clients get from the kernel and those that need root."""
    for port in range(20_000, 32_000):
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    sys.exit("no port from 20000 to 31999 is free")


def await_listening(port: int) -> None:
    """Returns when the port answers; ends the bench if it does not within 10 s."""
    for _ in range(100):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.1)
    sys.exit(f"nothing listens on port {port}")
