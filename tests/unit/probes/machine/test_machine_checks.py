"""What `plimsoll doctor` makes of a machine."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from plimsoll.cli.app import app
from plimsoll.probes.machine import machine_checks
from plimsoll.probes.machine.machine_checks import GIB, MIB, Facts, judge, read_facts

GOOD = Facts(
    open_files=1 << 20, local_ports=28_232, time_wait=10, time_wait_reuse=2, tracked_connections=10,
    most_tracked_connections=1 << 18, cores=8, host_cores=8, busy_share=0.01, busiest="sshd (7)", steal_share=0.0,
    governors=("performance",), memory_maps=65_530,
    available_bytes=16 * GIB, swap_used_bytes=0, clock="tsc", huge_pages="always", disk_free_bytes=50 * GIB,
    vu_runtimes="shared",
)  # fmt: skip


def test_a_good_machine_has_nothing_to_do() -> None:
    checks = judge(GOOD)
    assert {check.state for check in checks} == {"ok"} and not any(check.remedy for check in checks)
    runtimes = next(check for check in checks if check.name == "runtimes")
    assert (runtimes.found, runtimes.limits) == ("VUs of a thread share JavaScript runtimes", "this limits nothing")
    assert {"open files", "local ports", "TIME_WAIT", "cores", "steal", "clock", "disk", "swap"} <= {
        check.name for check in checks
    }


@pytest.mark.parametrize(
    ("change", "name", "state"),
    [
        ({"open_files": 512}, "open files", "spoils"),
        ({"open_files": 4096}, "open files", "note"),
        ({"local_ports": 500}, "local ports", "spoils"),
        ({"time_wait": 20_000}, "TIME_WAIT", "spoils"),
        ({"time_wait": 8_000}, "TIME_WAIT", "note"),
        ({"cores": 1.0}, "cores", "note"),
        ({"quota_cores": 0.5}, "CPU quota", "spoils"),
        ({"quota_cores": 1.5}, "CPU quota", "note"),
        ({"tracked_connections": 60_000, "most_tracked_connections": 65_536}, "tracking", "spoils"),
        ({"tracked_connections": 10, "most_tracked_connections": 4_096}, "tracking", "note"),
        ({"governors": ("performance", "powersave")}, "governor", "note"),
        ({"busy_share": 0.3, "busiest": "cc1 (77)"}, "other work", "note"),
        ({"busy_share": 0.8}, "other work", "spoils"),
        ({"memory_maps": 10_000}, "memory maps", "note"),
        ({"steal_share": 0.2}, "steal", "spoils"),
        ({"steal_share": 0.02}, "steal", "note"),
        ({"clock": "hpet"}, "clock", "spoils"),
        ({"available_bytes": 100 * MIB}, "free memory", "spoils"),
        ({"memory_limit_bytes": 128 * MIB}, "free memory", "spoils"),
        ({"memory_limit_bytes": 8 * GIB}, "memory limit", "note"),
        ({"swap_used_bytes": 100 * MIB}, "swap", "note"),
        ({"swap_used_bytes": 100 * MIB, "available_bytes": 500 * MIB}, "swap", "spoils"),
        ({"disk_free_bytes": 10 * MIB}, "disk", "spoils"),
        ({"folder_is_writable": False}, "disk", "spoils"),
        ({"vu_runtimes": "unrecognised"}, "runtimes", "note"),
        ({"vu_runtimes": "asked_for"}, "runtimes", "note"),
    ],
)
def test_each_trouble_is_named_with_its_remedy(change: dict[str, Any], name: str, state: str) -> None:
    found = next(check for check in judge(dataclasses.replace(GOOD, **change)) if check.name == name)
    assert found.state == state and (found.remedy or name == "memory limit") and found.limits


def test_what_the_system_does_not_say_is_not_judged(tmp_path: Path) -> None:
    facts = read_facts(tmp_path / "runs", root=tmp_path, sleep=lambda _: None)
    names = {check.name for check in judge(facts)}
    assert names == {"open files", "cores", "disk"} and facts.steal_share is None


def test_facts_come_from_the_kernel_s_files(tmp_path: Path) -> None:
    files = {
        "proc/meminfo": "MemTotal: 8 kB\nMemAvailable: 2048 kB\nSwapTotal: 100 kB\nSwapFree: 40 kB\n",
        "proc/sys/net/ipv4/ip_local_port_range": "32768\t60999\n",
        "proc/net/sockstat": "sockets: used 1\nTCP: inuse 5 orphan 0 tw 77 alloc 9 mem 1\n",
        "proc/stat": "cpu  100 0 0 100 0 0 0 0 0 0\n",
        "proc/77/stat": "77 (a b) S 1 1 1 0 -1 0 0 0 0 0 5 5 0 0 20 0 1 0 9\n",
        "proc/78/stat": "78 (idle) S 1 1 1 0 -1 0 0 0 0 0 9 9 0 0 20 0 1 0 9\n",
        "proc/sys/net/ipv4/tcp_tw_reuse": "2\n",
        "proc/sys/net/netfilter/nf_conntrack_count": "12\n",
        "proc/sys/net/netfilter/nf_conntrack_max": "262144\n",
        "proc/sys/vm/max_map_count": "65530\n",
        "proc/self/cgroup": "4:cpu,cpuacct:/a/b\n3:memory:/a\n0::/\n",
        "sys/fs/cgroup/cpu/a/cpu.cfs_quota_us": "50000\n",
        "sys/fs/cgroup/cpu/a/cpu.cfs_period_us": "100000\n",
        "sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us": "-1\n",
        "sys/fs/cgroup/memory/a/memory.limit_in_bytes": "1048576\n",
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n",
        "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
        "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    def steal(_: float) -> None:
        (tmp_path / "proc/stat").write_text("cpu  160 0 0 120 0 0 0 20 0 0\n")
        (tmp_path / "proc/77/stat").write_text("77 (a b) S 1 1 1 0 -1 0 0 0 0 0 50 15 0 0 20 0 1 0 9\n")

    facts = read_facts(tmp_path, root=tmp_path, sleep=steal)
    assert (facts.available_bytes, facts.swap_used_bytes) == (2 * MIB, 60 << 10)
    assert (facts.local_ports, facts.time_wait, facts.clock, facts.huge_pages) == (28_232, 77, "tsc", "madvise")
    assert facts.steal_share == pytest.approx(20 / 100)
    assert facts.busy_share == pytest.approx(0.6) and facts.busiest == "a b (77)"
    assert (facts.time_wait_reuse, facts.tracked_connections, facts.most_tracked_connections) == (2, 12, 262_144)
    assert (facts.quota_cores, facts.memory_limit_bytes, facts.memory_maps) == (0.5, MIB, 65_530)
    assert facts.governors == ("powersave",) and facts.cores <= 0.5


@pytest.mark.parametrize(("facts", "code"), [(GOOD, 0), (dataclasses.replace(GOOD, clock="hpet"), 1)])
def test_the_command_ends_with_1_when_something_would_spoil_a_run(
    monkeypatch: pytest.MonkeyPatch, facts: Facts, code: int
) -> None:
    monkeypatch.setattr(machine_checks, "read_facts", lambda runs: facts)
    told = CliRunner().invoke(app, ["doctor", "--json"])
    assert told.exit_code == code and json.loads(told.stdout)["ok"] is (code == 0)
    shown = CliRunner().invoke(app, ["doctor"])
    assert shown.exit_code == code and ("hpet" in shown.stdout) is (code == 1)
