"""Connections of a process: planted kernel files, and a real server of this process."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import psutil
import pytest

from plimsoll.probes.probe import ProbeUnavailable
from plimsoll.probes.processes.resting import MOST_SHARE
from plimsoll.probes.processes.sockets import SocketsProbe
from plimsoll.study.models import ProcessSelector

HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"


def line(local: str, remote: str, state: str, inode: int, waiting: int = 0) -> str:
    return f"   0: {local} {remote} {state} 00000000:{waiting:08X} 00:00000000 00000000     0        0 {inode} 1 0\n"


class Process:
    """What the probe asks of a process."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def is_running(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.now, self.step = 0.0, 0.0

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def planted(tmp_path: Path, tcp: str, inodes: tuple[int, ...]) -> Path:
    (tmp_path / "proc/net").mkdir(parents=True)
    (tmp_path / "proc/net/tcp").write_text(HEAD + tcp)
    (tmp_path / "proc/7/fd").mkdir(parents=True)
    for number, inode in enumerate(inodes):
        (tmp_path / f"proc/7/fd/{number}").symlink_to(f"socket:[{inode}]")
    return tmp_path


def test_queue_and_connections_of_the_process_alone(tmp_path: Path) -> None:
    mine, other = "0100007F:1F90", "0100007F:1F91"  # ports 8080 and 8081 of 127.0.0.1
    database = "0200000A:1538"  # 10.0.0.2:5432
    root = planted(
        tmp_path,
        line(mine, "00000000:0000", "0A", 1, waiting=17)
        + line(other, "00000000:0000", "0A", 2, waiting=99)
        + "".join(line(mine, f"0100007F:{0xC000 + n:04X}", "01", 10 + n) for n in range(3))
        + line(mine, "0100007F:C100", "06", 0)  # TIME_WAIT
        + "".join(line(f"0100000A:{0xD000 + n:04X}", database, "01", 20 + n) for n in range(5))
        + line("0100000A:D100", database, "01", 99),
        (1, *range(10, 13), *range(20, 25)),
    )
    clock = Clock()
    probe = SocketsProbe(ProcessSelector(label="app", pid=7), clock, lambda _: [Process(7)], root)  # type: ignore[list-item]
    assert probe.sample() == {
        "accept_queue": 17,
        "connections_in": 3,
        "connections_sending": 0,
        "connections_sending_local": 0,
        "listens_on_8080": 1,
        "connections_out": 5,
        "connections_to_10.0.0.2:5432": 5,
    }
    assert probe.source == "sockets:app"


def line_of(local: str, remote: str, inode: int, unsent: int = 0) -> str:
    return line(local, remote, "01", inode).replace("00000000:", f"{unsent:08X}:", 1)


def test_answers_that_wait_on_loopback_are_counted_apart(tmp_path: Path) -> None:
    mine, own = "0100007F:1F90", "0200000A:1F90"  # port 8080 of 127.0.0.1 and of 10.0.0.2
    tcp = (
        line("00000000:1F90", "00000000:0000", "0A", 1)
        + line_of(mine, "0100007F:C000", 10, unsent=9)
        + line_of(own, "0200000A:C001", 11, unsent=9)  # from this host's address to itself
        + line_of(own, "0300000A:C002", 12, unsent=9)
    )
    root = planted(tmp_path, tcp, (1, 10, 11, 12))
    probe = SocketsProbe(ProcessSelector(label="app", pid=7), Clock(), lambda _: [Process(7)], root)  # type: ignore[list-item]
    found = probe.sample()
    assert (found["connections_sending"], found["connections_sending_local"]) == (3, 2)


def test_connections_that_the_last_look_did_not_find_are_new(tmp_path: Path) -> None:
    mine, database = "0100007F:1F90", "0200000A:1538"
    tcp = "".join(line(mine, f"0100007F:{0xC000 + n:04X}", "01", 10 + n) for n in range(6))
    tcp += "".join(line(f"0100000A:{0xD000 + n:04X}", database, "01", 20 + n) for n in range(3))
    root = planted(tmp_path, line(mine, "00000000:0000", "0A", 1) + tcp, (1, 10, 11, 20, 21))
    clock = Clock()
    probe = SocketsProbe(ProcessSelector(label="app", pid=7), clock, lambda _: [Process(7)], root)  # type: ignore[list-item]
    assert "connections_in_new" not in probe.sample()
    folder = root / "proc/7/fd"
    (folder / "1").unlink()
    for number, inode in ((7, 12), (8, 13), (9, 22)):
        (folder / str(number)).symlink_to(f"socket:[{inode}]")
    clock.now += 1
    found = probe.sample()
    assert (found["connections_in"], found["connections_in_new"], found["new_to_10.0.0.2:5432"]) == (3, 2, 1)


def test_a_sample_that_took_long_is_followed_by_seconds_without(tmp_path: Path) -> None:
    clock, cpu = Clock(), Clock()
    root = planted(tmp_path, "", (1,))
    probe = SocketsProbe(ProcessSelector(label="app", pid=7), clock, lambda _: [Process(7)], root, cpu)  # type: ignore[list-item]
    cpu.step = 0.01
    assert probe.sample()["connections_in"] == 0
    clock.now += 0.5 * 0.01 / MOST_SHARE
    assert probe.sample() == {}
    clock.now += 0.01 / MOST_SHARE
    assert probe.sample() != {}


def test_sockets_of_children_count(tmp_path: Path) -> None:
    root = planted(tmp_path, line("0100007F:1F90", "00000000:0000", "0A", 5, waiting=2), (1,))
    (tmp_path / "proc/7/task/7").mkdir(parents=True)
    (tmp_path / "proc/7/task/7/children").write_text("8 ")
    (tmp_path / "proc/8/fd").mkdir(parents=True)
    (tmp_path / "proc/8/fd/3").symlink_to("socket:[5]")
    probe = SocketsProbe(ProcessSelector(label="app", pid=7), find=lambda _: [Process(7)], root=root)  # type: ignore[list-item]
    assert probe.sample()["accept_queue"] == 2


def test_a_process_whose_sockets_may_not_be_read_is_data(tmp_path: Path) -> None:
    probe = SocketsProbe(ProcessSelector(label="app", pid=7), find=lambda _: [Process(7)], root=tmp_path)  # type: ignore[list-item]
    with pytest.raises(ProbeUnavailable, match="Run as the target's user"):
        probe.sample()


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="without /proc there is nothing to read")
def test_a_real_server_that_does_not_accept_has_a_queue() -> None:
    server = socket.create_server(("127.0.0.1", 0), backlog=16)
    clients = [socket.create_connection(server.getsockname()) for _ in range(3)]
    try:
        me = ProcessSelector(label="me", pid=os.getpid())
        probe = SocketsProbe(me, find=lambda _: [psutil.Process()])
        values = probe.sample()
        assert values["accept_queue"] >= 3
        assert values[f"connections_to_127.0.0.1:{server.getsockname()[1]}"] == 3
    finally:
        for one in (*clients, server):
            one.close()
