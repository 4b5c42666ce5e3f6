"""Which of the target's connections lead to a peer, where the kernel or the user's rights tell less."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from plimsoll.probes.processes import peers
from plimsoll.probes.processes.connected import Callee
from plimsoll.study.models import ProcessSelector

FRONT = ProcessSelector(label="front", port=80)


class Looked:
    """Peers of a front that is connected to `callees`, on a host whose listening ports, seen processes and users are
    given; process N listens on port N, as user N."""

    def __init__(self, set_: Callable[..., None], listening: set[int], seen: set[int], users: set[int]) -> None:
        def process(pid: int) -> Any:
            return SimpleNamespace(pid=pid, name=lambda: "redis")

        set_(peers, "listening", lambda: {port: [(str(port), port)] for port in listening})
        set_(peers, "roots_holding", lambda inodes: [process(int(one)) for one in inodes if int(one) in seen])
        set_(peers, "only_root_of_user", lambda user: [process(user)] if user in users else [])
        set_(peers, "process_tree", lambda root, pids: list(pids))
        self.found: list[ProcessSelector] = []
        self.told: list[str] = []
        self.front = SimpleNamespace(callees=set(), pids=[80])
        self._peers = peers.Peers(
            lambda: [self.front], self.found.extend, self.told.append, lambda: [FRONT, *self.found]
        )

    def calls(self, *ports: int) -> Looked:
        self.front.callees |= {Callee(port) for port in ports}
        self._peers.look()
        return self


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Looked]:
    return lambda listening, seen=(), users=(): Looked(monkeypatch.setattr, set(listening), set(seen), set(users))


def test_what_nobody_listens_on_is_a_connection_that_was_accepted(looked: Callable[..., Looked]) -> None:
    found = looked([], seen=[45_001]).calls(45_001, 45_002)
    assert found.found == [] and found.told == []


def test_of_another_user_s_socket_the_process_above_all_of_that_user_is_taken_by_its_id(
    looked: Callable[..., Looked],
) -> None:
    found = looked([5432], users=[5432]).calls(5432)
    assert [(one.label, one.pid, one.port) for one in found.found] == [("redis", 5432, None)]


def test_whose_process_may_not_be_seen_is_told_once_and_not_counted(looked: Callable[..., Looked]) -> None:
    found = looked([5432]).calls(5432).calls()
    [told] = found.told
    assert found.found == [] and "port 5432" in told and "its CPU is not counted" in told


def test_a_watched_port_is_no_peer_and_names_that_are_taken_get_their_port(looked: Callable[..., Looked]) -> None:
    found = looked([80, 6379, 6380], seen=[6379, 6380]).calls(80, 6379).calls(6380)
    assert [(one.label, one.port) for one in found.found] == [("redis", 6379), ("redis port 6380", 6380)]


def test_no_more_than_eight_are_watched_and_that_is_told(looked: Callable[..., Looked]) -> None:
    ports = range(1000, 1000 + peers.MOST_PEERS + 3)
    found = looked(ports, seen=ports).calls(*ports)
    assert len(found.found) == peers.MOST_PEERS and "more than 8 other processes" in found.told[0]
