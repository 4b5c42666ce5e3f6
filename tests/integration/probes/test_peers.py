"""Processes to which the target's are connected on this host are found, watched and counted as part of it."""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from stacked_servers import served
from watched_database import repeated

from plimsoll.experiments.target.awake import Awake
from plimsoll.runs.writer import RunFacts, RunWriter
from plimsoll.study import Probes, ProcessSelector
from plimsoll.verbs.sampling import Sampling, sampling_of

pytestmark = pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="peers are found by /proc")
Rows = list[dict[str, object]]


class Watched:
    """A target whose probes are asked by hand, as often as a test likes."""

    def __init__(self, sampling: Sampling, told: list[str]) -> None:
        self._sampling, self.told, self.second = sampling, told, 0

    def asked(self, times: int = 1) -> dict[str, dict[str, float]]:
        """The last values of each source after so many rounds."""
        found: dict[str, dict[str, float]] = {}
        for _ in range(times):
            for row in self._sampling(self.second, time.time()):
                found[row["source"]] = row["values"]
            self.second += 1
            time.sleep(0.35)  # the kernel's answer is kept for less
        return found

    @property
    def processes(self) -> list[str]:
        return [source.partition(":")[2] for source in self.asked(2) if source.startswith("process:")]


@pytest.fixture
def watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Watched]]:
    """Begins to watch the process that listens on a port, which rests after no look."""
    monkeypatch.setattr("plimsoll.probes.processes.target_probes.MOST_SHARE", 1e9)
    opened = []

    def begin(port: int, **given: object) -> Watched:
        told: list[str] = []
        writer = RunWriter.create(tmp_path, RunFacts("capacity"))
        chosen = Probes.model_validate({"core_speed": False, "waits": False, **given})
        processes = [ProcessSelector(label="front", port=port)]
        sampling = sampling_of(chosen, processes, writer, Awake(), tell=told.append)
        opened.append(sampling.__enter__())
        return Watched(sampling, told)

    yield begin
    for sampling in opened:
        sampling.__exit__()


def ask(port: int) -> bytes:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=20) as answer:
        return answer.read()


def test_a_back_on_loopback_is_found_told_and_counted(watch: Callable[..., Watched]) -> None:
    with served(work_s=0.02) as (back, pid), served(asks=back) as (front, _):
        watched = watch(front)
        watched.asked(1)
        assert watched.told == []  # nothing was asked of it yet: it comes later than the start
        ask(front)
        watched.asked(2)
        [told] = watched.told
        assert f"(process {pid}, port {back}) answers the target on this host" in told and "peers: false" in told
        with repeated(lambda: ask(front)):
            values = watched.asked(4)
        [label] = [source for source in values if source.startswith("process:") and source != "process:front"]
        assert values[label]["cpu_cores_used"] > 0
        assert values[f"sockets:{label.partition(':')[2]}"]["connections_of_others"] == 0
        assert len(watched.told) == 1


def test_a_back_on_a_unix_socket_is_found(watch: Callable[..., Watched], tmp_path: Path) -> None:
    path = str(tmp_path / "back")
    with served(path=path) as (_, pid), served(asks=path) as (front, _):
        watched = watch(front)
        ask(front)
        watched.asked(2)
        assert len(watched.processes) == 2 and f"(process {pid}, {path})" in watched.told[0]


def test_a_back_of_several_workers_is_one_peer(watch: Callable[..., Watched]) -> None:
    with served(workers=3) as (back, _), served(asks=back) as (front, _):
        watched = watch(front)
        ask(front)
        values = watched.asked(3)
        [peer] = [one for source, one in values.items() if source.startswith("process:") and source != "process:front"]
        assert peer["processes"] == 3 and len(watched.told) == 1


def test_what_a_peer_asks_is_a_peer_too_and_has_a_name_of_its_own(watch: Callable[..., Watched]) -> None:
    with served() as (back, _), served(asks=back) as (middle, _), served(asks=middle) as (front, _):
        watched = watch(front)
        ask(front)
        watched.asked(4)
        assert len(set(watched.processes)) == 3 and len(watched.told) == 2


def test_who_asks_itself_or_one_that_is_watched_already_has_no_peer(watch: Callable[..., Watched]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with served(port=port, asks=port, pool=1) as (front, _):
        watched = watch(front)
        with pytest.raises((OSError, http.client.HTTPException)):  # it waits for itself
            urllib.request.urlopen(f"http://127.0.0.1:{front}/", timeout=0.5)
        watched.asked(3)
        assert watched.processes == ["front"] and watched.told == []


def test_this_process_and_its_children_are_no_peer(watch: Callable[..., Watched]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as own:
        own.settimeout(20)
        if (child := os.fork()) == 0:  # it has the listening socket as well
            time.sleep(60)
            os._exit(0)
        try:
            with served(asks=own.getsockname()[1]) as (front, _):
                watched = watch(front)
                client = socket.create_connection(("127.0.0.1", front))
                client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                accepted, _ = own.accept()
                watched.asked(3)
                assert watched.processes == ["front"] and watched.told == []
                accepted.close()
                client.close()
        finally:
            os.kill(child, 9)
            os.waitpid(child, 0)


def test_other_clients_of_a_peer_are_told_and_this_process_is_none_of_them(watch: Callable[..., Watched]) -> None:
    with served() as (back, _), served(asks=back) as (front, _), served(asks=back, pool=1) as (other, _):
        watched = watch(front)
        ask(front)
        with repeated(lambda: ask(back)):  # this process
            watched.asked(4)
            [label] = [one for one in watched.processes if one != "front"]
            assert watched.asked(2)[f"sockets:{label}"]["connections_of_others"] == 0
        time.sleep(0.1)
        watched._sampling._now.target._connected._own_asked_s -= 20  # as if that were long ago
        with repeated(lambda: ask(other)):
            assert watched.asked(6)[f"sockets:{label}"]["connections_of_others"] == 1
        assert watched.asked(3)[f"sockets:{label}"]["connections_of_others"] == 0  # it is there, and at rest


def test_peers_are_left_out_where_the_study_says_so(watch: Callable[..., Watched]) -> None:
    with served() as (back, _), served(asks=back) as (front, _):
        watched = watch(front, peers=False)
        ask(front)
        watched.asked(2)
        assert watched.processes == ["front"] and watched.told == []


def test_a_peer_that_is_gone_takes_nothing_from_what_is_known_of_the_others(watch: Callable[..., Watched]) -> None:
    with served(cpus=[0]) as (back, pid), served(cpus=[0], asks=back) as (front, _):
        watched = watch(front)
        ask(front)
        watched.asked(3)
        os.kill(pid, 9)
        values = watched.asked(3)
        assert "process:front" in values and "sockets:front" in values
        if (os.cpu_count() or 1) > 1:
            assert values["target_cores"]["usable_cores"] == 1


def test_who_started_the_target_is_no_peer_of_it(watch: Callable[..., Watched]) -> None:
    """Its children are counted with it, so that the target would count twice."""
    launcher = (
        "import json, os, socket, sys, time\n"
        "own = socket.create_server(('127.0.0.1', 0))\n"
        "if os.fork():\n"
        "    one, _ = own.accept(); time.sleep(60)\n"
        "made = socket.create_connection(own.getsockname()); own.close()\n"
        "server = socket.create_server(('127.0.0.1', 0))\n"
        "print(server.getsockname()[1], flush=True); time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", launcher], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        try:
            watched = watch(port)
            watched.asked(3)
            assert watched.processes == ["front"] and watched.told == []
        finally:
            for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
                os.kill(int(child), 9)
            process.kill()
