"""Whoever a script with its address inside calls on this host is probed; another host is told once."""

from __future__ import annotations

from plimsoll.study import ProcessSelector
from plimsoll.verbs.script_targets import ScriptTargets


class Load:
    """A load that has connected to these addresses."""

    def __init__(self) -> None:
        self.reached: list[tuple[str, int]] = []

    def connections(self) -> list[tuple[str, int]]:
        return self.reached


def watched() -> tuple[ScriptTargets, Load, list[list[ProcessSelector]], list[str]]:
    found: list[list[ProcessSelector]] = []
    told: list[str] = []
    targets, load = ScriptTargets(lambda some: found.append(list(some)), told.append), Load()
    targets.follow(load)
    return targets, load, found, told


def test_a_port_of_this_host_is_probed_once_it_is_called_and_only_once():
    targets, load, found, told = watched()
    targets.look()
    assert found == [] and targets.same_host is None
    load.reached = [("127.0.0.1", 8341)]
    targets.look()
    targets.look()
    ((only,),) = found
    assert (only.label, only.port, targets.same_host) == ("target", 8341, True)
    assert told == ["The script calls port 8341 of this host: who listens there is watched from now on."]


def test_a_port_that_is_called_later_has_its_own_name():
    targets, load, found, _ = watched()
    load.reached = [("127.0.0.1", 8341)]
    targets.look()
    load.reached = [("127.0.0.1", 8341), ("::1", 9000)]
    targets.look()
    assert [(one.label, one.port) for some in found for one in some] == [("target", 8341), ("port 9000", 9000)]


def test_several_ports_at_once_are_told_apart():
    targets, load, found, _ = watched()
    load.reached = [("127.0.0.1", 8341), ("127.0.0.1", 8342)]
    targets.look()
    assert [one.label for one in found[0]] == ["port 8341", "port 8342"]


def test_of_another_host_the_user_is_told_once_what_to_do():
    targets, load, found, told = watched()
    load.reached = [("192.0.2.7", 80)]
    targets.look()
    load.reached = [("192.0.2.7", 80), ("192.0.2.8", 80)]
    targets.look()
    assert found == [] and targets.same_host is False
    (hint,) = told
    assert hint.startswith("The script calls 192.0.2.7:80, which is another host") and "docs/study.md" in hint


def test_a_load_that_was_not_named_has_no_targets():
    targets = ScriptTargets(lambda some: None, lambda words: None)
    targets.look()
    assert targets.same_host is None
