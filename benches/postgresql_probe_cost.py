"""CPU that probes at one a second take: host, a process tree, PostgreSQL, and all that a study has by default; ours and
the server's part for us.

    python benches/postgresql_probe_cost.py [SECONDS]        60 if left out

The server has 200 tables, 1,000 statements in pg_stat_statements, 50 connections, and for the last rows 20 clients that
work. CPU of the probing process (user and system, of this process) and of the server's process that answers it, in
percent of one core; the goal is 1% in all. `default` is what a study of one process has without a word in `probes`,
but core_speed, whose cost is its way of measuring (about 1% of each of the target's cores).
"""

from __future__ import annotations

import resource
import sys
import threading
import time
from contextlib import ExitStack

import psutil
import psycopg
from target import ROOT

sys.path.insert(0, str(ROOT / "tests"))
from postgresql_server import PostgresqlServer

from plimsoll.probes import HostProbe, ProcessProbe, Sampler, probes_for
from plimsoll.probes.postgresql import PostgresqlProbe
from plimsoll.study import Probes, ProcessSelector

TABLES, STATEMENTS, CONNECTIONS, WORKERS = 200, 1_000, 50, 20
ROWS = (("postgresql",), ("host", "process", "postgresql"), ("default",), ("default", "postgresql"))


def cpu_s() -> float:
    """CPU seconds of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def backend_of(server: PostgresqlServer) -> psutil.Process:
    """The server's process that answers the probe."""
    with psycopg.connect(server.dsn(), autocommit=True) as owner:
        text = "SELECT pid FROM pg_stat_activity WHERE application_name = 'plimsoll'"
        [pid] = owner.execute(text).fetchone() or [0]
    return psutil.Process(pid)


def measured(server: PostgresqlServer, names: tuple[str, ...], seconds: float) -> tuple[float, float]:
    """Shares of a core: of this process and of the server's process for it."""
    probes = {
        "host": lambda: HostProbe(),
        "process": lambda: ProcessProbe(ProcessSelector(label="database", port=server.port)),
        "postgresql": lambda: PostgresqlProbe(server.dsn()),
    }
    selector = ProcessSelector(label="database", port=server.port)
    by_default = probes_for(Probes(core_speed=False), [selector]) if "default" in names else []
    made = [*by_default, *(probes[name]() for name in names if name != "default")]
    rows: list[dict] = []
    sampler = Sampler(made, rows.append, lambda *event: print(event), t0_unix=time.time())
    sampler.sample_once()
    sampler.sample_once()
    backend = backend_of(server) if "postgresql" in names else None
    before, there = cpu_s(), sum(backend.cpu_times()[:2]) if backend else 0.0
    with sampler:
        time.sleep(seconds)
    spent, spent_there = cpu_s() - before, (sum(backend.cpu_times()[:2]) if backend else 0.0) - there
    for probe in made:
        if isinstance(probe, PostgresqlProbe):
            probe.close()
    return spent / seconds, spent_there / seconds


def work(dsn: str, over: threading.Event) -> None:
    """One client of an application."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        number = 0
        while not over.wait(0.05):
            number += 1
            connection.execute("SELECT count(*) FROM t1 WHERE a = %s", (number,))


def prepared_server(opened: ExitStack) -> PostgresqlServer:
    """A server with its tables, statements and connections, until `opened` ends."""
    server = opened.enter_context(PostgresqlServer("max_connections=200"))
    with psycopg.connect(server.dsn(), autocommit=True) as owner:
        owner.execute("CREATE EXTENSION pg_stat_statements")
        for number in range(TABLES):
            owner.execute(f"CREATE TABLE t{number} (a int PRIMARY KEY, b text)")
        for number in range(STATEMENTS):
            owner.execute(f"SELECT a AS a{number} FROM t{number % TABLES}")
    for _ in range(CONNECTIONS):
        opened.enter_context(psycopg.connect(server.dsn(), autocommit=True)).execute("SELECT 1")
    return server


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    with ExitStack() as opened:
        server = prepared_server(opened)
        print(f"PostgreSQL 15, {TABLES} tables, {STATEMENTS:,} statements, {CONNECTIONS} connections, {seconds:g} s\n")
        print("| probes | database | this process | server's process | together |\n|---|---|---|---|---|")
        for names in (*ROWS, ("host", "process")):
            show(names, "idle", *measured(server, names, seconds))
        for names in ROWS:
            show(names, f"{WORKERS} clients at work", *under_load(server, names, seconds))


def under_load(server: PostgresqlServer, names: tuple[str, ...], seconds: float) -> tuple[float, float]:
    """The same while clients work, in a process of their own so that their CPU is not counted."""
    import subprocess

    code = (
        "import sys, threading; sys.path.insert(0, sys.argv[1]); import postgresql_probe_cost as bench\n"
        "over = threading.Event()\n"
        "for _ in range(bench.WORKERS): threading.Thread(target=bench.work, args=(sys.argv[2], over)).start()\n"
        "sys.stdin.read(); over.set()"
    )
    clients = subprocess.Popen([sys.executable, "-c", code, str(ROOT / "benches"), server.dsn()], stdin=subprocess.PIPE)
    try:
        time.sleep(2)
        return measured(server, names, seconds)
    finally:
        assert clients.stdin is not None
        clients.stdin.close()
        clients.wait(timeout=30)


def show(names: tuple[str, ...], state: str, own: float, theirs: float) -> None:
    print(f"| {' + '.join(names)} | {state} | {own:.2%} | {theirs:.2%} | {own + theirs:.2%} |", flush=True)


if __name__ == "__main__":
    main()
