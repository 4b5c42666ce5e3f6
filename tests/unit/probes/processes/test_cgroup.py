"""Control groups: recorded files of both versions under a planted root, and this machine's own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plimsoll.probes import ProbeUnavailable
from plimsoll.probes.processes.cgroup import CgroupProbe
from plimsoll.study import ProcessSelector


class Process:
    """A process that is there."""

    pid = 4711

    def is_running(self) -> bool:
        return True


class Ticks:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 2.0
        return self.now


def probe_of(root: Path) -> CgroupProbe:
    selector = ProcessSelector(label="app", pid=4711)
    return CgroupProbe(selector, root, Ticks(), lambda _: [Process()])  # type: ignore[list-item]


def write(folder: Path, **files: object) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(f"{text}\n")


def version_2(root: Path, grown: int) -> Path:
    """systemd's tree: the limit of CPU is on the slice, that of memory on the service."""
    write(root / "proc/4711", cgroup="0::/app.slice/web.service")
    top = root / "sys/fs/cgroup"
    write(top, cpu__stat="usage_usec 1")
    slice_folder, service = top / "app.slice", top / "app.slice/web.service"
    stat = "usage_usec {}\nuser_usec 1\nnr_periods {}\nnr_throttled {}\nthrottled_usec {}"
    write(slice_folder, cpu__max="50000 100000", memory__max="max", memory__current=500_000_000,
          cpu__stat=stat.format(10_000_000 + 900_000 * grown, 20 * grown, 15 * grown, 1_200_000 * grown),
          memory__events=f"low 0\nhigh 0\nmax 0\noom 0\noom_kill {grown}", memory__stat="inactive_file 0")  # fmt: skip
    write(service, cpu__max="max 100000", memory__max=268_435_456, memory__current=260_000_000,
          cpu__stat=stat.format(1_000_000 * grown, 0, 0, 0), memory__stat="anon 1\ninactive_file 10000000",
          memory__events=f"low 0\nhigh 0\nmax {40 * grown}\noom 1\noom_kill {grown}",
          pids__current=12, pids__max="100",
          cpu__pressure=f"some avg10=1.00 avg60=0.00 total={500_000 * grown}\nfull avg10=0 total=0")  # fmt: skip
    return root


def test_version_2_takes_each_limit_where_it_is_set(tmp_path: Path) -> None:
    probe = probe_of(version_2(tmp_path, 0))
    first = probe.sample()
    assert first == {
        "cpu_limit_cores": 0.5, "memory_used_bytes": 250_000_000, "memory_limit_bytes": 268_435_456,
        "memory_share": pytest.approx(0.931, abs=1e-3), "processes": 12, "processes_limit": 100,
        "processes_share": 0.12,
    }  # fmt: skip
    version_2(tmp_path, 1)
    values = probe.sample()
    assert values["cpu_cores_used"] == pytest.approx(0.45)
    assert values["cpu_limit_share"] == pytest.approx(0.9)
    assert values["cpu_throttled_share"] == pytest.approx(0.6)
    assert values["cpu_throttled_periods_share"] == pytest.approx(0.75)
    assert values["memory_limit_hits_per_s"] == pytest.approx(20)
    assert values["oom_kills_per_s"] == pytest.approx(0.5)
    assert values["cpu_pressure_share"] == pytest.approx(0.25)
    assert probe.take_notes() == ["the kernel killed a process of app for memory, at a limit of 256 MiB."]


def version_1(root: Path, grown: int) -> Path:
    """Docker's tree, with the controllers apart."""
    path = "docker/abc"
    write(root / "proc/4711", cgroup=f"4:memory:/{path}\n3:cpuacct:/{path}\n2:cpu:/{path}\n1:pids:/{path}")
    top = root / "sys/fs/cgroup"
    for controller in ("cpu", "cpuacct", "memory", "pids"):
        write(top / controller, cpu__cfs_quota_us=-1, memory__limit_in_bytes=9223372036854771712)
    write(
        top / "cpu" / path,
        cpu__cfs_quota_us=25_000,
        cpu__cfs_period_us=100_000,
        cpu__stat=f"nr_periods {20 * grown}\nnr_throttled {20 * grown}\nthrottled_time {3 * grown}000000000",
    )
    write(top / "cpuacct" / path, cpuacct__usage=7_000_000_000 + 500_000_000 * grown)
    write(top / "memory" / path, memory__limit_in_bytes=104_857_600, memory__usage_in_bytes=100_000_000,
          memory__stat="cache 1\ntotal_inactive_file 20000000", memory__failcnt=10 * grown,
          memory__oom_control=f"oom_kill_disable 0\nunder_oom 0\noom_kill {2 * grown}")  # fmt: skip
    write(top / "pids" / path, pids__current=3, pids__max="max")
    return root


def test_version_1_reads_the_controllers_where_they_are(tmp_path: Path) -> None:
    probe = probe_of(version_1(tmp_path, 0))
    assert "cpu_cores_used" not in probe.sample()
    version_1(tmp_path, 1)
    values = probe.sample()
    assert values["cpu_cores_used"] == pytest.approx(0.25)
    assert (values["cpu_limit_cores"], values["cpu_limit_share"]) == (0.25, pytest.approx(1.0))
    assert values["cpu_throttled_share"] == pytest.approx(1.5)
    assert (values["memory_used_bytes"], values["memory_limit_bytes"]) == (80_000_000, 104_857_600)
    assert values["memory_limit_hits_per_s"] == pytest.approx(5)
    assert values["processes"] == 3
    assert "processes_limit" not in values
    assert probe.take_notes() == ["the kernel killed 2 processes of app for memory, at a limit of 100 MiB."]


def test_version_1_tells_what_may_be_written_and_the_share_of_it_that_was(tmp_path: Path) -> None:
    probe = probe_of(tmp_path)
    values: dict[str, float] = {}
    for written in (0, 1_900_000):
        root = version_1(tmp_path, 1)
        write(root / "proc/4711", cgroup="5:blkio:/slow\n3:cpuacct:/docker/abc\n2:cpu:/docker/abc")
        write(root / "sys/fs/cgroup/blkio")
        write(root / "sys/fs/cgroup/blkio/slow", blkio__throttle__write_bps_device="254:0 1000000",
              blkio__throttle__io_service_bytes=f"254:0 Read 0\n254:0 Write {written}\nTotal {written}")  # fmt: skip
        values = probe.sample()
    assert values["disk_limit_share"] == pytest.approx(0.95) and values["disk_limit_bytes_per_s"] == 1_000_000


def test_version_2_tells_the_nearest_of_the_limits_of_a_disk(tmp_path: Path) -> None:
    probe = probe_of(tmp_path)
    values: dict[str, float] = {}
    for done in (0, 180):
        write(tmp_path / "proc/4711", cgroup="0::/app")
        write(tmp_path / "sys/fs/cgroup")
        write(tmp_path / "sys/fs/cgroup/app", io__max="8:0 rbps=max wbps=1048576 riops=max wiops=100",
              io__stat=f"8:0 rbytes=0 wbytes={1000 * done} rios=0 wios={done} dbytes=0 dios=0")  # fmt: skip
        values = probe.sample()
    assert values == {"disk_limit_share": pytest.approx(0.9), "disk_limit_operations_per_s": 100}


def nested_disks(root: Path, inner: str, outer: str, own: int, all_of_them: int) -> None:
    write(root / "proc/4711", cgroup="0::/pod/app")
    write(root / "sys/fs/cgroup")
    write(root / "sys/fs/cgroup/pod", io__max=outer, io__stat=f"8:0 rbytes=0 wbytes={all_of_them} rios=0 wios=0")
    write(root / "sys/fs/cgroup/pod/app", io__max=inner, io__stat=f"8:0 rbytes=0 wbytes={own} rios=0 wios=0")


@pytest.mark.parametrize(
    ("own", "all_of_them", "share", "limit"),
    [(1_800_000, 1_800_000, 0.9, 1_000_000), (200_000, 7_600_000, 0.95, 4_000_000)],  # the inner one; the shared one
)
def test_of_nested_limits_of_a_disk_the_nearest_is_told(
    tmp_path: Path, own: int, all_of_them: int, share: float, limit: int
) -> None:
    probe = probe_of(tmp_path)
    for part in (0, 1):
        nested_disks(tmp_path, "8:0 wbps=1000000", "8:0 wbps=4000000", part * own, part * all_of_them)
        values = probe.sample()
    assert (values["disk_limit_share"], values["disk_limit_bytes_per_s"]) == (pytest.approx(share), limit)


def test_a_limit_of_a_disk_that_is_set_during_the_run_is_seen(tmp_path: Path) -> None:
    probe = probe_of(tmp_path)
    nested_disks(tmp_path, "", "", 0, 0)
    assert "disk_limit_share" not in probe.sample()
    for written in (0, 1_000_000):
        nested_disks(tmp_path, "8:0 wbps=1000000", "", written, written)
        values = probe.sample()
    assert values["disk_limit_share"] == pytest.approx(0.5)


def test_a_limit_of_a_disk_in_version_1_counts_in_its_own_group_alone(tmp_path: Path) -> None:
    write(tmp_path / "proc/4711", cgroup="5:blkio:/outer/inner")
    write(tmp_path / "sys/fs/cgroup/blkio/outer/inner", blkio__throttle__io_service_bytes="8:0 Write 0")
    probe = probe_of(tmp_path)
    for written in (0, 1_000_000):
        write(tmp_path / "sys/fs/cgroup/blkio/outer", blkio__throttle__write_bps_device="8:0 1000",
              blkio__throttle__io_service_bytes=f"8:0 Write {written}")  # fmt: skip
        values = probe.sample()
    assert values == {}


def test_what_happened_at_the_limits_of_a_neighbour_below_the_same_group_is_left_out(tmp_path: Path) -> None:
    probe = probe_of(tmp_path)
    for grown in (0, 1):
        write(tmp_path / "proc/4711", cgroup="0::/pod/app")
        write(tmp_path / "sys/fs/cgroup/pod/app", memory__max="max", memory__events="high 0\nmax 0\noom_kill 0")
        write(tmp_path / "sys/fs/cgroup/pod", memory__max=10**9, memory__high=8 * 10**8, memory__current=6 * 10**8,
              memory__events=f"high {50 * grown}\nmax {90 * grown}\noom_kill 0",
              memory__events__local=f"high {4 * grown}\nmax {2 * grown}\noom_kill 0")  # fmt: skip
        values = probe.sample()
    assert values["memory_limit_hits_per_s"] == pytest.approx(1)
    assert values["memory_high_hits_per_s"] == pytest.approx(2)
    assert (values["memory_high_bytes"], values["memory_high_share"]) == (8 * 10**8, pytest.approx(0.75))


def test_the_nearest_limit_of_tasks_is_told_with_those_that_were_refused(tmp_path: Path) -> None:
    probe = probe_of(tmp_path)
    for refused in (0, 6):
        write(tmp_path / "proc/4711", cgroup="0::/pod/app")
        write(tmp_path / "sys/fs/cgroup", cpu__max="max 100000")
        write(tmp_path / "sys/fs/cgroup/pod", pids__max=50, pids__current=49, pids__events__local=f"max {refused}")
        write(tmp_path / "sys/fs/cgroup/pod/app", pids__max=40, pids__current=10, pids__events="max 0")
        values = probe.sample()
    assert values == {
        "processes": 49, "processes_limit": 50, "processes_share": 0.98, "processes_refused_per_s": pytest.approx(3)
    }  # fmt: skip


def test_a_container_that_sees_only_its_own_group_has_its_limits(tmp_path: Path) -> None:
    write(tmp_path / "proc/4711", cgroup="0::/")
    write(tmp_path / "sys/fs/cgroup", cpu__max="200000 100000", memory__max="max", memory__current=5_000)
    assert probe_of(tmp_path).sample() == {"cpu_limit_cores": 2.0, "memory_used_bytes": 5_000.0}


def test_the_host_s_top_group_is_no_limit(tmp_path: Path) -> None:
    write(tmp_path / "proc/4711", cgroup="0::/")
    write(tmp_path / "sys/fs/cgroup", cpu__stat="usage_usec 5")
    assert probe_of(tmp_path).sample() == {}


def test_without_control_groups_it_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(ProbeUnavailable, match="no control group of process 4711"):
        probe_of(tmp_path).sample()


def test_this_machine_s_own_files_are_understood() -> None:
    if not Path(f"/proc/{os.getpid()}/cgroup").exists():
        pytest.skip("no control groups on this system")
    probe = CgroupProbe(ProcessSelector(label="self", pid=os.getpid()))
    probe.sample()
    assert all(value >= 0 for value in probe.sample().values())
