"""Connections that have not shown what they are for can be ended, oldest first; others are left alone."""

from __future__ import annotations

import socket

from plimsoll.probes.otlp.unproven import UnprovenConnections


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def is_ended(peer: socket.socket) -> bool:
    peer.settimeout(0.05)
    try:
        return peer.recv(1) == b""
    except TimeoutError:
        return False


def test_the_oldest_is_ended_first_and_none_that_was_proven() -> None:
    unproven = UnprovenConnections(Clock())
    pairs = [socket.socketpair() for _ in range(3)]
    for ours, _ in pairs:
        unproven.add(ours)
    unproven.remove(pairs[0][0])
    assert unproven.end_oldest() and [is_ended(theirs) for _, theirs in pairs] == [False, True, False]
    assert unproven.end_oldest() and not unproven.end_oldest()
    assert [is_ended(theirs) for _, theirs in pairs] == [False, True, True]
    for pair in pairs:
        for end in pair:
            end.close()


def test_each_has_its_time() -> None:
    clock = Clock()
    unproven = UnprovenConnections(clock)
    first, second = socket.socketpair(), socket.socketpair()
    unproven.add(first[0])
    clock.now = 5.0
    unproven.add(second[0])
    clock.now = 10.5
    unproven.end_older_than(10.0)
    assert is_ended(first[1]) and not is_ended(second[1])
    second[0].close()
    clock.now = 20.0
    unproven.end_older_than(10.0)  # one that is closed already is no error
    assert not unproven.end_oldest()
    for end in (first[0], first[1], second[1]):
        end.close()
