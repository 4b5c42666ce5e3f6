"""Whom the kernel killed for memory: the target or a neighbour, and a target that is gone together with its group."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from plimsoll.probes import ProbeUnavailable
from plimsoll.probes.processes.cgroup import CgroupProbe
from plimsoll.study import ProcessSelector

MIB = 2**20


class Host:
    """Planted files, and a process of the target that may end and come back; a second passes with each look."""

    def __init__(self, root: Path) -> None:
        self.root, self.pid, self.is_there, self.now = root, 4711, True, 0.0
        self.probe = CgroupProbe(ProcessSelector(label="app", pid=4711), root, self._tick, self._find)  # type: ignore[arg-type]

    def is_running(self) -> bool:
        return self.is_there

    def _find(self, _: ProcessSelector) -> list[Host]:
        if not self.is_there:
            raise ProbeUnavailable("app: no process has the id 4711.")
        return [self]

    def _tick(self) -> float:
        self.now += 1.0
        return self.now

    def write(self, folder: str, **files: object) -> None:
        (self.root / folder).mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (self.root / folder / name.replace("__", ".")).write_text(f"{text}\n")

    def move(self, place: str) -> None:
        self.write(f"proc/{self.pid}", cgroup=place)

    def group_2(self, path: str, kills: int, limit: object = "max", **files: object) -> None:
        self.write(f"sys/fs/cgroup/{path}", memory__max=limit, memory__current=200 * MIB, memory__stat="anon 1",
                   memory__events=f"low 0\nhigh 0\nmax 0\noom 0\noom_kill {kills}", **files)  # fmt: skip

    def group_1(self, path: str, kills: int, limit: int = 256 * MIB) -> None:
        self.write(f"sys/fs/cgroup/memory/{path}", memory__limit_in_bytes=limit, memory__usage_in_bytes=200 * MIB,
                   memory__oom_control=f"oom_kill_disable 0\nunder_oom 0\noom_kill {kills}")  # fmt: skip

    def end(self, *folders: str) -> None:
        self.is_there = False
        shutil.rmtree(self.root / f"proc/{self.pid}")
        for folder in folders:
            shutil.rmtree(self.root / "sys/fs/cgroup" / folder)

    def killed_per_s(self) -> float | None:
        return self.probe.sample().get("oom_kills_per_s")


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def in_a_slice(host: Host, own: int, around: int, limit: object = 256 * MIB, around_limit: object = "max") -> None:
    host.move("0::/system.slice/app.service")
    host.group_2("system.slice/app.service", own, limit)
    host.group_2("system.slice", around, around_limit)


def test_a_kill_in_another_service_of_the_slice_is_not_the_target_s(host: Host) -> None:
    in_a_slice(host, own=0, around=7)
    host.probe.sample()
    in_a_slice(host, own=0, around=8)
    assert host.killed_per_s() == 0
    assert host.probe.take_notes() == []


def test_a_kill_beside_the_target_is_told_in_words_where_it_shares_the_limit(host: Host) -> None:
    shared = {"limit": "max", "around_limit": 512 * MIB}
    in_a_slice(host, 0, 3, **shared)
    host.probe.sample()
    in_a_slice(host, 0, 4, **shared)
    assert host.killed_per_s() == 0
    [note] = host.probe.take_notes()
    assert note.startswith("the kernel killed a process beside app for memory, in the control group /system.slice")
    assert "limit of 512 MiB" in note


def test_a_kill_by_the_limit_of_a_group_around_counts_where_the_target_was_killed(host: Host) -> None:
    shared = {"limit": "max", "around_limit": 512 * MIB}
    in_a_slice(host, 1, 3, **shared)
    host.probe.sample()
    in_a_slice(host, 2, 4, **shared)
    assert host.killed_per_s() == 1
    assert host.probe.take_notes() == ["the kernel killed a process of app for memory, at a limit of 512 MiB."]


def test_a_group_without_the_memory_controller_counts_in_the_one_around_it(host: Host) -> None:
    host.move("0::/session/shell")
    host.write("sys/fs/cgroup/session/shell", cgroup__procs="4711")
    host.group_2("session", 0, 256 * MIB)
    host.probe.sample()
    host.group_2("session", 1, 256 * MIB)
    assert host.killed_per_s() == 1


@pytest.mark.parametrize("version", [1, 2])
def test_a_killed_process_that_stays_dead_is_told_once_by_the_group_that_stands(host: Host, version: int) -> None:
    def kills(count: int) -> None:
        if version == 2:
            host.group_2("app.service", count, 256 * MIB)
        else:
            host.group_1("app.service", count)

    host.move("0::/app.service" if version == 2 else "4:memory:/app.service")
    kills(1)
    host.probe.sample()
    host.end()
    kills(2)
    assert host.probe.sample() == {"oom_kills_per_s": 1, "memory_limit_bytes": 256 * MIB}
    assert host.probe.take_notes() == ["the kernel killed a process of app for memory, at a limit of 256 MiB."]
    with pytest.raises(ProbeUnavailable, match="no process"):
        host.probe.sample()
    assert host.probe.take_notes() == []


def test_a_process_that_ended_by_itself_has_a_gap_and_nothing_was_killed(host: Host) -> None:
    in_a_slice(host, 0, 0)
    host.probe.sample()
    host.end()
    for _ in range(2):
        with pytest.raises(ProbeUnavailable, match="no process"):
            host.probe.sample()
    assert host.probe.take_notes() == []


def test_kills_of_a_group_that_was_made_anew_and_counts_from_zero_are_counted(host: Host) -> None:
    host.move("4:memory:/docker/abc")
    host.group_1("docker/abc", 0)
    host.probe.sample()
    host.group_1("docker/abc", 1)
    assert host.killed_per_s() == 1
    shutil.rmtree(host.root / "sys/fs/cgroup/memory/docker/abc")
    host.group_1("docker/abc", 0)
    assert host.killed_per_s() == 0
    host.group_1("docker/abc", 1)
    assert host.killed_per_s() == 1
    assert len(host.probe.take_notes()) == 2


def test_a_service_that_is_back_before_the_next_look_was_killed_where_its_slice_counted_one(host: Host) -> None:
    in_a_slice(host, own=2, around=5)
    host.probe.sample()
    shutil.rmtree(host.root / "sys/fs/cgroup/system.slice/app.service")
    host.pid = 4800
    in_a_slice(host, own=0, around=6)
    assert host.killed_per_s() == 1
    [note] = host.probe.take_notes()
    assert "in the control group /system.slice in the moment in which the control group of app in it ended" in note
    assert "most likely of app" in note


def test_a_container_whose_successor_has_another_group_was_killed_where_its_pod_counted_one(host: Host) -> None:
    def pod(container: str, kills: int) -> None:
        host.move(f"0::/pod/{container}")
        host.group_2(f"pod/{container}", 0, 256 * MIB)
        host.group_2("pod", kills)

    pod("first", 0)
    host.probe.sample()
    host.end("pod/first")
    host.is_there, host.pid = True, 4800
    pod("second", 1)
    assert host.killed_per_s() == 1
    pod("second", 1)
    assert host.killed_per_s() == 0


@pytest.mark.parametrize(
    ("version", "words"),
    [(1, "whether it was killed for memory is not known. See the system's log"), (2, "no kill for memory was counted")],
)
def test_a_group_that_vanished_with_its_process_is_noted_once(host: Host, version: int, words: str) -> None:
    if version == 2:
        in_a_slice(host, 0, 3)
    else:
        host.move("4:memory:/system.slice/app.service")
        host.group_1("system.slice", 0)
        host.group_1("system.slice/app.service", 0)
    host.probe.sample()
    host.end("system.slice/app.service" if version == 2 else "memory/system.slice/app.service")
    notes = []
    for _ in range(2):
        with pytest.raises(ProbeUnavailable):
            host.probe.sample()
        notes += host.probe.take_notes()
    [note] = notes
    assert note.startswith("the control group of app vanished together with its process") and words in note


def test_a_process_that_is_ending_is_not_looked_for_in_the_top_group_where_cgroup_1_shows_it(host: Host) -> None:
    host.move("4:memory:/app")
    host.group_1("app", 0)
    host.group_1("", 0, limit=2**63 - 4096)
    host.probe.sample()
    host.move("4:memory:/")
    host.write("proc/4711", stat="4711 (a (b) c) Z 1 4711 4711 0 -1 4228364 0 0")
    host.group_1("app", 1)
    assert host.probe.sample() == {"oom_kills_per_s": 1, "memory_limit_bytes": 256 * MIB}


def places() -> list[tuple[str, str, Callable[[Host], None]]]:
    def plimsolls_own(host: Host) -> None:
        host.group_2("", 0, 100 * MIB, cpu__max="50000 100000")

    def plimsolls_own_1(host: Host) -> None:
        host.group_1("", 0, 100 * MIB)

    return [
        ("0::/../other", "0::/", plimsolls_own),
        ("4:memory:/docker/other", "4:memory:/docker/plimsoll", plimsolls_own_1),
    ]


@pytest.mark.parametrize(("place", "own", "plant"), places())
def test_a_process_of_another_container_does_not_get_the_limits_of_plimsoll_s_own(
    host: Host, place: str, own: str, plant: Callable[[Host], None]
) -> None:
    host.move(place)
    host.write("proc/self", cgroup=own)
    plant(host)
    with pytest.raises(ProbeUnavailable, match="cannot be seen from here") as raised:
        host.probe.sample()
    assert "Run Plimsoll on the host itself" in str(raised.value)


def test_a_process_of_the_same_container_has_its_limits_where_the_path_is_not_shown(host: Host) -> None:
    host.move("4:memory:/docker/abc/worker")
    host.write("proc/self", cgroup="4:memory:/docker/abc")
    host.group_1("", 0, 300 * MIB)
    host.group_1("worker", 0, 200 * MIB)
    assert host.probe.sample()["memory_limit_bytes"] == 200 * MIB


def test_a_number_of_another_group_is_no_rate_of_this_one(host: Host) -> None:
    for path, used_s in (("one", 5), ("two", 500)):
        host.move(f"0::/{path}")
        host.group_2(path, 0, cpu__max="max 100000", cpu__stat=f"usage_usec {used_s}000000")
        values = host.probe.sample()
    assert "cpu_cores_used" not in values
