"""What threads wait for: planted places of the kernel, and threads of this process that wait for a lock."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from plimsoll.probes.probe import ProbeUnavailable
from plimsoll.probes.processes.waits import WaitsProbe, kind_of
from plimsoll.study.models import ProcessSelector

APP = ProcessSelector(label="app", pid=7)


class Process:
    """What the probe asks of a process."""

    pid = 7

    def is_running(self) -> bool:
        return True


def planted(root: Path, *places: str) -> WaitsProbe:
    for thread, place in enumerate(places):
        folder = root / f"proc/7/task/{thread}"
        folder.mkdir(parents=True)
        (folder / "wchan").write_text(place)
    return WaitsProbe(APP, find=lambda _: [Process()], root=root, cpu_clock=lambda: 0.0)  # type: ignore[list-item]


def test_threads_are_counted_by_what_they_wait_for(tmp_path: Path) -> None:
    places = (
        "futex_do_wait",
        "futex_wait_queue",
        "io_schedule",
        "hrtimer_nanosleep",
        "ep_poll",
        "0",
        "inet_csk_accept",
    )
    assert planted(tmp_path, *places).sample() == {
        "threads_seen": 7, "threads_on_locks": 2, "threads_on_disk": 1, "threads_on_timers": 1,
    }  # fmt: skip


def test_the_thread_that_ran_or_waited_for_a_core_most_is_told(tmp_path: Path) -> None:
    planted(tmp_path, "futex_do_wait", "0")
    now = [0.0]
    probe = WaitsProbe(APP, lambda: now[0], lambda _: [Process()], tmp_path, lambda: 0.0)  # type: ignore[list-item]
    for second, ready in ((0.0, 5_000_000_000), (2.0, 6_900_000_000)):
        now[0] = second
        (tmp_path / "proc/7/task/0/schedstat").write_text("1000 10 3")
        (tmp_path / "proc/7/task/1/schedstat").write_text(f"{ready - 10**9} {10**9} 7")
        values = probe.sample()
    assert values["busiest_thread_ready_share"] == pytest.approx(0.95)
    assert values["known_threads_cores_used"] == pytest.approx(0.95), "of these two seconds: what was run, not waited"


def test_a_thread_that_came_since_is_none_that_was_known(tmp_path: Path) -> None:
    planted(tmp_path, "futex_do_wait", "0")
    now = [0.0]
    probe = WaitsProbe(APP, lambda: now[0], lambda _: [Process()], tmp_path, lambda: 0.0)  # type: ignore[list-item]
    (tmp_path / "proc/7/task/0/schedstat").write_text("1000 10 3")
    probe.sample()
    now[0] = 1.0
    (tmp_path / "proc/7/task/0/schedstat").write_text("200001000 100000010 3")
    (tmp_path / "proc/7/task/1/schedstat").write_text("900000000 0 1")
    values = probe.sample()
    assert values["busiest_thread_ready_share"] == pytest.approx(0.3)
    assert values["known_threads_cores_used"] == pytest.approx(0.2)


def test_a_kernel_that_tells_no_places_gives_no_values(tmp_path: Path) -> None:
    assert planted(tmp_path, "0", "0").sample() == {}


def test_a_process_that_is_gone_is_data(tmp_path: Path) -> None:
    with pytest.raises(ProbeUnavailable, match="no threads"):
        planted(tmp_path).sample()


def test_a_sample_that_took_long_is_followed_by_seconds_without(tmp_path: Path) -> None:
    now, cpu = [0.0], [0.0]
    planted(tmp_path, "futex_do_wait")

    def cpu_clock() -> float:
        cpu[0] += 0.006
        return cpu[0]

    probe = WaitsProbe(APP, lambda: now[0], lambda _: [Process()], tmp_path, cpu_clock)  # type: ignore[list-item]
    assert probe.sample()
    now[0] = 1.0
    assert probe.sample() == {}
    now[0] = 5.0
    assert probe.sample()


@pytest.mark.parametrize(("place", "kind"), [("do_semtimedop", "locks"), ("throtl_x", "disk"), ("wait_woken", "other")])
def test_places_have_kinds(place: str, kind: str) -> None:
    assert kind_of(place) == kind


@contextmanager
def waiting(count: int) -> Iterator[None]:
    lock = threading.Lock()
    begun = threading.Barrier(count + 1)

    def want() -> None:
        begun.wait()
        with lock:
            pass

    threads = [threading.Thread(target=want) for _ in range(count)]
    with lock:
        for thread in threads:
            thread.start()
        begun.wait()
        yield
    for thread in threads:
        thread.join()


@pytest.mark.skipif(not Path("/proc/self/wchan").exists(), reason="this system tells no places")
def test_threads_of_this_process_that_wait_for_a_lock_are_seen() -> None:
    me = WaitsProbe(ProcessSelector(label="me", pid=os.getpid()), lambda: 0.0, cpu_clock=lambda: 0.0)
    assert psutil.pid_exists(os.getpid())
    with waiting(4):
        seen = [me.sample().get("threads_on_locks", 4.0) for _ in range(200)]
    assert max(seen) >= 4
