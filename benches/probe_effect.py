"""How much less does a target do because probes watch it? Host, process tree and PostgreSQL at one sample a second.

    python benches/probe_effect.py [PAIRS [SECONDS]]        40 pairs of 5 s with and 5 s without, if left out: 22 min

pgbench (PostgreSQL's own, of Debian's package) keeps a database with 200 tables, 1,000 statements in
pg_stat_statements and 50 idle connections busy on all cores, without a rest from the first second to the last: by reads
of single rows, then by its own mix with writes. The probes watch in one half of each pair, drawn by a seed, and the
transactions that pgbench counts in its whole seconds are compared pair by pair: the mean ratio, with its 95% interval
(Student's t of the logarithms). Probes in neither half say what the machine does by itself.
"""

from __future__ import annotations

import random
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from itertools import pairwise
from typing import Any

import numpy as np
from postgresql_probe_cost import CONNECTIONS, STATEMENTS, TABLES, prepared_server
from scipy.stats import t as student
from target import ROOT

sys.path.insert(0, str(ROOT / "tests"))
from postgresql_server import PostgresqlServer, programs

from plimsoll.probes import HostProbe, ProcessProbe, Sampler
from plimsoll.probes.postgresql import PostgresqlProbe
from plimsoll.study import ProcessSelector

SCALE, CLIENTS, WARM_UP_S, SEED = 5, 8, 10.0, 1
ROWS = (("reads", ["-S"], True), ("reads", ["-S"], False), ("reads and writes", [], True))  # the last: probes watch
_PROGRESS = re.compile(rb"progress: ([0-9.]+) s, ([0-9.]+) tps")
Seconds = list[tuple[float, float]]  # (end, Unix time; transactions per second)


def main() -> None:
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 5.0
    with ExitStack() as opened:
        server = prepared_server(opened)
        pgbench(server, ["-i", "-q", "-s", str(SCALE)]).wait()
        print(f"{TABLES} tables, {STATEMENTS:,} statements, {CONNECTIONS} connections; pgbench with {CLIENTS} clients,")
        print(f"scale {SCALE}; {pairs} pairs of 2 × {seconds:g} s, seed {SEED}\n")
        print("| work | probes in one half | transactions/s without | with ÷ without, 95% |\n|---|---|---|---|")
        for work, flags, is_watched in ROWS:
            show(work, is_watched, *compared(server, flags, pairs, seconds, is_watched))


def compared(
    server: PostgresqlServer, flags: list[str], pairs: int, seconds: float, is_watched: bool
) -> tuple[float, np.ndarray]:
    """Transactions per second without probes, and the logarithm of each pair's ratio, shape (pairs,)."""
    draw = random.Random(SEED)
    limit_s = WARM_UP_S + 4 * pairs * (seconds + 0.5)  # it is ended before
    found: Seconds = []
    command = ["-n", "-M", "prepared", "-c", str(CLIENTS), "-j", "1", "-P", "1", "--progress-timestamp", *flags]
    load = pgbench(server, [*command, "-T", str(int(limit_s))])
    reader = threading.Thread(target=read_progress, args=(load, found))
    reader.start()
    try:
        time.sleep(WARM_UP_S)
        halves = [half for _ in range(pairs) for half in draw.sample((True, False), 2)]
        with probes_of(server) as probes:
            spans = [(half, span_of(probes if half and is_watched else [], seconds)) for half in halves]
    finally:
        load.terminate()
        load.wait(timeout=30)
        reader.join(timeout=30)
    rates = {half: np.array([rate_in(found, *span) for at, span in spans if at is half]) for half in (True, False)}
    return float(rates[False].mean()), np.log(rates[True] / rates[False])


def pgbench(server: PostgresqlServer, flags: list[str]) -> subprocess.Popen[bytes]:
    """It runs against the server's database "postgres"; its progress is what it writes to stderr."""
    command = [
        str(programs() / "pgbench"),
        "-h",
        "127.0.0.1",
        "-p",
        str(server.port),
        "-U",
        "plimsoll",
        *flags,
        "postgres",
    ]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def read_progress(load: subprocess.Popen[bytes], into: Seconds) -> None:
    """What pgbench tells each second, until it ends."""
    assert load.stderr is not None
    for line in load.stderr:
        if (told := _PROGRESS.match(line)) is not None:
            into.append((float(told[1]), float(told[2])))


@contextmanager
def probes_of(server: PostgresqlServer) -> Iterator[list[Any]]:
    """The probes, connected, after their first looks, which look for processes and rights."""
    database = PostgresqlProbe(server.dsn())
    probes = [HostProbe(), ProcessProbe(ProcessSelector(label="database", port=server.port)), database]
    try:
        sampler_of(probes).sample_once()
        yield probes
    finally:
        database.close()


def sampler_of(probes: list[Any]) -> Sampler:
    """One sample a second of them, which nobody keeps."""
    return Sampler(probes, lambda row: None, lambda *event: print(event), t0_unix=time.time())


def span_of(probes: list[Any], seconds: float) -> tuple[float, float]:
    """From when to when that half was, in Unix time: from half a second after those probes began to watch."""
    with sampler_of(probes) if probes else nullcontext():
        time.sleep(0.5)
        begin = time.time()
        time.sleep(seconds)
        return begin, time.time()


def rate_in(found: Seconds, begin: float, end: float) -> float:
    """Transactions per second of pgbench's seconds that lie within."""
    inside = [rate for (before, _), (at, rate) in pairwise(found) if before >= begin and at <= end]
    return float(np.mean(inside))


def show(work: str, is_watched: bool, without: float, ratios: np.ndarray) -> None:
    half = float(student.ppf(0.975, ratios.size - 1) * ratios.std(ddof=1) / np.sqrt(ratios.size))
    low, mean, high = (f"{np.expm1(at):+.2%}" for at in (ratios.mean() - half, ratios.mean(), ratios.mean() + half))
    print(f"| {work} | {'yes' if is_watched else 'no'} | {without:,.0f} | {mean} ({low} to {high}) |", flush=True)


if __name__ == "__main__":
    main()
