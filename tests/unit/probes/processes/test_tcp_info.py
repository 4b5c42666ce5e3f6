"""When connections last sent and received: recorded messages of the kernel, and a real pair of sockets."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

from plimsoll.probes.processes.tcp_info import (
    ESTABLISHED,
    KEPT_S,
    LISTENING,
    SocketTable,
    connection_of,
    connections,
    read_answer,
    request,
)


def message(inode: int, sent_ms: int, received_ms: int, state: int = ESTABLISHED, remote_port: int = 5432) -> bytes:
    info = bytearray(104)
    struct.pack_into("=I", info, 8 + 4 * 9, sent_ms)
    struct.pack_into("=I", info, 8 + 4 * 11, received_ms)
    body = struct.pack(
        "!BBxxHH16s16s12x", socket.AF_INET, state, 40000, remote_port, bytes(16), bytes([10, 0, 0, 2]) + bytes(12)
    )
    body += struct.pack("=4xIIII", 3, 17, 0, inode) + struct.pack("=HH", 4 + len(info), 2) + info
    return struct.pack("=LHHLL", 16 + len(body), 20, 2, 1, 0) + body


DONE = struct.pack("=LHHLL", 20, 3, 2, 1, 0) + bytes(4)


def test_an_answer_is_read_by_inode() -> None:
    found: dict[int, bytes] = {}
    assert not read_answer(message(7, 5, 900) + message(8, 1, 1) + message(9, 400, 20) + DONE, found)
    assert list(found) == [7, 8, 9]
    first, second = connection_of(found[7]), connection_of(found[9])
    assert (first.inode, first.remote, first.received, first.unsent) == ("7", "10.0.0.2:5432", 3, 17)
    assert first.has_sent_last and not first.has_received_last
    assert second.has_received_last and not second.has_sent_last
    more: dict[int, bytes] = {}
    assert read_answer(message(8, 4, 4), more)
    same = connection_of(more[8])
    assert not same.has_sent_last and not same.has_received_last


IN_ITS_OWN = """
import os, socket
one = socket.create_server(("127.0.0.1", 8080))
print(os.fstat(one.fileno()).st_ino, flush=True)
input()
"""


def test_several_processes_that_are_looked_at_at_once_cost_one_question(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []
    now = [100.0]

    def ask(*_: object) -> dict[int, bytes]:
        asked.append(now[0])
        found: dict[int, bytes] = {}
        read_answer(message(7, 5, 900) + message(9, 400, 20) + DONE, found)
        return found

    monkeypatch.setattr("plimsoll.probes.processes.tcp_info.asked", ask)
    table = SocketTable(lambda: now[0])
    assert [one.inode for one in table.connections({"7", "8"}) or []] == ["7"]
    assert [one.inode for one in table.connections({"9"}) or []] == ["9"]
    now[0] += 1.01 * KEPT_S
    table.connections({"9"})
    assert len(asked) == 2


def test_a_listening_socket_has_no_remote_address() -> None:
    found: dict[int, bytes] = {}
    read_answer(message(7, 0, 0, LISTENING), found)
    listening = connection_of(found[7])
    assert listening.remote == "" and listening.state == LISTENING


def test_a_kernel_that_refuses_is_an_error_of_the_system() -> None:
    with pytest.raises(OSError, match="no sockets"):
        read_answer(struct.pack("=LHHLLi", 20, 2, 0, 1, 0, -2), {})
    assert len(request(socket.AF_INET)) == 72


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="netlink is Linux's")
def test_who_waits_for_an_answer_is_seen_of_a_real_connection() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        accepted, _ = server.accept()
        with accepted:
            inodes = {
                name: str(os.fstat(one.fileno()).st_ino) for name, one in (("client", client), ("server", accepted))
            }
            time.sleep(0.05)
            client.sendall(b"?")
            accepted.recv(1)
            seen = {one.inode: one for one in connections(inodes.values()) or []}
            if not seen:
                pytest.skip("this kernel tells no sockets")
            assert seen[inodes["client"]].has_sent_last
            time.sleep(0.05)
            accepted.sendall(b"!")
            client.recv(1)
            seen = {one.inode: one for one in connections(inodes.values()) or []}
            assert seen[inodes["client"]].has_received_last


def test_sockets_of_another_network_namespace_are_told_to_who_may_enter_it() -> None:
    unshare = ["unshare", "--net", sys.executable, "-c", IN_ITS_OWN]
    with subprocess.Popen(unshare, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True) as other:
        try:
            inode = (other.stdout.readline() if other.stdout else "").strip()
            if not inode:
                pytest.skip("this user may make no network namespace")
            namespace = Path(f"/proc/{other.pid}/ns/net")
            found = connections([inode], namespace)
            assert found is not None and [one.state for one in found] == [LISTENING]
            assert connections([inode]) == []  # in the own one there is no such socket
        finally:
            other.kill()


def test_a_namespace_that_is_gone_tells_nothing(tmp_path: Path) -> None:
    assert connections(["1"], tmp_path / "net") is None
    (tmp_path / "net").symlink_to("net:[1]")
    assert connections(["1"], tmp_path / "net") is None
