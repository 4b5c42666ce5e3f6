"""Probes of host, network and processes. Processes are real and small; nothing asserts how long anything takes."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from plimsoll.errors import InputErrors
from plimsoll.probes import HostProbe, NetworkProbe, Probe, ProbeUnavailable, ProcessProbe, Sampler, probes_for
from plimsoll.probes.probe import Rates
from plimsoll.probes.processes.family import Family
from plimsoll.probes.processes.finding_processes import find_roots, pids_listening_on
from plimsoll.probes.processes.process import Facts, _rates
from plimsoll.study import Probes, ProcessSelector

PARENT_AND_CHILD = """
import os, signal, socket, sys
listening = socket.socket(); listening.bind(("127.0.0.1", 0)); listening.listen()
child = os.fork()
if child == 0:
    signal.pause()
print(listening.getsockname()[1], child, flush=True)
signal.pause()
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], int, int]]:
    """A process that listens, with a forked worker on the same socket: (process, port, id of the worker). Its name is
    not that of those who run the tests, one of which may be its grandparent."""
    program = tmp_path / "app-of-the-test"
    program.symlink_to(Path(sys.executable).resolve())
    with subprocess.Popen([program, "-c", PARENT_AND_CHILD], stdout=subprocess.PIPE, text=True) as process:
        port, child = map(int, process.stdout.readline().split())
        yield process, port, child
        for pid in (child, process.pid):
            if psutil.pid_exists(pid):
                os.kill(pid, signal.SIGKILL)


class Ticks:
    """A clock that goes on by one second a call."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def test_rates_are_differences_over_time_and_a_falling_counter_gives_none():
    rates = Rates(Ticks())
    assert rates.update({"a": 10}) == ({}, 0.0)
    assert rates.update({"a": 15, "b": 3}) == ({"a": 5.0}, 1.0)
    assert rates.update({"a": 2, "b": 4}) == ({"b": 1.0}, 1.0)


def test_the_host_tells_shares_between_zero_and_one_and_units_in_its_names():
    probe = HostProbe()
    assert "cpu_share" not in probe.sample()
    deadline = time.monotonic() + 30
    while "cpu_share" not in (values := probe.sample()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert all(0 <= value <= 1 for name, value in values.items() if name.endswith("_share"))
    assert 0 <= values["cpu_cores_used"] <= values["cores"]
    assert values["memory_used_bytes"] > 0
    units = ("_share", "_bytes", "_per_s", "_used", "_ms", "cores", "load_1m")
    assert all(name.endswith(units) for name in values)


def test_the_network_counts_loopback_apart():
    probe = NetworkProbe()
    assert probe.sample() == {}
    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        socket.create_connection(listening.getsockname()) as one,
        listening.accept()[0] as other,
    ):
        one.sendall(b"x" * 50_000)
        other.recv(1_000)
    values = probe.sample()
    assert values["loopback_bytes_per_s"] > 0
    assert set(values) >= {"network_sent_bytes_per_s", "network_received_bytes_per_s"}


@pytest.mark.parametrize(
    ("probe", "reads", "words"),
    [(HostProbe, "cpu_times", "cannot read the host's counters"),
     (NetworkProbe, "net_io_counters", "cannot read the network's counters")],
)  # fmt: skip
def test_a_host_whose_counters_cannot_be_read_leaves_a_gap_and_notes_and_the_others_go_on(
    probe: type[Probe], reads: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a container whose /proc is hidden for a while."""
    kept, rows, events = getattr(psutil, reads), [], []

    class Other:
        source = "other"

        def sample(self) -> dict[str, float]:
            return {"x": 1.0}

        def take_notes(self) -> list[str]:
            return []

    def gone(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "/proc/stat")

    clock = iter(float(second) for second in range(100, 200))
    lost = probe()
    sampler = Sampler(
        [lost, Other()], rows.append, lambda *event: events.append(event), t0_unix=100.0, clock=lambda: next(clock)
    )
    for second in range(9):
        monkeypatch.setattr(psutil, reads, gone if 3 <= second < 6 else kept)
        sampler.sample_once()
        time.sleep(0.02)
    assert len([row for row in rows if row["source"] == "other"]) == 9
    assert {row["t_unix"] for row in rows if row["source"] == lost.source}.isdisjoint({106.0, 108.0, 110.0})
    assert len([row for row in rows if row["source"] == lost.source]) >= 5
    (kind, _, source, told), (*_, back) = events
    assert (kind, source) == ("note", lost.source) and words in told and "Check that /proc is mounted." in told
    assert back == f"{lost.source} can be read again"


@pytest.mark.parametrize("how", ["port", "pid", "name"])
def test_a_process_is_found_by_port_pid_or_name_with_its_children(server, how):
    process, port, child = server
    name = psutil.Process(process.pid).name()
    selector = ProcessSelector(label="app", **{how: {"port": port, "pid": process.pid, "name": name}[how]})
    roots = find_roots(selector)
    assert process.pid in [root.pid for root in roots]
    assert child not in [root.pid for root in roots]
    if how != "name":  # other processes may share the name
        probe = ProcessProbe(selector)
        values = probe.sample()
        assert probe.source == "process:app"
        assert (values["processes"], values["threads"]) == (2, 2)
        assert values["rss_bytes"] > 0
        assert values["open_files"] >= 2
        assert {"cpu_cores_used", "context_switches_per_s"} <= set(probe.sample())


def test_workers_that_share_a_listening_socket_are_all_found(server):
    process, port, child = server
    assert pids_listening_on(port) == {process.pid, child}


def test_a_vanished_process_is_unavailable_and_found_again_when_restarted(server):
    process, port, child = server
    found = {"pid": process.pid}
    selector = ProcessSelector(label="app", port=port)
    probe = ProcessProbe(selector, find=lambda _: find_roots(ProcessSelector(label="app", pid=found["pid"])))
    probe.sample()
    os.kill(child, signal.SIGKILL)
    process.kill()
    process.wait()
    with pytest.raises(ProbeUnavailable, match="no process has the id"):
        probe.sample()
    with subprocess.Popen(["sleep", "60"]) as other:
        found["pid"] = other.pid
        values = probe.sample()
        assert "cpu_cores_used" not in values
        assert probe.take_notes() == [f"app was restarted: process {process.pid} is now {other.pid}"]
        assert probe.take_notes() == []
        values = probe.sample()
        assert values["cpu_cores_used"] >= 0
        assert values["restarts"] == 1
        other.kill()


class Stand:
    """Processes that sleep, and a selector that means those of them that are told."""

    def __init__(self, count: int) -> None:
        self.children = [subprocess.Popen(["sleep", "60"]) for _ in range(count)]
        self.pids = [child.pid for child in self.children]
        self.meant = self.pids[:2]
        self.now = 0.0

    def find(self, _: ProcessSelector) -> list[psutil.Process]:
        return [psutil.Process(pid) for pid in self.meant]

    def clock(self) -> float:
        return self.now

    def end(self, place: int) -> None:
        self.children[place].kill()
        self.children[place].wait()
        self.meant = [pid for pid in self.meant if pid != self.pids[place]]


@pytest.fixture
def stand() -> Iterator[Stand]:
    made = Stand(3)
    yield made
    for place in range(3):
        made.end(place)


def probe_of(stand: Stand) -> ProcessProbe:
    probe = ProcessProbe(ProcessSelector(label="app", port=1), stand.clock, stand.find)
    assert probe.sample()["processes"] == 2
    return probe


def test_one_of_several_processes_that_ends_is_an_end_and_no_restart(stand: Stand):
    first, second, _ = stand.pids
    probe = probe_of(stand)
    stand.end(0)
    stand.now = 1.0
    values = probe.sample()
    assert (values["restarts"], values["processes"]) == (0, 1) and "cpu_cores_used" in values
    assert probe.take_notes() == [f"app: process {first} ended; {second} goes on."]
    stand.now = 200.0
    assert probe.sample()["restarts"] == 0 and probe.take_notes() == []


def test_one_that_takes_the_place_of_one_that_ended_earlier_is_a_restart(stand: Stand):
    first, second, third = stand.pids
    probe = probe_of(stand)
    stand.end(0)
    stand.now = 1.0
    probe.sample()
    probe.take_notes()
    stand.meant = [second, third]
    seen = []
    for stand.now in (1.5, 2.5):  # it is looked for again after a second
        seen.append(probe.sample()["restarts"])
    assert seen == [0, 1]
    assert probe.take_notes() == [f"app was restarted: process {first} is now {third}"]


def test_a_worker_that_goes_on_without_its_parent_is_not_a_new_process(server):
    process, port, child = server
    probe = ProcessProbe(ProcessSelector(label="app", port=port))
    assert probe.sample()["processes"] == 2
    process.kill()
    process.wait()
    assert probe.sample()["restarts"] == 0
    assert probe.take_notes() == [f"app: process {process.pid} ended; {child} goes on."]


def test_the_limit_of_open_files_is_that_of_the_process_that_has_most_open():
    program = "import resource, signal; resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))\n"
    program += "files = [open('/dev/null') for _ in range(20)]; print(len(files), flush=True); signal.pause()"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        values = ProcessProbe(ProcessSelector(label="app", pid=process.pid)).sample()
        process.kill()
    assert values["open_files_limit"] == 40
    assert values["open_files_share"] == pytest.approx(values["open_files"] / 40) and values["open_files"] >= 23


def test_children_that_come_and_go_are_counted_and_a_worker_that_is_replaced_is_a_start():
    with subprocess.Popen(
        [sys.executable, "-c", "import subprocess, sys\nfor line in sys.stdin:\n"
         " c = subprocess.Popen(['sleep', '60']); print(c.pid, flush=True); sys.stdin.readline(); c.kill(); c.wait()\n"
         " print('gone', flush=True)"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        probe = ProcessProbe(ProcessSelector(label="app", pid=process.pid))
        assert probe.sample()["processes"] == 1
        counts = []
        for _ in range(2):
            process.stdin.write("go\n")
            process.stdin.flush()
            process.stdout.readline()
            values = probe.sample()
            counts.append((values["processes"], values["processes_started_per_s"] > 0))
            counts.append((probe.sample()["processes"], probe.sample()["processes_started_per_s"] > 0))
            process.stdin.write("end\n")
            process.stdin.flush()
            process.stdout.readline()
            counts.append((probe.sample()["processes"], probe.sample()["processes_started_per_s"] > 0))
        process.kill()
    assert counts == [(2, True), (2, False), (1, False)] * 2
    assert values["restarts"] == 0


def test_a_family_is_the_process_and_all_that_descend_from_it(server):
    process, _, child = server
    family = Family()
    root = psutil.Process(process.pid)
    for _ in range(2):
        assert [member.pid for member in family.members([root])] == [process.pid, child]
    assert {member.pid for member in family.members([psutil.Process()])} >= {os.getpid(), process.pid, child}
    os.kill(child, signal.SIGKILL)
    process.kill()
    process.wait()
    assert family.members([root]) == []


def facts(cpu_s: float, reaped_cpu_s: float = 0.0) -> Facts:
    return Facts(cpu_s, reaped_cpu_s, 1, 1, 1, 0, 0, 0, ((1, cpu_s),))


def test_cpu_of_children_that_ended_in_between_is_counted_once():
    before = {(1, 0.0): facts(10.0, 5.0), (2, 0.0): facts(3.0)}
    after = {(1, 0.0): facts(10.5, 8.4)}  # process 2 used another 0.4 s, ended, and was credited to its parent
    assert _rates(before, after, 1.0)["cpu_cores_used"] == pytest.approx(0.9)


def test_cpu_of_new_children_counts_from_their_birth_and_never_below_zero():
    assert _rates({(1, 0.0): facts(1.0)}, {(1, 0.0): facts(1.0), (3, 5.0): facts(0.7)}, 1.0)[
        "cpu_cores_used"
    ] == pytest.approx(0.7)
    ignored = _rates({(1, 0.0): facts(1.0), (2, 0.0): facts(9.0)}, {(1, 0.0): facts(1.2)}, 1.0)
    assert ignored["cpu_cores_used"] == pytest.approx(0.2)


@pytest.mark.parametrize(
    "selector",
    [{"pid": 2**22 + 1}, {"port": 1}, {"name": "no such process anywhere"}],
)
def test_what_is_not_there_says_what_to_do(selector):
    with pytest.raises(ProbeUnavailable, match=r"Correct|Start"):
        ProcessProbe(ProcessSelector(label="app", **selector)).sample()


def test_a_study_gets_the_probes_it_asks_for():
    processes = [ProcessSelector(label="a", pid=1), ProcessSelector(label="b", pid=2)]
    chosen = probes_for(Probes(), processes)
    always = ["host", "generator", "network"]
    assert [probe.source for probe in chosen] == [
        *always, "process:a", "process:b", "target_cores", "cgroup:a", "cgroup:b", "sockets:a", "sockets:b", "waits:a",
        "waits:b", "core_speed",
    ]  # fmt: skip
    assert all(isinstance(probe, Probe) for probe in chosen)
    assert probes_for(Probes(host=False, network=False, processes=False, core_speed=False), processes) == []
    assert [probe.source for probe in probes_for(Probes(), [])] == always


@pytest.mark.parametrize("given", ["", "  "])
def test_a_token_whose_variable_is_empty_opens_no_receiver(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = Probes.model_validate({"otlp": {"listen": "0.0.0.0", "token": "${OTLP_TOKEN}"}})
    monkeypatch.setenv("OTLP_TOKEN", given)
    with pytest.raises(InputErrors) as raised:
        probes_for(wanted, [])
    words = "probes.otlp.token: OTLP_TOKEN is set but empty, so that anyone could send. Set it (export OTLP_TOKEN=…)."
    assert [str(error) for error in raised.value.errors] == [words]
    monkeypatch.setenv("OTLP_TOKEN", "pl4nted-token")
    [receiver] = (probe for probe in probes_for(wanted, []) if probe.source == "otlp")
    assert not receiver.is_allowed("") and receiver.is_allowed("Bearer pl4nted-token")
