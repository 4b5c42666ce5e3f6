"""The limits of the generator's machine, read from planted files of the kernel."""

from __future__ import annotations

import ipaddress
import sys
from pathlib import Path

import pytest

from plimsoll.probes.machine import kernel_files
from plimsoll.probes.machine.generator import GeneratorProbe
from plimsoll.runs.machine import cgroup_folders, cpu_quota_cores, memory_limits

FILES = {
    "proc/meminfo": "MemTotal: 16384 kB\nMemAvailable: 8192 kB\n",
    "proc/sys/net/ipv4/ip_local_port_range": "32768\t60999\n",
    "proc/net/sockstat": "sockets: used 9\nTCP: inuse 5 orphan 0 tw 77 alloc 9 mem 1\n",
    "proc/net/sockstat6": "TCP6: inuse 2\nUDP6: inuse 1\n",
    "proc/stat": "cpu  100 0 0 100 0 0 0 0 0 0\n",
    "proc/self/cgroup": "0::/box/inner\n",
    "sys/fs/cgroup/box/cpu.max": "50000 100000\n",
    "sys/fs/cgroup/box/inner/cpu.max": "max 100000\n",
    "sys/fs/cgroup/box/cpu.stat": "usage_usec 5\nthrottled_usec 1000000\n",
    "sys/fs/cgroup/box/inner/cpu.stat": "throttled_usec 0\n",
    "sys/fs/cgroup/box/memory.max": "4194304\n",
    "sys/fs/cgroup/box/memory.current": "3145728\n",
    "sys/fs/cgroup/box/memory.stat": "anon 1\ninactive_file 1048576\n",
}


def plant(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def test_each_value_comes_from_its_file(tmp_path: Path) -> None:
    plant(tmp_path, FILES)
    clock = iter([0.0, 2.0])
    probe = GeneratorProbe(tmp_path, lambda: next(clock))
    plant(
        tmp_path,
        {"proc/stat": "cpu  150 0 0 130 0 0 0 20 0 0\n", "sys/fs/cgroup/box/cpu.stat": "throttled_usec 1500000\n"},
    )
    values = probe.sample()
    assert values["host_busy_share"] == pytest.approx(0.5) and values["host_steal_share"] == pytest.approx(0.2)
    assert values["throttled_share"] == pytest.approx(0.25) and values["quota_cores"] == 0.5
    assert (values["time_wait"], values["tcp_in_use"], values["local_ports"]) == (77, 7, 28_232)
    assert (values["memory_free_bytes"], values["memory_bytes"]) == (2 << 20, 4 << 20)  # the container's, being less
    assert values["usable_cores"] <= 0.5 and values["open_files_limit"] > 0
    assert probe.take_notes() == []


def test_what_the_system_does_not_say_is_absent(tmp_path: Path) -> None:
    assert set(GeneratorProbe(tmp_path).sample()) == {"usable_cores", "open_files_limit"}


def test_limits_of_cgroups_around_this_one_count_of_both_versions(tmp_path: Path) -> None:
    plant(tmp_path, FILES)
    top = tmp_path / "sys/fs/cgroup"
    assert cgroup_folders("cpu", tmp_path) == [top / "box/inner", top / "box", top]
    assert cpu_quota_cores(tmp_path) == 0.5 and memory_limits(tmp_path) == [(4 << 20, 2 << 20)]
    older = tmp_path / "older"
    files = {
        "proc/self/cgroup": "5:cpu,cpuacct:/unseen\n2:memory:/\n1:name=systemd:/\n",
        "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "150000\n",
        "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
        "sys/fs/cgroup/cpu/cpu.stat": "nr_throttled 3\nthrottled_time 2500000000\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
    }
    plant(older, files)
    assert cpu_quota_cores(older) == 1.5 and memory_limits(older) == []
    assert kernel_files.throttled_s(cgroup_folders("cpu", older)) == 2.5


def test_ports_are_counted_by_destination(tmp_path: Path) -> None:
    def address(ip: str, port: int) -> str:
        packed = ipaddress.ip_address(ip).packed
        words = [int.from_bytes(packed[at : at + 4], sys.byteorder) for at in range(0, len(packed), 4)]
        return "".join(f"{word:08X}" for word in words) + f":{port:04X}"

    here, target, other = "127.0.0.1", "10.0.0.9", "10.0.0.8"
    rows = [
        (address(here, 40_001), address(target, 80), "01"),
        (address(here, 40_002), address(target, 80), "06"),
        (address(here, 40_003), address(other, 80), "06"),
        (address(here, 80), address(other, 50_000), "01"),
        (address(here, 80), address(other, 50_001), "01"),
        (address(here, 40_010), address(other, 80), "0A"),
    ]
    table = "".join(f"  {at}: {local} {remote} {state} 0:0 0\n" for at, (local, remote, state) in enumerate(rows))
    plant(tmp_path, {"proc/net/tcp": "  sl local remote st\n" + table, **FILES})
    assert kernel_files.busiest_destination(tmp_path) == ("10.0.0.9:80", 2)
    assert kernel_files.busiest_destination(tmp_path / "nowhere") is None
    for remote, shown in (("::ffff:10.0.0.9", "10.0.0.9:443"), ("fe80::1", "[fe80::1]:443")):
        line = f"  0: {address('::', 40_001)} {address(remote, 443)} 01\n"
        plant(tmp_path, {"proc/net/tcp6": "  sl local remote st\n" + line * 3})
        assert kernel_files.busiest_destination(tmp_path) == (shown, 3)
