"""Who takes cores beside a target on this host: real processes, connected to it or not."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from plimsoll.findings.run import run_finding
from plimsoll.probes.processes.foreign_processes import ForeignProcesses
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.readings.generator_seconds import GeneratorSeconds
from plimsoll.runs.snapshot import Series, Snapshot
from plimsoll_lab.ports import free_port

LISTEN = """
import socket, sys, threading
own, other, busy = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "busy"
server = socket.create_server(("127.0.0.1", own))
called = socket.create_connection(("127.0.0.1", other)) if other else None
print("ready", flush=True)
threading.Thread(target=lambda: [server.accept() for _ in iter(int, 1)], daemon=True).start()
while True:
    sum(range(1000)) if busy else threading.Event().wait(1)
"""
BUSY = "print('ready', flush=True)\nwhile True: sum(range(1000))"


@contextmanager
def running(code: str, *words: object) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", code, *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None and process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """The children of these tests are not the generator's."""
    monkeypatch.setattr("plimsoll.probes.processes.foreign_processes._trees", lambda roots, used: set(roots))


def looked(port: int) -> tuple[float | None, set[int]]:
    """Cores of foreign processes in a second, and who they were."""
    foreign = ForeignProcesses(lambda: [("127.0.0.1", port)])
    assert foreign.look() is None
    time.sleep(1.0)
    return foreign.look(), {pid for pid, _ in foreign.taken_s}


@pytest.mark.usefixtures("elsewhere")
def test_what_the_target_is_connected_to_belongs_to_it_and_others_do_not() -> None:
    database, target, worker = free_port(), free_port(), free_port()
    with ExitStack() as all_of_them:
        begin = all_of_them.enter_context
        connected = [
            begin(running(LISTEN, database, 0, "busy")),
            begin(running(LISTEN, target, database, "busy")),
            begin(running(LISTEN, worker, database, "busy")),
        ]
        foreign = begin(running(BUSY))
        cores, who = looked(target)
    assert cores is not None and cores > 0.05
    assert foreign.pid in who and not who & {one.pid for one in connected}


@pytest.mark.usefixtures("elsewhere")
def test_who_was_called_lately_by_a_connection_that_has_ended_belongs_to_it() -> None:
    target, called = free_port(), free_port()
    with running(LISTEN, target, 0, "idle"), running(LISTEN, called, 0, "busy") as once:
        with socket.create_connection(("127.0.0.1", called)):
            pass  # closed here first: TIME_WAIT, or FIN_WAIT2 while the other end is open
        _, who = looked(target)
    assert once.pid not in who


def test_children_of_this_process_are_its_own_work() -> None:
    port = free_port()
    with running(LISTEN, port, 0, "idle"), running(BUSY) as own:
        cores, who = looked(port)
    assert cores is not None and own.pid not in who


@pytest.mark.parametrize("address", [("192.0.2.7", 80), ("127.0.0.1", 1)])
def test_of_a_target_elsewhere_or_unseen_nothing_is_said(address: tuple[str, int]) -> None:
    foreign = ForeignProcesses(lambda: [address])
    assert foreign.look() is None and foreign.look() is None and not foreign.tells


def found(busy: float, taken: float) -> dict[str, object]:
    facts = GeneratorSeconds()
    for second in range(10):
        lag = {"lag_p50_ms": 0.01, "lag_p99_ms": 0.1}
        times = Series.of_trend("http_req_duration", {}, Histogram.from_values([5.0] * 10))
        facts.add(Snapshot(second, planned=10, started=10, done=10, series=(times,), generator=lag))
        values = {"host_busy_share": busy, "usable_cores": 2.0, "foreign_cores": taken}
        facts.add_row({"source": "generator", "second": second, "values": values})
    return run_finding(facts, names={"stress": 9.0, "bash": 0.1})


def test_response_times_beside_them_are_not_the_target_s_alone_and_throughput_is() -> None:
    finding = found(0.99, 1.6)
    verdicts = {one["words"] for one in finding["validity"]}  # type: ignore[attr-defined]
    assert {"throughput: valid", "response times at p50: invalid", "response times at p99: invalid"} <= verdicts
    assert finding["valid"] and "response times are not its alone" in str(finding["answer"])
    assert "Other work (stress) took 1.6 of this machine's 2 cores" in str(finding["notes"])


@pytest.mark.parametrize(("busy", "taken"), [(0.6, 1.0), (0.99, 0.1)])
def test_cores_that_are_free_or_others_that_take_little_take_nothing_from_it(busy: float, taken: float) -> None:
    finding = found(busy, taken)
    assert all("invalid" not in one["words"] for one in finding["validity"])  # type: ignore[attr-defined]
    assert "not its alone" not in str(finding["answer"])
