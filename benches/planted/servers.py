"""The processes of a planted target: the application, its dependency and its database."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from confined import Skipped

APP = Path(__file__).with_name("app.py")
ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))
COMES_UP_S = 20.0
ROWS = 200_000
SCHEMA = f"""
CREATE EXTENSION IF NOT EXISTS pg_stat_statements;
CREATE TABLE orders AS SELECT i AS id, (i * 7919) % 1000000 AS customer, repeat('x', 60) AS note
  FROM generate_series(1, {ROWS}) i;
ALTER TABLE orders ADD PRIMARY KEY (id);
CREATE TABLE counters (id int PRIMARY KEY, n bigint NOT NULL);
INSERT INTO counters SELECT i, 0 FROM generate_series(1, 1000) i;
ANALYZE;
"""
# A program that is started again when it ends, as by a service manager.
AGAIN = 'while :; do "$@"; sleep 0.3; done'


@contextmanager
def application(
    flags: Sequence[str], port: int, host: str = "127.0.0.1", before: Sequence[str] = (), keeps_up: bool = False
) -> Iterator[None]:
    """The app with these flags, answering; `before`: words that confine it; `keeps_up`: it is started again."""
    words = [*before, sys.executable, str(APP), "--port", str(port), "--host", host, *flags]
    if keeps_up:
        words = ["sh", "-c", AGAIN, "sh", *words]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        _await(host, port, process)
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _await(host: str, port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + COMES_UP_S
    while time.monotonic() < until:
        try:
            with socket.create_connection((host, port), timeout=1):
                return
        except OSError:
            time.sleep(0.05)
        if process.poll() is not None:
            break
    raise RuntimeError(f"the planted application did not come up: {process.args!r}")


@contextmanager
def database() -> Iterator[tuple[str, int]]:
    """PostgreSQL with the tables that statements are planted on: its DSN and port. Skipped where there is none."""
    import psycopg
    from postgresql_server import PostgresqlServer, programs

    try:
        programs()
    except FileNotFoundError as missing:
        raise Skipped(str(missing)) from missing
    with PostgresqlServer("max_parallel_workers_per_gather=0", "jit=off", "autovacuum=off") as server:
        with psycopg.connect(server.dsn(), autocommit=True) as session:
            session.execute(SCHEMA)
        yield server.dsn(), server.port
