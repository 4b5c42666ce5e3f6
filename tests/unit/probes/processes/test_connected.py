"""Which ends of a peer's connections are other clients'."""

from __future__ import annotations

from plimsoll.probes.processes.connected import GONE_S, OWN_AGAIN_S, Connected


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_an_end_is_another_s_once_every_process_was_looked_at_since_it_came() -> None:
    clock = Clock()
    connected = Connected(lambda: {":900"}, clock)
    connected.tell("web", [":1", ":2"])
    connected.tell("db", [])
    assert connected.others("db", {":1", ":2", ":3", ":900"}) == set()  # it may be web's, made after the last look
    clock.now += 1
    connected.tell("db", [])
    assert connected.others("db", {":1", ":3"}) == set()
    connected.tell("web", [":1"])
    assert connected.others("db", {":1", ":3"}) == {":3"}
    connected.tell("web", [":1", ":3"])
    assert connected.others("db", {":1", ":3"}) == set()


def test_this_process_s_own_ends_are_none_and_are_asked_for_rarely() -> None:
    clock, asked = Clock(), []
    connected = Connected(lambda: asked.append(1) or {":900"}, clock)
    connected.tell("db", [])
    connected.others("db", {":900"})
    for _ in range(3):
        clock.now += 1
        connected.tell("db", [])
        assert connected.others("db", {":900"}) == set()
    assert len(asked) == 1
    clock.now += OWN_AGAIN_S
    connected.others("db", {":900", ":7"})
    clock.now += 1
    connected.tell("db", [])
    assert connected.others("db", {":900", ":7"}) == {":7"} and len(asked) <= 3


def test_a_process_that_is_gone_is_not_waited_for() -> None:
    clock = Clock()
    connected = Connected(set, clock)
    connected.tell("web", [])
    clock.now += GONE_S
    connected.tell("db", [])
    connected.others("db", {":3"})
    clock.now += 1
    connected.tell("db", [])
    assert connected.others("db", {":3"}) == {":3"}
